"""The memo, the only cache of the program. It keeps results of pure functions by their inputs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

try:  # ``hashlib`` would load OpenSSL, 8 ms of each check
    from _blake2 import blake2b
except ImportError:  # an interpreter built without it
    from hashlib import blake2b

_T = TypeVar("_T")


@dataclass(eq=False)
class Memo:
    """A cache of results of pure functions. It drops the least recently used results.

    The total weight of the cached results is at most ``most``. A key consists of all inputs of the function, or of
    their digest. So an entry never becomes outdated.
    """

    most: int = 20_000
    _weight: int = field(default=0, init=False)
    _kept: OrderedDict[Hashable, tuple[object, int]] = field(default_factory=OrderedDict, init=False)

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return the cached result for ``key``, or make and cache it."""
        if key in self._kept:
            return self.find(key)  # type: ignore[return-value]  # the result of this key's ``make``
        made = make()
        self.keep(key, made)
        return made

    def find(self, key: Hashable) -> object | None:
        """Return the cached result for ``key``, or None."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def keep(self, key: Hashable, result: object, weight: int = 1) -> None:
        """Cache a result. If the total weight is too large, drop the least recently used results."""
        self._weight += weight - self._kept.pop(key, (None, 0))[1]
        self._kept[key] = result, weight
        while self._weight > self.most:
            self._weight -= self._kept.popitem(last=False)[1][1]


def digest_of(*parts: str | bytes) -> str:
    """Return a digest of texts and bytes, as 32 hex digits. Different parts give different digests."""
    total = blake2b(digest_size=16)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        total.update(b"%d\n" % len(content))
        total.update(content)
    return total.hexdigest()
