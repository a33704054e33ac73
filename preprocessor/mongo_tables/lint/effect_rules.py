"""Rules about stages and operators that run without error but do not have the intended effect.

For example, an ``$unwind`` drops documents, or repeats values before they are summed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.catalogue import names_with
from mongo_tables.aggregation.fields import Parts, conditions_in, is_nested, paths_in, split_path
from mongo_tables.aggregation.join_index import JoinIndex, path_values
from mongo_tables.aggregation.paths import get_nested, with_nested
from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.findings.finding import Finding, nearest_word
from mongo_tables.lint.rule_context import (
    Documents,
    Row,
    Rows,
    RuleContext,
    find_definition,
    leading_match,
    quote,
    rule,
)
from mongo_tables.lint.shape.expressions import Path, Visit
from mongo_tables.lint.shape.flow import StageText
from mongo_tables.lint.shape.values import NULL, NUMBERS, lookup
from mongo_tables.render.column import column_value

_ACCUMULATING: Final = names_with("accumulates", "stage")
_SUMMING: Final = names_with("skips texts", "accumulator")
_OF_ANY_ORDER: Final = _SUMMING | names_with("picks an end", "accumulator")
_ORDERING: Final = names_with("compares", "expression")
_EQUATING: Final = names_with("equates", "expression")


@rule("MT443", needs=_SUMMING)
def find_sums_of_arrays(subject: RuleContext) -> Iterator[Finding]:
    """MT443: in a ``$group`` a sum or a mean skips values that are arrays.

    Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/sum/#array-operand
    """
    for stage in subject.stages(*_ACCUMULATING) if subject.known else ():
        for use in stage.uses:
            path = use.argument if isinstance(use.argument, str) and use.kind == "accumulator" else ""
            if use.name not in _SUMMING or path[:1] != "$" or path[:2] == "$$":
                continue
            shape = lookup(stage.before, tuple(path[1:].split(".")))
            if not shape.unknown and shape.kinds - {"null"} == {"array"}:
                message = f"`{path[1:]}` is an array, which `{use.name}` skips here: it takes only numbers"
                hint = (
                    f'`$unwind` it first, or sum up each array: {{"$sum": {{"$sum": "{path}"}}}}'
                    if use.name == "$sum"
                    else "`$unwind` it first"
                )
                yield subject.in_pipeline("MT443", use.path, message, hint)


_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_FULL_HOUR: Final = re.compile(r".{14}00(:00)?(?![:.\d])")


@rule("MT453", of="documents", needs=("$group",))
def find_groups_of_one(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT453: the key of a ``$group`` is a time with minutes or seconds, so each group has one document."""
    place = len(leading_match(subject.spec.pipeline))
    group = subject.flow.stages[place].argument if len(subject.flow.stages) > place else None
    if not isinstance(group, Mapping) or "$group" not in subject.spec.pipeline[place]:
        return
    if not any(not _SUMMING.isdisjoint(value) for name, value in group.items() if name != "_id"):
        return
    key, passing = group["_id"], documents.of(subject.spec)
    written = key.values() if is_nested(key) else [key]
    if not passing.complete or not all(isinstance(one, str) and re.match(r"\$[^$]", one) for one in written):
        return
    times = [path for path in written if _are_times(column_value(one, path[1:]) for one in passing.documents)]
    rows = [[column_value(one, path[1:]) for path in written] for one in passing.documents if times]
    if len(rows) > 2 and len(set(map(repr, rows))) == len(rows):
        is_text = any(isinstance(column_value(one, times[0][1:]), str) for one in passing.documents)
        month = {"$substrBytes": [times[0], 0, 7]}
        start = json.dumps(month if is_text else {"$dateTrunc": {"date": times[0], "unit": "month"}})
        message = f"each group has one document: `{times[0][1:]}` is a time, which differs in all {len(rows)} documents"
        hint = f"to group by month, day or hour: {start}"
        yield subject.in_pipeline("MT453", (place, "$group", "_id"), message, hint, key=True)


def _are_times(values: Iterator[Any]) -> bool:
    """Return whether all values are times and at least one is not a full hour."""
    full = True
    for one in values:
        if not isinstance(one, datetime) and not (isinstance(one, str) and _TIME.match(one)):
            return False
        full = full and bool(_FULL_HOUR.match(str(one)))
    return not full


@rule("MT444", needs=("$setWindowFields",))
def find_windows_without_bounds(subject: RuleContext) -> Iterator[Finding]:
    """MT444: without ``window`` an accumulator takes the whole partition, so ``sortBy`` has no effect.

    Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/
    """
    for stage in subject.stages("$setWindowFields"):
        output = stage.argument.get("output")
        outputs = [*output.values()] if isinstance(output, Mapping) else []
        whole = outputs and all(
            isinstance(one, Mapping) and "window" not in one and not _OF_ANY_ORDER.isdisjoint(one)
            for one in outputs
        )
        if "sortBy" in stage.argument and whole:
            message = "without `window` every document gets the value of its whole partition: the order has no effect"
            hint = 'for a running value: "window": {"documents": ["unbounded", "current"]}; or leave out `sortBy`'
            yield subject.in_pipeline("MT444", (*stage.path, "sortBy"), message, hint, key=True)


@rule("MT445", needs=("$switch",))
def find_branches_never_reached(subject: RuleContext) -> Iterator[Finding]:
    """MT445: a branch of a ``$switch`` is never reached, because an earlier branch matches all of its values."""
    for stage in subject.flow.stages:
        for path, first in stage.text.once(_list_unreached):
            message = f"this branch is never reached: branch {first + 1} matches all of its values"
            hint = "write the narrowest condition first"
            yield subject.in_pipeline("MT445", path, message, hint)


def _list_unreached(stage: StageText) -> list[tuple[Path, int]]:
    """Return the places of branches that are never reached, each with the number of the branch that takes its
    values.
    """
    found: dict[Path, int] = {}
    for use in stage.uses:
        branches = use.argument.get("branches") if isinstance(use.argument, dict) else None
        is_switch = use.name == "$switch" and isinstance(branches, (list, tuple))
        cases = [_bound_of(one) for one in branches or ()] if is_switch else []
        for (first, one), (second, other) in combinations(enumerate(cases), 2):
            if one and other and _takes_all(one, other):
                found.setdefault((*use.path, "branches", second), first)
    return [*found.items()]


def _bound_of(branch: Any) -> tuple[str, str, float] | None:
    """Return operator, operand and number of a case that compares with a number, or None for another case."""
    case = branch.get("case") if isinstance(branch, dict) else None
    if not isinstance(case, dict) or len(case) != 1:
        return None
    ((name, operands),) = case.items()
    if name not in _ORDERING or not isinstance(operands, Sequence) or len(operands) != 2:
        return None
    number = operands[1]
    return (name, repr(operands[0]), number) if type(number) in (int, float) else None


def _takes_all(one: tuple[str, str, float], other: tuple[str, str, float]) -> bool:
    """Return whether all values that fulfil ``other`` also fulfil ``one``."""
    same = one[1] == other[1] and one[0][:2] == other[0][:2] in ("$g", "$l")
    if not same:
        return False
    if one[2] == other[2]:
        return one[0].endswith("e") or one[0] == other[0]
    return one[2] < other[2] if one[0].startswith("$g") else one[2] > other[2]


@rule("MT446", of="rows", needs=("$facet", "$lookup"))
def find_arrays_of_one(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT446: a column shows arrays of one element, which a ``$facet`` or a ``$lookup`` has made."""
    spec = subject.spec
    for path, column in spec.shown_columns:
        if not isinstance(column_value(rows[0], column), list):
            continue
        values = [column_value(row, column) for row in rows]
        if all(isinstance(one, list) and len(one) < 2 for one in values) and any(values):
            made = find_definition(spec, column)
            message = f"`{column}` is an array of one element in every row, and is shown as an array"
            hint = f'take the element: {{"$first": "${column}"}}'
            yield subject.finding(
                "MT446", subject.at(made, key=True) if made else spec.locate(path), message, hint
            )


@rule("MT447", reads=_EQUATING)
def find_missing_compared_with_null(subject: RuleContext) -> Iterator[Finding]:
    """MT447: in an expression a missing field is not equal to null.

    Source: https://www.mongodb.com/docs/manual/tutorial/query-for-null-fields/
    """
    for visit, operand, other in subject.comparisons if subject.known else ():
        read = other.expression
        if operand.expression is not None or visit.name not in _EQUATING:
            continue
        if not (isinstance(read, str) and read.startswith("$")):
            continue
        if other.shape.missing and not other.shape.absent and not other.shape.unknown:
            message = f"`{read[1:]}` is missing in some documents, and `{visit.name}` does not treat missing as null"
            hint = f'write {{"$ifNull": ["{read}", null]}}'
            yield subject.in_pipeline("MT447", other.path, message, hint)


@rule("MT447", reads=_ORDERING)
def find_missing_as_less(subject: RuleContext) -> Iterator[Finding]:
    """MT447: in an expression a field that is missing or null is less than every number and date.

    Source: https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/
    """
    for visit in subject.visits(*_ORDERING) if subject.known else ():
        if len(visit.given) != 2 or visit.name[:2] not in ("$l", "$g"):
            continue
        less, greater = visit.given if visit.name[:2] == "$l" else visit.given[::-1]
        sure = greater.kinds and greater.kinds <= _ORDERED and not greater.missing
        is_null = "null" in less.kinds and less.traits.path is not None
        if not sure or not (less.missing or is_null) or not NULL < less.kinds | NULL <= _ORDERED | NULL:
            continue
        what = "missing" if less.missing else "null"
        path, read = visit.place.arguments[0 if visit.name[:2] == "$l" else 1]
        if isinstance(read, str) and not _is_tested(subject, visit, read):
            message = (
                f"`{read[1:]}` is {what} in some documents, and {what} is less than every number: `{visit.name}` "
                "is true for them"
            )
            hint = f'to leave them out: {{"$and": [{{"$gt": ["{read}", null]}}, …]}}'
            yield subject.in_pipeline("MT447", path, message, hint)


_ORDERED: Final = NUMBERS | {"date"}


def _is_tested(subject: RuleContext, compared: Visit, read: str) -> bool:
    """Return whether the stage uses the field ``read`` anywhere except as the smaller side of a comparison."""
    for place in subject.flow.stages[int(compared.path[0])].text.places:
        texts = [text for _, text in place.arguments]
        less = {"$l": 0, "$g": 1}.get(place.name[:2], -1) if place.name in _ORDERING else -1
        is_condition = place.path[-1] in ("if", "case") or place.path[-2:] == ("$cond", 0)
        if read in texts and (is_condition or (place.name and texts.index(read) != less)):
            return True
    return False


_WHOLE: Final = ("$toInt", "$toLong", "$trunc", "$floor", "$ceil", "$round")


@rule("MT448", needs=("$multiply",))
def find_rounded_factors(subject: RuleContext) -> Iterator[Finding]:
    """MT448: a quotient loses its fraction before it is multiplied."""
    for use in subject.uses("$multiply"):
        for number, factor in enumerate(use.argument if isinstance(use.argument, (list, tuple)) else ()):
            name = next(iter(factor), "") if isinstance(factor, dict) else ""
            inner = factor[name] if name in _WHOLE else None
            inner = inner[0] if isinstance(inner, (list, tuple)) and len(inner) == 1 else inner
            if isinstance(inner, dict) and "$divide" in inner:
                message = f"`{name}` drops the fraction of the quotient before it is multiplied"
                hint = f"multiply first, then `{name}`"
                yield subject.in_pipeline("MT448", (*use.path, number), message, hint)


@rule("MT449", of="documents", needs=("$ne", "$nin", "$exists"))
def find_misspelt_exclusions(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT449: a condition excludes a string that no document has, but some documents have a similar one.

    The rule also reports a string in ``$exists``, because it counts as true.
    """
    for stage in subject.stages("$match") if subject.known else ():
        for name, condition, path in conditions_in(stage.argument, stage.path):
            if name.startswith("$") or not isinstance(condition, Mapping):
                continue
            if isinstance(condition.get("$exists"), str):
                message = f'`$exists` takes true or false: the string "{condition["$exists"]}" counts as true'
                yield subject.in_pipeline("MT449", (*path, "$exists"), message, "leave out the quotes")
            for at, value in _excluded(condition, path):
                # The known documents have already passed the first stage.
                every = stage.before if stage.number else documents.shape_of_all(subject.spec.collection)
                known = lookup(every, tuple(name.split("."))).traits.known
                texts = [one for one in known or () if isinstance(one, str)]
                if texts and value not in texts and (near := _find_misspelt(value, texts)):
                    message = f'no document has `{name}` equal to "{value}", so nothing is left out'
                    yield subject.in_pipeline("MT449", at, message, f'did you mean "{near}"?')


def _excluded(condition: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the strings that a condition leaves out, each with its place."""
    for operator in ("$ne", "$nin"):
        value = condition.get(operator)
        several = value if isinstance(value, (list, tuple)) else [value]
        for number, one in enumerate(several):
            if isinstance(one, str):
                yield (*path, operator, number) if several is value else (*path, operator), one


def _find_misspelt(value: str, texts: Sequence[str]) -> str:
    """Return the string that was probably meant: nearly the same, and nearly as long."""
    near = nearest_word(value, [one for one in texts if abs(len(one) - len(value)) <= _MOST_LETTERS])
    return near if near and " " not in value + near else ""


_MOST_LETTERS: Final = 2
"""The largest difference in length between a misspelt string and the right one."""


MOST_ROWS: Final = 20_000
"""The maximum number of rows that a rule makes from documents. If there are more, the rule reports nothing."""


class Unwind(NamedTuple):
    """An ``$unwind`` at the start of a pipeline, and what it did to the documents.

    ``dropped``: for each reason (``missing``, ``null`` or ``empty``), the number of dropped documents. ``total``: the
    number of documents before the stage. ``repeats``: whether a document has several elements. ``made``: the place of
    the join that made the array, or -1 for a stored array.
    """

    place: int
    made: int
    parts: Parts
    total: int
    dropped: Mapping[str, int]
    repeats: bool

    @property
    def name(self) -> str:
        """The path of the array, as it is written."""
        return ".".join(self.parts)


@rule("MT439", "MT440", of="documents", needs=("$unwind",))
def find_effects_of_unwinds(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT439, MT440: ``$unwind`` stages at the start of a pipeline silently drop documents or repeat values.

    Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/unwind/
    """
    unwinds = _unwinds(subject.spec, documents)
    yield from _find_dropped_documents(subject, unwinds)
    yield from _find_repeated_values(subject, unwinds)


def _find_dropped_documents(subject: RuleContext, unwinds: Sequence[Unwind]) -> Iterator[Finding]:
    """MT439: documents without an element silently have no row."""
    for unwind in unwinds:
        if unwind.dropped:
            why = " and ".join(f"{reason} in {count}" for reason, count in sorted(unwind.dropped.items()))
            lost, name = sum(unwind.dropped.values()), unwind.name
            keep = {"$unwind": {"path": f"${name}", "preserveNullAndEmptyArrays": True}}
            message = f"{lost} of {unwind.total} documents are dropped here: `{name}` is {why}"
            hint = f"{json.dumps(keep)} keeps them; to drop them explicitly, put a `$match` before it"
            yield subject.in_pipeline("MT439", (unwind.place, "$unwind"), message, hint)


def _find_repeated_values(subject: RuleContext, unwinds: Sequence[Unwind]) -> Iterator[Finding]:
    """MT440: an ``$unwind`` repeats the other fields of a document, and a ``$group`` adds up the copies."""
    spec = subject.spec
    place = unwinds[-1].place + 1 if unwinds else 0
    for stage in spec.pipeline[place:] if unwinds else ():
        if {*stage}.isdisjoint(("$match", "$sort")) or any(one.name in repr(stage) for one in unwinds):
            break
        place += 1
    group = spec.pipeline[place].get("$group") if unwinds and place < len(spec.pipeline) else None
    if not isinstance(group, Mapping):
        return
    keys = set(paths_in(group.get("_id")))
    unwinds = [one for one in unwinds if one.repeats and not _reads(keys, one.parts)]
    for name, value in group.items():
        operator = next(iter(value), "") if isinstance(value, Mapping) else ""
        if operator not in _SUMMING:
            continue
        read = set(paths_in(value[operator]))
        made = max((one.made for one in unwinds if _reads(read, one.parts)), default=-1)
        repeating = [one for one in unwinds if one.place > made and not _reads(read, one.parts)]
        repeating = repeating if read else unwinds[1:]
        if repeating:
            what = quote(".".join(parts) for parts in sorted(read)) if read else f"`{unwinds[0].name}`"
            arrays = quote(one.name for one in repeating)
            message = f"`{operator}` gets {what} once for each element of {arrays}, because the `$unwind` repeats it"
            hint = "group before the `$unwind`, or compute the value from the array, with `$size`, `$sum` or `$reduce`"
            yield subject.in_pipeline("MT440", (place, "$group", name), message, hint, key=True)


def _reads(paths: set[Parts], parts: Parts) -> bool:
    """Return whether one of the paths leads to the array, through it, or to a document that contains it."""
    return any(path[: len(parts)] == parts or parts[: len(path)] == path for path in paths)


def _unwinds(spec: PipelineSpec, documents: Documents) -> list[Unwind]:
    """Return the ``$unwind`` stages that follow only a ``$match`` and joins, if all documents are known."""
    passing = documents.of(spec)
    rows: Sequence[Row] = passing.documents if passing.complete else ()
    found: list[Unwind] = []
    joins: dict[str, int] = {}
    for place, stage in enumerate(spec.pipeline[(start := len(leading_match(spec.pipeline))) :], start):
        if "$lookup" in stage and (joined := _join(rows, stage["$lookup"], documents)) is not None:
            rows, joins[stage["$lookup"]["as"]] = joined, place
            continue
        argument = stage.get("$unwind")
        options = argument if isinstance(argument, Mapping) else {"path": argument}
        path = options.get("path")
        if not rows or not isinstance(path, str) or options.get("includeArrayIndex"):
            break
        parts, keeps = split_path(path[1:]), bool(options.get("preserveNullAndEmptyArrays"))
        made: list[Row] = []
        dropped: Counter[str] = Counter()
        for row in rows:
            elements, reason = _elements(row, parts)
            if reason and not keeps:
                dropped[reason] += 1
            made += [with_nested(row, parts, one) for one in elements] or ([row] if keeps else [])
            if len(made) > MOST_ROWS:
                return found
        repeats = len(made) > len(rows) - dropped.total()
        found.append(Unwind(place, joins.get(parts[0], -1), parts, len(rows), dropped, repeats))
        rows = made
    return found


def _join(rows: Sequence[Row], argument: Any, documents: Documents) -> list[Row] | None:
    """Return the rows that a ``$lookup`` by two fields makes, or None for any other ``$lookup``."""
    keys = ("from", "localField", "foreignField", "as")
    named = [argument.get(key) if isinstance(argument, Mapping) else None for key in keys]
    if not all(isinstance(one, str) and "." not in one for one in named) or len(argument) != len(keys):
        return None
    collection, local, foreign, name = map(str, named)
    others = documents.passing(collection, (), {})
    index = JoinIndex(others.documents, (foreign,))
    joined = ({**row, name: index.find([*path_values(row, (local,))] or [None])} for row in rows)
    return [*joined] if others.complete else None


def _elements(row: Row, parts: Parts) -> tuple[Sequence[Any], str]:
    """Return the elements from which an ``$unwind`` makes rows. Without elements, also return the reason."""
    value = get_nested(row, parts)
    if value is MISSING:
        return (), "missing"
    if value is None:
        return (), "null"
    if isinstance(value, (list, tuple)):
        return value, "" if value else "empty"
    return (value,), ""
