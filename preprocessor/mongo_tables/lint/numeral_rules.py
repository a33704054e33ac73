"""MT433: numbers as texts that are compared letter by letter, with numbers, or sorted among numbers.

A comparison is with numbers, with another field, or among the values, as sorting does. The documents show which values
occur.

Numbers that are written as texts, and the effects of comparing them with numbers.

MongoDB orders values by type first, so all numbers are before all texts, without an error. Source:
https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.catalogue import collection_arguments, names_with
from mongo_tables.aggregation.fields import conditions_in
from mongo_tables.aggregation.values import is_number
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.order_rules import sort_keys
from mongo_tables.lint.rule_context import (
    Document,
    Documents,
    RuleContext,
    Stages,
    last_operator,
    leading_match,
    rule,
)
from mongo_tables.lint.shape.expressions import Path, Visit
from mongo_tables.lint.shape.values import NUMBERS, Shape, lookup
from mongo_tables.render.column import column_value

EQUALITIES: Final = names_with("equates")
ORDERS: Final = names_with("compares")
_NEGATIONS: Final = names_with("negates")
TELLING_TYPES: Final = names_with("tells types")
_BETWEEN_THOUSANDS: Final = r"[,_'’\u00a0\u2009\u202f ]"
_NUMERAL: Final = rf"[+-]?(?:\d{{1,3}}(?:{_BETWEEN_THOUSANDS}\d{{3}})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?"
"""A number as people and programs write it, with or without separators of thousands."""


class FieldComparison(NamedTuple):
    """An operator at a place of a query, or of a pipeline, that compares a field.

    The comparison is with ``numbers``, with the ``other`` field of the document, or among the field's values.
    """

    path: tuple[str | int, ...]
    field: str
    operator: str
    numbers: tuple[float, ...] = ()
    other: str = ""


def names_types(part: Any) -> bool:
    """Return whether a query or pipeline tests the types of values, so its author knows about texts."""
    if isinstance(part, dict):
        return not TELLING_TYPES.isdisjoint(part) or any(map(names_types, part.values()))
    return isinstance(part, (list, tuple)) and any(map(names_types, part))


def find_conditions(query: Mapping[str, Any], path: tuple[str | int, ...] = ()) -> Iterator[FieldComparison]:
    """Yield the places where a query compares a field with numbers, or within ``$expr`` with another field."""
    for key, condition, place in conditions_in(query, path):
        if key == "$expr":
            yield from _conditions_within(condition, place)
        elif not key.startswith("$"):
            yield from _conditions_of(key, condition, place)


def _conditions_of(field: str, condition: Any, path: tuple[str | int, ...]) -> Iterator[FieldComparison]:
    if not isinstance(condition, Mapping):
        condition, places = {"$eq": condition}, {"$eq": path}
    else:
        places = {operator: (*path, operator) for operator in condition}
    for operator, operand in condition.items():
        if operator == "$not" and isinstance(operand, Mapping):
            yield from _conditions_of(field, operand, places[operator])
        elif numbers := numbers_in(operand):
            yield FieldComparison(places[operator], field, operator, numbers)


def _conditions_within(expression: Any, path: tuple[str | int, ...]) -> Iterator[FieldComparison]:
    """Yield the comparisons anywhere in an expression that have an unchanged field as an operand."""
    if isinstance(expression, (list, tuple)):
        for number, one in enumerate(expression):
            yield from _conditions_within(one, (*path, number))
    elif isinstance(expression, Mapping):
        for name, operands in expression.items():
            if name in EQUALITIES | ORDERS and isinstance(operands, (list, tuple)) and len(operands) == 2:
                yield from _other_side(name, operands, (*path, name))
            yield from _conditions_within(operands, (*path, name))


def _other_side(
    operator: str, operands: Sequence[Any], path: tuple[str | int, ...]
) -> Iterator[FieldComparison]:
    first, second = map(field_in, operands)
    if first and second:
        yield FieldComparison(path, first, operator, other=second)
    for field, operand in ((first, operands[1]), (second, operands[0])):
        if field and (numbers := numbers_in(operand)):
            yield FieldComparison(path, field, operator, numbers)


def field_in(expression: Any) -> str:
    """Return the field of the document that an expression returns unchanged, or "" if it returns something else."""
    is_field = isinstance(expression, str) and expression.startswith("$") and not expression.startswith("$$")
    return expression[1:] if is_field else ""


def numbers_in(operand: Any) -> tuple[float, ...]:
    """Return the numbers in an operand, which is a number or an array."""
    values = operand if isinstance(operand, (list, tuple)) else [operand]
    return tuple(float(str(one)) for one in values if is_number(one))


def say_wrong(operator: str, numbers: Sequence[float], values: Sequence[Any]) -> str:
    """Return what goes wrong if an operator compares the values with numbers, or with each other, or "" for nothing."""
    texts = {
        one: number for one in values if isinstance(one, str) and (number := read_numeral(one)) is not None
    }
    example = next(iter(texts), "")
    if not texts:
        return ""
    if operator in EQUALITIES:
        equal = [text for text, number in texts.items() if number in numbers]
        return f'for `{operator}`, "{equal[0]}" is not {texts[equal[0]]:g}' if equal else ""
    if operator in ORDERS:
        return f'`{operator}` compares "{example}" with a number, which does not compare their sizes'
    if any(map(is_number, values)):
        return f'for `{operator}`, "{example}" comes after all numbers'
    wrong = next((pair for pair in pairwise(sorted(texts)) if texts[pair[0]] > texts[pair[1]]), None)
    return f'for `{operator}`, "{wrong[0]}" is less than "{wrong[1]}"' if wrong else ""


def say_wrong_pair(operator: str, pairs: Iterable[tuple[Any, Any]]) -> str:
    """Return what goes wrong if an operator compares two values of a document, or "" for nothing."""
    for pair in pairs:
        first, second = map(_number_of, pair)
        texts = [one for one in pair if isinstance(one, str)]
        if not texts or first is None or second is None:
            continue
        if len(texts) == 1 and (operator in ORDERS or first == second):
            return f'`{operator}` compares "{texts[0]}" with a number, which does not compare their sizes'
        if len(texts) == 2 and operator in ORDERS and (first < second) != (pair[0] < pair[1]):
            return f'`{operator}` compares "{texts[0]}" with "{texts[1]}" letter by letter'
    return ""


def _number_of(value: Any) -> float | None:
    """Return the number that a value is or spells, or None if it is neither."""
    if isinstance(value, str):
        return read_numeral(value)
    return float(str(value)) if is_number(value) else None


def say_other_type(operator: str, operand: Any, values: Sequence[Any]) -> str:
    """Return why a comparison of the values with texts, or of texts with numbers, is decided by types; else "".

    Example:
        >>> say_other_type("$ne", "5", [5, 6])
        'is always a number, and "5" is a string: this holds always'
    """
    if operator not in EQUALITIES | ORDERS or not values:
        return ""
    asked = operand if isinstance(operand, (list, tuple)) else [operand]
    texts = all(isinstance(one, str) for one in asked)
    if texts and all(is_number(value) or isinstance(value, datetime) for value in values):
        kind, told = "date" if isinstance(values[0], datetime) else "number", f'"{asked[0]}" is a string'
    elif all(map(is_number, asked)) and all(isinstance(value, str) for value in values):
        kind, told = "string", f"{asked[0]} is a number"
    else:
        return ""
    outcome = "always" if operator in _NEGATIONS else "never"
    return f"is always a {kind}, and {told}: this holds {outcome}" if asked else ""


def type_hint(value: Any) -> str:
    """Return how to write a value of this type in a query."""
    if isinstance(value, datetime):
        return 'write a date as {"$date": "2026-01-31T00:00:00Z"}'
    return "write it without quotes" if is_number(value) else "write it in quotes"


def read_numeral(text: str) -> float | None:
    """Return the number that a text spells, or None if it spells none.

    Example:
        >>> read_numeral("1,234.5")
        1234.5
    """
    if re.fullmatch(_NUMERAL, text.strip()) is None:
        return None
    return float(re.sub(_BETWEEN_THOUSANDS, "", text.strip()))


_ENDS: Final = names_with("picks an end")
_GROUPING: Final = names_with("accumulates", "stage")


class _Use(NamedTuple):
    """A comparison in the pipeline, and the documents whose values it compares.

    ``collection`` names another collection than the pipeline's; ``first`` are the stages that choose its documents.
    """

    comparison: FieldComparison
    collection: str = ""
    first: Stages = ()


@rule("MT433", of="documents")
def find_numerals(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT433: a comparison that looks numeric compares texts. Pipelines that test types are exempt."""
    if not subject.flow.names.isdisjoint(TELLING_TYPES) and names_types(subject.spec.pipeline):
        return
    told: set[tuple[str, str]] = set()
    for use in _find_uses(subject, documents):
        one = use.comparison
        if (use.collection, one.field) in told:
            continue
        if why := _say_wrong(use, subject, documents):
            told.add((use.collection, one.field))
            yield subject.in_pipeline(
                "MT433",
                one.path,
                f"`{one.field}` has numbers that are stored as strings: {why}",
                'make numbers of them in the file of results; or here, with {"$toDouble": …}, without the signs '
                "between thousands",
                key=one.operator == "$sort",
            )


def _find_uses(subject: RuleContext, documents: Documents) -> Iterator[_Use]:
    """Yield every comparison of a field that has texts, if its field in the collection is known."""
    # The shape lacks the texts that the first stage removes, so the documents decide about its conditions.
    for stage in leading_match(subject.spec.pipeline):
        path = (0, "$match")
        yield from map(_Use, _conditions_on(subject.spec.collection, stage["$match"], path, documents))
    for find, names in _FINDERS.items():
        if not names.isdisjoint(subject.flow.names):
            yield from map(_Use, find(subject))
    if not subject.flow.names.isdisjoint(collection_arguments()):
        yield from _joined_conditions(subject, documents)


def _field_of(shape: Shape) -> str:
    """Return the field of the collection whose texts a value is, unchanged, or "" if there is none."""
    has_texts = "string" in shape.kinds and not shape.unknown and "array" not in shape.kinds
    return (shape.traits.path or "") if has_texts else ""


def _field_in_elements(shape: Shape) -> str:
    """Return the field whose texts the elements of an array are, unchanged, or "" if there is none."""
    has_texts = shape.kinds == {"array"} and shape.items is not None and "string" in shape.items.kinds
    return (shape.traits.path or "") if has_texts else ""


def _sortings(subject: RuleContext) -> Iterator[FieldComparison]:
    """Yield sort keys that are numbers in some documents and texts in others. MT408 checks keys with only texts."""
    for stage in subject.stages("$sort"):
        for key, shape in sort_keys(stage):
            if (field := _field_of(shape)) and shape.kinds & NUMBERS:
                yield FieldComparison((*stage.path, key), field, "$sort")


def _inner_sortings(subject: RuleContext) -> Iterator[FieldComparison]:
    """Yield the sort keys of accumulators, windows and arrays: `$top`, `$rank`, `$sortArray`."""
    sorting = (stage for stage in subject.flow.stages if "sortBy" in stage.names)
    for stage in sorting:
        for path, keys in _find_sort_bys(stage.argument, stage.path):
            for key in keys:
                shape = lookup(stage.before, tuple(key.split(".")))
                if field := _field_of(shape) or _field_in_elements(shape):
                    yield FieldComparison(path, field, str(path[-2]))


def _find_sort_bys(written: Any, path: Path) -> Iterator[tuple[Path, Sequence[str]]]:
    """Yield the places of ``sortBy`` in a stage, with their fields. Those of an array are below the array's field."""
    if isinstance(written, dict):
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
    field = field_in(array)
    return [".".join(filter(None, (field, key))) for key in keys] if field else ()


def _ends(subject: RuleContext) -> Iterator[FieldComparison]:
    for visit in subject.fields_read:
        if (operator := last_operator(visit.path)) in _ENDS:
            within = "" if _accumulates(visit.path, subject) else _field_in_elements(visit.shape)
            if field := _field_of(visit.shape) or within:
                yield FieldComparison(visit.path, field, operator)


def _accumulates(path: Path, subject: RuleContext) -> bool:
    """Return whether an operand's operator compares values of several documents, and arrays as a whole."""
    operators = [part for part in path if isinstance(part, str) and part.startswith("$")]
    return subject.flow.stages[int(path[0])].name in _GROUPING and len(operators) == 2


def _conditions(subject: RuleContext) -> Iterator[FieldComparison]:
    for stage in subject.stages("$match"):
        yield from _on_own_fields(find_conditions(stage.argument, stage.path), stage.before)


def _on_own_fields(conditions: Iterable[FieldComparison], shape: Shape) -> Iterator[FieldComparison]:
    """Yield the conditions on unchanged fields of the collection, one of which has texts."""
    for one in conditions:
        shapes = [lookup(shape, tuple(name.split("."))) for name in (one.field, one.other) if name]
        if found := _compare(one.path, one.operator, shapes, one.numbers):
            yield found


def _compare(
    path: Path, operator: str, compared: Sequence[Shape], numbers: tuple[float, ...]
) -> FieldComparison | None:
    """Return the comparison of a field with numbers or another field, or None without texts from the collection."""
    fields = [shape.traits.path or "" for shape in compared]
    if not all(fields) or not any(map(_field_of, compared)):
        return None
    return FieldComparison(path, fields[0], operator, numbers, "".join(fields[1:]))


def _conditions_on(
    collection: str, query: Mapping[str, Any], path: Path, documents: Documents
) -> Iterator[FieldComparison]:
    """Yield the conditions on fields that have numeric texts in a collection."""
    for one in find_conditions(query, path):
        texts = [*documents.texts(collection, one.field)]
        if one.other:
            texts += documents.texts(collection, one.other)
        if texts and (one.other or say_wrong(one.operator, one.numbers, texts)):
            yield one


def _facet_conditions(subject: RuleContext) -> Iterator[FieldComparison]:
    """Yield the conditions at the start of the pipelines of a `$facet`."""
    for stage in subject.stages("$facet"):
        for name, inner in stage.argument.items():
            for query, path in _leading_query(inner, (*stage.path, name)):
                yield from _on_own_fields(find_conditions(query, path), stage.before)


def _joined_conditions(subject: RuleContext, documents: Documents) -> Iterator[_Use]:
    """Yield the conditions at the start of pipelines on other collections."""
    for stage in subject.stages(*collection_arguments()):
        argument = stage.argument if isinstance(stage.argument, Mapping) else {}
        collection = argument.get(collection_arguments()[stage.name], "")
        inner = argument.get("pipeline", ()) if collection else ()
        for query, path in _leading_query(inner, (*stage.path, "pipeline")):
            for one in _conditions_on(collection, query, path, documents):
                yield _Use(one, collection, ({"$match": query},))


def _leading_query(pipeline: Stages, path: Path) -> Iterator[tuple[Mapping[str, Any], Path]]:
    """Yield the query at the start of a pipeline, and its place."""
    for one in leading_match(pipeline):
        yield one["$match"], (*path, 0, "$match")


def _buckets(subject: RuleContext) -> Iterator[FieldComparison]:
    for stage in subject.stages("$bucket", "$bucketAuto"):
        path = (*stage.path, "groupBy")
        numbers = numbers_in(stage.argument.get("boundaries"))
        for visit in stage.visits if numbers or stage.name == "$bucketAuto" else ():
            if not visit.name and visit.path == path and (field := _field_of(visit.shape)):
                yield FieldComparison(path, field, stage.name, numbers)


def _operators(subject: RuleContext) -> Iterator[FieldComparison]:
    """Yield the comparisons within expressions."""
    for visit in subject.visits(*EQUALITIES, *ORDERS):
        if len(visit.operands) == 2:
            yield from _compared(visit)


def _compared(visit: Visit) -> Iterator[FieldComparison]:
    shapes = [one.shape for one in visit.operands]
    if found := _compare(visit.path, visit.name, shapes, ()):
        yield found
    for one, other in (visit.operands, reversed(visit.operands)):
        if (field := _field_of(one.shape)) and (numbers := numbers_in(other.expression)):
            yield FieldComparison(visit.path, field, visit.name, numbers)


_FINDERS: Final[Mapping[Callable[[RuleContext], Iterator[FieldComparison]], frozenset[str]]] = {
    _sortings: frozenset({"$sort"}),
    _inner_sortings: frozenset({"sortBy"}),
    _ends: frozenset(_ENDS),
    _buckets: frozenset({"groupBy"}),
    _conditions: frozenset({"$match"}),
    _operators: frozenset(EQUALITIES | ORDERS),
    _facet_conditions: frozenset({"$facet"}),
}
"""What finds comparisons, with the operators or keys of which a pipeline has at least one then."""


def _say_wrong(use: _Use, subject: RuleContext, documents: Documents) -> str:
    """Return what goes wrong with the values that the documents have, or "" for nothing."""
    compared, one = _documents_of(use, subject, documents), use.comparison
    values = [column_value(document, one.field) for document in compared]
    if one.other:
        others = (column_value(document, one.other) for document in compared)
        return say_wrong_pair(one.operator, zip(values, others, strict=True))
    each = [part for value in values for part in (value if isinstance(value, list) else [value])]
    return say_wrong(one.operator, one.numbers, each)


def _documents_of(use: _Use, subject: RuleContext, documents: Documents) -> Sequence[Document]:
    """Return the documents that the first ``$match`` keeps without its conditions on the compared fields."""
    spec = subject.spec
    fields = [one for one in (use.comparison.field, use.comparison.other) if one]
    leading = use.first if use.collection else leading_match(spec.pipeline)
    first = [{"$match": asked} for one in leading if (asked := _without(fields, one["$match"]))]
    return documents.passing(use.collection or spec.collection, first, spec.let).documents


def _without(fields: Sequence[str], query: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parts of a query that do not mention the fields."""
    return {
        name: part
        for name, part in query.items()
        if name not in (*fields, "$expr")
        and not any(one.field in fields or one.other in fields for one in find_conditions({name: part}))
    }
