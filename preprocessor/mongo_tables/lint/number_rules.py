"""Rules about computed numbers: divisors, and strings that sums skip."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from mongo_tables.aggregation.catalogue import names_with
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.rule_context import RuleContext, last_operator, rule
from mongo_tables.lint.shape.expressions import Operand, Path
from mongo_tables.lint.shape.values import NUMBERS, elements

_DIVIDING: Final = names_with("divides")
_ONLY_NUMBERS: Final = names_with("skips texts")


def _format_expression(expression: Any) -> str:
    return expression[1:] if isinstance(expression, str) else json.dumps(expression, default=str)


def _divisors(subject: RuleContext) -> Iterator[Operand]:
    for visit in subject.visits(*_DIVIDING):
        if len(visit.operands) == 2:
            yield visit.operands[1]


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
        if not (traits.nonzero or divisor.shape.absent or (traits.known and 0 in traits.known)):
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
