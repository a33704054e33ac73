"""Texts that have numbers in them, where values are at hand: in the rows, or in fixtures that are asked for them.

MT408: they are sorted letter by letter. MT433: they are compared letter by letter, with numbers, or sorted among them
(``numerals``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from preprocessor.findings.finding import Finding
from preprocessor.findings.rules import finding
from preprocessor.lint.asking import collect_documents, leading_match
from preprocessor.lint.numerals import EQUALITIES, ORDERS, find_conditions, numbers_in, say_wrong
from preprocessor.lint.rulecontext import RuleContext
from preprocessor.lint.rules_order import describe_text_order, find_misplaced_texts, sort_keys
from preprocessor.lint.shape.expressions import Path, Visit
from preprocessor.lint.shape.values import NUMBERS, Shape, lookup
from preprocessor.lint.sortings import last_sorting
from preprocessor.render.column import column_value
from preprocessor.specs.model import PipelineSpec

if TYPE_CHECKING:
    from preprocessor.results.model import LocalDocuments

_ENDS: Final = frozenset({"$max", "$min", "$maxN", "$minN"})
_TELLING_TYPES: Final = frozenset({"$type", "$isNumber"})


class _Use(NamedTuple):
    """An operator at a place of the pipeline that compares a field: with ``numbers``, or its values with each other."""

    path: Path
    operator: str
    field: str
    numbers: tuple[float, ...] = ()


def shows_sort_keys(spec: PipelineSpec) -> bool:
    """Whether the rows have all that they are sorted by, so that `text_order` knows better than who foresees it."""
    sorting = last_sorting(spec.pipeline)
    return sorting is not None and sorting.is_seen


def find_text_order_of_rows(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """MT408: texts with numbers in them are sorted letter by letter, and two of them stand the wrong way round."""
    sorting = last_sorting(spec.pipeline)
    if sorting is None or not sorting.is_seen:
        return
    for key, direction in sorting.keys.items():
        example = find_misplaced_texts((column_value(row, key) for row in rows), direction)
        if example is not None:
            at = spec.locate(("pipeline", sorting.place, sorting.name, key), key=True)
            yield finding("MT408", spec.file, at, *describe_text_order(spec, key, example))


def find_text_order_in_stages(subject: RuleContext, source: LocalDocuments) -> Iterator[Finding]:
    """MT408 about texts that stages make of numbers: fixtures are asked which there are."""
    spec = subject.spec
    for stage in subject.stages("$sort"):
        for key, shape in sort_keys(stage):
            if not shape.traits.numeral or shows_sort_keys(spec):
                continue
            values = [*spec.pipeline[: stage.number], {"$group": {"_id": f"${key}"}}]
            example = find_misplaced_texts(
                (one["_id"] for one in collect_documents(spec, source, values)), stage.argument[key]
            )
            if example is not None:
                path = (*stage.path, key)
                yield subject.in_pipeline("MT408", path, *describe_text_order(spec, key, example), key=True)


def find_numerals(subject: RuleContext, source: LocalDocuments) -> Iterator[Finding]:
    """MT433: what readers take for a comparison of numbers was one of texts; a pipeline that looks at types knows."""
    if _names_types(subject.spec.pipeline):
        return
    told: set[str] = set()
    for use in (
        *_first_conditions(subject, source),
        *_sortings(subject),
        *_inner_sortings(subject),
        *_ends(subject),
        *_buckets(subject),
        *_conditions(subject),
        *_comparisons(subject),
    ):
        if use.field in told:
            continue
        if why := say_wrong(use.operator, use.numbers, _values_of(use, subject, source)):
            told.add(use.field)
            yield subject.in_pipeline(
                "MT433",
                use.path,
                f"`{use.field}` has texts that are numbers: {why}",
                'make numbers of them in the file of results; or here, with {"$toDouble": …}, without the signs '
                "between thousands",
                key=use.operator == "$sort",
            )


def _names_types(part: Any) -> bool:
    if isinstance(part, Mapping):
        return not _TELLING_TYPES.isdisjoint(part) or any(map(_names_types, part.values()))
    return isinstance(part, (list, tuple)) and any(map(_names_types, part))


def _field_of(shape: Shape) -> str:
    """The field of the collection's documents whose texts a value is, unchanged; "" where it is none."""
    has_texts = "string" in shape.kinds and not shape.unknown and "array" not in shape.kinds
    return (shape.traits.path or "") if has_texts else ""


def _field_in_elements(shape: Shape) -> str:
    """The same of the values in an array."""
    has_texts = shape.kinds == {"array"} and shape.items is not None and "string" in shape.items.kinds
    return (shape.traits.path or "") if has_texts else ""


def _sortings(subject: RuleContext) -> Iterator[_Use]:
    """Keys that are numbers in some documents and texts in others; texts alone are what MT408 looks at."""
    for stage in subject.stages("$sort"):
        for key, shape in sort_keys(stage):
            if (field := _field_of(shape)) and shape.kinds & NUMBERS:
                yield _Use((*stage.path, key), "$sort", field)


def _inner_sortings(subject: RuleContext) -> Iterator[_Use]:
    """What accumulators, windows and arrays are sorted by: `$top`, `$rank`, `$sortArray`."""
    for stage in subject.flow.stages:
        for path, keys in _find_sort_bys(stage.argument, stage.path):
            for key in keys:
                shape = lookup(stage.before, tuple(key.split(".")))
                if field := _field_of(shape) or _field_in_elements(shape):
                    yield _Use(path, str(path[-2]), field)


def _find_sort_bys(written: Any, path: Path) -> Iterator[tuple[Path, Sequence[str]]]:
    """Where a stage has a ``sortBy``, and the fields that it names; those of an array below the field that holds it."""
    if isinstance(written, Mapping):
        for name, one in written.items():
            if name == "sortBy":
                yield (*path, name), _keys_of(one, written.get("input") if path[-1] == "$sortArray" else None)
            else:
                yield from _find_sort_bys(one, (*path, name))
    elif isinstance(written, (list, tuple)):
        for number, one in enumerate(written):
            yield from _find_sort_bys(one, (*path, number))


def _keys_of(sort_by: Any, array: Any) -> Sequence[str]:
    keys = [*sort_by] if isinstance(sort_by, Mapping) else [""]
    if array is None:
        return [key for key in keys if key]
    if not isinstance(array, str) or not array.startswith("$") or array.startswith("$$"):
        return ()
    return [".".join(filter(None, (array[1:], key))) for key in keys]


def _ends(subject: RuleContext) -> Iterator[_Use]:
    for visit in subject.visits:
        above = [part for part in visit.path if not isinstance(part, int) and part != "input"]
        if not visit.name and above and above[-1] in _ENDS and (field := _field_of(visit.shape)):
            yield _Use(visit.path, str(above[-1]), field)


def _conditions(subject: RuleContext) -> Iterator[_Use]:
    for stage in subject.stages("$match"):
        for one in find_conditions(stage.argument, stage.path):
            if field := _field_of(lookup(stage.before, tuple(one.field.split(".")))):
                yield _Use(one.path, one.operator, field, one.numbers)


def _first_conditions(subject: RuleContext, source: LocalDocuments) -> Iterator[_Use]:
    """Those of the first stage: what documents look like is learnt from what it keeps, which texts are not among."""
    for stage in subject.stages("$match"):
        for one in find_conditions(stage.argument, stage.path) if stage.number == 0 else ():
            texts = source.texts(subject.spec.collection, one.field)
            if texts and say_wrong(one.operator, one.numbers, [*texts]):
                yield _Use(one.path, one.operator, one.field, one.numbers)


def _buckets(subject: RuleContext) -> Iterator[_Use]:
    for stage in subject.stages("$bucket"):
        path = (*stage.path, "groupBy")
        numbers = numbers_in(stage.argument.get("boundaries"))
        for visit in stage.visits if numbers else ():
            if not visit.name and visit.path == path and (field := _field_of(visit.shape)):
                yield _Use(path, "$bucket", field, numbers)


def _comparisons(subject: RuleContext) -> Iterator[_Use]:
    for visit in subject.visits:
        if visit.name in EQUALITIES | ORDERS and len(visit.operands) == 2:
            yield from _compared(visit)


def _compared(visit: Visit) -> Iterator[_Use]:
    for one, other in (visit.operands, reversed(visit.operands)):
        if (field := _field_of(one.shape)) and (numbers := numbers_in(other.expression)):
            yield _Use(visit.path, visit.name, field, numbers)


def _values_of(use: _Use, subject: RuleContext, source: LocalDocuments) -> list[Any]:
    """The values of a field in the documents that the first ``$match`` keeps, whatever it asks of the field itself."""
    first = [{"$match": _without(use.field, one["$match"])} for one in leading_match(subject.spec.pipeline)]
    read: list[Mapping[str, Any]] = [*first, {"$project": {use.field: 1}}]
    found = (column_value(one, use.field) for one in collect_documents(subject.spec, source, read))
    return [one for value in found for one in (value if isinstance(value, list) else [value])]


def _without(field: str, query: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parts of a query that do not speak of a field."""
    return {
        name: part
        for name, part in query.items()
        if name not in (field, "$expr")
        and not any(one.field == field for one in find_conditions({name: part}))
    }
