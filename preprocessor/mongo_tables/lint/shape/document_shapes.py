"""Shapes of a collection's documents, from the documents or from the JSON Schema that describes them.

Documents are inspected only as deep as a pipeline reads: the fields of a sub-document are learnt on first access. In a
large collection, only a selection of documents is inspected, which has all kinds, fields and values. A schema adds
units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import Any, Final

from bson.code import Code

from mongo_tables.aggregation.values import NAMES_BY_CLASS, type_name
from mongo_tables.directives.schemas import load
from mongo_tables.lint.shape import units
from mongo_tables.lint.shape.values import (
    ANY_KIND,
    INTEGERS,
    NUMBERS,
    Fields,
    Kinds,
    LazyFields,
    Shape,
    Traits,
)

FEW: Final = 64
Schema = Mapping[str, Any]
_NO_SCHEMA: Final[Schema] = {}
_COUNTED: Final = (str, int, float)
"""The types whose distinct values are stored, as long as there are at most ``FEW``.

``Code`` is excluded, because this subclass of ``str`` is not hashable.
"""


class Meaning:
    """The meaning of the values at a path of documents, from a place in a schema and from the field's name."""

    __slots__ = ("_inner", "_root", "path", "schema", "sources", "unit")

    def __init__(self, path: str, schema: Schema = _NO_SCHEMA, root: Schema | None = None) -> None:
        self._root = schema if root is None else root
        self.path, self.sources = path, frozenset({path})
        self.schema = _resolve_reference(schema, self._root) if schema else _NO_SCHEMA
        written = self.schema.get("unit")
        if isinstance(written, str):
            found = units.readings(written)
            self.unit = found[-1] if found else None
        else:
            self.unit = units.of_field(path.rpartition(".")[2])
        self._inner: dict[str | None, Meaning] = {}

    def field(self, name: str) -> Meaning:
        """Return the meaning of a field of these values."""
        found = self._inner.get(name)
        if found is None:
            path = f"{self.path}.{name}" if self.path else name
            schema = self.schema.get("properties", _NO_SCHEMA).get(name, _NO_SCHEMA)
            found = self._inner[name] = Meaning(path, schema, self._root)
        return found

    def items(self) -> Meaning:
        """Return the meaning of the elements of these arrays."""
        found = self._inner.get(None)
        if found is None:
            schema = self.schema.get("items", _NO_SCHEMA)
            found = self._inner[None] = Meaning(self.path, schema, self._root)
        return found


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


@cache
def meaning_of_results() -> Meaning:
    """Return the meaning of the fields of benchmark results, from their JSON Schema."""
    return Meaning("", load("result"))


# -- from documents --


class _LearntFields(LazyFields):
    """The fields of many documents, each learnt on first access."""

    __slots__ = ("_documents", "_found", "_meaning")

    def __init__(self, documents: Sequence[Mapping[str, Any]], meaning: Meaning) -> None:
        self._names, self._documents, self._meaning = None, documents, meaning
        self._found: dict[str, Shape | None] = {}

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self._found:
            values = [one[name] for one in self._documents if name in one]
            missing = len(values) < len(self._documents)
            self._found[name] = learnt(values, self._meaning.field(name), missing) if values else None
        found = self._found[name]
        return default if found is None else found

    def _list(self) -> dict[str, None]:
        return dict.fromkeys(chain.from_iterable(self._documents))


def learnt(values: Sequence[Any], meaning: Meaning | None = None, missing: bool = False) -> Shape:
    """Return the shape of documents or other values, with exactly their kinds and fields.

    ``missing``: some documents have no such value.
    """
    meaning = Meaning("") if meaning is None else meaning
    types = set(map(type, values))
    known, kinds, several = True, set[str](), list[type]()
    for kind in types:
        known = known and kind is not Code and issubclass(kind, _COUNTED)
        if kind in NAMES_BY_CLASS:
            kinds.add(NAMES_BY_CLASS[kind])
        else:
            several.append(kind)
    if several == [int]:
        whole = [value for value in values if type(value) is int] if kinds else values
        ends = {type_name(min(whole)), type_name(max(whole))}
        if ends != {"long"}:  # Between two large numbers there may be small ones.
            kinds |= ends
            several = []
    for value in values if several else ():
        if type(value) not in NAMES_BY_CLASS:
            kinds.add(type_name(value))
    fields, items, is_open = _NO_SCHEMA, None, False
    if "object" in kinds:
        documents = values if types == {dict} else [value for value in values if isinstance(value, dict)]
        fields, is_open = _LearntFields(documents, meaning) if documents else _NO_SCHEMA, not documents
    if "array" in kinds:
        elements = [value for array in values if isinstance(array, list) for value in array]
        # If all arrays are empty, the elements are unknown, because later arrays may have some.
        items = learnt(elements, meaning.items()) if elements else None
    few = frozenset(values) if known else None
    if few and len(few) > FEW:
        few = None
    traits = Traits(meaning.path, meaning.sources, few, False, meaning.unit)
    return Shape(frozenset(kinds), missing, fields, is_open, items, traits)


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
    return _read_shape(Meaning("", schema), False)


def _read_shape(meaning: Meaning, missing: bool) -> Shape:
    names = meaning.schema.get("properties", _NO_SCHEMA)
    return Shape(
        _schema_kinds(meaning.schema),
        missing,
        Fields(lambda name: _read_shape(meaning.field(name), True) if name in names else None, lambda: names),
        True,
        _read_shape(meaning.items(), False) if "items" in meaning.schema else None,
        Traits(meaning.path, meaning.sources, unit=meaning.unit),
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


MANY: Final = 10_000
"""A collection with at most this many documents is inspected completely, because selecting would cost more than it
saves.
"""
Document = dict[str, Any]


def select_telling(documents: Iterable[Document]) -> list[Document]:
    """Return the documents, or, of a large collection, a selection that shows the same kinds, fields and values."""
    rest = iter(documents)
    first = list(islice(rest, MANY + 1))
    if len(first) <= MANY:
        return first
    known = _PathSummary()
    return [document for document in chain(first, rest) if known.learns(document)]


class _PathSummary:
    """What was seen at one path: kinds of values, some values, names of present and missing fields, elements."""

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
