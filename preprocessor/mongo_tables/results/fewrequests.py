"""Whether so few requests stand behind speeds that they are a matter of luck."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

LEAST_IN_A_WINDOW: Final = 3
LEAST_A_CONNECTION: Final = 30
"""In all windows together."""


def has_few_requests(counts: Sequence[float], connections: int) -> bool:
    """Whether one of the windows, by the requests in each, or all together have too few for so many connections.

    A 99th percentile wants 1,000 in all; tables leave it out where there are fewer.
    """
    least = min(counts) / LEAST_IN_A_WINDOW, sum(counts) / LEAST_A_CONNECTION
    return min(least) < connections
