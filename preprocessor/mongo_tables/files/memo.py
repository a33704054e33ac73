"""The one memo of the program: results of pure functions, by what they were computed from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

_T = TypeVar("_T")


class Memo:
    """Keeps the latest results of pure functions in memory, whose weights are at most ``most`` together.

    A key holds everything that the result is computed from, or a digest of it. So nothing here can be stale, and
    nothing is ever invalidated.
    """

    def __init__(self, most: int = 20_000) -> None:
        self._most = most
        self._weight = 0
        self._kept: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return what was made for ``key``, or make it."""
        if key in self._kept:
            return self.find(key)  # type: ignore[return-value]  # what this key's ``make`` returned
        made = make()
        self.keep(key, made)
        return made

    def find(self, key: Hashable) -> object | None:
        """Return what was kept for ``key``; None if nothing was."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def keep(self, key: Hashable, result: object, weight: int = 1) -> None:
        """Keep a result, and drop those that were used longest ago."""
        self._weight += weight - self._kept.pop(key, (None, 0))[1]
        self._kept[key] = result, weight
        while self._weight > self._most:
            self._weight -= self._kept.popitem(last=False)[1][1]
