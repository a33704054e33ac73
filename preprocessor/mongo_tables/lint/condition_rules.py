"""Rules about conditions that documents meet or fail for an unintended reason.

The rules compare the conditions of a query with the documents from which the query chooses.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from bson import ObjectId

from mongo_tables.aggregation.catalogue import names_with
from mongo_tables.aggregation.fields import conditions_in
from mongo_tables.aggregation.uses import Use
from mongo_tables.aggregation.values import MISSING, is_number, type_name
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.constant_rules import class_of, is_field, kinds_of, say_kind
from mongo_tables.lint.field_rules import asks_for_value
from mongo_tables.lint.numeral_rules import list_comparisons
from mongo_tables.lint.rule_context import Documents, Passing, RuleContext, leading_match, rule
from mongo_tables.lint.shape.expressions import Path
from mongo_tables.lint.shape.flow import StageText
from mongo_tables.lint.shape.values import NOTHING, Shape, lookup
from mongo_tables.render.column import column_value

_NEGATING: Final = names_with("negates", "query") | {"$not"}
_ORDERING: Final = names_with("compares", "query")
_COMPARING: Final = _ORDERING | names_with("equates", "query")
_JUDGED: Final = (str, bool, int, float, datetime, ObjectId)


@rule("MT435", of="documents", needs=("asks for other kinds", "asks within a stage"))
def find_conditions_of_other_kinds(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT435: a condition compares a field with a constant of a kind that the field never has."""
    for query, place, before, is_first in _list_queries(subject, documents) if subject.known else ():
        for name, operator, values, at in list_comparisons(query, place):
            if "$expr" in at or any(_is_meant_as_field(before, operator, one) for one in values):
                continue  # MT434 reports fields that are strings.
            kinds = kinds_of(before, name)
            if is_first and _differs(operator, values, kinds):
                kinds = kinds_of(documents.shape_of_all(subject.spec.collection), name)
            if _differs(operator, values, kinds):
                negated = operator in _NEGATING or not _NEGATING.isdisjoint(map(str, at))
                have, asked = " or ".join(sorted(kinds)), type_name(values[0])
                result = "every document meets" if negated else "no document meets"
                message = f"`{name}` is always {have}, never {asked}: {result} this condition"
                hint = say_kind(values[0], kinds)
                yield subject.in_pipeline("MT435", at, message, hint)


def _list_queries(subject: RuleContext, documents: Documents) -> Iterator[tuple[Any, Path, Shape, bool]]:
    """Yield each query with its place, the shape of its input, and whether it is the pipeline's first stage.

    The queries are those of stages, and of the first stages of inner pipelines. The known documents have already passed
    a query in the pipeline's first stage.
    """
    for stage in subject.flow.stages:
        if stage.name == "$match":
            yield stage.argument, stage.path, stage.before, not stage.number
        elif stage.name == "$facet":
            for name, pipeline in stage.argument.items():
                for first in leading_match(pipeline):
                    yield first["$match"], (*stage.path, name, 0, "$match"), stage.before, False
        elif stage.name == "$lookup" and isinstance(stage.argument.get("from"), str):
            for first in leading_match(stage.argument.get("pipeline", ())):
                theirs = documents.shape_of_all(stage.argument["from"])
                yield first["$match"], (*stage.path, "pipeline", 0, "$match"), theirs, False


def _is_meant_as_field(before: Shape, operator: str, value: Any) -> bool:
    text = value if isinstance(value, str) else ""
    is_named = text[:1] == "$" or operator in _ORDERING
    return text[:2] == "$$" or (is_named and is_field(before, text.removeprefix("$")))


def _differs(operator: str, values: Sequence[Any], kinds: frozenset[str]) -> bool:
    """Return whether ``kinds``, the kinds of a field, are known and none of ``values`` has one of them."""
    if not kinds or not values or not all(isinstance(one, _JUDGED) for one in values):
        return False
    if kinds.intersection(class_of(type_name(one)) for one in values):
        return False
    if "string" in kinds and any(map(is_number, values)):
        return False  # MT433 reports numbers that are strings
    # Other documents may have a word such as "majority".
    return operator in _ORDERING or not isinstance(values[0], str) or bool(say_kind(values[0], kinds))


_TESTING: Final = names_with("tests truth")


@rule("MT435", needs=_TESTING)
def find_objects_as_conditions(subject: RuleContext) -> Iterator[Finding]:
    """MT435: in an expression an object is always true, even if it looks like a query."""
    for stage in subject.flow.stages:
        for tested, condition, path in stage.text.once(_list_objects):
            ((name, value),) = [*condition.items()][:1]
            operator = next(iter(value), "") if isinstance(value, Mapping) else ""
            operator, operand = (operator, value[operator]) if operator[:1] == "$" else ("$eq", value)
            meant = json.dumps({operator: [f"${name}", operand]}, default=str)
            message = f"an object is always true: `{tested}` does not compare `{name}`"
            hint = f"in an expression the condition is {meant}"
            yield subject.in_pipeline("MT435", path, message, hint)


def _list_objects(stage: StageText) -> list[tuple[str, Mapping[str, Any], Path]]:
    """Return the conditions that are objects, each with its operator and its place."""
    tested = [(use, *one) for use in stage.uses if use.name in _TESTING for one in _list_tested(use)]
    return [
        (use.name, condition, path)
        for use, condition, path in tested
        if isinstance(condition, dict) and next(iter(condition), "$")[:1] != "$"
    ]


def _list_tested(use: Use) -> Iterator[tuple[Any, Path]]:
    """Yield the conditions that decide the result of an operator, each with its place."""
    argument = use.argument
    if use.kind == "query" and use.name != "$expr":
        return
    if isinstance(argument, dict):
        for number, branch in enumerate(argument.get("branches") or ()):
            yield branch.get("case"), (*use.path, "branches", number, "case")
        named = [name for name in ("if", "cond", "branches") if name in argument]
        for name in named:
            yield argument[name], (*use.path, name)
        yield None if named else argument, use.path
    elif isinstance(argument, str):
        yield argument, use.path
    elif isinstance(argument, list):
        for number, one in enumerate(argument[:1] if use.name in ("$cond", "$ifNull") else argument):
            yield one, (*use.path, number)


_FALSE: Final = frozenset({"", "0", "false", "n", "no", "none", "null", "off"})
_POSITIONS: Final = ("$indexOfArray", "$indexOfBytes", "$indexOfCP")
_TRUE: Final = {*_TESTING, "$toBool", "$ifNull"}


@rule("MT435", of="documents", needs=_TRUE)
def find_values_that_are_true(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT435: a condition is a value that is always true: a string, an array, or the position -1."""
    for stage in subject.flow.stages if subject.known else ():
        conditions = stage.text.once(_list_values)
        shapes = {one.path: one.shape for one in stage.visits.get("", ())} if conditions else {}
        for tested, condition, path in conditions:
            shape = shapes.get(path, NOTHING)
            field = shape.traits.path if shape.kinds & {"string", "array"} else None
            rows = documents.of(subject.spec).documents if field and ".0" not in field else ()
            values = [column_value(one, str(field)) for one in rows]
            if said := _say_true(tested, condition, [one for one in values if one is not MISSING]):
                yield subject.in_pipeline("MT435", path, *said)


def _list_values(stage: StageText) -> list[tuple[str, Any, Path]]:
    """Return the fields, strings and positions that operators test, each with its operator and its place."""
    found = [(use.name, *one) for use in stage.uses if use.name in _TRUE for one in _list_tested(use)]
    return [one for one in found if isinstance(one[1], str) or _position_in(one[1])]


def _position_in(condition: Any) -> str:
    """Return the operator of a condition if its result is a position, else ""."""
    name = next(iter(condition), "") if isinstance(condition, dict) else ""
    return name if name in _POSITIONS else ""


def _say_true(tested: str, condition: Any, values: Sequence[Any]) -> tuple[str, str] | None:
    """Return message and hint about a tested value, or None if the test is sound."""
    if name := _position_in(condition):
        message = f"`{name}` gives -1 (true) if it finds nothing, and 0 (false) for a match at the start"
        return message, f'write {{"$gte": [{{"{name}": …}}, 0]}}'
    if condition[:1] != "$":
        message = f'the string "{condition}" is always true: `{tested}` does not compare it'
        return None if tested == "$ifNull" else (message, f'compare it: {{"$eq": [{{…}}, "{condition}"]}}')
    false = [one for one in values if one == [] or (isinstance(one, str) and one.strip().lower() in _FALSE)]
    if tested == "$ifNull":
        false = [one for one in false if one == "" and None not in values]
    if not false or not all(one is None or isinstance(one, (str, list)) for one in values):
        return None
    text, effect = (
        json.dumps(false[0]),
        "keeps" if tested == "$ifNull" else "treats as true, like every string and array",
    )
    message = f"`{condition[1:]}` is {text} in some documents, which `{tested}` {effect}"
    return message, f'compare it: {{"$ne": ["{condition}", {text}]}}'


@rule("MT451", of="documents", needs=_NEGATING)
def find_missing_as_unequal(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT451: a condition that excludes numbers is met by documents that lack the field.

    Source: https://www.mongodb.com/docs/manual/reference/operator/query/ne/
    """
    for name, condition, path in _conditions_first(subject):
        operator = next((one for one in condition if one in _NEGATING), "")
        if not operator or asks_for_value(condition) or not _excludes_numbers(condition[operator]):
            continue
        passing = documents.of(subject.spec)
        if lacking := _count_lacking(name, passing):
            message = (
                f"{lacking} of the {len(passing.documents)} selected documents have no `{name}`: `{operator}` "
                "matches them"
            )
            hint = f'to leave them out: {{"{name}": {{"$exists": true, …}}}}'
            yield subject.in_pipeline("MT451", path, message, hint, key=True)


def _count_lacking(name: str, passing: Passing) -> int:
    """Return how many documents have no such field, or 0 if not all documents are known."""
    if not passing.complete:
        return 0
    return sum(column_value(one, name) is MISSING for one in passing.documents)


def _conditions_first(subject: RuleContext) -> Iterator[tuple[str, Mapping[str, Any], Path]]:
    """Yield the conditions that all documents of a pipeline must meet: field, operators and place."""
    for stage in leading_match(subject.spec.pipeline):
        for name, condition, path in conditions_in(stage["$match"], (0, "$match")):
            if name[:1] != "$" and {*path[2:-1:2]} <= {"$and"}:
                yield name, condition if isinstance(condition, Mapping) else {"$eq": condition}, path


def _excludes_numbers(operand: Any) -> bool:
    within = (
        operand.values()
        if isinstance(operand, Mapping)
        else operand
        if isinstance(operand, list)
        else [operand]
    )
    return bool(within) and all(is_number(one) for one in within)


@rule("MT450", of="documents", needs=("asks for false",))
def find_false_for_missing(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT450: false does not match documents that lack the field.

    Source: https://www.mongodb.com/docs/manual/tutorial/query-for-null-fields/
    """
    first = subject.spec.pipeline[0].get("$match") if subject.spec.pipeline else None
    for name, value, path in conditions_in(first, (0, "$match")):
        if value is not False or name.startswith("$"):
            continue
        every = documents.passing(subject.spec.collection, (), {})
        if lacking := _count_lacking(name, every):
            message = (
                f"{lacking} of {len(every.documents)} documents have no `{name}`, and false does not "
                "match them"
            )
            hint = f'to select them as well: {{"{name}": {{"$ne": true}}}}'
            yield subject.in_pipeline("MT450", path, message, hint, key=True)


@rule("MT452", of="documents", needs=("asks for arrays",))
def find_conditions_of_several_elements(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT452: conditions on the elements of an array are met by different elements.

    Source: https://www.mongodb.com/docs/manual/tutorial/query-arrays/
    """
    spec = subject.spec
    asked: dict[str, dict[str, tuple[Mapping[str, Any], Path]]] = defaultdict(dict)
    several = set[str]()
    for name, condition, path in _conditions_first(subject) if subject.known else ():
        array = _find_array(subject.flow.documents, name.split("."))
        if not array or not _COMPARING.issuperset(condition) or not asks_for_value(condition):
            continue
        rest = name[len(array) + 1 :]
        several |= {array} if rest in asked[array] else set()
        asked[array][rest] = condition, path
    for array, conditions in asked.items():
        if array in several or (len(conditions) == 1 and not all(map(_is_range, conditions.values()))):
            continue
        meant = {rest: condition.get("$eq", condition) for rest, (condition, _) in conditions.items()}
        if "" in meant and len(meant) > 1:
            continue
        elements = {array: {"$elemMatch": meant.get("", meant)}}
        passing = documents.of(spec)
        match = {"$match": {"$and": [spec.pipeline[0]["$match"], elements]}}
        meeting = documents.passing(spec.collection, (match,), spec.let)
        lost = len(passing.documents) - len(meeting.documents)
        if lost and passing.complete and meeting.complete:
            message = (
                f"in {lost} of the {len(passing.documents)} selected documents no element of `{array}` meets "
                "all conditions: different elements meet them"
            )
            hint = f"to ask for one element that meets all: {json.dumps(elements, default=str)}"
            place = next(path for _, path in conditions.values())
            yield subject.in_pipeline("MT452", place, message, hint, key=True)


@rule("MT452", of="documents", needs=("asks for arrays",))
def find_elements_that_come_along(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT452: a condition on elements selects documents, and an ``$unwind`` also takes their other elements.

    Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/unwind/
    """
    spec, stages = subject.spec, subject.flow.stages if subject.known else ()
    unwound = stages[1].argument if len(stages) > 1 and stages[1].name == "$unwind" else ""
    array = str(unwound.get("path") if isinstance(unwound, Mapping) else unwound)[1:]
    later = repr((spec.pipeline[2:], subject.columns))
    for name, condition, path in _conditions_first(subject) if array else ():
        inner = condition.get("$elemMatch")
        asked = (
            inner if isinstance(inner, Mapping) else {name[len(array) + 1 :]: condition.get("$eq", condition)}
        )
        is_plain = inner or (_COMPARING.issuperset(condition) and asks_for_value(condition))
        if not is_plain or _find_array(subject.flow.documents, name.split(".")) != array:
            continue
        meant = {f"{array}.{rest}".rstrip("."): value for rest, value in asked.items()}
        if "$" in "".join(asked) or re.search(
            rf"'\$?({'|'.join(map(re.escape, meant))})[.']|'\${array}'", later
        ):
            continue  # The rows show the tested fields of their elements.
        other = {"$not": condition} if "" in asked else {"$nor": [asked]}
        match = {"$match": {"$and": [spec.pipeline[0]["$match"], {array: {"$elemMatch": other}}]}}
        passing, mixed = documents.of(spec), documents.passing(spec.collection, (match,), spec.let)
        if mixed.documents and passing.complete and mixed.complete:
            some = f"{len(mixed.documents)} of the {len(passing.documents)} selected documents"
            message = (
                f"{some} also have elements of `{array}` that do not meet this condition, and `$unwind` keeps "
                "them"
            )
            hint = f"repeat the condition after the `$unwind`: {json.dumps({'$match': meant}, default=str)}"
            yield subject.in_pipeline("MT452", path, message, hint, key=True)


@rule("MT452", needs=("asks for arrays",))
def find_ranges_over_computed_arrays(subject: RuleContext) -> Iterator[Finding]:
    """MT452: an array that a stage has made is compared with a range. Different elements may meet the two bounds."""
    for stage in subject.stages("$match"):
        for name, condition, path in conditions_in(stage.argument, stage.path) if stage.number else ():
            shape = lookup(stage.before, tuple(name.split(".")))
            is_range = isinstance(condition, Mapping) and _is_range((condition, path))
            if is_range and shape.kinds == {"array"} and shape.traits.path != name:
                meant = json.dumps({name: {"$elemMatch": condition}}, default=str)
                message = (
                    f"`{name}` is an array: one element may be above the lower bound, and another below "
                    "the upper bound"
                )
                hint = f"to ask for one element that meets both: {meant}"
                yield subject.in_pipeline("MT452", path, message, hint, key=True)


def _find_array(documents: Shape, parts: Sequence[str]) -> str:
    """Return the path of the first array on ``parts``.

    Return "" if there is no array, or if the path selects one of its elements by index.
    """
    for depth in range(1, len(parts) + 1):
        if lookup(documents, tuple(parts[:depth])).kinds - {"null"} == {"array"}:
            return "" if any(part.isdigit() for part in parts[depth:]) else ".".join(parts[:depth])
    return ""


def _is_range(asked: tuple[Mapping[str, Any], Path]) -> bool:
    """Return whether a condition has a lower and an upper bound."""
    return {name[:2] for name in asked[0]} == {"$g", "$l"}
