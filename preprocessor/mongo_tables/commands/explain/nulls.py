"""Where a field became null or went missing, and which part of its expression is to blame.

MongoDB's operators answer null when an argument is null or missing
(https://www.mongodb.com/docs/manual/reference/operator/aggregation/divide/ and its neighbours), so one absent field
makes a whole column empty without a word. The blame is found by evaluating the parts of the expression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.aggregation.values import MISSING, is_nullish
from mongo_tables.commands.explain.notes import describe_portion, shorten_json
from mongo_tables.commands.explain.reading import Stage, fields_computed, operator_of, path_of
from mongo_tables.commands.explain.stepper import Step
from mongo_tables.render.column import column_value

_CHOOSING = frozenset({"$cond", "$switch", "$let", "$map", "$filter", "$reduce", "$ifNull", "$function"})


Row = Mapping[str, Any]
Rows = Sequence[Row]


@dataclass(frozen=True, slots=True)
class Gap:
    """A field without a value in some documents: in ``null`` of ``documents`` it is null, in ``missing`` not there.

    ``reason`` says why where that is known; ``culprit`` is the path that is to blame, "" when none is. Unless
    ``complete``, only the first documents were looked at.
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
        """In how many documents it has no value."""
        return self.null + self.missing

    @property
    def some(self) -> bool:
        """Whether only some documents lack it."""
        return 0 < self.empty < self.documents

    def state(self, noun: str) -> str:
        """What is so in how many documents: "is null in 3 of 24 rows"."""
        state = "null" if not self.missing else "missing" if not self.null else "null or missing"
        return f"is {state} {describe_portion(self.empty, self.documents, noun, complete=self.complete)}"


def gap(field: str, rows: Rows) -> Gap:
    """How often ``field``, a dotted path, has no value in ``rows``."""
    values = [column_value(row, field) for row in rows]
    null = sum(value is None for value in values)
    missing = sum(value is MISSING for value in values)
    return Gap(field, null, missing, len(rows))


def new_gaps(stage: Stage, before: Step, after: Step, let: Mapping[str, Any]) -> list[Gap]:
    """The gaps in the fields that ``stage`` computes."""
    found = []
    for field, expression in fields_computed(stage).items():
        here = gap(field, after.rows)
        if here.empty:
            here = replace(here, complete=after.complete)
            reason, culprit = _blame(expression, before, let)
            found.append(replace(here, reason=_shorten_reason(reason, here), culprit=culprit))
    return [*found, *_group_gaps(stage, before, after)]


def _shorten_reason(reason: str, here: Gap) -> str:
    """The reason without the number of documents where it is the gap's own."""
    where = describe_portion(here.empty, here.documents, "document", complete=here.complete)
    return f"{reason.removesuffix(where)}there" if reason.endswith(f" {where}") and here.some else reason


def _group_gaps(stage: Stage, before: Step, after: Step) -> list[Gap]:
    name, body = operator_of(stage)
    if name != "$group" or not isinstance(body, Mapping):
        return []
    found = []
    for field, accumulator in body.items():
        here = gap(field, after.rows)
        if here.empty and field != "_id" and isinstance(accumulator, Mapping) and len(accumulator) == 1:
            ((operator, argument),) = accumulator.items()
            path = path_of(argument) if isinstance(argument, str) else ""
            reason = _describe_absence(path, before) if path else f"`{operator}` found no value"
            found.append(replace(here, reason=reason, culprit=path, complete=after.complete))
    return found


def _blame(expression: Any, before: Step, let: Mapping[str, Any]) -> tuple[str, str]:
    """The reason and the culprit, judged on the first document that gives no value."""
    for row, value in zip(before.rows, evaluate(expression, before.rows, let), strict=False):
        if is_nullish(value):
            return _blame_part(expression, row, before, let)
    return "", ""


def _blame_part(expression: Any, row: Row, before: Step, let: Mapping[str, Any]) -> tuple[str, str]:
    if isinstance(expression, str) and (path := path_of(expression)):
        return _describe_absence(path, before), path
    if not isinstance(expression, Mapping) or len(expression) != 1:
        return "", ""
    ((operator, arguments),) = expression.items()
    if not operator.startswith("$") or operator in ("$literal", "$getField"):
        return "", ""
    for part in _arguments(operator, arguments, row, let):
        if any(map(is_nullish, evaluate(part, [row], let))):
            return _blame_part(part, row, before, let)
    return "" if operator in _CHOOSING else f"{shorten_json(expression)} gives no value", ""


def _arguments(operator: str, arguments: Any, row: Row, let: Mapping[str, Any]) -> Sequence[Any]:
    """The parts of an expression whose null makes it null."""
    if operator == "$cond":
        return _branch(arguments, row, let)
    if operator == "$ifNull" and isinstance(arguments, list):
        return arguments[-1:]
    if operator in _CHOOSING:
        return ()
    if isinstance(arguments, list):
        return arguments
    return list(arguments.values()) if _is_named(arguments) else [arguments]


def _is_named(arguments: Any) -> bool:
    return isinstance(arguments, Mapping) and not any(key.startswith("$") for key in arguments)


def _branch(arguments: Any, row: Row, let: Mapping[str, Any]) -> Sequence[Any]:
    """The branch of a ``$cond`` that is taken for ``row``."""
    if _is_named(arguments):
        arguments = [arguments.get(key) for key in ("if", "then", "else")]
    chosen = evaluate({"$cond": [arguments[0], 1, 2]}, [row], let)
    return [arguments[chosen[0]]] if chosen else ()


def _describe_absence(path: str, before: Step) -> str:
    here = replace(gap(path, before.rows), complete=before.complete)
    return f"`{path}` {here.state('document')}" if here.empty else ""


def evaluate(expression: Any, rows: Rows, let: Mapping[str, Any]) -> list[Any]:
    """The values of an expression on ``rows``; none at all where they cannot be known without a server."""
    documents = (dict(row) for row in rows)
    try:
        found = aggregate(documents, [{"$replaceWith": {"value": expression}}], variables=let)
    except AggregationError:
        return []
    return [row.get("value", MISSING) for row in found]
