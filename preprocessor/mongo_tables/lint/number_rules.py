"""Rules about computed numbers: divisors, nulls that become 0, samples paired by position, differences of counters."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from mongo_tables.aggregation.catalogue import names_with
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.rule_context import RuleContext, last_operator, rule
from mongo_tables.lint.shape.expressions import Operand, Path, Visit
from mongo_tables.lint.shape.values import NUMBERS, elements

_DIVIDING: Final = names_with("divides")
_COUNTING_ZEROS: Final = names_with("skips nulls")
_ONLY_NUMBERS: Final = names_with("skips texts")


def _format_expression(expression: Any) -> str:
    return expression[1:] if isinstance(expression, str) else json.dumps(expression, default=str)


def _divisors(subject: RuleContext) -> Iterator[Operand]:
    for visit in subject.visits(*_DIVIDING):
        if len(visit.operands) == 2:
            yield visit.operands[1]


@rule("MT306", needs=_COUNTING_ZEROS)
def find_nulls_counted_as_zero(subject: RuleContext) -> Iterator[Finding]:
    """MT306: a sum turns null samples into 0, and a mean over such sums counts them."""
    for visit in subject.visits(*_COUNTING_ZEROS):
        if any(elements(operand.shape).traits.zeroed for operand in visit.operands):
            yield subject.in_pipeline(
                "MT306",
                visit.path,
                f"samples that are null have become 0 before this `{visit.name}`, which counts them: the figure "
                "is too low, and 0 where nothing was measured",
                'leave out nulls first: {"$filter": {"input": …, "cond": {"$ne": ["$$this", null]}}}; `$add` '
                "instead of `$sum` gives null for a null",
            )


@rule("MT428", needs=_ONLY_NUMBERS)
def find_texts_left_out(subject: RuleContext) -> Iterator[Finding]:
    """MT428: a sum or a mean silently ignores values that are not numbers.

    Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/avg/#non-numeric-or-missing-values
    """
    for visit in subject.fields_read if subject.known else ():
        field = visit.shape.traits.path
        if field is None or visit.shape.unknown:
            continue
        inner = elements(visit.shape)
        kinds = visit.shape.kinds | (frozenset() if inner.unknown else inner.kinds)
        if "string" not in kinds or (operator := last_operator(visit.path)) not in _ONLY_NUMBERS:
            continue
        have = f"some documents have a string in `{field}`" if kinds & NUMBERS else f"`{field}` is a string"
        result = "counts numbers only" if kinds & NUMBERS else "finds no number in it"
        yield subject.in_pipeline(
            "MT428",
            visit.path,
            f"{have}: `{operator}` {result}, and skips strings without an error",
            'make numbers of them first, with {"$toDouble": …}, or select numbers: '
            f'{{"$match": {{"{field}": {{"$type": "number"}}}}}}',
        )


@rule("MT307", needs=_DIVIDING)
def find_rounded_divisors(subject: RuleContext) -> Iterator[Finding]:
    """MT307: a divisor that was rounded to whole numbers can be 0, and makes the quotient inexact."""
    for divisor in _divisors(subject):
        digits = divisor.shape.traits.digits
        if digits is not None and digits <= 0:
            yield subject.in_pipeline(
                "MT307",
                divisor.path,
                f"the divisor `{_format_expression(divisor.expression)}` has been rounded: below 0.5 it is 0 and the "
                "whole table fails, and short runs are shown too fast or too slow",
                "divide by the value as it was measured, and round the result",
            )


@rule("MT308", needs=_DIVIDING)
def find_zero_divisors(subject: RuleContext) -> Iterator[Finding]:
    """MT308: a document has 0 in a divisor of the pipeline."""
    for divisor in _divisors(subject):
        traits = divisor.shape.traits
        if traits.known and 0 in traits.known and not traits.nonzero:
            constant = isinstance(divisor.expression, (int, float))
            what = "the divisor is 0" if constant else f"a document has 0 in `{traits.path}`"
            yield subject.in_pipeline(
                "MT308",
                divisor.path,
                f"{what}: dividing by it fails, and the whole table with it",
                GUARD,
            )


GUARD = (
    'guard it: {"$cond": [{"$gt": [divisor, 0]}, {"$divide": […, divisor]}, null]}, or let the `$match` demand '
    "that it is greater than 0"
)


@rule("MT410", needs=_DIVIDING)
def find_unguarded_divisors(subject: RuleContext) -> Iterator[Finding]:
    """MT410: nothing ensures that the divisor is not 0. One such document would fail the whole table."""
    places: dict[str, list[Path]] = defaultdict(list)
    for divisor in _divisors(subject):
        traits = divisor.shape.traits
        settled = traits.nonzero or (traits.digits is not None and traits.digits <= 0)
        if not settled and not divisor.shape.absent and not (traits.known and 0 in traits.known):
            places[_format_expression(divisor.expression)].append(divisor.path)
    for written, paths in places.items():
        more = f" (here and in {subject.lines(paths[1:])})" if len(paths) > 1 else ""
        yield subject.in_pipeline(
            "MT410",
            paths[0],
            f"`{written}` may be 0 or missing{more}: one such document makes the whole table fail, or leaves the "
            f"cell empty",
            GUARD,
        )


@rule("MT407", needs=("$zip",))
def find_zips_by_position(subject: RuleContext) -> Iterator[Finding]:
    """MT407: pairing arrays of samples by position combines values that were measured at different times."""
    for visit in subject.visits("$zip"):
        owners = {
            operand.expression.rpartition(".")[0]
            for operand in visit.operands
            if isinstance(operand.expression, str) and operand.expression.startswith("$")
        }
        if len(owners) > 1:
            yield subject.in_pipeline(
                "MT407",
                visit.path,
                "`$zip` pairs the arrays by position and drops what is left of the longer one: where a sample is "
                "missing, figures of different times are added up",
                "compute the mean of each array separately, or pair the samples by their timestamp",
            )


_LATER = r"(?i)after|end|final|last|stop"
_EARLIER = r"(?i)before|start|begin|first|initial"
_COMPARISONS: Final = names_with("compares", "expression") | names_with("equates", "expression")


@rule("MT409", needs=("$subtract",))
def find_unchecked_counters(subject: RuleContext) -> Iterator[Finding]:
    """MT409: a difference of two server states is meaningless if the server was restarted in between."""
    places: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for visit in subject.visits("$subtract"):
        pair = _two_states(visit)
        if pair and re.search(_LATER, pair[0]) and re.search(_EARLIER, pair[1]):
            places[pair].append(visit.path)
    compared = map(_two_states, subject.visits(*_COMPARISONS) if places else ())
    checked = {frozenset(pair) for pair in compared if pair}
    for (later, earlier), paths in places.items():
        if frozenset((later, earlier)) in checked:
            continue
        more = f" (here and in {subject.lines(paths[1:])})" if len(paths) > 1 else ""
        yield subject.in_pipeline(
            "MT409",
            paths[0],
            f"a counter of `{earlier}` is subtracted from that of `{later}`{more}, and nothing checks that both are "
            "of one server process: after a restart or an election the difference is wrong, even negative",
            f'add {{"$match": {{"$expr": {{"$eq": ["${earlier}.pid", "${later}.pid"]}}}}}}',
        )


def _two_states(visit: Visit) -> tuple[str, str] | None:
    """Return the two top-level fields from which the same counter is read, the left one first."""
    texts = [operand.expression for operand in visit.operands]
    if len(texts) != 2 or not all(isinstance(one, str) and one.startswith("$") for one in texts):
        return None
    (left, _, rest), (right, _, other) = (text[1:].partition(".") for text in texts)
    return (left, right) if left != right and rest and rest == other else None
