"""What the keywords of `$jsonSchema` take: checks that raise, and equality that ignores the order of fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import integral
from mongo_tables.aggregation.ordering import Key, key
from mongo_tables.aggregation.values import INT64_MAX, is_number, is_string

FAILED = 9  # FailedToParse
_MISMATCH = 14  # TypeMismatch


def fail(message: str, path: Path, *, unknown: str = "", known: Iterable[str] = ()) -> NoReturn:
    """Raises the error of a schema that cannot be parsed."""
    raise AggregationError(message, path, FAILED, unknown=unknown, known=known)


def mapping(value: Any, path: Path) -> Mapping[str, Any]:
    """The value, which must be a document."""
    if not isinstance(value, Mapping):
        raise AggregationError(f"{path[-1]} is a document", path, _MISMATCH)
    return value


def a_list(value: Any, path: Path) -> list[Any]:
    """The value, which must be a list."""
    if not isinstance(value, list | tuple):
        raise AggregationError(f"{path[-1]} is a list", path, _MISMATCH)
    return list(value)


def number(value: Any, path: Path) -> Any:
    """The value, which must be a number."""
    if not is_number(value):
        raise AggregationError(f"{path[-1]} is a number", path, _MISMATCH)
    return value


def size(value: Any, path: Path) -> int:
    """The value, which must be a whole number from 0 on."""
    found = integral(value) if is_number(value) else None
    if found is None or not 0 <= found <= INT64_MAX:
        fail(f"{path[-1]} is a whole number from 0 on", path)
    return found


def text(value: Any, path: Path) -> str:
    """The value, which must be a string."""
    if not is_string(value):
        raise AggregationError(f"{path[-1]} is a string", path, _MISMATCH)
    return str(value)


def flag(schema: Mapping[str, Any], name: str, path: Path) -> bool:
    """The keyword ``name`` of the schema, which must be true or false; false without it."""
    value = schema.get(name, False)
    if not isinstance(value, bool):
        raise AggregationError(f"{name} is true or false", path, _MISMATCH)
    return value


def names(value: Any, path: Path, *, alone: bool = False) -> list[str]:
    """The value, which must be a list of different strings, or (``alone``) one string."""
    if alone and is_string(value):
        return [value]
    found = [text(item, (*path, place)) for place, item in enumerate(a_list(value, path))]
    if not found or len(set(found)) < len(found):
        fail(f"{path[-1]} is a list of different names", path)
    return found


def key_of_any_order(value: Any) -> Key:
    """The value's key of comparison, the same for documents whose fields differ in order only."""
    if isinstance(value, Mapping):
        fields = sorted((name, key_of_any_order(item)) for name, item in value.items())
        return 20, tuple(fields)
    if type(value) is list:
        return 25, tuple(key_of_any_order(item) for item in value)
    return key(value)
