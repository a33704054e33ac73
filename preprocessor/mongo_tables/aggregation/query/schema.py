"""`$jsonSchema`: JSON Schema (draft 4 in part) with MongoDB's ``bsonType``, compiled to predicates of values.

Source: https://www.mongodb.com/docs/manual/reference/operator/query/jsonSchema/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NoReturn

from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import CONTEXT, integral, to_decimal
from mongo_tables.aggregation.query.conditions import Predicate, both, regex_test, type_names
from mongo_tables.aggregation.value_order import Key, key
from mongo_tables.aggregation.values import INT64_MAX, is_nan, is_number, is_string, type_name

_FAILED, _MISMATCH = 9, 14
_JSON_TYPES = {
    "object": "object", "array": "array", "number": "number", "boolean": "bool", "string": "string", "null": "null",
}  # fmt: skip
_UNSUPPORTED = ("$ref", "$schema", "default", "definitions", "format", "id")
_ENCRYPTION = ("encrypt", "encryptMetadata")
Schema = Mapping[str, Any]
Keyword = Callable[[Any, Schema, Path], Predicate | None]
"""A function that compiles a keyword's value into a predicate.

It gets the value, the whole schema and the value's path.
"""


def compile_schema(schema: Any, path: Path) -> Predicate:
    """Return a predicate that is true if a value fits the schema.

    Raises:
        AggregationError: If the server refuses a keyword or its value.
    """
    if not isinstance(schema, Mapping):
        raise AggregationError("a schema must be a document", path, _MISMATCH)
    for name in schema:
        _check_keyword(name, (*path, name))
    if "type" in schema and "bsonType" in schema:
        _fail("a schema must not have both 'type' and 'bsonType'", path)
    compiled = (_KEYWORDS[name](schema[name], schema, (*path, name)) for name in _KEYWORDS if name in schema)
    tests = [test for test in compiled if test is not None]
    return both(tests)


def _check_keyword(name: str, path: Path) -> None:
    if name in _KEYWORDS:
        return
    if name in _ENCRYPTION:
        raise AggregationError(f"'{name}' cannot be in a query", path, 224)
    if name in _UNSUPPORTED:
        _fail(f"MongoDB does not know the keyword '{name}' of JSON Schema", path)
    _fail(f"unknown keyword '{name}'", path, unknown=name, known=_KEYWORDS)


# Checks of keyword values, which raise errors.


def _fail(message: str, path: Path, *, unknown: str = "", known: Iterable[str] = ()) -> NoReturn:
    raise AggregationError(message, path, _FAILED, unknown=unknown, known=known)


_KINDS: dict[str, Predicate] = {
    "a document": lambda value: isinstance(value, Mapping),
    "a list": lambda value: isinstance(value, list | tuple),
    "a number": is_number,
    "a string": is_string,
    "true or false": lambda value: isinstance(value, bool),
}


def _typed(value: Any, kind: str, path: Path) -> Any:
    if not _KINDS[kind](value):
        raise AggregationError(f"{path[-1]} must be {kind}", path, _MISMATCH)
    return value


def _names(value: Any, path: Path, *, alone: bool = False) -> list[str]:
    """Return the value, which must be a list of distinct strings. With ``alone``, a single string is also accepted."""
    if alone and is_string(value):
        return [value]
    found = [
        _typed(item, "a string", (*path, place)) for place, item in enumerate(_typed(value, "a list", path))
    ]
    if not found or len(set(found)) < len(found):
        _fail(f"{path[-1]} must be a list of different names", path)
    return found


def _key_of_any_order(value: Any) -> Key:
    """Return the value's sort key. Documents that differ only in the order of fields have equal keys."""
    if isinstance(value, Mapping):
        return 20, tuple(sorted((name, _key_of_any_order(item)) for name, item in value.items()))
    if type(value) is list:
        return 25, tuple(_key_of_any_order(item) for item in value)
    return key(value)


# Keywords. A keyword accepts every value of a type that it does not apply to.


def _of_type(kind: str, test: Predicate) -> Predicate:
    return lambda value: type_name(value) != kind or test(value)


def _type(value: Any, schema: Schema, path: Path) -> Predicate:
    wanted: set[str] = set()
    for name in _names(value, path, alone=True):
        if name == "integer":
            _fail("MongoDB does not know the type 'integer': write bsonType: 'int'", path)
        if name not in _JSON_TYPES:
            raise AggregationError(f"unknown type '{name}'", path, 2, unknown=name, known=_JSON_TYPES)
        wanted |= type_names(_JSON_TYPES[name], path)
    return lambda value: type_name(value) in wanted


def _bson_type(value: Any, schema: Schema, path: Path) -> Predicate:
    wanted = type_names(_names(value, path, alone=True), path)
    return lambda value: type_name(value) in wanted


def _enum(value: Any, schema: Schema, path: Path) -> Predicate:
    values = _typed(value, "a list", path)
    wanted = {_key_of_any_order(one) for one in values}
    if not values or len(wanted) < len(values):
        _fail("enum must be a list of different values", path)
    return lambda value: _key_of_any_order(value) in wanted


def _bound(exclusive: str, sign: int) -> Keyword:
    def compile_keyword(value: Any, schema: Schema, path: Path) -> Predicate:
        strict = _typed(schema.get(exclusive, False), "true or false", (*path[:-1], exclusive))
        limit = _typed(value, "a number", path)
        bound = key(limit)

        def test(value: Any) -> bool:
            if not is_number(value):
                return True
            if is_nan(value) or is_nan(limit):
                return not strict and is_nan(value) and is_nan(limit)
            found = key(value)
            order = (found > bound) - (found < bound)
            return order * sign > 0 or (order == 0 and not strict)

        return test

    return compile_keyword


def _exclusive(name: str) -> Keyword:
    def compile_keyword(value: Any, schema: Schema, path: Path) -> None:
        _typed(value, "true or false", path)
        if name not in schema:
            _fail(f"'{path[-1]}' requires '{name}'", path)

    return compile_keyword


def _multiple_of(value: Any, schema: Schema, path: Path) -> Predicate:
    divisor = to_decimal(_typed(value, "a number", path))
    if divisor.is_nan() or divisor <= 0:
        _fail("multipleOf must be greater than 0", path)

    def test(value: Any) -> bool:
        exact = to_decimal(value) if is_number(value) else None
        if exact is None or not exact.is_finite():
            return exact is None
        if divisor.is_infinite():
            return not exact
        remainder = CONTEXT.remainder(exact, divisor)
        if remainder.is_nan():
            # The quotient has more than 34 digits, so exact arithmetic is needed.
            return Fraction(exact) % Fraction(divisor) == 0
        return not remainder

    return test


def _size(kind: str, sign: int) -> Keyword:
    """Return a keyword that limits a size: ``sign`` 1 for a minimum, -1 for a maximum."""

    def compile_keyword(value: Any, schema: Schema, path: Path) -> Predicate:
        limit = integral(value) if is_number(value) else None
        if limit is None or not 0 <= limit <= INT64_MAX:
            _fail(f"{path[-1]} must be a whole number of 0 or more", path)
        return _of_type(kind, lambda value: (len(value) - limit) * sign >= 0)

    return compile_keyword


def _pattern(value: Any, schema: Schema, path: Path) -> Predicate:
    return _of_type("string", regex_test(_typed(value, "a string", path), path=path))


def _unique_items(value: Any, schema: Schema, path: Path) -> Predicate | None:
    if not _typed(value, "true or false", path):
        return None
    return _of_type("array", lambda value: len({_key_of_any_order(item) for item in value}) == len(value))


def _items(value: Any, schema: Schema, path: Path) -> Predicate:
    rest = _additional(schema, "additionalItems", path[:-1])
    if isinstance(value, Mapping):
        fits = compile_schema(value, path)
        return _of_type("array", lambda value: all(map(fits, value)))
    if not isinstance(value, list | tuple):
        raise AggregationError("items must be a schema or a list of schemas", path, _MISMATCH)
    tests = [compile_schema(item, (*path, place)) for place, item in enumerate(value)]

    def test(value: list[Any]) -> bool:
        return all(fits(item) for fits, item in zip(tests, value, strict=False)) and (
            rest is None or all(map(rest, value[len(tests) :]))
        )

    return _of_type("array", test)


def _additional_items(value: Any, schema: Schema, path: Path) -> None:
    if "items" not in schema:  # otherwise ``items`` handles it
        _additional(schema, "additionalItems", path[:-1])


def _additional(schema: Schema, name: str, path: Path) -> Predicate | None:
    """Return the test of ``additionalItems`` or ``additionalProperties``, or None if it allows everything."""
    if name not in schema or schema[name] is True:
        return None
    value, where = schema[name], (*path, name)
    if value is False:
        return lambda _: False
    if not isinstance(value, Mapping):
        raise AggregationError(f"{name} must be true, false or a schema", where, _MISMATCH)
    return compile_schema(value, where)


_OF_PROPERTIES = ("properties", "patternProperties", "additionalProperties")


def _properties(_: Any, schema: Schema, path: Path) -> Predicate | None:
    """Return one test for all three keywords of properties if this is the first of them in the schema, or None."""
    if path[-1] != next(name for name in _OF_PROPERTIES if name in schema):
        return None
    named = _schemas(schema, "properties", path[:-1])
    patterns = [
        (regex_test(pattern, path=(*path[:-1], "patternProperties", pattern)), fits)
        for pattern, fits in _schemas(schema, "patternProperties", path[:-1]).items()
    ]
    rest = _additional(schema, "additionalProperties", path[:-1])
    if not named and not patterns and rest is None:
        return None

    def test(document: Mapping[str, Any]) -> bool:
        for name, value in document.items():
            tests = [fits for matches, fits in patterns if matches(name)]
            if name in named:
                tests.append(named[name])
            if not tests and rest is not None:
                tests.append(rest)
            if not all(fits(value) for fits in tests):
                return False
        return True

    return _of_type("object", test)


def _schemas(schema: Schema, keyword: str, path: Path) -> dict[str, Predicate]:
    where = (*path, keyword)
    found = _typed(schema.get(keyword, {}), "a document", where)
    return {name: compile_schema(value, (*where, name)) for name, value in found.items()}


def _required(value: Any, schema: Schema, path: Path) -> Predicate:
    wanted = _names(value, path)
    return _of_type("object", lambda value: all(name in value for name in wanted))


def _dependencies(value: Any, schema: Schema, path: Path) -> Predicate:
    needs = [
        (name, _dependency(one, (*path, name))) for name, one in _typed(value, "a document", path).items()
    ]
    return _of_type("object", lambda value: all(need(value) for name, need in needs if name in value))


def _dependency(value: Any, path: Path) -> Predicate:
    if isinstance(value, Mapping):
        return compile_schema(value, path)
    wanted = _names(value, path)
    return lambda document: all(name in document for name in wanted)


def _several(holds: Callable[[int, int], bool]) -> Keyword:
    """Return a keyword whose value is a list of schemas.

    ``holds`` decides from the number of matching schemas and the number of all schemas.
    """

    def compile_keyword(value: Any, schema: Schema, path: Path) -> Predicate:
        schemas = _typed(value, "a list", path)
        if not schemas:
            raise AggregationError(f"{path[-1]} must be a list of at least one schema", path, 2)
        tests = [compile_schema(one, (*path, place)) for place, one in enumerate(schemas)]
        return lambda value: holds(sum(bool(fits(value)) for fits in tests), len(tests))

    return compile_keyword


def _not(value: Any, schema: Schema, path: Path) -> Predicate:
    fits = compile_schema(value, path)
    return lambda value: not fits(value)


def _remark(value: Any, schema: Schema, path: Path) -> None:
    _typed(value, "a string", path)


_KEYWORDS: dict[str, Keyword] = {
    "type": _type,
    "bsonType": _bson_type,
    "enum": _enum,
    "minimum": _bound("exclusiveMinimum", 1),
    "exclusiveMinimum": _exclusive("minimum"),
    "maximum": _bound("exclusiveMaximum", -1),
    "exclusiveMaximum": _exclusive("maximum"),
    "multipleOf": _multiple_of,
    "minLength": _size("string", 1),
    "maxLength": _size("string", -1),
    "pattern": _pattern,
    "minItems": _size("array", 1),
    "maxItems": _size("array", -1),
    "uniqueItems": _unique_items,
    "items": _items,
    "additionalItems": _additional_items,
    "minProperties": _size("object", 1),
    "maxProperties": _size("object", -1),
    "required": _required,
    **dict.fromkeys(_OF_PROPERTIES, _properties),
    "dependencies": _dependencies,
    "allOf": _several(lambda fit, count: fit == count),
    "anyOf": _several(lambda fit, _: fit > 0),
    "oneOf": _several(lambda fit, _: fit == 1),
    "not": _not,
    "title": _remark,
    "description": _remark,
}
