"""The fields that a query on a table's rows names, those of them that no row has, and names that none has.

A condition such as ``$ne`` holds for a field that is not there, so a mistyped name would let a statement hold for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.aggregation.fields import conditions_in, paths_in
from mongo_tables.files.text import shorten
from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.render.column import column_value

if TYPE_CHECKING:
    from mongo_tables.results.model import Rows

Path = tuple[str | int, ...]

_NAMES_SHOWN: Final = 3
_NOWHERE: Final[Mapping[str, Any]] = {}


class Named(NamedTuple):
    """A field that a query names: its name, its place in the query, and the query that asks whether it is there.

    That query is ``_NOWHERE`` where the author expects that the field is not there.
    """

    field: str
    path: Path
    there: Mapping[str, Any]


def missing_fields(query: Mapping[str, Any], rows: Rows) -> list[Named]:
    """The fields that the query names and that none of the rows has, each once.

    Whoever writes ``{"$exists": false}`` anywhere says that a field may not be there: nothing is said of that one.
    """
    named = list(_list_named_fields(query, ()))
    settled = {one.field for one in named if one.there is _NOWHERE}
    found: list[Named] = []
    for one in named:
        if one.field not in settled:
            settled.add(one.field)
            found += [] if _is_there(one, rows) else [one]
    return found


class Unmet(NamedTuple):
    """A text that a query asks for and no row has: its field, and the one that was meant, else some that there are."""

    field: str
    hint: str


def find_unmet(query: Mapping[str, Any], rows: Rows) -> Unmet | None:
    """The first text that the query asks for and no row has."""
    for field, name in query.items():
        known = list(dict.fromkeys(one for row in rows if isinstance(one := column_value(row, field), str)))
        if isinstance(name, str) and known and name not in known:
            some = ", ".join(f"`{shorten(one)}`" for one in known[:_NAMES_SHOWN])
            more = ", …" if len(known) > _NAMES_SHOWN else ""
            hint = did_you_mean(name, map(shorten, known)) or f"`{field}` of its rows is {some}{more}"
            return Unmet(field, hint)
    return None


def _is_there(named: Named, rows: Rows) -> bool:
    if "." not in named.field and any(named.field in row for row in rows):
        return True  # as nearly always, and quickly told
    try:
        return bool(aggregate(rows, [{"$match": named.there}, {"$limit": 1}]))
    except AggregationError:
        return True  # A name that cannot be asked for: whoever runs the query says why.


def _list_named_fields(query: Any, path: Path) -> Iterator[Named]:
    """The fields of a query that stands at ``path``."""
    for name, value, at in conditions_in(query, path):
        if name == "$expr":
            for field in sorted(".".join(parts) for parts in paths_in(value) if parts):
                yield Named(field, at, {field: {"$exists": True}})
        elif not name.startswith("$"):
            yield from _of_field(name, value, at)


def _of_field(name: str, condition: Any, path: Path) -> Iterator[Named]:
    """The field of one condition, and those that it asks the elements of an array for."""
    yield Named(name, path, _NOWHERE if _expects_nothing(condition) else {name: {"$exists": True}})
    elements = condition
    while isinstance(elements, Mapping) and "$not" in elements:
        elements, path = elements["$not"], (*path, "$not")
    if isinstance(elements, Mapping) and "$elemMatch" in elements:
        for one in _list_named_fields(elements["$elemMatch"], (*path, "$elemMatch")):
            there = _NOWHERE if one.there is _NOWHERE else {name: {"$elemMatch": one.there}}
            yield Named(f"{name}.{one.field}", one.path, there)


def _expects_nothing(condition: Any) -> bool:
    return isinstance(condition, Mapping) and condition.get("$exists", True) in (False, 0)
