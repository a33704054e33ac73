"""Shapes of a collection's documents, from the documents or from the JSON Schema that describes them.

Documents are inspected only as deep as a pipeline reads: the fields of a sub-document are learnt on first access. Of a
large collection, a selection that shows all kinds, fields and values is inspected. A schema adds units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import Any, Final

from bson.code import Code

from mongo_tables.aggregation.values import type_name
from mongo_tables.directives.schemas import load
from mongo_tables.lint.shape import units
from mongo_tables.lint.shape.units import Unit
from mongo_tables.lint.shape.values import ANY_KIND, INTEGERS, NUMBERS, Fields, Kinds, Shape, Traits

FEW: Final = 64
Schema = Mapping[str, Any]
_NO_SCHEMA: Final[Schema] = {}
_ONE_TYPE: Final = frozenset({str, float, bool, dict, list, type(None)})
"""Python types whose values are all of one kind; whole numbers have two kinds."""
_COUNTED: Final = (str, int, float)
"""Types of values that are remembered if they are few; ``Code`` is a string, and has no hash."""
_ONE_KIND: Final[Mapping[type, Kinds]] = {
    str: frozenset({"string"}),
    float: frozenset({"double"}),
    bool: frozenset({"bool"}),
    type(None): frozenset({"null"}),
}
"""The kinds of values without fields or elements, by type."""


def learnt(documents: Sequence[Mapping[str, Any]], schema: Schema | None = None) -> Shape:
    """Return the shape that all the documents have: exactly their kinds and fields, which ``schema`` describes."""
    return _learnt(documents, _results() if schema is load("result") else _Meaning("", schema or _NO_SCHEMA))


class _Meaning:
    """A place in a schema: its description of the values at a path of documents."""

    __slots__ = ("_inner", "_root", "_sources", "_unit", "path", "schema")

    def __init__(self, path: str, schema: Schema, root: Schema | None = None) -> None:
        self._root = root if root is not None else schema
        self.path, self.schema = path, _resolve_reference(schema, self._root)
        self._sources = frozenset({path})
        self._unit = _unit(self.schema, path)
        self._inner: dict[str | None, _Meaning] = {}

    def field(self, name: str) -> _Meaning:
        found = self._inner.get(name)
        if found is None:
            path = f"{self.path}.{name}" if self.path else name
            schema = self.schema.get("properties", _NO_SCHEMA).get(name, _NO_SCHEMA)
            found = self._inner[name] = _Meaning(path, schema, self._root)
        return found

    def items(self) -> _Meaning:
        found = self._inner.get(None)
        if found is None:
            schema = self.schema.get("items", _NO_SCHEMA)
            found = self._inner[None] = _Meaning(self.path, schema, self._root)
        return found

    def traits(self, known: frozenset[Any] | None) -> Traits:
        return Traits(self.path, self._sources, known, unit=self._unit)


def _resolve_reference(schema: Any, root: Schema) -> Schema:
    for _ in range(8):
        if not isinstance(schema, Mapping):
            return _NO_SCHEMA
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        target: Any = root
        for part in reference[2:].split("/"):
            target = target.get(part, _NO_SCHEMA)
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema if isinstance(schema, Mapping) else _NO_SCHEMA


def _unit(schema: Schema, path: str) -> Unit | None:
    written = schema.get("unit")
    if isinstance(written, str):
        found = units.readings(written)
        return found[-1] if found else None
    return units.of_field(path.rpartition(".")[2])


@cache
def _results() -> _Meaning:
    """Return the description in the schema of results, read once for all collections."""
    return _Meaning("", load("result"))


# -- from documents --


def _fields(documents: Sequence[Mapping[str, Any]], meaning: _Meaning) -> Fields:
    """Return the fields of many documents, each learnt on first access."""

    def find(name: str) -> Shape | None:
        values = [one[name] for one in documents if name in one]
        return _learnt(values, meaning.field(name), len(values) < len(documents)) if values else None

    return Fields(find, lambda: chain.from_iterable(documents))


def _learnt(values: Sequence[Any], meaning: _Meaning, missing: bool = False) -> Shape:
    by_type = dict(zip(map(type, values), values, strict=True))
    counted = all(issubclass(kind, _COUNTED) and kind is not Code for kind in by_type)
    known = frozenset(values) if counted else None
    if known and len(known) > FEW:
        known = None
    if len(by_type) == 1 and (kinds := _ONE_KIND.get(next(iter(by_type)))) is not None:
        return Shape(kinds, missing, _NO_SCHEMA, False, None, meaning.traits(known))
    kinds = _kinds(values, by_type)
    documents = [value for value in values if isinstance(value, dict)] if "object" in kinds else []
    return Shape(
        kinds,
        missing,
        _fields(documents, meaning) if documents else _NO_SCHEMA,
        "object" in kinds and not documents,
        _elements([value for value in values if isinstance(value, list)], meaning)
        if "array" in kinds
        else None,
        meaning.traits(known),
    )


def _kinds(values: Sequence[Any], by_type: Mapping[type, Any]) -> Kinds:
    """Return the kinds of many values. Most Python types have only one kind, which is looked up once."""
    known = frozenset(type_name(value) for kind, value in by_type.items() if kind in _ONE_TYPE)
    if by_type.keys() - _ONE_TYPE == {int}:
        whole = [value for value in values if type(value) is int]
        ends = frozenset({type_name(min(whole)), type_name(max(whole))})
        if ends != {"long"}:  # Between two large numbers there may be small ones.
            return known | ends
    return known.union(type_name(value) for value in values if type(value) not in _ONE_TYPE)


def _elements(arrays: Sequence[Sequence[Any]], meaning: _Meaning) -> Shape | None:
    """Return the shape of the arrays' elements, or None if all arrays are empty, because later ones may not be."""
    values = [value for array in arrays for value in array]
    return _learnt(values, meaning.items()) if values else None


# -- from a schema --

_KINDS: Final = {
    "integer": INTEGERS,
    "number": NUMBERS,
    "string": frozenset({"string"}),
    "boolean": frozenset({"bool"}),
    "null": frozenset({"null"}),
    "object": frozenset({"object"}),
    "array": frozenset({"array"}),
}


def read_schema_shape(schema: Schema) -> Shape:
    """Return the shape of the documents that a schema describes. Documents may have other fields as well."""
    return _read_shape(_Meaning("", schema), False)


def _read_shape(meaning: _Meaning, missing: bool) -> Shape:
    names = meaning.schema.get("properties", _NO_SCHEMA)
    return Shape(
        _schema_kinds(meaning.schema),
        missing,
        Fields(lambda name: _read_shape(meaning.field(name), True) if name in names else None, lambda: names),
        True,
        _read_shape(meaning.items(), False) if "items" in meaning.schema else None,
        meaning.traits(None),
    )


def _schema_kinds(schema: Schema) -> Kinds:
    """Return the kinds that a schema allows. In Extended JSON whole numbers and dates are documents."""
    parts = schema.get("allOf", ())
    if len(parts) == 1:
        return _EXTENDED.get(parts[0].get("$ref", ""), ANY_KIND)
    named = schema.get("type", ())
    names = [named] if isinstance(named, str) else named
    if not names or "anyOf" in schema:
        return ANY_KIND
    return frozenset[str]().union(*(_KINDS.get(name, ANY_KIND) for name in names))


_EXTENDED: Final[Mapping[str, Kinds]] = {
    "#/definitions/whole": INTEGERS,
    "#/definitions/date": frozenset({"date"}),
}


_MANY: Final = 10_000
"""The number of documents up to which all are inspected: selecting would cost more than it saves."""
Document = dict[str, Any]


def select_telling(documents: Iterable[Document]) -> list[Document]:
    """Return the documents, or, of a large collection, a selection that shows the same kinds, fields and values."""
    rest = iter(documents)
    first = list(islice(rest, _MANY + 1))
    return first if len(first) <= _MANY else list(_new(chain(first, rest)))


def _new(documents: Iterable[Document]) -> Iterator[Document]:
    known = _PathSummary()
    return (document for document in documents if known.learns(document))


class _PathSummary:
    """What was seen at one path: kinds of values, some values, names of fields and missing ones, elements."""

    __slots__ = ("_elements", "_fields", "_kinds", "_missing", "_values")

    def __init__(self) -> None:
        self._kinds: set[type] = set()
        self._values: set[Any] = set()
        self._fields: dict[str, _PathSummary] = {}
        self._missing: set[str] = set()
        self._elements: _PathSummary | None = None

    def learns(self, value: Any) -> bool:
        """Record a value and return whether it shows anything new."""
        kind = type(value)
        new = kind not in self._kinds
        self._kinds.add(kind)
        if isinstance(value, _COUNTED) and kind is not Code:
            if len(self._values) <= FEW and value not in self._values:
                self._values.add(value)
                return True
        elif isinstance(value, dict):
            return self._learns_fields(value) or new
        elif kind is list:
            self._elements = self._elements or _PathSummary()
            for item in value:
                new = self._elements.learns(item) or new
        return new

    def _learns_fields(self, document: Mapping[str, Any]) -> bool:
        new = False
        for name, value in document.items():
            if name not in self._fields:
                self._fields[name] = _PathSummary()
                new = True
            new = self._fields[name].learns(value) or new
        if len(document) < len(self._fields):
            missing = self._fields.keys() - document.keys() - self._missing
            self._missing |= missing
            new = bool(missing) or new
        return new
