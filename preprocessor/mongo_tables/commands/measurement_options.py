"""Options of commands that measure, and the types of their values."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import TypeVar

from mongo_tables.files.process import OUTPUT_VARIABLE


def add_course(parser: ArgumentParser) -> None:
    """Add the options for the output, for resuming, and others common to all measuring commands."""
    parser.add_argument(
        "--output", metavar="WHERE",
        help="folder of fixtures, or connection string of the results database (default: the value of the variable "
        f"{OUTPUT_VARIABLE}, else fixtures)",
    )  # fmt: skip
    parser.add_argument(
        "--resume", action="store_true", help="continue an interrupted run, with the same options"
    )
    parser.add_argument(
        "--progress", type=positive, metavar="N",
        help="write a line with progress and speed every N seconds, for a log",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print what would be done and how long it would take, without doing it",
    )
    parser.add_argument(
        "--time", type=duration, metavar="TIME",
        help="begin no block after this time, for example 50m; finished measurements are kept, and --resume continues",
    )  # fmt: skip
    parser.add_argument(
        "--processes", type=count, metavar="N",
        help="worker processes that share the connections (default: half of the processors where a target is local, "
        "else all)",
    )  # fmt: skip


def add_seed(parser: ArgumentParser) -> None:
    """Add the seed of the random numbers."""
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="N", help="seed of all random numbers (default: 1)"
    )


def add_machines(parser: ArgumentParser) -> None:
    """Add the machines that load the target."""
    parser.add_argument(
        "--load-machines", metavar="WHERE",
        help="several machines load the target, each with --processes (default: as many as it has processors): "
        "tls://HOST:PORT of a Dask scheduler, whose workers are the machines, or local:N for N of them on this machine",
    )  # fmt: skip


# -- types of arguments, which raise the error that argparse shows --

Number = TypeVar("Number", int, float)

_LARGEST_SCALE = 1_000_000
"""The maximum scale. A larger one could exceed the range of MongoDB's numbers."""
_SHORTEST_SLICE = 1
"""Milliseconds. Timers and connections take tenths of a millisecond."""
_LONGEST_SLICE = 1000
"""Milliseconds. Each of two loads needs one slice within the two seconds of a window (``runner.slices.SECONDS``)."""
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def _number(
    read: Callable[[str], Number], is_valid: Callable[[Number], bool], wanted: str
) -> Callable[[str], Number]:
    def parse(text: str) -> Number:
        with suppress(ValueError):
            if is_valid(value := read(text)):
                return value
        raise ArgumentTypeError(f"must be {wanted}, not {text!r}")

    return parse


count = _number(int, lambda value: value >= 1, "a whole number of 1 or more")
whole_number = _number(int, lambda value: value >= 0, "a whole number from 0")
seed = _number(int, lambda value: -(2**63) <= value < 2**63, "a whole number of at most 64 bits")
positive = _number(float, lambda value: 0 < value < inf, "a number above 0")
not_negative = _number(float, lambda value: 0 <= value < inf, "0 or a number above")


def slice_length(text: str) -> float:
    """Parse the milliseconds of a slice."""
    if _SHORTEST_SLICE <= (value := positive(text)) <= _LONGEST_SLICE:
        return value
    raise ArgumentTypeError(f"must be from {_SHORTEST_SLICE} to {_LONGEST_SLICE} milliseconds, not {text!r}")


def slice_length_or_none(text: str) -> float:
    """Parse the milliseconds of a slice, or 0 for none."""
    return not_negative(text) and slice_length(text)


def scale(text: str) -> float:
    """Parse a factor for document counts."""
    if (value := positive(text)) > _LARGEST_SCALE:
        raise ArgumentTypeError(f"must be at most {_LARGEST_SCALE:,}, not {text!r}")
    return value


def rates(text: str) -> tuple[float, ...]:
    """Parse comma-separated numbers above 0."""
    return tuple(positive(one) for one in text.split(","))


def duration(text: str) -> float:
    """Parse a number with the unit s, m, h or d. Return the seconds.

    Example:
        >>> duration("90s")
        90.0
    """
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    with suppress(ArgumentTypeError):
        if (seconds := positive(number) * _UNITS[unit]) < inf:
            return seconds
    raise ArgumentTypeError(f"must be a time above 0, such as 90s, 30m, 1h or 2d, not {text!r}")
