"""The flow of a pipeline: the shapes of documents before and after every stage, and what its expressions read.

Each stage is read once, even if several pipelines have it. The shapes after a stage follow from its record
(``aggregation.fields``), or from a function that is registered here. If a ``$match`` requires that a field exists, or
is not null, this is known of all later documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import mongo_tables.lint.shape.operators  # noqa: F401  # registers the shapes of operators
from mongo_tables.aggregation.catalogue import names_with, register
from mongo_tables.aggregation.fields import NO_EXPRESSION, WHOLE, Gives, effect_of, record_of
from mongo_tables.aggregation.uses import Use, list_uses_in_stage
from mongo_tables.files.memo import Memo
from mongo_tables.lint.shape.expressions import (
    Around,
    Infer,
    Path,
    UsePlace,
    Visits,
    Walk,
    after,
    always,
    find_present,
    read,
)
from mongo_tables.lint.shape.values import (
    ANY_KIND,
    ARRAY,
    INTEGERS,
    MISSING,
    NULL,
    NUMBERS,
    OBJECT,
    PRESENT,
    ChangedFields,
    Kinds,
    Parts,
    Shape,
    Traits,
    Tree,
    array,
    document,
    elements,
    fill_missing,
    join,
    join_all,
    keep_fields,
    member,
    of_kinds,
    only,
    plant_leaf,
    replace_at,
    through_documents,
    with_fields,
    without,
    without_fields,
)


def _list_settled(condition: Any) -> Iterator[tuple[Parts, Kinds]]:
    """Yield the paths in a query, in text order, each with the kinds that no matching document has there."""
    for key, value in _items(condition):
        if key == "$and" and isinstance(value, (list, tuple)):
            for part in value:
                yield from _list_settled(part)
        elif key == "$expr":
            for text in find_present(value, True):
                if not text.startswith("$$"):
                    yield tuple(text[1:].split(".")), _NULLISH
        elif not key.startswith("$"):
            parts = tuple(key.split("."))
            comparisons = value if isinstance(value, dict) else {"$eq": value}
            for name, operand in comparisons.items():
                is_constant = isinstance(operand, (str, int, float, datetime))
                if name == "$exists" and operand is True:
                    yield parts, _MISSING
                elif (name == "$ne" and operand is None) or (name in _COMPARING and is_constant):
                    yield parts, _NULLISH


def _items(argument: Any) -> list[tuple[str, Any]]:
    return list(argument.items()) if isinstance(argument, dict) else []


_MISSING: Final[Kinds] = frozenset({"missing"})
_NULLISH: Final = NULL | _MISSING
_COMPARING: Final = names_with("compares", "query") | {"$eq"}


def _without_at(shape: Shape, parts: Parts, kinds: Kinds) -> Shape:
    """Return the shape of the document if the field at ``parts`` has none of these kinds.

    An array on the path is neither null nor missing, regardless of its elements.
    """
    if not parts:
        return without(shape, *kinds)
    if "object" not in shape.kinds:
        return shape
    before = member(shape, parts[0])
    inner = _without_at(before, parts[1:], kinds)
    if inner is before and not shape.missing and shape.kinds <= OBJECT | ARRAY:
        return shape
    fields = ChangedFields(shape.fields, {parts[0]: inner})
    return shape._replace(kinds=shape.kinds & (OBJECT | ARRAY), missing=False, fields=fields)


_STAGES: Final[dict[str, Callable[[Any, Around], Infer]]] = {}
UNKNOWN: Final = Shape(OBJECT)
"""A document with any fields of unknown origin."""


stage = partial(register, _STAGES)
"""Registers the reader of a stage: ``(argument, around) -> Infer``, the shape of the documents after it."""


def read_stage(name: str, argument: Any, around: Around) -> Infer:
    """Return the function that infers the shape of the documents after a stage from the documents before it."""
    if name in _STAGES:
        return _STAGES[name](argument, around)
    record, effect = record_of(name), effect_of(name, argument)
    by_document = record is not None and record.gives is Gives.EACH
    if record is None or (effect.only and not by_document) or WHOLE in effect.reads:
        return always(UNKNOWN)
    adds = record.adds
    kept: Tree = {}
    dropped: Tree = {}
    made: list[tuple[Parts, Infer]] = []
    for field in effect.fields:
        if field.becomes != "made":
            plant_leaf(kept if field.becomes == "kept" else dropped, field.parts, True)
        elif by_document and field.place is not None and field.expression is not NO_EXPRESSION:
            made.append((field.parts, read(field.expression, around.at(*field.place))))
        else:
            made.append((field.parts, always(Shape(ANY_KIND, missing=True))))

    def infer(walk: Walk) -> Shape:
        documents = without_fields(walk.root, dropped) if dropped else walk.root
        if effect.only:
            documents = keep_fields(documents, kept, bool(made))
        if made:
            tree: Tree = {}
            for parts, value in made:
                plant_leaf(tree, parts, value(walk))
            documents = with_fields(documents, tree)
        return join(documents, UNKNOWN) if adds else documents

    return infer


@stage("$match")
def _match(argument: Any, around: Around) -> Infer:
    computes = isinstance(argument, dict) and "$expr" in argument
    conditions = [read(argument["$expr"], around.at("$expr").guard())] if computes else []
    settled = [*_list_settled(argument)]

    def infer(walk: Walk) -> Shape:
        for condition in conditions:
            condition(walk)
        shape = walk.root
        for parts, kinds in settled:
            shape = _without_at(shape, parts, kinds)
        return shape

    return infer


@stage("$group")
def _group(argument: Any, around: Around) -> Infer:
    key = read(argument["_id"], around.at("_id"))
    fields = _read_accumulators({name: one for name, one in argument.items() if name != "_id"}, around)

    def infer(walk: Walk) -> Shape:
        return document({"_id": _key(key(walk)), **{name: one(walk) for name, one in fields.items()}})

    return infer


def _key(shape: Shape) -> Shape:
    """Return the shape of a group's key. Null replaces missing, also in the only field of a document.

    If the key is written as a document of one field, a server groups by the value of that field.
    """
    if len(shape.fields) == 1:
        ((name, field),) = shape.fields.items()
        if field.missing:
            shape = shape._replace(fields={name: field._replace(kinds=field.kinds | NULL)})
    return fill_missing(shape)


def _read_accumulators(written: Mapping[str, Any], around: Around) -> dict[str, Infer]:
    return {name: _read_accumulator(value, around.at(name)) for name, value in written.items()}


_LISTED: Final = ("$firstN", "$lastN", "$maxN", "$minN", "$topN", "$bottomN")
_PICKED: Final = ("$first", "$last", "$max", "$min", "$top", "$bottom")


def _read_accumulator(value: Any, around: Around) -> Infer:
    if not isinstance(value, dict) or len(value) != 1:
        return always(PRESENT)
    ((name, argument),) = value.items()
    if name == "$count":
        return always(of_kinds(INTEGERS))
    collected = _read_collected(argument, around.at(name))
    return lambda walk: _accumulate(name, collected(walk))


def _accumulate(name: str, shape: Shape) -> Shape:
    traits = Traits(sources=shape.traits.sources, unit=shape.traits.unit)
    if name == "$sum":
        return Shape(NUMBERS, traits=traits)
    if name in ("$avg", "$stdDevPop", "$stdDevSamp"):
        return Shape(NUMBERS | NULL, traits=traits)
    if name in ("$push", "$addToSet"):
        return array(fill_missing(shape) if name == "$push" else shape, traits)
    if name in _PICKED:
        return fill_missing(shape)._replace(kinds=shape.kinds | NULL, missing=False, traits=traits)
    if name in _LISTED:
        return array(join(fill_missing(shape), of_kinds(NULL)), traits)
    return PRESENT


def _read_collected(argument: Any, around: Around) -> Infer:
    """Return the function that infers what an accumulator collects: its ``input``, its ``output``, or the whole
    argument.
    """
    if isinstance(argument, dict):
        for key in ("input", "output"):
            if key in argument:
                return read(argument[key], around.at(key))
    return read(argument, around)


@stage("$sortByCount")
def _sort_by_count(argument: Any, around: Around) -> Infer:
    key = read(argument, around)
    return lambda walk: document({"_id": _key(key(walk)), "count": of_kinds(INTEGERS)})


@stage("$count")
def _count(argument: Any, around: Around) -> Infer:
    return always(document({str(argument): of_kinds(INTEGERS)}))


@stage("$bucket", "$bucketAuto")
def _bucket(argument: Any, around: Around) -> Infer:
    by, output = read(argument["groupBy"], around.at("groupBy")), argument.get("output")
    counted = {"count": always(of_kinds(INTEGERS))}
    is_auto, is_granular = around.path[-1] == "$bucketAuto", "granularity" in argument
    fields = _read_accumulators(output, around.at("output")) if isinstance(output, dict) else counted

    def infer(walk: Walk) -> Shape:
        limit = fill_missing(by(walk))
        if is_granular:
            limit = of_kinds(NUMBERS, NULL)
        key = document({"min": limit, "max": limit}) if is_auto else PRESENT
        return document({"_id": key, **{name: one(walk) for name, one in fields.items()}})

    return infer


@stage("$unwind")
def _unwind(argument: Any, around: Around) -> Infer:
    spec = argument if isinstance(argument, dict) else {"path": argument}
    keeps, index = bool(spec.get("preserveNullAndEmptyArrays")), spec.get("includeArrayIndex")
    parts = tuple(str(spec["path"])[1:].split("."))

    def infer(walk: Walk) -> Shape:
        value = through_documents(walk.root, parts)
        found = [only(value, value.kinds - ARRAY - (frozenset() if keeps else NULL))]
        if "array" in value.kinds:
            found.append(elements(value))
        if keeps and (value.missing or "array" in value.kinds):
            found.append(MISSING)
        shape = replace_at(walk.root, parts, join_all(found))
        if keeps and len(parts) > 1:
            # If there is no value at the path, no document is created on the way.
            shape = join(shape, walk.root)
        if isinstance(index, str):
            shape = replace_at(shape, tuple(index.split(".")), of_kinds(INTEGERS, NULL))
        return shape

    return infer


@stage("$replaceRoot")
def _replace_root(argument: Any, around: Around) -> Infer:
    return _replace_with(argument["newRoot"], around.at("newRoot"))


@stage("$replaceWith")
def _replace_with(argument: Any, around: Around) -> Infer:
    root = read(argument, around)
    return lambda walk: only(root(walk), OBJECT)


@stage("$lookup", "$graphLookup")
def _lookup(argument: Any, around: Around) -> Infer:
    asked = [read(argument["startWith"], around.at("startWith"))] if "startWith" in argument else []
    asked += [read(value, around.at("let", name)) for name, value in _items(argument.get("let"))]
    parts = tuple(str(argument["as"]).split("."))
    return after(asked, lambda walk: replace_at(walk.root, parts, array(UNKNOWN)))


@stage("$facet")
def _facet(argument: Any, around: Around) -> Infer:
    branches: dict[str, list[Infer]] = {}
    for name, pipeline in _items(argument):
        branches[name] = []
        for index, one in enumerate(pipeline):
            ((key, value),) = one.items()
            branches[name].append(read_stage(key, value, around.at(name, index, key)))

    def infer(walk: Walk) -> Shape:
        fields = {}
        for name, stages in branches.items():
            shape = walk.root
            for infer_next in stages:
                shape = infer_next(walk._replace(root=shape))
            fields[name] = array(shape)
        return document(fields)

    return infer


@stage("$setWindowFields")
def _windows(argument: Any, around: Around) -> Infer:
    asked = [read(argument["partitionBy"], around.at("partitionBy"))] if "partitionBy" in argument else []
    made: Tree = {}
    for name, value in _items(argument.get("output")):
        where = around.at("output", name)
        asked += [_read_collected(one, where.at(key)) for key, one in _items(value) if key != "window"]
        plant_leaf(made, tuple(name.split(".")), Shape(ANY_KIND, missing=True))
    return after(asked, lambda walk: with_fields(walk.root, made))


@stage("$documents")
def _documents(argument: Any, around: Around) -> Infer:
    if not isinstance(argument, (list, tuple)) or not argument:
        return always(UNKNOWN)
    found = [read(one, around.at(index)) for index, one in enumerate(argument)]
    return lambda walk: only(join_all([one(walk) for one in found]), OBJECT)


_T = TypeVar("_T")


class StageText(NamedTuple):
    """One stage as it is written. ``infer`` returns the shape of the documents after it.

    ``uses``: the stage and all operators in it, in reading order; ``names``: their names. ``places``: the
    operators and fields in its expressions. ``path``: the position of its argument in the pipeline. ``found``: the
    cached results of ``once``.
    """

    number: int
    name: str
    argument: Any
    path: Path
    uses: Sequence[Use]
    names: frozenset[str]
    places: Sequence[UsePlace]
    infer: Infer
    found: dict[Any, Any]

    @classmethod
    def of(cls, number: int, name: str, argument: Any) -> StageText:
        """Read a stage. A malformed stage may raise any error."""
        path = (number, name)
        uses = list_uses_in_stage(name, argument, path)
        names, places = frozenset([use.name for use in uses]), list[UsePlace]()
        infer = read_stage(name, argument, Around(path, places))
        return cls(number, name, argument, path, uses, names, places, infer, {})

    def once(self, find: Callable[[StageText], _T]) -> _T:
        """Return the result of ``find`` for this text. ``find`` is called once for all pipelines with this stage."""
        if find not in self.found:
            self.found[find] = find(self)
        found: _T = self.found[find]
        return found


class StageFlow(NamedTuple):
    """One stage in the flow: the shapes of documents before and after it, and the visits in its expressions.

    The other attributes are those of ``text``.
    """

    text: StageText
    number: int
    name: str
    argument: Any
    before: Shape
    after: Shape
    visits: Visits
    uses: Sequence[Use]
    names: frozenset[str]
    path: Path


class Flow(NamedTuple):
    """A whole pipeline: the shape of the collection's documents, its stages, their ``names``, the shape of the rows."""

    documents: Shape
    stages: tuple[StageFlow, ...]
    names: frozenset[str]
    rows: Shape


Followed = dict[tuple[int, int], StageFlow]
"""Stages, under two keys: the ``id`` of the stage before (0 for the first stage), and the ``id`` of the stage's text.
"""


def flow_of(
    pipeline: Sequence[Mapping[str, Any]],
    documents: Shape,
    variables: Mapping[str, Any] | None = None,
    texts: Memo | None = None,
    followed: Followed | None = None,
) -> Flow:
    """Infer the shapes of documents through a pipeline, without running it.

    ``texts`` caches the text of each stage, under the stage's position, its name, and the ``id`` of its argument.
    ``followed`` caches the stages of pipelines with the same documents and variables.
    """
    texts = Memo() if texts is None else texts
    followed = {} if followed is None else followed
    bound: dict[str, Shape] = {}
    for variable, value in variables.items() if variables else ():
        bound[variable] = read(value, Around(("let", variable), []))(Walk(UNKNOWN, defaultdict(list)))
    shape, stages, names, before = documents, list[StageFlow](), set[str](), 0
    for index, written in enumerate(pipeline):
        ((name, argument),) = written.items()
        text = texts.get((index, name, id(argument)), partial(StageText.of, index, name, argument))
        stage = followed.get((before, id(text)))
        if stage is None:
            visits: Visits = defaultdict(list)
            after = text.infer(Walk(shape, visits, bound))
            stage = StageFlow(
                text, index, name, argument, shape, after, visits, text.uses, text.names, text.path
            )
            followed[before, id(text)] = stage
        stages.append(stage)
        names |= stage.names
        shape, before = stage.after, id(stage)
    return Flow(documents, tuple(stages), frozenset(names), shape)
