"""Texts that have numbers in them, where values are at hand: in the rows, or in fixtures that are asked for them.

MT408: they are sorted letter by letter. MT433: they are compared letter by letter, with numbers, or sorted among them;
of two types MongoDB puts one behind the other as a whole, and nothing fails.
Source: https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from preprocessor.aggregation.values import is_number
from preprocessor.findings.finding import Finding
from preprocessor.findings.rules import finding
from preprocessor.lint.asking import collect_documents, leading_match
from preprocessor.lint.rulecontext import RuleContext
from preprocessor.lint.rules_order import describe_text_order, find_misplaced_texts, sort_keys
from preprocessor.lint.shape.expressions import Path, Visit
from preprocessor.lint.shape.values import NUMBERS, Shape, lookup
from preprocessor.lint.sortings import last_sorting
from preprocessor.render.column import column_value
from preprocessor.specs.model import PipelineSpec

if TYPE_CHECKING:
    from preprocessor.results.model import LocalDocuments

_EQUALITIES: Final = frozenset({"$eq", "$ne", "$in", "$nin"})
_ORDERS: Final = frozenset({"$gt", "$gte", "$lt", "$lte", "$cmp"})
_ENDS: Final = frozenset({"$max", "$min", "$maxN", "$minN"})
_TELLING_TYPES: Final = frozenset({"$type", "$isNumber"})
_BETWEEN_THOUSANDS: Final = r"[,_'’\u00a0\u2009\u202f ]"
_NUMERAL: Final = rf"[+-]?(?:\d{{1,3}}(?:{_BETWEEN_THOUSANDS}\d{{3}})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?"
"""A number as people and programs write one, its thousands apart or not."""


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
    for use in (*_sortings(subject), *_ends(subject), *_conditions(subject), *_comparisons(subject)):
        if use.field in told:
            continue
        if why := _say_wrong(use, _values_of(use.field, subject, source)):
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


def _sortings(subject: RuleContext) -> Iterator[_Use]:
    """Keys that are numbers in some documents and texts in others; texts alone are what MT408 looks at."""
    for stage in subject.stages("$sort"):
        for key, shape in sort_keys(stage):
            if (field := _field_of(shape)) and shape.kinds & NUMBERS:
                yield _Use((*stage.path, key), "$sort", field)


def _ends(subject: RuleContext) -> Iterator[_Use]:
    for visit in subject.visits:
        above = [part for part in visit.path if not isinstance(part, int) and part != "input"]
        if not visit.name and above and above[-1] in _ENDS and (field := _field_of(visit.shape)):
            yield _Use(visit.path, str(above[-1]), field)


def _conditions(subject: RuleContext) -> Iterator[_Use]:
    for stage in subject.stages("$match"):
        for path, name, operator, operand in _conditions_in(stage.argument, stage.path):
            field = _field_of(lookup(stage.before, tuple(name.split("."))))
            if field and (numbers := _numbers_in(operand)):
                yield _Use(path, operator, field, numbers)


def _conditions_in(query: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str, str, Any]]:
    """The comparisons of a query: where each stands, the field, the operator and what it is compared with."""
    for name, condition in query.items():
        if name in ("$and", "$or", "$nor"):
            for number, part in enumerate(condition):
                yield from _conditions_in(part, (*path, name, number))
        elif not name.startswith("$"):
            written = isinstance(condition, Mapping)
            for operator, operand in condition.items() if written else [("$eq", condition)]:
                yield (*path, name, operator) if written else (*path, name), name, operator, operand


def _comparisons(subject: RuleContext) -> Iterator[_Use]:
    for visit in subject.visits:
        if visit.name in _EQUALITIES | _ORDERS and len(visit.operands) == 2:
            yield from _compared(visit)


def _compared(visit: Visit) -> Iterator[_Use]:
    for one, other in (visit.operands, reversed(visit.operands)):
        if (field := _field_of(one.shape)) and (numbers := _numbers_in(other.expression)):
            yield _Use(visit.path, visit.name, field, numbers)


def _numbers_in(operand: Any) -> tuple[float, ...]:
    values = operand if isinstance(operand, (list, tuple)) else [operand]
    return tuple(float(str(one)) for one in values if is_number(one))


def _values_of(field: str, subject: RuleContext, source: LocalDocuments) -> list[Any]:
    """The values of a field in the documents that the first ``$match`` keeps."""
    first = leading_match(subject.spec.pipeline)
    stages = [*first, {"$group": {"_id": f"${field}"}}, {"$sort": {"_id": 1}}]
    return [one["_id"] for one in collect_documents(subject.spec, source, stages)]


def _say_wrong(use: _Use, values: Sequence[Any]) -> str:
    """What goes wrong with these values; "" where nothing is certain to."""
    texts = {one: number for one in values if isinstance(one, str) and (number := _read(one)) is not None}
    example = next(iter(texts), "")
    if not texts:
        return ""
    if use.operator in _EQUALITIES:
        equal = [text for text, number in texts.items() if number in use.numbers]
        return f'for `{use.operator}`, "{equal[0]}" is not {texts[equal[0]]:g}' if equal else ""
    if use.operator in _ORDERS:
        return f'`{use.operator}` compares "{example}" with a number, which says nothing of its size'
    if any(map(is_number, values)):
        return f'for `{use.operator}`, "{example}" stands behind all numbers'
    wrong = next((pair for pair in pairwise(sorted(texts)) if texts[pair[0]] > texts[pair[1]]), None)
    return f'for `{use.operator}`, "{wrong[0]}" is less than "{wrong[1]}"' if wrong else ""


def _read(text: str) -> float | None:
    """The number that a text is; None where it is none."""
    if re.fullmatch(_NUMERAL, text.strip()) is None:
        return None
    return float(re.sub(_BETWEEN_THOUSANDS, "", text.strip()))
