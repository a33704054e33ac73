"""Shapes: a small lattice of immutable descriptions of what a value can look like.

A shape holds the possible BSON kinds (names as in ``$type``), whether the value may be missing, the known fields of
documents and elements of arrays, and traits: facts about meaning. ``join`` returns the shape of a value that has one of
two shapes; ``lookup`` follows a dotted path as an expression does, through arrays; ``with_fields``, ``keep_fields`` and
``without_fields`` do to shapes what ``$set``, ``$project`` and ``$unset`` do to documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from mongo_tables.lint.shape.units import Unit, of_field

Kinds = frozenset[str]
Parts = tuple[str, ...]

NUMBERS: Final[Kinds] = frozenset({"int", "long", "double", "decimal"})
INTEGERS: Final[Kinds] = frozenset({"int", "long"})
NULL: Final[Kinds] = frozenset({"null"})
OBJECT: Final[Kinds] = frozenset({"object"})
ARRAY: Final[Kinds] = frozenset({"array"})
STRING: Final[Kinds] = frozenset({"string"})
BOOL: Final[Kinds] = frozenset({"bool"})
ANY_KIND: Final[Kinds] = (
    NUMBERS
    | NULL
    | OBJECT
    | ARRAY
    | STRING
    | BOOL
    | {"date", "timestamp", "objectId", "binData", "regex", "minKey", "maxKey"}
    | {"javascript", "javascriptWithScope", "undefined", "symbol", "dbPointer"}
)
"""All kinds: nothing is known."""


_NEARLY_ALL: Final = len(ANY_KIND) - 4


class Traits(NamedTuple):
    """Facts about a value other than its kind.

    ``path``: the field of the collection's documents from which the value is copied unchanged. ``sources``: the fields
    from which it is computed. ``known``: the field's distinct values in all documents, if they are few. ``rounded``:
    the pipeline rounds the value.
    """

    path: str | None = None
    sources: frozenset[str] = frozenset()
    known: frozenset[Any] | None = None
    rounded: bool = False
    unit: Unit | None = None


PLAIN: Final = Traits()


_NO_FIELDS: Final[Mapping[str, Any]] = MappingProxyType({})


class Shape(NamedTuple):
    """A description of what a value can look like.

    ``fields``: the known fields of a document; ``open``: whether it may have others. ``items``: the shape of the
    elements of an array, None if unknown. If ``missing`` is the only kind, the value never exists.
    """

    kinds: Kinds
    missing: bool = False
    fields: Mapping[str, Shape] = _NO_FIELDS
    open: bool = True
    items: Shape | None = None
    traits: Traits = PLAIN

    @property
    def absent(self) -> bool:
        """Whether no document has the value."""
        return not self.kinds

    @property
    def nullish(self) -> bool:
        """Whether the value may be null or missing."""
        return self.missing or "null" in self.kinds

    @property
    def unknown(self) -> bool:
        """Whether almost nothing is known about the value's kind."""
        return len(self.kinds) >= _NEARLY_ALL

    @property
    def opaque(self) -> bool:
        """Whether neither the content nor the origin of the value is known."""
        whole = self.kinds == ANY_KIND and self.open and self.fields is _NO_FIELDS and self.items is None
        return whole and self.traits.path is None and not self.traits.sources


class LazyFields(Mapping[str, Shape]):
    """Fields that a subclass infers on access (``get``), and whose names it lists on demand (``_list``).

    A subclass sets ``_names`` to None, which means that the names are not listed yet.
    """

    __slots__ = ("_names",)
    _names: dict[str, None] | None

    def _list(self) -> dict[str, None]:
        raise NotImplementedError

    def _listed(self) -> dict[str, None]:
        if self._names is None:
            self._names = self._list()
        return self._names

    def __getitem__(self, name: str) -> Shape:
        found: Shape | None = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._listed()

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed())

    def __len__(self) -> int:
        return len(self._listed())


class Fields(LazyFields):
    """Fields of documents, each inferred on first access."""

    __slots__ = ("_all", "_find", "_found")

    def __init__(self, find: Callable[[str], Shape | None], names: Callable[[], Iterable[str]]) -> None:
        self._names, self._find, self._all = None, find, names
        self._found: dict[str, Shape | None] = {}

    def get(self, name: str, default: Any = None) -> Any:
        """Return the shape of a field, or ``default`` if no document has it."""
        if name in self._found:
            found = self._found[name]
        else:
            found = self._found[name] = self._find(name)
        return default if found is None else found

    def _list(self) -> dict[str, None]:
        return dict.fromkeys(self._all())


class ChangedFields(LazyFields):
    """The fields ``before``, without ``dropped`` and with ``made``, which replace fields of the same name or follow
    them.
    """

    __slots__ = ("_before", "_dropped", "_made")
    _before: Mapping[str, Shape]
    _made: Mapping[str, Shape]
    _dropped: frozenset[str]

    def __init__(
        self, before: Mapping[str, Shape], made: Mapping[str, Shape], dropped: Iterable[str] = ()
    ) -> None:
        gone = frozenset(dropped)
        if gone:
            made = {name: one for name, one in made.items() if name not in gone}
        if isinstance(before, ChangedFields):
            # Changes are merged, so that many stages do not make look-ups slow.
            made = {**{name: one for name, one in before._made.items() if name not in gone}, **made}
            gone |= before._dropped
            before = before._before
        self._names, self._before, self._made, self._dropped = None, before, made, gone

    def get(self, name: str, default: Any = None) -> Any:
        """Return the shape of a field, or ``default`` if no document has it."""
        found = self._made.get(name)
        if found is not None:
            return found
        return default if name in self._dropped else self._before.get(name, default)

    def _list(self) -> dict[str, None]:
        kept = (name for name in self._before if name not in self._dropped)
        return dict.fromkeys((*kept, *self._made))


ANY: Final = Shape(ANY_KIND, missing=True)
PRESENT: Final = Shape(ANY_KIND)
MISSING: Final = Shape(frozenset(), missing=True)
NOTHING: Final = Shape(frozenset())
"""The shape of no value at all, such as an element of an empty array. ``join`` with it returns the other shape."""


def of_kinds(*kinds: Iterable[str]) -> Shape:
    """Return the shape of a value of one of the kinds, never missing."""
    return Shape(frozenset().union(*kinds))


def document(fields: Mapping[str, Shape], *, is_open: bool = False) -> Shape:
    """Return the shape of a document with these fields, and perhaps with others."""
    return Shape(OBJECT, fields=fields, open=is_open)


def array(items: Shape | None, traits: Traits = PLAIN) -> Shape:
    """Return the shape of an array of such elements. A missing element is stored as null."""
    return Shape(ARRAY, items=None if items is None else fill_missing(items), traits=traits)


def unknown_documents() -> Shape:
    """Return the shape of a collection of which nothing is known: every field may exist, with any value."""
    return Shape(OBJECT, traits=Traits(path=""))


def with_kinds(shape: Shape, kinds: Kinds, missing: bool) -> Shape:
    """Return the shape with other kinds."""
    return Shape(kinds, missing, shape.fields, shape.open, shape.items, shape.traits)


def fill_missing(shape: Shape) -> Shape:
    """Return the shape with null in place of missing."""
    return with_kinds(shape, shape.kinds | NULL, False) if shape.missing else shape


def present(shape: Shape) -> Shape:
    """Return the shape of the value if it is not missing."""
    return with_kinds(shape, shape.kinds, False) if shape.missing else shape


def only(shape: Shape, kinds: Kinds) -> Shape:
    """Return the shape of a value that has one of ``kinds`` and is not missing."""
    return with_kinds(shape, shape.kinds & kinds, False)


def without(shape: Shape, *kinds: str) -> Shape:
    """Return the shape of a value that has none of ``kinds``. ``missing`` counts as a kind."""
    missing = shape.missing and "missing" not in kinds
    if missing == shape.missing and shape.kinds.isdisjoint(kinds):
        return shape
    return with_kinds(shape, shape.kinds.difference(kinds), missing)


def with_traits(shape: Shape, **traits: Any) -> Shape:
    """Return the shape with other traits."""
    return shape._replace(traits=shape.traits._replace(**traits))


def join(one: Shape, other: Shape) -> Shape:
    """Return the shape of a value that has one shape or the other."""
    if one is other or other is NOTHING:
        return one
    if one is NOTHING:
        return other
    kinds, missing = one.kinds | other.kinds, one.missing or other.missing
    fields, is_open, items = other.fields, other.open, other.items
    if "object" in one.kinds:
        fields, is_open = _join_fields(one, other)
    if "array" in one.kinds:
        items = _join_items(one, other)
    traits = one.traits if one.traits is other.traits else _join_traits(one, other)
    return Shape(kinds, missing, fields, is_open, items, traits)


def join_all(shapes: Iterable[Shape]) -> Shape:
    """Return the join of any number of shapes, or ``NOTHING`` for none."""
    joined = NOTHING
    for shape in shapes:
        joined = join(joined, shape)
    return joined


def _join_fields(one: Shape, other: Shape) -> tuple[Mapping[str, Shape], bool]:
    if "object" not in other.kinds or one.fields is other.fields:
        return one.fields, one.open or ("object" in other.kinds and other.open)
    if not one.fields and not other.fields:
        return _NO_FIELDS, one.open or other.open

    def find(name: str) -> Shape | None:
        if name not in one.fields and name not in other.fields:
            return None
        return join(member(one, name), member(other, name))

    return Fields(find, lambda: (*one.fields, *other.fields)), one.open or other.open


def _join_items(one: Shape, other: Shape) -> Shape | None:
    if "array" not in other.kinds:
        return one.items
    return None if one.items is None or other.items is None else join(one.items, other.items)


def _join_traits(one: Shape, other: Shape) -> Traits:
    """Return the facts that hold for both shapes. A shape that is always null or missing does not restrict them."""
    first, second = one.traits, other.traits
    if one.kinds <= NULL:
        return _with_gaps(second, first.sources, "null" in one.kinds)
    if other.kinds <= NULL:
        return _with_gaps(first, second.sources, "null" in other.kinds)
    return Traits(
        first.path if first.path == second.path else None,
        first.sources | second.sources,
        None if first.known is None or second.known is None else first.known | second.known,
        first.rounded and second.rounded,
        first.unit if first.unit == second.unit else None,
    )


def _with_gaps(traits: Traits, sources: frozenset[str], nulls: bool) -> Traits:
    """Return the facts about a value that may also be missing or, with ``nulls``, null.

    A value that may be null is not an unchanged field.
    """
    if not sources and not nulls:
        return traits
    path = None if nulls else traits.path
    return Traits(path, traits.sources | sources, traits.known, traits.rounded, traits.unit)


def member(shape: Shape, name: str) -> Shape:
    """Return the field ``name`` of a value if it is a document."""
    found = shape.fields.get(name)
    if found is not None:
        return found
    if not shape.open:
        return MISSING
    path = shape.traits.path
    if path is None:
        return ANY
    own = f"{path}.{name}" if path else name
    return Shape(ANY_KIND, True, traits=Traits(own, frozenset({own}), unit=of_field(name)))


def lookup(shape: Shape, parts: Parts) -> Shape:
    """Return the value at a path as an expression reads it: an array on the path gives an array of its elements'
    values.
    """
    for depth, name in enumerate(parts):
        if shape.missing or shape.kinds != OBJECT:
            parts = parts[depth:]
            break
        shape = member(shape, name)
    else:
        return shape
    if shape.opaque:
        return ANY
    found = NOTHING
    if "object" in shape.kinds:
        found = lookup(member(shape, parts[0]), parts[1:])
    if "array" in shape.kinds:
        found = join(found, array(_inside(shape, parts), _inner_traits(shape, parts)))
    if shape.missing or shape.kinds - _NESTING:
        found = join(found, MISSING)
    return found


def column_shape(rows: Shape, name: str) -> Shape:
    """Return the shape of a table's column: the field with exactly this name, else the value at the dotted path."""
    return rows.fields.get(name) or lookup(rows, tuple(name.split(".")))


_NESTING: Final = OBJECT | ARRAY


def _inside(shape: Shape, parts: Parts) -> Shape | None:
    """Return the values at ``parts`` of the elements that are documents, or None if the elements are unknown."""
    if shape.items is None or not shape.items.kinds:
        return None
    if "object" not in shape.items.kinds:
        return NOTHING
    return present(lookup(only(shape.items, OBJECT), parts))


def _inner_traits(shape: Shape, parts: Parts) -> Traits:
    path = shape.traits.path
    if path is None:
        return Traits(sources=shape.traits.sources)
    own = ".".join((path, *parts))
    return Traits(path=own, sources=frozenset({own}))


def elements(shape: Shape) -> Shape:
    """Return the shape of an array's elements, or anything if it is unknown."""
    if "array" not in shape.kinds:
        return NOTHING
    return PRESENT if shape.items is None else shape.items


Tree: TypeAlias = "dict[str, Shape | Tree | bool]"
"""For each field name: its new shape, the tree of the fields below it, or True if the field is included unchanged."""


def plant_leaf(tree: Tree, parts: Parts, leaf: Any) -> None:
    """Put ``leaf`` into the tree at a dotted path."""
    for name in parts[:-1]:
        below = tree.setdefault(name, {})
        if not isinstance(below, dict):
            return
        tree = below
    tree[parts[-1]] = leaf


def with_fields(shape: Shape, tree: Tree) -> Shape:
    """Return the value with the tree's fields set, in every document of an array. Other values become a document."""
    found = NOTHING
    if "array" in shape.kinds:
        inner = None if shape.items is None else with_fields(shape.items, tree)
        found = Shape(ARRAY, items=inner, traits=Traits(sources=shape.traits.sources))
    if shape.kinds - ARRAY or shape.missing:
        found = join(found, _document_with(shape, tree))
    return found


def _document_with(shape: Shape, tree: Tree) -> Shape:
    is_document = "object" in shape.kinds
    fresh = bool(shape.missing or shape.kinds - OBJECT - ARRAY)
    made: dict[str, Shape] = {}
    for name, leaf in tree.items():
        if isinstance(leaf, dict):
            before = member(shape, name) if is_document else MISSING
            made[name] = with_fields(join(before, MISSING) if fresh else before, leaf)
        elif isinstance(leaf, Shape):
            made[name] = leaf
    fields = ChangedFields(_fields_before(shape, fresh), made)
    return Shape(OBJECT, False, fields, is_document and shape.open, None, shape.traits)


def _fields_before(shape: Shape, fresh: bool) -> Mapping[str, Shape]:
    """Return the fields of a document before a change. If the change may have created the document (``fresh``), every
    field may be missing.
    """
    fields = shape.fields if "object" in shape.kinds else {}
    if not fresh or not fields:
        return fields

    def find(name: str) -> Shape | None:
        found = fields.get(name)
        return None if found is None else found._replace(missing=True)

    return Fields(find, lambda: fields)


def keep_fields(shape: Shape, tree: Tree, computes: bool) -> Shape:
    """Return the value with only the named fields of its documents. Other values become missing.

    ``computes``: the projection also computes fields.
    """
    found = MISSING if shape.missing or shape.kinds - OBJECT - ARRAY else NOTHING
    if "object" in shape.kinds:
        kept: dict[str, Shape] = {}
        for name, leaf in tree.items():
            field = member(shape, name)
            if isinstance(leaf, dict):
                field = keep_fields(field, leaf, computes)
            if field.kinds:
                kept[name] = field
        documents = Shape(OBJECT, False, kept, False, None, shape.traits)
        found = join(found, documents) if found.missing else documents
    if "array" in shape.kinds:
        inner = None if shape.items is None else keep_fields(shape.items, tree, computes)
        dropped = inner if computes or inner is None else present(inner)
        found = join(found, Shape(ARRAY, items=dropped))
    return found


def without_fields(shape: Shape, tree: Tree) -> Shape:
    """Return the value with the named fields of its documents removed. Other values stay."""
    fields: Mapping[str, Shape] = shape.fields
    items = shape.items
    if "object" in shape.kinds:
        made: dict[str, Shape] = {}
        for name, leaf in tree.items():
            field = member(shape, name)
            made[name] = without_fields(field, leaf) if isinstance(leaf, dict) else MISSING
        gone = () if shape.open else [name for name, one in made.items() if one.absent]
        fields = ChangedFields(shape.fields, made, gone)
    if "array" in shape.kinds and items is not None:
        items = without_fields(items, tree)
    return shape._replace(fields=fields, items=items)


def replace_at(shape: Shape, parts: Parts, value: Shape) -> Shape:
    """Return the document with ``value`` at a path. A value on the way that is not a document is replaced by one."""
    if not parts:
        return value
    is_document = "object" in shape.kinds
    fresh = bool(shape.missing or shape.kinds - OBJECT)
    before = member(shape, parts[0]) if is_document else MISSING
    made = {parts[0]: replace_at(join(before, MISSING) if fresh else before, parts[1:], value)}
    fields = ChangedFields(_fields_before(shape, fresh), made)
    return Shape(OBJECT, False, fields, is_document and shape.open, None, shape.traits)


def through_documents(shape: Shape, parts: Parts) -> Shape:
    """Return the value at a path through documents only, or missing if any other value is on the way."""
    for name in parts:
        if "object" not in shape.kinds:
            return MISSING
        inner = member(shape, name)
        uncertain = shape.missing or shape.kinds - OBJECT
        shape = join(inner, MISSING) if uncertain else inner
    return shape
