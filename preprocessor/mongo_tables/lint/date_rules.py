"""Rules about dates: time zones that differ, numbers that are not milliseconds, parts out of range."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from mongo_tables.aggregation.uses import Use
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.rule_context import Documents, RuleContext, leading_match, rule
from mongo_tables.lint.shape.expressions import COMPARING
from mongo_tables.lint.shape.flow import StageText
from mongo_tables.lint.shape.values import lookup
from mongo_tables.render.column import column_value

_RANGES: Final = {
    "$month": (1, 12), "$dayOfMonth": (1, 31), "$dayOfWeek": (1, 7), "$isoDayOfWeek": (1, 7), "$isoWeek": (1, 53),
    "$dayOfYear": (1, 366), "$hour": (0, 23), "$minute": (0, 59), "$week": (0, 53),
}  # fmt: skip
_ZONED: Final = {*_RANGES, "$year", "$isoWeekYear", "$dateToString", "$dateTrunc"} - {"$minute"}
_UTC: Final = ("UTC", "GMT", "Z", "+00:00", "+0000", "+00", "Etc/UTC")


@rule("MT456", of="documents", needs=_ZONED)
def find_mixed_zones(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT456: the same date is read or shown in a time zone at one place, and in UTC at another."""
    zones: dict[str, list[tuple[Any, Use]]] = defaultdict(list)
    for stage in subject.flow.stages:
        for date, zone, use in stage.text.once(_list_zones):
            zones[date].append((zone, use))
    for found in zones.values():
        zoned = next((zone for zone, _ in found if isinstance(zone, str) and zone not in _UTC), "")
        plain = [use for zone, use in found if zone is None and not _has_zone(use, subject, documents)]
        if zoned and plain:
            message = (
                f"`{plain[0].name}` uses UTC for a date that is in {zoned} elsewhere: days and hours differ"
            )
            hint = f'write "timezone": "{zoned}" here as well, or "UTC" if that is meant'
            yield subject.in_pipeline("MT456", plain[0].path, message, hint, key=True)


def _list_zones(stage: StageText) -> list[tuple[str, Any, Use]]:
    """Return the dates that are read or shown, each as its text, its time zone (or None) and the operator."""
    found = []
    for use in stage.uses:
        named = use.argument if isinstance(use.argument, Mapping) else {}
        if use.name == "$dateFromString" and isinstance(named.get("dateString"), str):
            date: Any = f"${use.path[2]}" if len(use.path) == 4 else {use.name: named}
        elif use.name in _ZONED:
            date = named.get("date", use.argument)
        else:
            continue
        found.append((json.dumps(date, default=str), named.get("timezone"), use))
    return found


def _has_zone(use: Use, subject: RuleContext, documents: Documents) -> bool:
    """Return whether the strings that are read as dates contain a time zone."""
    if use.name != "$dateFromString":
        return False
    values = [
        column_value(one, use.argument["dateString"][1:]) for one in documents.of(subject.spec).documents
    ]
    return any(re.search(r"(Z|[+-]\d\d:?\d\d)$", str(one)) for one in [*values, use.argument.get("format")])


@rule("MT437", of="documents", needs=("$dateToString",))
def find_months_of_several_years(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT437: documents of several years are grouped by a month, week or day without the year."""
    place, passing = len(leading_match(subject.spec.pipeline)), documents.of(subject.spec)
    groups = [one for one in subject.stages("$group") if one.number == place]
    used = [use for one in groups for use in one.uses if "_id" in use.path]
    has_year = any(use.name in ("$year", "$isoWeekYear", "$dateTrunc") for use in used)
    for use in used if not has_year and not re.search("%[YG]", repr(used)) else ():
        named = use.argument if use.name == "$dateToString" else {}
        text, path = str(named.get("format")), named.get("date")
        if not re.search("%[mbBjUV]", text) or not isinstance(path, str):
            continue
        years = defaultdict[str, set[int]](set)
        for value in (column_value(one, path[1:]) for one in passing.documents):
            if isinstance(value, datetime):
                years[value.strftime(text)].add(value.year)
        if mixed := next((sorted(found) for found in years.values() if len(found) > 1), None):
            both = f"{mixed[0]} and {mixed[1]}"
            message = f'the format "{text}" has no year: documents of {both} are in one group'
            yield subject.in_pipeline("MT437", (*use.path, "format"), message, "to keep them apart, add `%Y`")


@rule("MT457", of="documents", needs=("$toDate", "$add"))
def find_seconds_as_milliseconds(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT457: a number that is not in milliseconds is converted to a date or added to one."""
    for use in subject.uses("$toDate", "$add") if subject.known else ():
        dated, number = use.name == "$toDate", ""
        for operand in use.argument if isinstance(use.argument, list) else [use.argument]:
            name = next(iter(operand), "") if isinstance(operand, Mapping) else ""
            operand = operand[name] if name in ("$toLong", "$toDouble", "$toInt", "$toDecimal") else operand
            is_field = isinstance(operand, str) and re.match(r"\$[^$]", operand)
            parts = tuple(operand[1:].split(".")) if is_field else ("",)
            shape = lookup(subject.flow.stages[int(use.path[0])].before, parts)
            dated = dated or isinstance(operand, datetime) or shape.kinds == {"date"}
            if type(operand) is int and 1 < operand < 1000:
                number = str(operand)
            elif shape.traits.path:
                rows = documents.of(subject.spec).documents
                values = [column_value(one, shape.traits.path) for one in rows]
                if values and all(isinstance(one, (int, float)) and 1e8 < one < 5e9 for one in values):
                    number = f"`{shape.traits.path}`, such as {values[0]},"
        if dated and number:
            message = (
                f"`{use.name}` reads {number} as milliseconds, but it looks like seconds or another unit"
            )
            hint = 'multiply seconds by 1000, or name the unit: {"$dateAdd": {…}}'
            yield subject.in_pipeline("MT457", use.path, message, hint, key=True)


@rule("MT435", reads=COMPARING)
def find_parts_out_of_range(subject: RuleContext) -> Iterator[Finding]:
    """MT435: a part of a date is compared with a number that it never is, such as month 0."""
    for visit, operand, other in subject.comparisons:
        constants = operand.expression if isinstance(operand.expression, list) else [operand.expression]
        numbers = [one for one in constants if isinstance(one, (int, float))]
        if not numbers or visit.name not in ("$eq", "$ne", "$in"):
            continue
        written = subject.written(other.expression, visit.path)[0]
        name = next(iter(written), "") if isinstance(written, Mapping) else ""
        low, high = _RANGES.get(name, (0, 0))
        wrong = [one for one in numbers if not low <= one <= high]
        if high and wrong:
            message = f"`{name}` gives {low} to {high}, never {wrong[0]}"
            hint = "`$dayOfWeek` begins with Sunday, which is 1" if name == "$dayOfWeek" else ""
            yield subject.in_pipeline("MT435", operand.path, message, hint)
