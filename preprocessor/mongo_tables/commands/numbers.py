"""Numbers on a command line, each as the ``type`` of an argument, which raises what argparse shows."""

from __future__ import annotations

from argparse import ArgumentTypeError
from contextlib import suppress

LARGEST_SCALE = 1_000_000
"""With more, numbers of documents are beyond those that MongoDB has."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def whole_number(text: str) -> int:
    """A number of rows, from 0; argparse names this function when it complains."""
    number = int(text)
    if number < 0:
        raise ArgumentTypeError("a whole number from 0")
    return number


def count(text: str) -> int:
    """A number of things of which there is one at least."""
    with suppress(ValueError):
        if (value := int(text)) >= 1:
            return value
    raise ArgumentTypeError(f"must be a whole number from 1 on, not {text!r}")


def seed(text: str) -> int:
    """A number of 64 bits, since rows keep it."""
    with suppress(ValueError):
        if -(2**63) <= (value := int(text)) < 2**63:
            return value
    raise ArgumentTypeError(f"must be a whole number of at most 64 bits, not {text!r}")


def positive(text: str) -> float:
    """A number above 0."""
    with suppress(ValueError):
        if 0 < (value := float(text)) < float("inf"):
            return value
    raise ArgumentTypeError(f"must be a number above 0, not {text!r}")


def not_negative(text: str) -> float:
    """A number above 0, or 0."""
    with suppress(ValueError):
        if 0 <= (value := float(text)) < float("inf"):
            return value
    raise ArgumentTypeError(f"must be 0 or a number above, not {text!r}")


def slice_length(text: str) -> float:
    """Milliseconds of a slice: so many that timers keep them, and so few that a window has one of each load."""
    from mongo_tables.runner.slices import LONGEST_MS, SHORTEST_MS

    if SHORTEST_MS <= (value := positive(text)) <= LONGEST_MS:
        return value
    raise ArgumentTypeError(f"must be from {SHORTEST_MS:g} to {LONGEST_MS:g} milliseconds, not {text!r}")


def slice_length_or_none(text: str) -> float:
    """The same, or 0 for no slices."""
    return not_negative(text) and slice_length(text)


def scale(text: str) -> float:
    """A factor for numbers of documents."""
    if (value := positive(text)) > LARGEST_SCALE:
        raise ArgumentTypeError(f"must be at most {LARGEST_SCALE:,}, not {text!r}")
    return value


def rates(text: str) -> tuple[float, ...]:
    """Numbers above 0 with commas between them."""
    return tuple(positive(one) for one in text.split(","))


def duration(text: str) -> float:
    """Seconds, said as a number with s, m, h or d behind it."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    with suppress(ArgumentTypeError):
        if (seconds := positive(number) * _UNITS[unit]) < float("inf"):
            return seconds
    raise ArgumentTypeError(f"must be a time above 0, such as 90s, 30m, 1h or 2d, not {text!r}")
