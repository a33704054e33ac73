"""Compiled stages, kept for when they come again.

A pipeline is compiled to be judged and again to be run, pipelines of one site share lists of stages, and the
statements of a page ask the same of the same rows. What was compiled is found by its content, so what is found is
what compiling would give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import bson

_MOST: Final = 4096
_kept: dict[bytes, Callable[..., Any]] = {}


def content_key(*parts: Any) -> bytes:
    """A key for BSON values: the same only for equal values of the same types; empty if they have no key."""
    try:
        return bytes(bson.encode({"": parts}))
    except (bson.errors.BSONError, ValueError, OverflowError, RecursionError):
        return b""


def clear() -> None:
    """Drop all that was compiled: it may be of pages that are done."""
    _kept.clear()


def get(key: bytes) -> Callable[..., Any] | None:
    """The value stored under a key."""
    return _kept.get(key)


def put(key: bytes, made: Callable[..., Any]) -> None:
    """Keep what was made; of too many all are dropped, for a preview that goes on for days."""
    if len(_kept) >= _MOST:
        _kept.clear()
    if key:
        _kept[key] = made
