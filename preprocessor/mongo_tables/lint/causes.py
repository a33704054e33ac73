"""Find out why a stage returns no documents, and why a field has no value.

A ``$match`` is split into its conditions. The result names the condition that no document fulfils, and the values
that the field has. The queries run on the results source itself, so the answers hold for all of its documents.

MongoDB's operators return null if an argument is null or missing
(https://www.mongodb.com/docs/manual/reference/operator/aggregation/divide/), so one absent field can make a whole
column empty. Evaluating the parts of the expression finds the cause.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple

from bson import json_util

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.aggregation.catalogue import names_with
from mongo_tables.aggregation.fields import Place
from mongo_tables.aggregation.values import MISSING, is_nullish, is_number, type_name
from mongo_tables.directives.row_paths import ENTRY
from mongo_tables.files.folders import list_some, shorten
from mongo_tables.findings.finding import did_you_mean
from mongo_tables.findings.reporters import format_count
from mongo_tables.jsontext.extended import of_shell_call
from mongo_tables.lint.numeral_rules import list_comparisons, read_numeral, say_wrong, type_hint
from mongo_tables.lint.walk import (
    Stage,
    StageWalk,
    Step,
    fields_computed,
    fields_read,
    operator_of,
    path_of,
    suggest_path,
)
from mongo_tables.render.column import column_value
from mongo_tables.render.values import json_text
from mongo_tables.results.model import Query, ResultsSource
from mongo_tables.results.row_names import has_path

_Condition = dict[str, Any]


class Cause(NamedTuple):
    """A reason and a hint (either may be empty), and the place of the cause if it is only a part of the stage."""

    reason: str = ""
    hint: str = ""
    path: Place = ()


_UNKNOWN = Cause()

_VALUES = 6
_TOGETHER = frozenset({"$regex", "$options", "$elemMatch", "$geoWithin", "$near", "$nearSphere"})
_COMPARISONS = {
    "$eq": "equal to",
    "$ne": "other than",
    "$gt": "greater than",
    "$gte": "of at least",
    "$lt": "less than",
    "$lte": "of at most",
    "$in": "among",
    "$nin": "outside of",
}
_CONSTRUCTORS = {"date": "ISODate", "objectId": "ObjectId", "decimal": "NumberDecimal"}


def why_no_rows(source: ResultsSource, query: Query) -> Cause | None:
    """Return why a pipeline returns no rows, and the position of the cause. May raise ResultsError.

    Return None if the pipeline fails or the collection has no documents.
    """
    walk = StageWalk(source, query)
    if walk.run() is not None or not walk.steps[0].count:
        return None
    position = next(number for number, step in enumerate(walk.steps[1:]) if not step.count)
    cause = why_nothing(query.pipeline[position], position, walk)
    return cause._replace(path=(position, *cause.path))


def why_nothing(stage: Stage, position: int, walk: StageWalk) -> Cause:
    """Return why stage number ``position`` (from 0) returns nothing. May raise ResultsError."""
    name, body = operator_of(stage)
    if name == "$match" and isinstance(body, Mapping):
        return _why_no_match(body, position, walk)
    if name == "$unwind" and (path := path_of(body.get("path") if isinstance(body, Mapping) else body)):
        if (
            path == ENTRY
        ):  # From the key `rows`: the two stages before it copy the entries of a field, and drop the field.
            position -= 2
            path = str(walk.query.pipeline[position + 1]["$unset"])
        if not walk.may_have(position, path):
            return Cause(f"no document has `{path}`", suggest_path(path, walk.steps[position].rows))
        return Cause(f"`{path}` is null or an empty array in every document")
    if name == "$skip":
        return Cause(
            f"it skips {shorten_json(body)} of {format_count(walk.steps[position].count, 'document')}"
        )
    return _UNKNOWN


def why_fewer(stage: Stage, position: int, walk: StageWalk) -> Cause:
    """Return what a stage silently drops or changes although it returns documents, and how to keep it. May raise
    ResultsError.

    An ``$unwind`` drops documents without an element; a ``$lookup`` may find nothing for some documents; the mean of
    a ``$group`` leaves out documents without a value; a ``$round`` rounds halves to the even neighbour.
    """
    name, body = operator_of(stage)
    for field, expression in fields_computed(stage).items():
        if isinstance(expression, Mapping) and "$round" in expression:
            return _why_even(field, expression["$round"], walk.steps[position], walk.query.let)
    if name == "$group" and isinstance(body, Mapping):
        return _why_fewer_in_means(body, position, walk)
    if name == "$lookup" and isinstance(body, Mapping) and isinstance(body.get("as"), str):
        total = walk.steps[position + 1].count
        empty = _count(walk, position + 1, [{body["as"]: {"$size": 0}}])
        if not empty:
            return _UNKNOWN
        which = (
            f"{empty:,} of {format_count(total, 'document')}"
            if empty < total
            else f"all {format_count(total, 'document')}"
        )
        return Cause(f"finds nothing for {which}: `{body['as']}` is empty there")
    options = body if isinstance(body, Mapping) else {"path": body}
    path = path_of(options.get("path")) if name == "$unwind" else ""
    if not path or options.get("preserveNullAndEmptyArrays"):
        return _UNKNOWN
    kind = {"$type": f"${path}"}
    branches = [
        {"case": {"$eq": [kind, "missing"]}, "then": "missing"},
        {"case": {"$eq": [kind, "null"]}, "then": "null"},
        {"case": {"$eq": [f"${path}", []]}, "then": "empty"},
    ]
    reason = {"$switch": {"branches": branches, "default": None}}
    rows = walk.ask(position, [{"$group": {"_id": reason, "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}])
    lost = {str(row["_id"]): int(row["n"]) for row in rows if row.get("_id")}
    if not lost:
        return _UNKNOWN
    why = " and ".join(f"{reason} in {count:,}" for reason, count in lost.items())
    total = walk.steps[position].count
    message = f"drops {sum(lost.values()):,} of {format_count(total, 'document')}: `{path}` is {why}"
    return Cause(message, '"preserveNullAndEmptyArrays": true keeps them')


def _why_fewer_in_means(group: Mapping[str, Any], position: int, walk: StageWalk) -> Cause:
    total = walk.steps[position].count
    for field, value in group.items():
        path = path_of(value.get("$avg")) if isinstance(value, Mapping) and field != "_id" else ""
        lacking = _count(walk, position, [{path: None}]) if path else 0
        if 0 < lacking < total:
            which = f"{lacking:,} of {format_count(total, 'document')}"
            return Cause(f"the mean in `{field}` leaves out {which}, where `{path}` is null or missing")
    return _UNKNOWN


def _why_even(field: str, arguments: Any, before: Step, let: Mapping[str, Any]) -> Cause:
    """Report how many values lie exactly halfway between two rounded values and are rounded down."""
    value, places = [*arguments, 0][:2] if isinstance(arguments, list) else (arguments, 0)
    if not isinstance(places, int) or not before.complete:
        return _UNKNOWN
    numbers = (one for one in evaluate(value, before.rows, let) if isinstance(one, (int, float)))
    exact = [Decimal(one).scaleb(places) for one in numbers]
    even = sum(one.is_finite() and abs(one) % 2 == Decimal("0.5") for one in exact)
    which = format_count(even, "document")
    message = f"`{field}` is rounded down in {which}: `$round` rounds halves to the even neighbour"
    return Cause(message, '{"$floor": {"$add": [value, 0.5]}} rounds them up') if even else _UNKNOWN


def _split(query: Mapping[str, Any], path: Place) -> Iterator[tuple[_Condition, Place]]:
    """Split a query into the smallest conditions that must all hold, each with its place."""
    for key, value in query.items():
        if key == "$and" and isinstance(value, list):
            for number, part in enumerate(value):
                yield from _split(part, (*path, key, number))
        elif _is_operators(value) and not _TOGETHER & value.keys():
            yield from (({key: {name: operand}}, (*path, key, name)) for name, operand in value.items())
        elif key != "$comment":
            yield {key: value}, (*path, key)


def _is_operators(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(key.startswith("$") for key in value)


def _why_no_match(query: Mapping[str, Any], position: int, walk: StageWalk) -> Cause:
    """Describe the first condition that no document fulfils.

    If there is none, describe the first condition that contradicts the conditions before it.
    """
    given: list[_Condition] = []
    split = [*_split(query, ("$match",))]
    for part, place in split:
        if not _count(walk, position, [part]):
            return _why_unfulfilled(
                part, (), [one for one, at in split if at != place], position, walk
            )._replace(path=place)
    for part, place in split:
        if not _count(walk, position, [*given, part]):
            return _why_unfulfilled(part, given, given, position, walk)._replace(path=place)
        given.append(part)
    return _UNKNOWN


def _count(walk: StageWalk, position: int, parts: Sequence[_Condition]) -> int:
    rows = walk.ask(position, [*_match(parts), {"$count": "n"}])
    return int(rows[0]["n"]) if rows else 0


def _match(parts: Sequence[_Condition]) -> list[Stage]:
    return [{"$match": {"$and": list(parts)}}] if parts else []


def _why_unfulfilled(
    part: _Condition,
    given: Sequence[_Condition],
    others: Sequence[_Condition],
    position: int,
    walk: StageWalk,
) -> Cause:
    """Describe a condition that is not fulfilled by any document that fulfils the ``given`` conditions.

    The suggested value comes from documents that fulfil all ``others``, if such documents exist.
    """
    ((path, wanted),) = part.items()
    absent = [each for each in fields_read({"$match": part}) if not walk.may_have(position, each)]
    if absent:
        named = " or ".join(f"`{each}`" for each in absent)
        if dropper := _find_dropper(absent[0], position, walk):
            return Cause(f"no document has {named}: `{dropper}` dropped it")
        return Cause(f"no document has {named}", suggest_path(absent[0], walk.steps[position].rows))
    subject = "no document has"
    if given:
        listed = " and ".join(shorten_json(one, 40) for one in given)
        subject = f"of the {format_count(_count(walk, position, given), 'document')} with {listed}, none has"
    if path.startswith("$"):
        reason = f"{subject if given else 'no document fulfils'} {shorten_json(part)}"
        compared = [*list_comparisons(part)]
        if len(compared) != 1 or not compared[0].constants:
            return Cause(reason)
        path, operator, constants, _ = compared[0]
        wanted = {operator: constants if operator == "$in" else constants[0]}
        there = _find_values(path, given, position, walk)
        return Cause(f"{reason}; {_describe_values(there, wanted)}", _suggest_value(path, wanted, there))
    there = _find_values(path, given, position, walk)
    for each in map(path_of, _operands(wanted)):
        if each and walk.may_have(position, each):
            hint = f'"${each}" is a string in a query; two fields are compared in {{"$expr": …}}'
            return Cause(f"{subject} `{path}` {_describe_condition(wanted)}", hint)
    reason = f"{subject} `{path}` {_describe_condition(wanted)}; {_describe_values(there, wanted)}"
    meant = _find_values(path, others, position, walk) if len(others) > len(given) else there
    return Cause(reason, _suggest_value(path, wanted, meant or there))


def _find_values(
    path: str, given: Sequence[_Condition], position: int, walk: StageWalk
) -> list[tuple[Any, int]]:
    """Return the most frequent values of a field, each with the number of documents that have it."""
    rows = walk.ask(
        position,
        [
            *_match([*given, {path: {"$exists": True}}]),
            {"$group": {"_id": f"${path}", "n": {"$sum": 1}}},
            {"$sort": {"n": -1, "_id": 1}},
            {"$limit": 200},
        ],
    )
    return [(row.get("_id"), int(row["n"])) for row in rows]


def _find_dropper(path: str, position: int, walk: StageWalk) -> str:
    """Return the last stage before ``position`` whose input has the path, or ""."""
    parts = path.split(".")
    for number in reversed(range(position)):
        if any(has_path(row, parts) for row in walk.steps[number].rows):
            return operator_of(walk.query.pipeline[number])[0]
    return ""


def _describe_condition(wanted: Any) -> str:
    if not _is_operators(wanted):
        return f"equal to {shorten_json(wanted)}"
    ((operator, operand), *rest) = wanted.items()
    if rest or operator not in _COMPARISONS:
        return f"that fulfils {shorten_json(wanted)}"
    return f"{_COMPARISONS[operator]} {shorten_json(operand)}"


def _describe_values(there: Sequence[tuple[Any, int]], wanted: Any) -> str:
    numbers = [value for value, _ in there if type_name(value) in ("int", "long", "double")]
    if len(there) > _VALUES and len(numbers) == len(there):
        return f"it ranges from {shorten_json(min(numbers))} to {shorten_json(max(numbers))}"
    if len(there) > _VALUES and all(count == 1 for _, count in there):
        listed = f"such as {shorten_json(there[0][0], 40)}"
    else:
        listed = list_some([f"{shorten_json(value, 40)} ×{count}" for value, count in there], _VALUES)
    kinds = {type_name(value) for value, _ in there}
    asked = {type_name(value) for value in _operands(wanted)}
    if len(kinds) == 1 and asked == {"string"} != kinds:
        return f"its values are never strings, always {next(iter(kinds))}: {listed}"
    if kinds == {"string"} and asked and "string" not in asked:
        return f"its values are always strings: {listed}"
    return f"its values are {listed}"


def _operands(wanted: Any) -> list[Any]:
    """Return the values with which a condition compares."""
    if not _is_operators(wanted):
        return [wanted]
    found: list[Any] = []
    for operator, operand in wanted.items():
        if operator in ("$in", "$nin") and isinstance(operand, list):
            found += operand
        elif operator in _COMPARISONS:
            found.append(operand)
    return found


def _suggest_value(path: str, wanted: Any, there: Sequence[tuple[Any, int]]) -> str:
    known = [value for value, _ in there if isinstance(value, str)]
    others = [value for value, _ in there if not isinstance(value, str)]
    operator = next(iter(wanted)) if _is_operators(wanted) else "$eq"
    if hint := say_wrong(path, operator, _operands(wanted), known)[1]:
        return hint
    pattern = wanted.get("$regex") if isinstance(wanted, Mapping) else None
    if isinstance(pattern, str) and any(pattern in one for one in known):
        return f'for a literal match: {{"$regex": {json.dumps(re.escape(pattern), ensure_ascii=False)}}}'
    for operand in _operands(wanted):
        if isinstance(operand, Mapping) and any(
            isinstance(value, Mapping) and operand.items() <= value.items() for value in others
        ):
            parts = {f"{path}.{name}": value for name, value in operand.items()}
            return f"a document equals only a document with exactly the same fields; compare fields: {json_text(parts)}"
        is_text = isinstance(operand, str)
        if is_text and (written := _suggest_type(operand, there)):
            return written
        if is_text and operand not in known and (near := did_you_mean(operand, map(shorten, known))):
            return near
        if any(str(value) == str(operand) for value in (others if is_text else known)):
            return f"write it as it is stored, {'without' if is_text else 'with'} quotes"
        for text in known:
            if is_number(operand) and read_numeral(text) == float(str(operand)):
                return f'write it as it is stored, "{text}"'
        if is_text and others and all(map(is_number, others)):
            return type_hint(others[0], operand)
    return ""


def _suggest_type(text: str, there: Sequence[tuple[Any, int]]) -> str:
    """Return a hint with the text converted to the type that all values have, or "".

    Only types without a notation in JSON, such as dates, get a hint.
    """
    kinds = {type_name(value) for value, _ in there}
    constructor = _CONSTRUCTORS.get(next(iter(kinds))) if len(kinds) == 1 else None
    if constructor is None:
        return ""
    if (value := of_shell_call(constructor, json.dumps(text))) is not None:
        return f"write it as {json.dumps(value)}"
    written = json_util.dumps(there[0][0], json_options=json_util.RELAXED_JSON_OPTIONS)
    return f"write such a value as {written}"


# -- fields without a value --

Row = Mapping[str, Any]

# These operators choose a result or bind variables: a null argument does not make the result null.
_CHOOSING = names_with("chooses")


@dataclass(frozen=True, slots=True)
class Gap:
    """The number of documents in which a field has no value.

    ``documents``: the number of examined documents; ``null`` of them have null, and ``missing`` of them lack the field.
    ``reason``: why, or "". ``culprit``: the path that causes the gap, or "". ``complete``: whether all documents were
    examined, not only the first ones.
    """

    field: str
    null: int
    missing: int
    documents: int
    reason: str = ""
    culprit: str = ""
    complete: bool = True

    @property
    def empty(self) -> int:
        """The number of documents without a value."""
        return self.null + self.missing

    @property
    def some(self) -> bool:
        """Whether some documents, but not all, have no value."""
        return 0 < self.empty < self.documents

    def portion(self, noun: str) -> str:
        """Return the number of documents in words: "in 3 of 24 rows", "in every row"."""
        is_all, whole = self.empty == self.documents, format_count(self.documents, noun)
        if self.complete:
            return f"in every {noun}" if is_all else f"in {self.empty:,} of {whole}"
        return f"in {'each' if is_all else f'{self.empty:,}'} of the first {whole}"

    def state(self, noun: str) -> str:
        """Return the kind of gap and the number of documents in words: "is null in 3 of 24 rows"."""
        state = "null" if not self.missing else "missing" if not self.null else "null or missing"
        return f"is {state} {self.portion(noun)}"


def gap(field: str, rows: Sequence[Row], *, complete: bool = True) -> Gap:
    """Count how often ``field``, a dotted path, has no value in ``rows``."""
    values = [column_value(row, field) for row in rows]
    null = sum(value is None for value in values)
    missing = sum(value is MISSING for value in values)
    return Gap(field, null, missing, len(rows), complete=complete)


def new_gaps(stage: Stage, before: Step, after: Step, let: Mapping[str, Any]) -> Iterator[Gap]:
    """Find the gaps in the fields that ``stage`` computes."""
    for field, expression in fields_computed(stage).items():
        here = gap(field, after.rows, complete=after.complete)
        if here.empty:
            # The first document without a value shows the cause.
            found = zip(before.rows, evaluate(expression, before.rows, let), strict=False)
            blamed = next((row for row, value in found if is_nullish(value)), None)
            reason, culprit = ("", "") if blamed is None else _blame_part(expression, blamed, before, let)
            where = f" {here.portion('document')}"  # mention it once
            if here.some and reason.endswith(where):
                reason = f"{reason.removesuffix(where)} there"
            yield replace(here, reason=reason, culprit=culprit)
    name, body = operator_of(stage)
    for field, accumulator in body.items() if name == "$group" and isinstance(body, Mapping) else ():
        here = gap(field, after.rows, complete=after.complete)
        if here.empty and field != "_id" and isinstance(accumulator, Mapping) and len(accumulator) == 1:
            ((operator, argument),) = accumulator.items()
            path = path_of(argument)
            reason = _describe_absence(path, before) if path else f"`{operator}` found no value"
            yield replace(here, reason=reason, culprit=path)


def _blame_part(expression: Any, row: Row, before: Step, let: Mapping[str, Any]) -> tuple[str, str]:
    """Return why an expression has no value for a document, and the path that causes this. Either may be empty."""
    if path := path_of(expression):
        return _describe_absence(path, before), path
    if not isinstance(expression, Mapping) or len(expression) != 1:
        return "", ""
    ((operator, arguments),) = expression.items()
    if not operator.startswith("$") or operator in ("$literal", "$getField"):
        return "", ""
    for part in _decisive_parts(operator, arguments, row, let):
        if any(map(is_nullish, evaluate(part, [row], let))):
            return _blame_part(part, row, before, let)
    return "" if operator in _CHOOSING else f"{shorten_json(expression)} gives no value", ""


def _decisive_parts(operator: str, arguments: Any, row: Row, let: Mapping[str, Any]) -> Sequence[Any]:
    """Return those parts of an expression that make the whole expression null if they are null."""
    named = isinstance(arguments, Mapping) and not any(key.startswith("$") for key in arguments)
    if operator == "$cond":
        parts = [arguments.get(key) for key in ("if", "then", "else")] if named else arguments
        chosen = evaluate({"$cond": [parts[0], 1, 2]}, [row], let)
        return [parts[chosen[0]]] if chosen else ()
    if operator == "$ifNull" and isinstance(arguments, list):
        return arguments[-1:]
    if operator in _CHOOSING:
        return ()
    if isinstance(arguments, list):
        return arguments
    return list(arguments.values()) if named else [arguments]


def _describe_absence(path: str, before: Step) -> str:
    here = gap(path, before.rows, complete=before.complete)
    return f"`{path}` {here.state('document')}" if here.empty else ""


def evaluate(expression: Any, rows: Sequence[Row], let: Mapping[str, Any]) -> list[Any]:
    """Return an expression's value for each row, or an empty list if only a server can compute it."""
    try:
        found = aggregate(map(dict, rows), [{"$replaceWith": {"value": expression}}], variables=let)
    except AggregationError:
        return []
    return [row.get("value", MISSING) for row in found]


# -- words --


def shorten_json(value: Any, room: int = 60) -> str:
    """Return a value as JSON on one line, cut to ``room`` characters.

    Example:
        >>> shorten_json({"a": [1, 2]})
        '{"a": [1, 2]}'
    """
    text = json_text(value)
    return text if len(text) <= room else text[: room - 1] + "…"
