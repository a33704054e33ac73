"""Steps between numbers or dates, for `$densify`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mongo_tables.aggregation.expressions.arithmetic import remainder, subtract
from mongo_tables.aggregation.numbers import to_double
from mongo_tables.aggregation.ordering import compare
from mongo_tables.aggregation.values import millis

_EPOCH = datetime(1970, 1, 1)
_UNEVEN = ("month", "quarter", "year")


@dataclass(frozen=True, slots=True)
class Steps:
    """A step of a number, or of a unit of time; ``after`` and ``before`` give the neighbours of a value."""

    step: Any
    unit: str | None
    after: Callable[[Any], Any]
    before: Callable[[Any], Any]

    def between(self, base: Any, value: Any) -> bool:
        """Whether ``value`` is whole steps after ``base``."""
        if self.unit is None:
            return to_double(remainder(subtract(value, base), self.step)) == 0
        if self.unit not in _UNEVEN:
            return (millis(value) - millis(base)) % millis(self.after(_EPOCH)) == 0
        while compare(base, value) < 0:
            base = self.after(base)
        return compare(base, value) == 0
