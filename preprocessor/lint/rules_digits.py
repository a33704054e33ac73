"""MT508: figures with more digits than anybody reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from preprocessor.findings.finding import Finding
from preprocessor.lint.rulecontext import RuleContext
from preprocessor.render.column import column_value
from preprocessor.render.values import is_number, raw_text, significant_digits
from preprocessor.specs.model import TableSpec

Rows = Sequence[Mapping[str, Any]]

_MOST_DIGITS: Final = 6
_MOST_AS_STORED: Final = 15
"""What a decimal text can say to a double and back: with more, binary arithmetic made the number."""
_MOST_DECIMALS: Final = 15  # of the schema


def find_many_digits(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT508: a column that nobody rounds shows the noise of arithmetic, the pipeline's or that of whoever measured."""
    spec = subject.spec
    for index, column in enumerate(spec.columns if isinstance(spec, TableSpec) else ()):
        traits, form = subject.column(column).traits, spec.format.get(column)
        if traits.digits is not None or (form and form.rounds):
            continue
        values = [column_value(row, column) for row in rows]
        longest = max(values, key=significant_digits, default=None)
        if significant_digits(longest) <= (_MOST_DIGITS if traits.path is None else _MOST_AS_STORED):
            continue
        decimals = _propose_decimals(values)
        message = f"`{column}` shows up to {significant_digits(longest)} digits, such as {raw_text(longest)}"
        hint = f'round what readers see: "format": {{"{column}": {{"decimals": {decimals}}}}}'
        yield subject.finding("MT508", spec.locate(("columns", index)), message, hint)


def _propose_decimals(values: Sequence[object]) -> int:
    """Decimals that leave the largest figure four digits and the smallest two."""
    numbers = [Decimal(raw_text(value)) for value in values if is_number(value)]
    powers = [number.adjusted() for number in numbers if number.is_finite() and number]
    return min(max(3 - max(powers), 1 - min(powers), 0), _MOST_DECIMALS)
