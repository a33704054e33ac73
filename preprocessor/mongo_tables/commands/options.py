"""Options and help texts of several commands, and the types of their values."""

from __future__ import annotations

from argparse import ArgumentTypeError, _ActionsContainer
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import inf
from typing import Any, Final, TypeVar

from mongo_tables.files.process import RESULTS_VARIABLE
from mongo_tables.results.opening import join_kinds, list_kinds

SOURCE = f"""\
The option --results names the results source. Without it, the variable {RESULTS_VARIABLE} names the source. If
that is not set, `results` in mkdocs.yml, properdocs.yml or zensical.toml names it; otherwise, it is the folder
fixtures/. A source has one of these forms:
{list_kinds()}"""

SOURCES = list_kinds([("REVISION:FOLDER", "fixture files of a Git revision: HEAD~1:fixtures")])
"""The kinds of sources for an argument that may also name a revision of Git."""

EXIT = "Exit status: 0 if there are no findings, 1 if there are, 2 after wrong usage or with nothing to work with."


_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "--results": {"metavar": "SOURCE", "help": f"{join_kinds()}; see below"},
    "--limit": {
        "action": "append",
        "metavar": "NAME=NUMBER",
        "help": "limit each pipeline to NUMBER, in place of the option NAME_limit of the site; the defaults are "
        "row=10000, for results in files processor=60 (seconds), memory=1024 (MiB of a stage), document=16 (MiB) and "
        "step=200000 (of a regular expression), and for a server time=10 (seconds) and connect=2 (seconds)",
    },
    "--pipelines": {
        "metavar": "DIR",
        "help": "folder of shared pipelines (default: the site's, else docs/pipelines)",
    },
    "--config-file": {
        "metavar": "FILE",
        "help": "the site's file (default: the nearest mkdocs.yml, properdocs.yml or zensical.toml, in this "
        "folder or above it)",
    },
}
"""The options about rows, shared pipelines and the site. The site's file has the defaults."""


def add_options(parser: _ActionsContainer, *names: str) -> None:
    """Add the options called ``names`` or, without names, all options of this module."""
    for name in names or _OPTIONS:
        parser.add_argument(*(("-f", name) if name == "--config-file" else (name,)), **_OPTIONS[name])


# -- types of arguments, which raise the error that argparse shows --

Number = TypeVar("Number", int, float)

_LARGEST_SCALE = 1_000_000
"""The maximum scale. A larger scale could exceed the range of MongoDB's numbers."""
_SHORTEST_SLICE = 1
"""The shortest slice in milliseconds. Timers and connections take tenths of a millisecond."""
_LONGEST_SLICE = 1000
"""The longest slice in milliseconds. Each of two loads needs one slice within the two seconds of a window
(``runner.slices.SECONDS``).
"""
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
whole_number = _number(int, lambda value: value >= 0, "a whole number of 0 or more")
seed = _number(int, lambda value: -(2**63) <= value < 2**63, "a whole number of at most 64 bits")
positive = _number(float, lambda value: 0 < value < inf, "a number above 0")
not_negative = _number(float, lambda value: 0 <= value < inf, "a number of 0 or more")


def slice_length(text: str) -> float:
    """Parse the milliseconds of a slice."""
    if _SHORTEST_SLICE <= (value := positive(text)) <= _LONGEST_SLICE:
        return value
    raise ArgumentTypeError(f"must be from {_SHORTEST_SLICE} to {_LONGEST_SLICE} milliseconds, not {text!r}")


def slice_length_or_none(text: str) -> float:
    """Parse the milliseconds of a slice, or 0 for no slices."""
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
