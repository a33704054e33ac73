"""MT433, MT428: numbers and versions that are stored as texts, so that they are compared letter by letter or left out
of sums.

MongoDB orders values by type first, so all numbers are before all texts, without an error. Source:
https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.catalogue import collection_arguments, names_with
from mongo_tables.aggregation.catalogue import find as find_operator
from mongo_tables.aggregation.fields import conditions_in
from mongo_tables.aggregation.values import is_number
from mongo_tables.files.folders import shorten
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.order_rules import find_misplaced_texts, sort_keys
from mongo_tables.lint.rule_context import (
    Documents,
    Rows,
    RuleContext,
    is_computed,
    last_operator,
    leading_match,
    rule,
)
from mongo_tables.lint.shape.expressions import Path
from mongo_tables.lint.shape.flow import StageText
from mongo_tables.lint.shape.values import NULL, NUMBERS, Shape, elements, lookup
from mongo_tables.render.column import column_value
from mongo_tables.results.formats.raw_values import (
    VERSION_NAME,
    are_numbers,
    are_version_numbers,
    are_versions,
    version_key,
)
from mongo_tables.results.row_names import ORDER, order_of

EQUALITIES: Final = names_with("equates")
ORDERS: Final = names_with("compares")
_COMPARING: Final = EQUALITIES | ORDERS
_NEGATIONS: Final = names_with("negates")
_ENDS: Final = names_with("picks an end")
_ENDS_OF_GROUPS: Final = names_with("picks an end", "accumulator")
_ONLY_NUMBERS: Final = names_with("skips texts")
TELLING_TYPES: Final = names_with("tells types")
_BETWEEN_THOUSANDS: Final = r"[,_'’\u00a0\u2009\u202f ]"
_NUMERAL: Final = rf"[+-]?(?:\d{{1,3}}(?:{_BETWEEN_THOUSANDS}\d{{3}})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?"
"""A number as people and programs write it, with or without separators of thousands."""


_OF_SIGNS: Final = {">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte", "!=": "$ne", "=": "$eq", "==": "$eq"}


class ConstantComparison(NamedTuple):
    """A condition of a query that compares a field with constants, and its place."""

    field: str
    operator: str
    constants: Sequence[Any]
    path: Path


def names_types(part: Any) -> bool:
    """Return whether a query or pipeline tests types, which shows that its author knows that some values are texts."""
    if isinstance(part, dict):
        return not TELLING_TYPES.isdisjoint(part) or any(map(names_types, part.values()))
    return isinstance(part, (list, tuple)) and any(map(names_types, part))


def list_comparisons(query: Mapping[str, Any], path: Path = ()) -> Iterator[ConstantComparison]:
    """Yield the conditions of a query, ``$expr`` included, that compare a field with constants, in text order."""
    for field, condition, place in conditions_in(query, path):
        if field == "$expr":
            yield from _comparisons_in(condition, place)
        elif not field.startswith("$"):
            yield from _comparisons_of(field, condition, place)


def _comparisons_of(field: str, condition: Any, path: Path) -> Iterator[ConstantComparison]:
    if not isinstance(condition, Mapping):
        yield ConstantComparison(field, "$eq", [condition], path)
        return
    for operator, value in condition.items():
        if operator == "$not" and isinstance(value, Mapping):
            yield from _comparisons_of(field, value, (*path, operator))
        elif operator in _COMPARING:
            yield ConstantComparison(
                field, operator, value if isinstance(value, list) else [value], (*path, operator)
            )


def _comparisons_in(expression: Any, path: Path) -> Iterator[ConstantComparison]:
    parts = expression.items() if isinstance(expression, Mapping) else ()
    for name, operands in enumerate(expression) if isinstance(expression, list) else parts:
        pair = operands if name in _COMPARING and isinstance(operands, list) else ()
        for at, (one, other) in enumerate((pair[::-1], pair)) if len(pair) == 2 else ():
            constants = other if isinstance(other, list) else [other]
            if isinstance(one, str) and re.match(r"\$[^$]", one) and not any(map(is_computed, constants)):
                yield ConstantComparison(one[1:], str(name), constants, (*path, name, at))
        yield from _comparisons_in(operands, (*path, name))


def numbers_in(operand: Any) -> tuple[float, ...]:
    """Return the numbers in an operand, which is a number or an array."""
    values = operand if isinstance(operand, (list, tuple)) else [operand]
    return tuple(float(str(one)) for one in values if is_number(one))


def say_wrong(
    field: str, operator: str, constants: Sequence[Any], values: Collection[Any]
) -> tuple[str, str]:
    """Return a message and a hint if an operator wrongly compares strings with constants or with each other.

    Both are empty if nothing is wrong. The hint is empty if numbers are stored as strings.

    Example:
        >>> say_wrong("go", "$gte", ["1.10"], ["1.9", "1.10"])[1]
        'use {"$in": ["1.9", "1.10"]} with only the versions that you mean'
    """
    numbers = numbers_in(constants)
    compared = operator in _COMPARING
    if (numbers or not compared) and (why := _say_wrong_types(operator, numbers, values)):
        return f"has numbers that are stored as strings: {why}", ""
    if operator not in ORDERS and operator not in _ENDS:
        return "", ""
    texts = {one for one in [*constants, *values] if type(one) is str}
    if not are_versions(texts) or are_numbers(texts):
        return "", ""
    if field.startswith(f"{ORDER}."):
        keys = [key for one in constants if isinstance(one, str) and (key := version_key(one)) != one]
        return (
            ("has versions whose numbers are padded to one length", f'write "{keys[0]}"')
            if keys
            else ("", "")
        )
    groups = [(one, value) for one in constants for value in values] if operator in ORDERS else [values]
    example = next(filter(None, (find_misplaced_texts(group, 1) for group in groups)), "")
    if not example:
        return "", ""
    known = shorten(json.dumps(sorted(texts.intersection(values), key=version_key), ensure_ascii=False))
    return (
        f"has versions, which `{operator}` compares letter by letter: {example}",
        f'use {{"$in": {known}}} with only the versions that you mean'
        if operator in ORDERS
        else "no operator orders versions: select the one that is meant with `$match`",
    )


def _say_wrong_types(operator: str, numbers: Sequence[float], values: Collection[Any]) -> str:
    texts = {one: number for one in values if type(one) is str and (number := read_numeral(one)) is not None}
    example = next(iter(texts), "")
    if not texts:
        return ""
    if operator in EQUALITIES:
        equal = [text for text, number in texts.items() if number in numbers]
        return f'for `{operator}`, "{equal[0]}" is not {texts[equal[0]]:g}' if equal else ""
    if operator in ORDERS:
        return f'`{operator}` compares the string "{example}" with a number by type, not by size'
    if any(map(is_number, values)):
        return f'for `{operator}`, "{example}" comes after all numbers'
    wrong = next((pair for pair in pairwise(sorted(texts)) if texts[pair[0]] > texts[pair[1]]), None)
    return f'for `{operator}`, "{wrong[0]}" is less than "{wrong[1]}"' if wrong else ""


def say_other_type(operator: str, operand: Any, values: Sequence[Any]) -> str:
    """Return a message if a comparison is always or never true because the types differ, or else "".

    Example:
        >>> say_other_type("$ne", "5", [5, 6])
        'is always a number, and "5" is a string: this is always true'
    """
    asked = operand if isinstance(operand, (list, tuple)) else [operand]
    if operator not in _COMPARING or not values or not asked:
        return ""
    texts = all(isinstance(one, str) for one in asked)
    if texts and all(is_number(value) or isinstance(value, datetime) for value in values):
        kind, told = "date" if isinstance(values[0], datetime) else "number", f'"{asked[0]}" is a string'
    elif all(map(is_number, asked)) and all(isinstance(value, str) for value in values):
        kind, told = "string", f"{asked[0]} is a number"
    else:
        return ""
    outcome = "always" if operator in _NEGATIONS else "never"
    return f"is always a {kind}, and {told}: this is {outcome} true"


def type_hint(value: Any, asked: Any) -> str:
    """Return a hint on how to write a value of this type in a query instead of ``asked``."""
    signed = re.fullmatch(rf"([<>]=?|!=|==?)\s*({_NUMERAL})", asked) if isinstance(asked, str) else None
    if signed:
        return f'write {{"{_OF_SIGNS[signed[1]]}": {signed[2]}}}'
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


_MAKE_NUMBERS: Final = (
    "convert them to numbers in the results file, or here: remove thousands separators, then use "
    '{"$toDouble": …}'
)
_NO_QUERY: Final[Mapping[str, Any]] = {}


class _Use(NamedTuple):
    """A comparison of a collection's field with constants, or of its values with each other.

    ``query`` chooses the documents of the collection.
    """

    path: Path
    collection: str
    field: str
    operator: str
    constants: Sequence[Any] = ()
    query: Mapping[str, Any] = _NO_QUERY


@rule("MT433", of="documents")
def find_numerals(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT433: a comparison that looks numeric compares texts. Pipelines that test types are exempt."""
    for stage in subject.flow.stages if not subject.flow.names.isdisjoint(TELLING_TYPES) else ():
        if stage.text.once(_tests_types):
            return
    told: set[tuple[str, str]] = set()
    for use in _list_uses(subject, documents):
        if (use.collection, use.field) in told:
            continue
        said, hint = say_wrong(use.field, use.operator, use.constants, _values(use, subject, documents))
        if said:
            told.add((use.collection, use.field))
            message, hint = f"`{use.field}` {said}", _write_top(use, documents) or hint or _MAKE_NUMBERS
            yield subject.in_pipeline("MT433", use.path, message, hint, key=use.operator == "$sort")


def _tests_types(stage: StageText) -> bool:
    return names_types(stage.argument)


def _write_top(use: _Use, documents: Documents) -> str:
    """Return a ``$top`` that picks the first or last version by the field's sort key (``order_of``), or "" without
    a sort key.
    """
    order = order_of(use.field, documents.passing(use.collection, (), {}).documents)
    if order == use.field or use.operator not in _ENDS_OF_GROUPS or "$group" not in use.path:
        return ""
    by = {order: -1 if "max" in use.operator else 1}
    return f"write {json.dumps({'$top': {'sortBy': by, 'output': f'${use.field}'}}, ensure_ascii=False)}"


def _list_uses(subject: RuleContext, documents: Documents) -> Iterator[_Use]:
    """Yield the comparisons of fields that have texts in their collection."""
    own = subject.spec.collection
    first = leading_match(subject.spec.pipeline)
    leading = first[0]["$match"] if first else _NO_QUERY
    yield from _by_query(own, leading, (0, "$match"), documents)
    facts = subject.facts
    found = [*_in_stages(subject)] if "sorts by texts" in facts or "asks for texts later" in facts else []
    if "expression" in facts and not subject.flow.names.isdisjoint(_ENDS | _COMPARING):
        found += _in_expressions(subject)
    for path, shape, operator, constants in found:
        # Only an unchanged field has the strings of the collection.
        field, is_text = shape.traits.path, "string" in shape.kinds and "array" not in shape.kinds
        # Equality of strings does not depend on the numbers in them.
        compares = operator not in EQUALITIES or numbers_in(constants)
        if field and is_text and compares and not shape.unknown:
            yield _Use(path, own, field, operator, constants, leading)
    joins = collection_arguments()
    for stage in subject.stages(*joins) if not subject.flow.names.isdisjoint(joins) else ():
        argument = stage.argument if isinstance(stage.argument, Mapping) else {}
        collection = argument.get(joins[stage.name])
        for match in leading_match(argument.get("pipeline", ())) if isinstance(collection, str) else ():
            path = (*stage.path, "pipeline", 0, "$match")
            yield from _by_query(str(collection), match["$match"], path, documents)


_Compared = tuple[Path, Shape, str, Sequence[Any]]


def _in_stages(subject: RuleContext) -> Iterator[_Compared]:
    """Yield comparisons with constants in conditions after the first stage, and sort keys with numbers.

    MT408 reports sort keys that have only texts.
    """
    for stage in subject.stages("$match", "$sort"):
        if stage.name == "$sort":
            for key, shape in sort_keys(stage):
                if shape.kinds & NUMBERS:
                    yield (*stage.path, key), shape, "$sort", ()
        elif stage.number:
            for one in list_comparisons(stage.argument, stage.path):
                yield one.path, lookup(stage.before, tuple(one.field.split("."))), one.operator, one.constants


def _in_expressions(subject: RuleContext) -> Iterator[_Compared]:
    """Yield comparisons with constants in expressions, and values among which an accumulator picks the smallest or
    largest.
    """
    for visit in subject.fields_read if not subject.flow.names.isdisjoint(_ENDS) else ():
        if visit.shape.traits.path and (operator := last_operator(visit.path)) in _ENDS:
            yield visit.path, visit.shape, operator, ()
    for visit, constant, other in subject.comparisons:
        written = constant.expression
        at = (*visit.path, visit.operands.index(constant))
        yield at, other.shape, visit.name, written if isinstance(written, list) else [written]


def _by_query(collection: str, query: Mapping[str, Any], path: Path, documents: Documents) -> Iterator[_Use]:
    """Yield the comparisons in a query on a collection if the compared fields have texts there."""
    for one in list_comparisons(query, path):
        if one.operator in EQUALITIES and not numbers_in(one.constants):
            continue  # Equality of strings does not depend on the numbers in them.
        source = documents.source
        texts = source.read_collection(collection).texts(one.field) if source else frozenset[str]()
        is_plain = not texts and str not in map(type, one.constants)
        if not is_plain and say_wrong(one.field, one.operator, one.constants, texts)[0]:
            yield _Use(one.path, collection, one.field, one.operator, one.constants, query)


def _values(use: _Use, subject: RuleContext, documents: Documents) -> list[Any]:
    """Return the field's values in the documents that meet the query's conditions on other fields."""
    others = {
        name: part
        for name, part in use.query.items()
        if name != "$expr" and all(one.key != use.field for one in conditions_in({name: part}))
    }
    first = [{"$match": others}] if others else []
    passing = documents.passing(use.collection, first, subject.spec.let)
    values = [column_value(one, use.field) for one in passing.documents]
    return [part for value in values for part in (value if isinstance(value, list) else [value])]


_NO_NUMBERS: Final = {
    "bool": ("true and false", 'count what is true: {"$cond": ["…", 1, 0]}'),
    "date": ("dates", 'compute with milliseconds: {"$toLong": "…"}'),
}


@rule("MT428", needs=_ONLY_NUMBERS)
def find_conditions_left_out(subject: RuleContext) -> Iterator[Finding]:
    """MT428: a sum or a mean of a condition, or of a constant string, adds up no number."""
    for use in subject.uses(*_ONLY_NUMBERS):
        written = use.argument
        name = next(iter(written), "") if isinstance(written, Mapping) else ""
        operator = find_operator("expression", name) if name[:1] == "$" else None
        if operator and operator.gives == "bool":
            message = f"`{name}` gives true or false, which `{use.name}` skips: it takes only numbers"
            yield subject.in_pipeline(
                "MT428", (*use.path, name), message, 'count what is true: {"$cond": [{…}, 1, 0]}', key=True
            )
        elif isinstance(written, str) and read_numeral(written) is not None:
            message = f'"{written}" is a string, which `{use.name}` skips'
            yield subject.in_pipeline("MT428", use.path, message, f"write {written} without quotes")


@rule("MT428", needs=_ONLY_NUMBERS)
def find_texts_left_out(subject: RuleContext) -> Iterator[Finding]:
    """MT428: a sum or a mean silently ignores values that are not numbers.

    Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/avg/#non-numeric-or-missing-values
    """
    for visit in subject.fields_read if subject.known else ():
        field = visit.shape.traits.path
        if visit.shape.unknown or (operator := last_operator(visit.path)) not in _ONLY_NUMBERS:
            continue
        inner = elements(visit.shape)
        kinds = visit.shape.kinds | (frozenset() if inner.unknown else inner.kinds)
        for kind, (plural, hint) in _NO_NUMBERS.items() if kinds else ():
            if kinds - NULL == {kind}:
                read = visit.place.arguments[0][1]
                message = (
                    f"`{read[1:]}` is always {kind}: `{operator}` finds no number in it, and skips {plural}"
                )
                yield subject.in_pipeline("MT428", visit.path, message, hint.replace("…", read))
        if "string" not in kinds or field is None:
            continue
        have = f"some documents have a string in `{field}`" if kinds & NUMBERS else f"`{field}` is a string"
        result = "counts numbers only" if kinds & NUMBERS else "finds no number in it"
        message = f"{have}: `{operator}` {result}, and skips strings without an error"
        numbers = f'{{"$match": {{"{field}": {{"$type": "number"}}}}}}'
        hint = f'convert them to numbers first, with {{"$toDouble": …}}, or select numbers: {numbers}'
        yield subject.in_pipeline("MT428", visit.path, message, hint)


@rule("MT455", of="rows", needs=("name of versions",))
def find_versions_as_numbers(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT455: in a column named for versions, 3.10 is the number 3.1, and less than 3.9."""
    names = [name for _, name in subject.shown_columns]
    named = ((place, name) for place, name in subject.shown_columns if VERSION_NAME.search(name))
    for place, name in named:
        texts = {str(value) for row in rows if is_number(value := column_value(row, name))}
        if are_version_numbers(name, texts, names):
            message = f"`{name}` has versions as numbers, so 3.10 becomes 3.1, which is less than 3.9"
            hint = 'write them as strings in the file of results, such as "3.10"'
            yield subject.finding("MT455", subject.spec.locate(place), message, hint)
            return
