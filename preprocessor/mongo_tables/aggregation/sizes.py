"""How large values are: as they lie in memory, estimated, and as BSON, bounded.

Both are cheap for what is large: of a long array some elements are looked at. They serve limits, not statistics.
"""

from __future__ import annotations

from typing import Any

# Bytes of CPython's objects, rounded: the same on every version and machine, so that limits are.
_EMPTY_DOCUMENT, _FIELD = 180, 20
_EMPTY_ARRAY, _ELEMENT = 56, 8
_TEXT, _SCALAR = 50, 32
_SAMPLE = 32
_DEEPEST = 8
# Values of a document, or characters of one of them, up to which it is small.
_FEW = 4_096


def memory_of(value: Any, levels: int = _DEEPEST) -> int:
    """About how many bytes of memory a value takes. What several values share counts for each of them."""
    kind = type(value)
    if kind is str:
        return _TEXT + len(value)
    if kind is dict:
        inside = sum(memory_of(item, levels - 1) for item in value.values()) if levels else 0
        return _EMPTY_DOCUMENT + _FIELD * len(value) + inside
    if kind is list:
        return _EMPTY_ARRAY + _ELEMENT * len(value) + (_elements(value, levels - 1) if levels else 0)
    if isinstance(value, bytes):
        return _TEXT + len(value)
    return _SCALAR


def _elements(items: list[Any], levels: int) -> int:
    if len(items) <= _SAMPLE:
        return sum(memory_of(item, levels) for item in items)
    some = items[:: len(items) // _SAMPLE]
    return len(items) * sum(memory_of(item, levels) for item in some) // len(some)


def exceeds(value: Any, most: int) -> bool:
    """Whether the value takes more than ``most`` bytes as BSON; looks at no more of it than that needs.

    Documents of another class are those of files, read part by part when asked for: they are passed over.
    """
    return _subtract_size(value, most) < 0


def is_small(document: dict[str, Any] | list[Any]) -> bool:
    """Whether a document or an array has neither many values nor a long text, told at a glance.

    Such a document takes 16 MiB at the very most, as long as its texts are ASCII.
    """
    return _few_left(document, _FEW) >= 0


def _few_left(value: Any, room: int) -> int:
    """``room`` less the number of values in a document or array; below 0 if they do not fit or a text is long."""
    room -= len(value)
    if room < 0:
        return room
    for item in value.values() if type(value) is dict else value:
        kind = type(item)
        if kind is str:
            if len(item) > _FEW:
                return -1
        elif kind is dict or kind is list:
            room = _few_left(item, room)
            if room < 0:
                break
    return room


def _subtract_size(value: Any, room: int) -> int:
    """``room`` less the BSON size of a value; any number below 0 if it does not fit."""
    kind = type(value)
    if kind is str:
        return room - 5 - (len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass")))
    if kind is dict or kind is list:
        room -= 5
        named = value.items() if kind is not list else enumerate(value)
        for name, item in named:
            room = _subtract_size(item, room - 2 - len(str(name)))
            if room < 0:
                break
        return room
    if isinstance(value, bytes):
        return room - 5 - len(value)
    return room - (0 if value is None else 1 if value is True or value is False else 4 if kind is int else 8)
