"""Sums of doubles that are known without adding one by one: where only one double can be the server's sum.

The server adds doubles with compensation (``summation.DoubleDouble``), step by step; Python does so in hundreds of
nanoseconds a step. ``math.fsum`` gives the exact sum, rounded once, a dozen times as fast. The two differ only where
the exact sum lies so close to the middle between two doubles that what compensation loses may tip it over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

_MOST: Final = 2**16
"""Of more values the losses of all steps are not known to be as small as ``_STEPS`` says."""
_LAST: Final = 2.0**-53
"""What compensation may leave beside the total, in parts of the last value: the low part that adding it gave."""
_STEPS: Final = 2.0**-80
"""What all steps lose, at most, in parts of the sum of all magnitudes.

With u = 2**-53 and M that sum, the running compensation is below 4uM; a step rounds nothing but the compensation, a
few times, and loses less than 20uuM: all of ``_MOST`` steps together less than 2**21 uuM.
"""
_LEAST: Final = 1e-200
"""Below this the bounds themselves might vanish."""


def certain_sum(values: Sequence[float]) -> float | None:
    """The double that the server's sum of some values is; None where only adding them one by one can tell."""
    if len(values) > _MOST:
        return None
    try:
        nearest = math.fsum(values)
        rest = math.fsum((*values, -nearest))
    except (OverflowError, ValueError):  # infinities, or a sum beyond them
        return None
    magnitudes = nearest if min(values) >= 0 else math.fsum(map(abs, values))
    loss = _LAST * abs(values[-1]) + _STEPS * magnitudes
    above = (math.nextafter(nearest, math.inf) - nearest) / 2 - loss
    below = (nearest - math.nextafter(nearest, -math.inf)) / 2 - loss
    return nearest if -below < rest < above and abs(nearest) > _LEAST else None
