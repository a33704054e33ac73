"""`$jsonSchema`: JSON Schema (draft 4 in part) with MongoDB's ``bsonType``, compiled to predicates of values.

Source: https://www.mongodb.com/docs/manual/reference/operator/query/jsonSchema/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import CONTEXT, is_nan, to_decimal
from mongo_tables.aggregation.ordering import key
from mongo_tables.aggregation.patterns import compile_pattern
from mongo_tables.aggregation.query.conditions import both
from mongo_tables.aggregation.query.evaluation import type_names
from mongo_tables.aggregation.query.schemashapes import (
    a_list,
    fail,
    flag,
    key_of_any_order,
    mapping,
    names,
    number,
    size,
    text,
)
from mongo_tables.aggregation.query.walking import Predicate
from mongo_tables.aggregation.values import is_number, type_name

_JSON_TYPES = {
    "object": "object", "array": "array", "number": "number", "boolean": "bool", "string": "string", "null": "null",
}  # fmt: skip
_UNSUPPORTED = ("$ref", "$schema", "default", "definitions", "format", "id")
_ENCRYPTION = ("encrypt", "encryptMetadata")

Keyword = Callable[[Mapping[str, Any], Path], Predicate | None]


def compile_schema(schema: Any, path: Path) -> Predicate:
    """The predicate of values (at the root: documents) that fit the schema.

    Raises AggregationError for keywords and values of keywords that the server refuses.
    """
    if not isinstance(schema, Mapping):
        raise AggregationError("a schema is a document", path, 14)
    for name in schema:
        _check_keyword(name, (*path, name))
    if "type" in schema and "bsonType" in schema:
        fail("a schema has 'type' or 'bsonType', not both", path)
    tests = [test for compiled in _KEYWORDS.values() if (test := compiled(schema, path)) is not None]
    return both(tests) if tests else lambda _: True


def _check_keyword(name: str, path: Path) -> None:
    if name in _KEYWORDS:
        return
    if name in _ENCRYPTION:
        raise AggregationError(f"'{name}' has no place in a query", path, 224)
    if name in _UNSUPPORTED:
        fail(f"MongoDB does not know the keyword '{name}' of JSON Schema", path)
    fail(f"there is no keyword '{name}'", path, unknown=name, known=_KEYWORDS)


def _of_type(*types: str, test: Predicate) -> Predicate:
    """``test`` for values of these types; what is of another type is not concerned."""
    return lambda value: type_name(value) not in types or test(value)


def _numeric(test: Predicate) -> Predicate:
    return lambda value: not is_number(value) or test(value)


def _type(schema: Mapping[str, Any], path: Path) -> Predicate | None:
    if "type" not in schema:
        return None
    where = (*path, "type")
    wanted: set[str] = set()
    for name in names(schema["type"], where, alone=True):
        if name == "integer":
            fail("MongoDB does not know the type 'integer': write bsonType: 'int'", where)
        if name not in _JSON_TYPES:
            raise AggregationError(
                f"there is no type '{name}' here", where, 2, unknown=name, known=_JSON_TYPES
            )
        wanted |= type_names(_JSON_TYPES[name], where)
    return lambda value: type_name(value) in wanted


def _bson_type(schema: Mapping[str, Any], path: Path) -> Predicate | None:
    if "bsonType" not in schema:
        return None
    where = (*path, "bsonType")
    wanted = type_names(names(schema["bsonType"], where, alone=True), where)
    return lambda value: type_name(value) in wanted


def _enum(schema: Mapping[str, Any], path: Path) -> Predicate | None:
    if "enum" not in schema:
        return None
    where = (*path, "enum")
    values = a_list(schema["enum"], where)
    wanted = {key_of_any_order(value) for value in values}
    if not values or len(wanted) < len(values):
        fail("enum is a list of different values", where)
    return lambda value: key_of_any_order(value) in wanted


def _compile_bound(name: str, exclusive: str, sign: int) -> Keyword:
    def compile_keyword(schema: Mapping[str, Any], path: Path) -> Predicate | None:
        strict = flag(schema, exclusive, (*path, exclusive))
        if name not in schema:
            if exclusive in schema:
                fail(f"'{exclusive}' needs '{name}' beside it", (*path, exclusive))
            return None
        limit = number(schema[name], (*path, name))
        bound = key(limit)

        def test(value: Any) -> bool:
            if is_nan(value) or is_nan(limit):
                return not strict and is_nan(value) and is_nan(limit)
            found = key(value)
            order = (found > bound) - (found < bound)
            return order * sign > 0 or (order == 0 and not strict)

        return _numeric(test)

    return compile_keyword


def _multiple_of(schema: Mapping[str, Any], path: Path) -> Predicate | None:
    if "multipleOf" not in schema:
        return None
    where = (*path, "multipleOf")
    divisor = to_decimal(number(schema["multipleOf"], where))
    if divisor.is_nan() or divisor <= 0:
        fail("multipleOf is greater than 0", where)

    def test(value: Any) -> bool:
        exact = to_decimal(value)
        if not exact.is_finite():
            return False
        if divisor.is_infinite():
            return not exact
        return _divides(exact, divisor)

    return _numeric(test)


def _divides(value: Any, divisor: Any) -> bool:
    remainder = CONTEXT.remainder(value, divisor)
    if remainder.is_nan():  # a quotient of more than 34 digits: Decimal gives up, exact arithmetic does not
        from fractions import Fraction

        return Fraction(value) % Fraction(divisor) == 0
    return not remainder


def _compile_size(name: str, kind: str, sign: int, measure: Callable[[Any], int]) -> Keyword:
    """A keyword that bounds a size: ``sign`` 1 from below, -1 from above."""

    def compile_keyword(schema: Mapping[str, Any], path: Path) -> Predicate | None:
        if name not in schema:
            return None
        limit = size(schema[name], (*path, name))
        return _of_type(kind, test=lambda value: (measure(value) - limit) * sign >= 0)

    return compile_keyword


def _pattern(schema: Mapping[str, Any], path: Path) -> Predicate | None:
    if "pattern" not in schema:
        return None
    return _of_type("string", test=_matches(text(schema["pattern"], (*path, "pattern")), (*path, "pattern")))


def _matches(pattern: str, path: Path) -> Predicate:
    try:
        return compile_pattern(pattern, "").matches
    except AggregationError as error:
        raise error.at(path) from None


def _unique_items(schema: Mapping[str, Any], path: Path) -> Predicate | None:
    if not flag(schema, "uniqueItems", (*path, "uniqueItems")):
        return None
    return _of_type("array", test=lambda value: len({key_of_any_order(item) for item in value}) == len(value))


def _items(schema: Mapping[str, Any], path: Path) -> Predicate | None:
    rest = _additional(schema, "additionalItems", path)
    if "items" not in schema:
        return None
    items, where = schema["items"], (*path, "items")
    if isinstance(items, Mapping):
        fits = compile_schema(items, where)
        return _of_type("array", test=lambda value: all(map(fits, value)))
    if not isinstance(items, list | tuple):
        raise AggregationError("items is a schema or a list of schemas", where, 14)
    tests = [compile_schema(item, (*where, place)) for place, item in enumerate(items)]

    def test(value: list[Any]) -> bool:
        return all(fits(item) for fits, item in zip(tests, value, strict=False)) and (
            rest is None or all(map(rest, value[len(tests) :]))
        )

    return _of_type("array", test=test)


def _additional(schema: Mapping[str, Any], name: str, path: Path) -> Predicate | None:
    """The test that ``additionalItems`` or ``additionalProperties`` makes of the others; None if it allows all."""
    if name not in schema or schema[name] is True:
        return None
    value, where = schema[name], (*path, name)
    if value is False:
        return lambda _: False
    if not isinstance(value, Mapping):
        raise AggregationError(f"{name} is true, false or a schema", where, 14)
    return compile_schema(value, where)


def _properties(schema: Mapping[str, Any], path: Path) -> Predicate | None:
    named = _schemas(schema, "properties", path)
    patterns = [
        (_matches(pattern, (*path, "patternProperties", pattern)), fits)
        for pattern, fits in _schemas(schema, "patternProperties", path).items()
    ]
    rest = _additional(schema, "additionalProperties", path)
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

    return _of_type("object", test=test)


def _schemas(schema: Mapping[str, Any], keyword: str, path: Path) -> dict[str, Predicate]:
    if keyword not in schema:
        return {}
    where = (*path, keyword)
    found = mapping(schema[keyword], where)
    return {name: compile_schema(value, (*where, name)) for name, value in found.items()}


def _required(schema: Mapping[str, Any], path: Path) -> Predicate | None:
    if "required" not in schema:
        return None
    wanted = names(schema["required"], (*path, "required"))
    return _of_type("object", test=lambda value: all(name in value for name in wanted))


def _dependencies(schema: Mapping[str, Any], path: Path) -> Predicate | None:
    if "dependencies" not in schema:
        return None
    where = (*path, "dependencies")
    needs = [
        (name, _dependency(value, (*where, name)))
        for name, value in mapping(schema["dependencies"], where).items()
    ]
    return _of_type("object", test=lambda value: all(need(value) for name, need in needs if name in value))


def _dependency(value: Any, path: Path) -> Predicate:
    if isinstance(value, Mapping):
        return compile_schema(value, path)
    wanted = names(value, path)
    return lambda document: all(name in document for name in wanted)


def _several(name: str, holds: Callable[[int, int], bool]) -> Keyword:
    """A keyword with a list of schemas: ``holds`` of how many fit and how many there are."""

    def compile_keyword(schema: Mapping[str, Any], path: Path) -> Predicate | None:
        if name not in schema:
            return None
        where = (*path, name)
        schemas = a_list(schema[name], where)
        if not schemas:
            raise AggregationError(f"{name} is a list of at least one schema", where, 2)
        tests = [compile_schema(one, (*where, place)) for place, one in enumerate(schemas)]
        return lambda value: holds(sum(map(bool, (fits(value) for fits in tests))), len(tests))

    return compile_keyword


def _not(schema: Mapping[str, Any], path: Path) -> Predicate | None:
    if "not" not in schema:
        return None
    fits = compile_schema(schema["not"], (*path, "not"))
    return lambda value: not fits(value)


def _remark(name: str) -> Keyword:
    def compile_keyword(schema: Mapping[str, Any], path: Path) -> Predicate | None:
        if name in schema:
            text(schema[name], (*path, name))
        return None

    return compile_keyword


def _beside(_: Mapping[str, Any], __: Path) -> Predicate | None:
    """For a keyword that another one reads."""
    return None


_KEYWORDS: dict[str, Keyword] = {
    "type": _type,
    "bsonType": _bson_type,
    "enum": _enum,
    "minimum": _compile_bound("minimum", "exclusiveMinimum", 1),
    "exclusiveMinimum": _beside,
    "maximum": _compile_bound("maximum", "exclusiveMaximum", -1),
    "exclusiveMaximum": _beside,
    "multipleOf": _multiple_of,
    "minLength": _compile_size("minLength", "string", 1, len),
    "maxLength": _compile_size("maxLength", "string", -1, len),
    "pattern": _pattern,
    "minItems": _compile_size("minItems", "array", 1, len),
    "maxItems": _compile_size("maxItems", "array", -1, len),
    "uniqueItems": _unique_items,
    "items": _items,
    "additionalItems": _beside,
    "minProperties": _compile_size("minProperties", "object", 1, len),
    "maxProperties": _compile_size("maxProperties", "object", -1, len),
    "required": _required,
    "properties": _properties,
    "patternProperties": _beside,
    "additionalProperties": _beside,
    "dependencies": _dependencies,
    "allOf": _several("allOf", lambda fit, count: fit == count),
    "anyOf": _several("anyOf", lambda fit, _: fit > 0),
    "oneOf": _several("oneOf", lambda fit, _: fit == 1),
    "not": _not,
    "title": _remark("title"),
    "description": _remark("description"),
}
