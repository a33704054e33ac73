"""Where shapes come from: the documents of a collection, or the JSON Schema that describes them.

Documents are looked at no deeper than a pipeline reads: the fields of a sub-document are learnt when they are first
asked for. Of very many documents those are taken that show all kinds, fields and values. A schema adds units
everywhere; that a number is never 0 is taken from it only where the documents are such as it describes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final

from mongo_tables.aggregation.values import type_name
from mongo_tables.lint.shape import units
from mongo_tables.lint.shape.units import Unit
from mongo_tables.lint.shape.values import ANY_KIND, INTEGERS, NUMBERS, Kinds, Shape, Traits

FEW: Final = 64
Schema = Mapping[str, Any]
_NO_SCHEMA: Final[Schema] = {}
_ONE_KIND: Final = frozenset({str, float, bool, dict, list, type(None)})
"""Python types whose values are all of one kind; whole numbers are of two."""


def learnt(
    documents: Sequence[Mapping[str, Any]], schema: Schema | None = None, *, believed: bool = False
) -> Shape:
    """The shape that all the documents have: every kind and field of theirs, and no other.

    ``schema`` says what the fields mean; ``believed``: its lower bounds hold for later documents, too.
    """
    schema = schema or _NO_SCHEMA
    return _learnt(documents, "", _Meaning(schema, schema, believed))


class _Meaning:
    """A place in a schema: what it says of a value."""

    __slots__ = ("_believed", "_root", "schema")

    def __init__(self, schema: Schema, root: Schema, believed: bool) -> None:
        self._root, self._believed = root, believed
        self.schema = _resolve_reference(schema, root)

    def field(self, name: str) -> _Meaning:
        properties = self.schema.get("properties", _NO_SCHEMA)
        return _Meaning(properties.get(name, _NO_SCHEMA), self._root, self._believed)

    def items(self) -> _Meaning:
        return _Meaning(self.schema.get("items", _NO_SCHEMA), self._root, self._believed)

    def traits(self, path: str, known: frozenset[Any] | None) -> Traits:
        nonzero = self._believed and _is_positive(self.schema)
        unit = _unit(self.schema, path)
        return Traits(path, frozenset({path}), known, nonzero=nonzero, unit=unit)


def _is_positive(schema: Schema) -> bool:
    return bool(schema.get("minimum", 0) > 0 or schema.get("exclusiveMinimum", -1) >= 0)


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


# -- from documents --


class _Fields(Mapping[str, Shape]):
    """The fields of many documents, each learnt when it is asked for."""

    __slots__ = ("_documents", "_found", "_meaning", "_names", "_path")

    def __init__(self, documents: Sequence[Mapping[str, Any]], path: str, meaning: _Meaning) -> None:
        self._documents, self._path, self._meaning = documents, path, meaning
        self._names = dict.fromkeys(chain.from_iterable(documents))
        self._found: dict[str, Shape] = {}

    def __getitem__(self, name: str) -> Shape:
        if name not in self._found:
            if name not in self._names:
                raise KeyError(name)
            self._found[name] = self._learn(name)
        return self._found[name]

    def _learn(self, name: str) -> Shape:
        values = [one[name] for one in self._documents if name in one]
        path = f"{self._path}.{name}" if self._path else name
        missing = len(values) < len(self._documents)
        return _learnt(values, path, self._meaning.field(name), missing)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _learnt(values: Sequence[Any], path: str, meaning: _Meaning, missing: bool = False) -> Shape:
    kinds = _kinds(values)
    documents = [value for value in values if isinstance(value, dict)] if "object" in kinds else []
    return Shape(
        kinds,
        missing,
        _Fields(documents, path, meaning) if documents else {},
        "object" in kinds and not documents,
        _elements(
            [value for value in values if isinstance(value, list)] if "array" in kinds else (), path, meaning
        ),
        meaning.traits(path, _few(values)),
    )


def _kinds(values: Sequence[Any]) -> Kinds:
    """The kinds of many values: those of one Python type have mostly one, which is looked up once."""
    by_type = dict(zip(map(type, values), values, strict=True))
    known = frozenset(type_name(value) for kind, value in by_type.items() if kind in _ONE_KIND)
    if by_type.keys() - _ONE_KIND == {int}:
        whole = [value for value in values if type(value) is int]
        ends = frozenset({type_name(min(whole)), type_name(max(whole))})
        if ends != {"long"}:  # Between two large ones there may be small ones.
            return known | ends
    return known.union(type_name(value) for value in values if type(value) not in _ONE_KIND)


def _elements(arrays: Sequence[Sequence[Any]], path: str, meaning: _Meaning) -> Shape | None:
    """The shape of the arrays' elements; None when all arrays are empty, because later ones may not be."""
    values = [value for array in arrays for value in array]
    return _learnt(values, path, meaning.items()) if values else None


def _few(values: Sequence[Any]) -> frozenset[Any] | None:
    """The distinct values, when they are few and all numbers or texts; None otherwise."""
    if not all(issubclass(kind, (str, int, float)) for kind in set(map(type, values))):
        return None
    distinct = frozenset(values)
    return distinct if len(distinct) <= FEW else None


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
    """The shape of the documents that a schema describes. Documents may have other fields as well."""
    return _read_shape(_Meaning(schema, schema, False), "", False)


class _Properties(Mapping[str, Shape]):
    """The fields that a schema names, each read when it is asked for."""

    __slots__ = ("_found", "_meaning", "_names", "_path")

    def __init__(self, meaning: _Meaning, path: str) -> None:
        self._meaning, self._path = meaning, path
        self._names = meaning.schema.get("properties", _NO_SCHEMA)
        self._found: dict[str, Shape] = {}

    def __getitem__(self, name: str) -> Shape:
        if name not in self._found:
            if name not in self._names:
                raise KeyError(name)
            path = f"{self._path}.{name}" if self._path else name
            self._found[name] = _read_shape(self._meaning.field(name), path, True)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _read_shape(meaning: _Meaning, path: str, missing: bool) -> Shape:
    schema = meaning.schema
    return Shape(
        _schema_kinds(schema),
        missing,
        _Properties(meaning, path),
        True,
        _read_shape(meaning.items(), path, False) if "items" in schema else None,
        meaning.traits(path, None),
    )


def _schema_kinds(schema: Schema) -> Kinds:
    """The kinds that a schema allows. It describes Extended JSON: whole numbers and dates are documents there."""
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
"""Up to so many documents all are taken: to look into each costs more than to keep them."""
Document = dict[str, Any]


def select_telling(documents: Iterable[Document]) -> list[Document]:
    """The documents, or, of a large collection, a selection that shows the same kinds, fields and values."""
    rest = iter(documents)
    first = list(islice(rest, _MANY + 1))
    return first if len(first) <= _MANY else list(_new(chain(first, rest)))


def _new(documents: Iterable[Document]) -> Iterator[Document]:
    known = _Place()
    return (document for document in documents if known.learns(document))


class _Place:
    """What was seen at one path: kinds of values, some values, names of fields and which were missing, elements."""

    __slots__ = ("_elements", "_fields", "_kinds", "_missing", "_values")

    def __init__(self) -> None:
        self._kinds: set[type] = set()
        self._values: set[Any] = set()
        self._fields: dict[str, _Place] = {}
        self._missing: set[str] = set()
        self._elements: _Place | None = None

    def learns(self, value: Any) -> bool:
        """Take a value in; whether it shows anything that none before it did."""
        kind = type(value)
        new = kind not in self._kinds
        self._kinds.add(kind)
        if isinstance(value, (str, int, float)):
            if len(self._values) <= FEW and value not in self._values:
                self._values.add(value)
                return True
        elif isinstance(value, dict):
            return self._learns_fields(value) or new
        elif kind is list:
            self._elements = self._elements or _Place()
            for item in value:
                new = self._elements.learns(item) or new
        return new

    def _learns_fields(self, document: Mapping[str, Any]) -> bool:
        new = False
        for name, value in document.items():
            if name not in self._fields:
                self._fields[name] = _Place()
                new = True
            new = self._fields[name].learns(value) or new
        if len(document) < len(self._fields):
            missing = self._fields.keys() - document.keys() - self._missing
            self._missing |= missing
            new = bool(missing) or new
        return new
