"""Rules about constants: strings in place of fields, constant comparisons, parts of dates, indexes of arrays."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mongo_tables.aggregation.catalogue import find as find_operator
from mongo_tables.aggregation.catalogue import names_with
from mongo_tables.aggregation.fields import conditions_in
from mongo_tables.aggregation.values import type_name
from mongo_tables.files.folders import shorten
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.rule_context import Documents, RuleContext, quote, rule
from mongo_tables.lint.shape.expressions import COMPARING, Path, UsePlace
from mongo_tables.lint.shape.flow import StageFlow, StageText
from mongo_tables.lint.shape.values import NUMBERS, Kinds, Shape, elements, lookup


@rule("MT434", needs=("asks for text with $", "asks for other kinds"))
def find_fields_as_strings(subject: RuleContext) -> Iterator[Finding]:
    """MT434: a query compares a field with the string "$a" or "a", although the author meant the value of the field
    ``a``.

    The string "a" is reported only if the compared field never has strings.

    Source: https://www.mongodb.com/docs/manual/reference/operator/query/expr/
    """
    for stage in subject.stages("$match") if subject.known else ():
        for name, condition, path in conditions_in(stage.argument, stage.path):
            if name.startswith("$"):
                continue
            kinds = lookup(stage.before, tuple(name.split("."))).kinds
            for at, operator, text in _strings_in(condition, path):
                field = text.removeprefix("$")
                is_meant = field != text or (operator in _ORDERING and kinds and not kinds & _TEXTS)
                if is_meant and is_field(stage.before, field):
                    message = f'"{text}" is a string in a query, not the value of the field `{field}`'
                    hint = f"to compare two fields: {_write_comparison(name, at, operator, f'${field}')}"
                    yield subject.in_pipeline("MT434", at, message, hint)


@rule("MT434", needs=("asks within a stage",))
def find_variables_as_strings(subject: RuleContext) -> Iterator[Finding]:
    """MT434: a query of a join compares a field with the string "$$a", which is not the value of the variable `a`."""
    for stage in subject.flow.stages:
        for name, at, operator, text in stage.text.once(_list_strings_in_queries):
            message = f'"{text}" is a string in a query, not the value of the variable `{text[2:]}`'
            hint = f"to compare with it: {_write_comparison(name, at, operator, text)}"
            yield subject.in_pipeline("MT434", at, message, hint)


def _list_strings_in_queries(stage: StageText) -> list[tuple[str, Path, str, str]]:
    return [
        (name, *one)
        for use in stage.uses
        if use.kind == "stage" and use.name == "$match"
        for name, condition, path in conditions_in(use.argument, use.path)
        if not name.startswith("$")
        for one in _strings_in(condition, path)
        if re.match(r"\$\$\w", one[2])
    ]


def _strings_in(condition: Any, path: Path, operator: str = "$eq") -> Iterator[tuple[Path, str, str]]:
    """Yield the strings in a condition, each with its place and its operator."""
    if isinstance(condition, str):
        yield path, operator, condition
    elif isinstance(condition, Mapping):
        for name, value in condition.items():
            yield from _strings_in(value, (*path, name), name if name.startswith("$") else "$eq")
    elif isinstance(condition, (list, tuple)):
        for number, value in enumerate(condition):
            yield from _strings_in(value, (*path, number), operator)


def _write_comparison(name: str, path: Path, operator: str, text: str) -> str:
    """Return the expression for the comparison that the author meant by a condition with a string."""
    compare = "$ne" if operator == "$nin" else operator if operator in COMPARING - {"$in"} else "$eq"
    around = [part for part in path if part in ("$not", "$elemMatch")]
    inner = path[path.index("$elemMatch") :] if "$elemMatch" in path else ()
    element = ".".join(["$$this", *(one for one in inner if isinstance(one, str) and one[:1] != "$")])
    meant: Any = {compare: [element if inner else f"${name}", text]}
    for part in reversed(around):
        each = {"$map": {"input": f"${name}", "in": meant}}
        meant = {"$not": meant} if part == "$not" else {"$anyElementTrue": [each]}
    return json.dumps({"$expr": meant}, ensure_ascii=False)


def is_field(documents: Shape, text: str) -> bool:
    """Return whether documents have a field of this path."""
    shape = lookup(documents, tuple(text.split(".")))
    return bool(text) and not shape.absent and not shape.unknown


_ORDERING: Final = names_with("compares", "expression")
_TEXTS: Final = frozenset({"string", "array"})


@rule("MT435", reads=("$in",))
def find_arrays_in_lists(subject: RuleContext) -> Iterator[Finding]:
    """MT435: ``$in`` looks for an array in a list that has no arrays."""
    for visit in subject.visits("$in") if subject.known else ():
        if len(visit.operands) != 2:
            continue
        value, within = visit.operands
        inner = elements(within.shape)
        if (
            value.shape.kinds == {"array"}
            and inner.kinds
            and not inner.unknown
            and "array" not in inner.kinds
        ):
            # An array that is null or missing counts as empty.
            filled = [
                {"$ifNull": [one.expression, []]} if one.shape.nullish else one.expression
                for one in visit.operands
            ]
            both = json.dumps(filled, default=str)
            message = "an array is never an element of this list: `$in` is false for every document"
            hint = f'to ask for a common element: {{"$gt": [{{"$size": {{"$setIntersection": {both}}}}}, 0]}}'
            yield subject.in_pipeline("MT435", visit.path, message, hint, key=True)


@rule("MT435", reads=COMPARING)
def find_constant_comparisons(subject: RuleContext) -> Iterator[Finding]:
    """MT435: a field is compared with a constant of another kind, with the same result for every document."""
    for visit, operand, other in subject.comparisons if subject.known else ():
        value, kinds = operand.expression, other.shape.kinds
        if not _is_plain(value) or _is_plain(other.expression) or other.shape.unknown or not kinds - {"null"}:
            continue
        is_array = kinds - {"null"} == {"array"} and visit.name != "$in"
        if ("array" in kinds and not is_array) or class_of(type_name(value)) in map(class_of, kinds):
            continue
        is_order = is_array or visit.name in _ORDERING
        if not is_order and isinstance(value, str) and not say_kind(value, kinds):
            continue  # other documents may have a word such as "majority"
        known = other.shape.traits.known
        texts = [one for one in known or () if isinstance(one, str)]
        if "string" in kinds and (known is None or any(re.search(r"\d", one) for one in texts)):
            continue  # MT433 reports numbers that are strings
        read = (
            other.expression
            if isinstance(other.expression, str)
            else shorten(json.dumps(other.expression, default=str))
        )
        have = " or ".join(sorted(kinds))
        message = (
            f"the type of `{read}` is always {have}, never {type_name(value)}: `{visit.name}` gives the same "
            "result for all documents"
        )
        hint = say_kind(value, kinds) or ("for an element: `$in`, `$max` or `$filter`" if is_array else "")
        yield subject.in_pipeline("MT435", operand.path, message, hint)


def _is_plain(value: Any) -> bool:
    """Return whether a value is a number, a truth value, or a string that reads no field."""
    return isinstance(value, (bool, int, float)) or (isinstance(value, str) and not value.startswith("$"))


def class_of(kind: str) -> str:
    """Return the kind, but ``number`` for each kind of number, because numbers of all kinds are comparable."""
    return "number" if kind in NUMBERS else kind


def say_kind(value: Any, kinds: Kinds) -> str:
    """Return a hint to write the constant as one of these kinds, or ""."""
    if isinstance(value, str):
        if "date" in kinds and re.match(r"\d{4}-\d\d", value):
            return f'write the date as {{"$date": "{value}"}}'
        if "objectId" in kinds and re.fullmatch(r"[0-9a-f]{24}", value):
            return f'write the ObjectId as {{"$oid": "{value}"}}'
        if kinds & {*NUMBERS, "number"} and re.fullmatch(r"-?\d+(\.\d+)?", value):
            return f"write {value} without quotes"
        return ""
    return (
        f'write "{value}" in quotes' if kinds == {"string"} and isinstance(value, (bool, int, float)) else ""
    )


_ACCUMULATING: Final = names_with("accumulates", "stage")


@rule("MT436", needs=(*_ACCUMULATING, "expression"))
def find_names_without_dollar(subject: RuleContext) -> Iterator[Finding]:
    """MT436: an expression reads no field, but has a field's name as a string. The author meant the field's value."""
    for stage in subject.flow.stages if subject.known else ():
        for at, text, name in stage.text.once(_list_constant_names):
            if is_field(stage.before, text):
                message = (
                    f'"{text}" is a string here, the same for all documents: `{name}` does not read the field '
                    f"`{text}`"
                )
                hint = f'write "${text}", or {{"$literal": "{text}"}} if the string is meant'
                yield subject.in_pipeline("MT436", at, message, hint)


def _list_constant_names(stage: StageText) -> list[tuple[Path, str, str]]:
    """Return the strings that are a group's key or are in operators that read no field, each with its place and
    operator.
    """
    found: list[tuple[Path, str, str]] = []
    if stage.name == "$group" and isinstance(key := stage.argument.get("_id"), str) and key[:1] != "$":
        found.append(((*stage.path, "_id"), key, "_id"))
    for use in stage.uses if stage.name in _ACCUMULATING else ():
        own = use.kind in ("accumulator", "window")
        if own and isinstance(use.argument, str) and not use.argument.startswith("$"):
            found.append((use.path, use.argument, use.name))
    for place in stage.places:
        operator = find_operator("expression", place.name) if place.name else None
        if operator is None or operator.reads or operator.refused:
            continue
        if all(_is_plain(text) for _, text in place.arguments):
            found += [(at, text, place.name) for at, text in place.arguments if isinstance(text, str)]
    return found


_PART: Final = re.compile(r"%(.)", re.DOTALL)
_OF_CALENDAR: Final = frozenset("mdUjbB")
_PARTS: Final = {
    "$year": "Y", "$isoWeekYear": "G", "$isoWeek": "V", "$month": "m", "$dayOfMonth": "d", "$week": "U",
    "$dayOfYear": "j",
}  # fmt: skip


@rule("MT437", needs=("$dateToString", "$arrayElemAt", *_PARTS))
def find_mixed_date_parts(subject: RuleContext) -> Iterator[Finding]:
    """MT437: a date is shown with parts of two calendars, minutes in place of months, or no part at all.

    Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateToString/#format-specifiers
    """
    for stage in subject.flow.stages:
        for path, (message, hint), key in stage.text.once(_judge_dates):
            yield subject.in_pipeline("MT437", path, message, hint, key=key)
    for use in subject.uses("$arrayElemAt"):
        if isinstance(use.argument, list):
            message, hint = _judge_names(*(subject.written(one, use.path)[0] for one in use.argument))
            if message:
                yield subject.in_pipeline("MT437", use.path, message, hint, key=True)


def _judge_dates(stage: StageText) -> list[tuple[Path, tuple[str, str], bool]]:
    """Return the faults in the text of a stage: the place, the message and the hint, and whether the place is a key."""
    found: list[tuple[Path, tuple[str, str], bool]] = []
    dates: dict[str, dict[str, UsePlace]] = defaultdict(dict)
    for place in stage.places:
        for path, text in place.arguments if place.name == "$dateToString" else ():
            if path[-1] == "format" and isinstance(text, str):
                found.append((path, _judge_format(text), False))
        if place.name in _PARTS and len(place.arguments) == 1:
            dates[str(place.arguments[0][1])].setdefault(_PARTS[place.name], place)
    for parts in dates.values():
        fault = _judge_parts(parts, {part: place.name for part, place in parts.items()})
        if fault[0]:
            first = parts["Y"] if "V" in parts and "Y" in parts else parts["G"]
            found.append((first.path, fault, True))
    return [one for one in found if one[1][0]]


def _judge_format(text: str) -> tuple[str, str]:
    """Return message and hint about a format of dates, or two empty strings for a sound format."""
    parts = [part for part in _PART.findall(text) if part != "%"]
    if not parts and not text.startswith("$"):
        return (
            f'the format "{text}" has no part of the date: every date becomes this string',
            'MongoDB\'s parts are written "%Y-%m-%d %H:%M:%S"',
        )
    if re.search(r"%H\W*%m", text) and "M" not in parts:
        return "`%m` is the month; minutes are `%M`", 'write "%H:%M"'
    meant = re.sub(r"(%[YGd]\W*)%M", r"\1%m", text) if "H" in parts else text.replace("%M", "%m")
    if "M" in parts and meant != text and not {"Y", "G"}.isdisjoint(parts):
        return "`%M` is the minute; months are `%m`", f'write "{meant}"'
    return _judge_parts(parts, {part: f"%{part}" for part in parts})


_COUNTED: Final = {"$dayOfWeek": "Sunday", "$isoDayOfWeek": "Monday", "$month": "January"}
"""For each operator, the day or month that it returns as 1."""


def _judge_names(names: Any, index: Any = None) -> tuple[str, str]:
    """Return message and hint about a list of names of days or months, or two empty strings for a sound list."""
    size = len(names) if isinstance(names, list) and all(isinstance(one, str) for one in names) else 0
    taken = index.get("$subtract") if isinstance(index, Mapping) else None
    number = taken[0] if isinstance(taken, list) and taken[1:] == [1] else index
    operator = next(iter(number), "") if isinstance(number, Mapping) else ""
    if size != (12 if operator == "$month" else 7) or operator not in _COUNTED:
        return "", ""
    if number is index:
        hint = f'subtract 1: {{"$subtract": [{json.dumps(index, default=str)}, 1]}}'
        return (
            f"`{operator}` counts from 1, and a list from 0: each number selects the name of the next one",
            hint,
        )
    first, last = names[0].lower(), names[-1].lower()
    begins = (
        "Monday" if first[:2] == "mo" and last[:2] in ("su", "so") else "Sunday" if last[:2] == "sa" else ""
    )
    if operator == "$month" or not begins or begins == _COUNTED[operator]:
        return "", ""
    other = next(name for name, day in _COUNTED.items() if day == begins)
    return f"`{operator}` begins with {_COUNTED[operator]}, and this list with {begins}", f"write `{other}`"


def _judge_parts(parts: Any, names: Mapping[str, str]) -> tuple[str, str]:
    if "V" in parts and "Y" in parts and "G" not in parts:
        wanted = "%G" if names["Y"].startswith("%") else "$isoWeekYear"
        return (
            f"`{names['V']}` is a week of the ISO year, but `{names['Y']}` is the calendar year: they differ around "
            "New Year",
            f"use `{wanted}` for the year",
        )
    mixed = sorted(names[part] for part in _OF_CALENDAR.intersection(parts))
    if "G" in parts and mixed and "Y" not in parts:
        wanted = "%Y" if names["G"].startswith("%") else "$year"
        return (
            f"`{names['G']}` is the ISO year, but {quote(mixed)} needs the calendar year: they differ around New Year",
            f"use `{wanted}` for the year",
        )
    return "", ""


@rule("MT438")
def find_places_in_keys(subject: RuleContext) -> Iterator[Finding]:
    """MT438: a key selects an array element by its index, or is the index that an ``$unwind`` has made.

    A server may look for a field that is named like the index; only a ``$sort`` of stored documents is safe.
    MongoDB 6.0 may sort before the ``$unwind`` that makes the index.
    """
    stored, index = True, ""
    for stage in subject.flow.stages:
        for path, text in _keys_of(stage) if index else ():
            # As the last ascending key, the index changes nothing: elements are in its order already.
            if text == index and stage.name != "$lookup" and not _is_last(stage, text):
                why = "a server may sort first, so files and a server can differ"
                message = f"`{text}` is the index from the `$unwind` before: {why}"
                hint = f'write {{"$set": {{"{text}": "${text}"}}}} between the two stages'
                yield subject.in_pipeline("MT438", path, message, hint, key=True)
        for path, text in _keys_of(stage) if not (stored and stage.name == "$sort") else ():
            place = _find_place(stage.before, text.split("."))
            if place is None:
                continue
            above, number, rest = place
            field = ".".join((above, *rest))
            message = (
                f"`{text}` selects an element by its index, which a server may not find in `{stage.name}`: files and a "
                "server can differ"
            )
            hint = f'extract the element first: {{"$set": {{"key": {{"$arrayElemAt": ["${field}", {number}]}}}}}}'
            yield subject.in_pipeline("MT438", path, message, hint, key=path[-1] == text)
        stored = stored and stage.name in ("$match", "$sort", "$limit", "$skip")
        is_unwind = stage.name == "$unwind" and isinstance(stage.argument, dict)
        index = stage.argument.get("includeArrayIndex", "") if is_unwind else ""


def _is_last(stage: StageFlow, text: str) -> bool:
    """Return whether a field is the last of several sort keys and in ascending order."""
    keys = stage.argument if stage.name == "$sort" else stage.argument["sortBy"]
    return len(keys) > 1 and [*keys.items()][-1] == (text, 1)


@rule("MT441", of="documents", needs=("$lookup", "$graphLookup"))
def find_joins_of_kinds(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT441: the two sides of a join have no kind of value in common, such as numbers and strings."""
    for stage in subject.stages("$lookup", "$graphLookup"):
        local, foreign = ("localField", "foreignField")
        if stage.name == "$graphLookup":
            local, foreign = ("startWith", "connectToField")
        argument = stage.argument
        names = (argument.get("from"), argument.get(local), argument.get(foreign))
        if not all(isinstance(one, str) for one in names):
            continue
        other, here, there = map(str, names)
        kinds = kinds_of(stage.before, here.removeprefix("$"))
        theirs = kinds_of(documents.shape_of_all(other), there)
        if kinds and theirs and kinds.isdisjoint(theirs):
            message = (
                f"the type of `{here}` is {' or '.join(sorted(kinds))}, but that of `{there}` in `{other}` is "
                f"{' or '.join(sorted(theirs))}: the join finds no match"
            )
            hint = 'convert one side first, for example with {"$set": {…: {"$toString": …}}}'
            yield subject.in_pipeline("MT441", (*stage.path, local), message, hint)


@rule("MT454", of="documents", needs=("$lookup",))
def find_joins_of_missing(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT454: documents on both sides of a join lack the field, and are therefore joined with each other.

    Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/lookup/
    """
    for stage in subject.stages("$lookup") if subject.known else ():
        names = [stage.argument.get(one) for one in ("from", "localField", "foreignField")]
        if "pipeline" in stage.argument or not all(isinstance(one, str) for one in names):
            continue
        other, here, there = map(str, names)
        shapes = (
            lookup(stage.before, tuple(here.split("."))),
            lookup(documents.shape_of_all(other), tuple(there.split("."))),
        )
        if all(one.missing and one.kinds and not one.unknown for one in shapes):
            message = f"documents without `{here}` are joined with those of `{other}` that have no `{there}`"
            hint = f'leave them out first: {{"$match": {{"{here}": {{"$exists": true}}}}}}'
            yield subject.in_pipeline("MT454", (*stage.path, "localField"), message, hint)


def kinds_of(documents: Shape, path: str) -> frozenset[str]:
    """Return the kinds of values, and of array elements, that a join compares at a path. The result is empty if
    unknown.
    """
    shape = lookup(documents, tuple(path.split(".")))
    inner = elements(shape)
    if shape.unknown or inner.unknown or not documents.kinds:
        return frozenset()
    return frozenset(map(class_of, (shape.kinds | inner.kinds) - {"array", "null"}))


def _keys_of(stage: StageFlow) -> Iterator[tuple[Path, str]]:
    argument = stage.argument
    if not isinstance(argument, dict):
        return
    keys = argument if stage.name == "$sort" else argument.get("sortBy")
    below = () if stage.name == "$sort" else ("sortBy",)
    for text in keys if isinstance(keys, dict) else ():
        yield (*stage.path, *below, text), text
    if stage.name == "$lookup" and isinstance(local := argument.get("localField"), str):
        yield (*stage.path, "localField"), local


def _find_place(documents: Shape, parts: list[str]) -> tuple[str, str, list[str]] | None:
    """Return the array, the index and the rest of a path that selects an array element by its index."""
    for at, part in enumerate(parts):
        if at and part.isdigit() and "array" in lookup(documents, tuple(parts[:at])).kinds:
            return ".".join(parts[:at]), part, parts[at + 1 :]
    return None
