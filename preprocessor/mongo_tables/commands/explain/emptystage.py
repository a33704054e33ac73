"""Why a stage gave no document although documents came in.

A ``$match`` is taken apart into its conditions; the one that no document fulfils is named, with the values that there
are. All questions are put to the results source itself, so that the answers hold for all its documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mongo_tables.aggregation.values import type_name
from mongo_tables.commands.explain.fieldcounts import has_path, nearest_path
from mongo_tables.commands.explain.notes import format_count, shorten_json, suggest_path
from mongo_tables.commands.explain.reading import Stage, fields_read, operator_of, path_of
from mongo_tables.commands.explain.stepper import Step, Walk
from mongo_tables.files.text import list_some
from mongo_tables.findings.nearest import nearest_word
from mongo_tables.jsontext.extended import read_pasted_value
from mongo_tables.results.model import ResultsError

Condition = dict[str, Any]
Told = tuple[str, str]
"""A reason and a hint, either of them maybe empty."""

_VALUES = 6
_TOGETHER = frozenset({"$regex", "$options", "$elemMatch", "$geoWithin", "$near", "$nearSphere"})


def why_nothing(stage: Stage, position: int, before: Step, walk: Walk) -> Told:
    """Why stage number ``position`` (from 0), which ``before`` went into, gave nothing. May raise ResultsError."""
    name, body = operator_of(stage)
    if name == "$match" and isinstance(body, Mapping):
        return _explain_no_match(body, position, before, walk)
    if name == "$unwind":
        return _explain_unwind(body, position, before, walk)
    if name == "$skip":
        return f"it skips {shorten_json(body)} of {format_count(before.count, 'document')}", ""
    return "", ""


def conditions(query: Mapping[str, Any]) -> Iterator[Condition]:
    """The parts of a query that all must hold, as small as they come."""
    for key, value in query.items():
        if key == "$and" and isinstance(value, list):
            for part in value:
                yield from conditions(part)
        elif _is_operators(value) and not _TOGETHER & value.keys():
            yield from ({key: {operator: operand}} for operator, operand in value.items())
        elif key != "$comment":
            yield {key: value}


def _is_operators(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(key.startswith("$") for key in value)


def _explain_no_match(query: Mapping[str, Any], position: int, before: Step, walk: Walk) -> Told:
    """The first condition that nothing fulfils alone; otherwise the first that contradicts those before it."""
    parts = list(conditions(query))
    for part in parts:
        if not _count(walk, position, [part]):
            return _explain_condition(part, [], position, before, walk)
    for number in range(2, len(parts) + 1):
        if not _count(walk, position, parts[:number]):
            return _explain_condition(parts[number - 1], parts[: number - 1], position, before, walk)
    return "", ""


def _count(walk: Walk, position: int, parts: list[Condition]) -> int:
    rows = walk.ask(position, [*_match(parts), {"$count": "n"}])
    return int(rows[0]["n"]) if rows else 0


def _match(parts: list[Condition]) -> list[Stage]:
    return [{"$match": {"$and": parts}}] if parts else []


def _explain_condition(
    part: Condition, given: list[Condition], position: int, before: Step, walk: Walk
) -> Told:
    ((path, wanted),) = part.items()
    among = f"of the {format_count(_count(walk, position, given), 'document')} with {_list_conditions(given)}, none has"
    subject = among if given else "no document has"
    absent = _find_absent_paths(part, position, before, walk)
    if absent:
        return f"no document has {' or '.join(f'`{each}`' for each in absent)}", _suggest_absent_path(
            absent, before
        )
    if path.startswith("$"):
        return f"{subject} {shorten_json(part)}" if given else f"no document fulfils {shorten_json(part)}", ""
    there = _count_values(walk, position, given, path)
    return (
        f"{subject} `{path}` {_describe_condition(wanted)}; {_describe_values(there, wanted)}",
        _suggest_value(wanted, there),
    )


def _list_conditions(given: list[Condition]) -> str:
    return " and ".join(shorten_json(part, 40) for part in given)


def _find_absent_paths(part: Condition, position: int, before: Step, walk: Walk) -> list[str]:
    """The paths that the condition reads and that not one document has."""
    return [path for path in fields_read({"$match": part}) if not exists(walk, position, before, path)]


def exists(walk: Walk, position: int, before: Step, path: str) -> bool:
    """Whether any document at ``position`` has the path; the documents at hand are asked first.

    True as well where the source does not answer: nothing is said to be absent that may be there.
    """
    parts = path.split(".")
    if any(has_path(row, parts) for row in before.rows):
        return True
    if before.complete:
        return False
    question: list[Stage] = [{"$match": {path: {"$exists": True}}}, {"$limit": 1}, {"$project": {"_id": 1}}]
    try:
        return bool(walk.ask(position, question))
    except ResultsError:
        return True


def _suggest_absent_path(absent: list[str], before: Step) -> str:
    return suggest_path(nearest_path(absent[0], before.rows))


_WORDS = {
    "$eq": "equal to",
    "$ne": "other than",
    "$gt": "greater than",
    "$gte": "of at least",
    "$lt": "less than",
    "$lte": "of at most",
    "$in": "among",
    "$nin": "outside of",
}


def _describe_condition(wanted: Any) -> str:
    if not _is_operators(wanted):
        return f"equal to {shorten_json(wanted)}"
    ((operator, operand), *rest) = wanted.items()
    if rest or operator not in _WORDS:
        return f"that fulfils {shorten_json(wanted)}"
    return f"{_WORDS[operator]} {shorten_json(operand)}"


def _count_values(walk: Walk, position: int, given: list[Condition], path: str) -> list[tuple[Any, int]]:
    """The most frequent values at ``path`` and how many documents have each."""
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


def _describe_values(there: list[tuple[Any, int]], wanted: Any) -> str:
    numbers = [value for value, _ in there if type_name(value) in ("int", "long", "double")]
    if len(there) > _VALUES and len(numbers) == len(there):
        return f"it goes from {shorten_json(min(numbers))} to {shorten_json(max(numbers))}"
    listed = list_some([f"{shorten_json(value, 40)} ×{count}" for value, count in there], _VALUES)
    kinds = {type_name(value) for value, _ in there}
    asked = {type_name(value) for value in operands(wanted)}
    if len(kinds) == 1 and asked == {"string"} != kinds:
        return f"it is never a string there, always {next(iter(kinds))}: {listed}"
    if kinds == {"string"} and asked and "string" not in asked:
        return f"it is always a string there: {listed}"
    return f"there it is {listed}"


def operands(wanted: Any) -> list[Any]:
    """The values that a condition compares with."""
    if not _is_operators(wanted):
        return [wanted]
    found = []
    for operator, operand in wanted.items():
        if operator in ("$in", "$nin") and isinstance(operand, list):
            found += operand
        elif operator in _WORDS:
            found.append(operand)
    return found


def _suggest_value(wanted: Any, there: list[tuple[Any, int]]) -> str:
    known = [value for value, _ in there if isinstance(value, str)]
    for operand in operands(wanted):
        if isinstance(operand, str) and (written := _suggest_type(operand, there)):
            return written
        if isinstance(operand, str) and (near := nearest_word(operand, known)):
            return f"did you mean {shorten_json(near)}?"
        same = [value for value, _ in there if isinstance(value, str) != isinstance(operand, str)]
        if any(str(value) == str(operand) for value in same):
            return f"write it as it is stored, {'without' if isinstance(operand, str) else 'with'} quotes"
    return ""


_CONSTRUCTORS = {"date": "ISODate", "objectId": "ObjectId", "decimal": "NumberDecimal"}


def _suggest_type(text: str, there: list[tuple[Any, int]]) -> str:
    """How a text is written as what is there, where that is always of one type that JSON does not have."""
    kinds = {type_name(value) for value, _ in there}
    constructor = _CONSTRUCTORS.get(next(iter(kinds))) if len(kinds) == 1 else None
    if constructor is None:
        return ""
    value = read_pasted_value(constructor, json.dumps(text))
    if value is not None:
        return f"write it as what it is: {value.text}"
    from bson import json_util

    return (
        f"such a value is written {json_util.dumps(there[0][0], json_options=json_util.RELAXED_JSON_OPTIONS)}"
    )


def _explain_unwind(body: Any, position: int, before: Step, walk: Walk) -> Told:
    path = path_of(str(body.get("path", "") if isinstance(body, Mapping) else body))
    if not path:
        return "", ""
    if not exists(walk, position, before, path):
        return f"no document has `{path}`", _suggest_absent_path([path], before)
    return f"`{path}` is null or an empty array in every document", ""
