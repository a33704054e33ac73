"""What was dropped last, in case that it is wanted again."""

from __future__ import annotations

from collections.abc import Hashable, KeysView
from typing import Final, Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")

_KEPT: Final = 32
"""So many things are kept: about as many letters as somebody types and takes back at once."""


class Recent(Generic[_K, _V]):
    """The last things that were dropped, by their keys."""

    def __init__(self) -> None:
        self._found: dict[_K, _V] = {}

    def put(self, key: _K, value: _V) -> None:
        """Keep a thing that is dropped, and let go of the one that was dropped first."""
        self._found.pop(key, None)
        self._found[key] = value
        if len(self._found) > _KEPT:
            del self._found[next(iter(self._found))]

    def take(self, key: _K) -> _V | None:
        """Give a thing back; None where it is not kept."""
        return self._found.pop(key, None)

    def keys(self) -> KeysView[_K]:
        """The keys of what is kept."""
        return self._found.keys()

    def clear(self) -> None:
        """Let go of everything."""
        self._found.clear()
