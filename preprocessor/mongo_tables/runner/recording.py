"""What the connections of one thread did in the interval that is not over yet.

They share one count, so that an interval is added to the series once and not once for each of them: with a hundred
connections that would cost more than to count their requests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mongo_tables.runner.meter import Connected, Meter
from mongo_tables.runner.series import Series
from mongo_tables.runner.window import Window


class Recording:
    """The count of one thread; who counts looks at the clock itself, and says when an interval may be over."""

    def __init__(
        self, series: Series, window: Window, slots: Sequence[int], clients: Sequence[Connected] = ()
    ) -> None:
        """``slots`` are those of the thread's connections in the counters of the window, ``clients`` their clients."""
        self.meter = Meter(window, clients)
        self.counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        """How many requests of each kind had a latency, by buckets: the same dictionaries in all intervals."""
        self.apart = 0
        """Operations that were done and belong to no interval."""
        self._series = series
        self._window = window
        self._slots = slots
        self._began = self._over = self._added = 0

    def turn(self, now: int) -> int:
        """Add to the series what is over; give until when a request that is sent now lies in the window for certain.

        0 where that is not certain of any: the window is not open, or others may close it.
        """
        opens, closes, first, *_ = self._window.edges
        if opens <= now and (closes < now or self.meter.opened is None):
            self.meter.note(closes, now)
        if now >= self._over:
            self.add()
            self._began, self._over = _interval(now, first, self._series.width)
        return min(self._over, closes) if opens <= now and not self._window.others_close else 0

    def add(self) -> None:
        """Add to the series what was counted."""
        counters = self._window.counters
        done = sum([counters[slot] for slot in self._slots]) - self.apart
        counts = {kind: latencies for kind, latencies in self.counts.items() if latencies}
        if counts:
            first = self._window.edges[2]
            self._series.add(self._began - first, done - self._added, counts)
            for latencies in counts.values():
                latencies.clear()
        self._added = done


def _interval(now: int, first: int, width: int) -> tuple[int, int]:
    """When the interval began that ``now`` lies in, and when it is over; 0 while nothing is counted yet."""
    if now < first:
        return 0, 0
    began = now - (now - first) % width
    return began, began + width
