"""How much was done in a window, as rows have it.

Parts of requests count, so it is no whole number. Rows have one where nobody could tell the difference: tables divide
amounts by the duration, and a speed from 6 queries where there were 6.497 would be 8 % too low.
"""

from __future__ import annotations

from typing import Final

MOST_OFF: Final = 0.001
"""A whole number may be off by this part of what was done."""
DIGITS: Final = 5
"""So many digits a fraction has, with which it is off by less than that."""


def round_amount(done: float) -> float:
    """The nearest whole number, or, where that is off by more than a thousandth, the five digits that are closest."""
    whole = round(done)
    return whole if abs(whole - done) <= MOST_OFF * done else float(f"{done:.{DIGITS}g}")
