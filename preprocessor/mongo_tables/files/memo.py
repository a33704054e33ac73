"""The one memo of the program: results of pure functions, by what they were computed from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

_T = TypeVar("_T")


class Memo:
    """Keeps the latest results of pure functions in memory, at most ``most`` of them.

    A key holds everything that the result is computed from, or a digest of it. So nothing here can be stale, and
    nothing is ever invalidated.
    """

    def __init__(self, most: int = 20_000) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, object] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return what was made for ``key``, or make it."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]  # type: ignore[return-value]  # what this key's ``make`` returned
        made = make()
        self._kept[key] = made
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return made
