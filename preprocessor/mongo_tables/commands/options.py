"""Options shared by several commands, numeric argument types, and common help texts."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, TypeVar

from mongo_tables.files.process import OUTPUT_VARIABLE, RESULTS_VARIABLE
from mongo_tables.results.opening import join_kinds, list_kinds

if TYPE_CHECKING:
    from argparse import _ActionsContainer

    from mongo_tables.site.disk import Request

SOURCE = f"""\
results source (--results, else the variable {RESULTS_VARIABLE}, else `results` in mkdocs.yml, properdocs.yml or
zensical.toml, else the folder fixtures/):
{list_kinds()}"""

SOURCES = list_kinds([("REVISION:FOLDER", "fixture files of a Git revision: HEAD~1:fixtures")])
"""The kinds of a source argument, which may be an earlier revision."""

EXIT = "exit status: 0 clean, 1 findings, 2 wrong usage or nothing to work with"


def add_source(parser: ArgumentParser) -> None:
    """Add the sources of rows and shared pipelines."""
    add_results(parser)
    add_limit(parser)
    add_pipelines(parser)


def add_results(parser: _ActionsContainer) -> None:
    """Add the results source."""
    parser.add_argument("--results", metavar="SOURCE", help=f"{join_kinds()}, see below")


def add_limit(parser: _ActionsContainer) -> None:
    """Add the limit on the cost of a pipeline."""
    parser.add_argument(
        "--limit",
        action="append",
        metavar="NAME=NUMBER",
        help="what a pipeline may cost, before the options NAME_limit of the site: processor=60 (seconds, on files), "
        "memory=1024 (MiB of a stage), document=16 (MiB), step=200000 (of a regular expression), time=10 (seconds, on "
        "a server), connect=2, row=10000",
    )


def add_pipelines(parser: ArgumentParser) -> None:
    """Add the folder of shared pipelines, and the file of the site, which may name one."""
    parser.add_argument(
        "--pipelines", metavar="DIR", help="shared pipelines (default: the site's, else docs/pipelines)"
    )
    add_config_file(parser)


def add_config_file(parser: _ActionsContainer) -> None:
    """Add the file of the site, from which ``cli`` fills in missing options."""
    parser.add_argument(
        "-f",
        "--config-file",
        metavar="FILE",
        help="what the site is built from (default: the next mkdocs.yml, properdocs.yml or zensical.toml, here or "
        "above)",
    )


def request_of(arguments: Namespace) -> Request:
    """Return how to read pages, from the arguments of a command and the file of the site."""

    from mongo_tables.site.disk import Request

    results = getattr(arguments, "results", None) or ""
    return Request(arguments.site, arguments.pipelines, results, arguments.limits, arguments.server)


# -- of commands that measure --


def add_course(parser: ArgumentParser) -> None:
    """Add where measurements are stored, how to resume them, and options common to all of them."""
    parser.add_argument(
        "--output", metavar="WHERE",
        help="folder of fixtures, or connection string of the results database (default: what the variable "
        f"{OUTPUT_VARIABLE} names, else fixtures)",
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
        "--seed", type=seed, default=1, metavar="N", help="of all random numbers (default: 1)"
    )


def add_machines(parser: ArgumentParser) -> None:
    """Add the machines that load the target."""
    parser.add_argument(
        "--load-machines", metavar="WHERE",
        help="have several machines load the target, each with --processes (default: as many as it has processors): "
        "tls://HOST:PORT of a scheduler of Dask whose workers they are, or local:N, so many on this machine",
    )  # fmt: skip


# -- numbers: each is the ``type`` of an argument, and raises what argparse shows --

Number = TypeVar("Number", int, float)

_LARGEST_SCALE = 1_000_000
"""With a larger scale, document counts would exceed the numbers that MongoDB has."""
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
    """Return the milliseconds of a slice: long enough for timers, and short enough for one of each load in a window."""
    from mongo_tables.runner.slices import LONGEST_MS, SHORTEST_MS

    if SHORTEST_MS <= (value := positive(text)) <= LONGEST_MS:
        return value
    raise ArgumentTypeError(f"must be from {SHORTEST_MS:g} to {LONGEST_MS:g} milliseconds, not {text!r}")


def slice_length_or_none(text: str) -> float:
    """Return the milliseconds of a slice, or 0 for no slices."""
    return not_negative(text) and slice_length(text)


def scale(text: str) -> float:
    """Return a factor for document counts."""
    if (value := positive(text)) > _LARGEST_SCALE:
        raise ArgumentTypeError(f"must be at most {_LARGEST_SCALE:,}, not {text!r}")
    return value


def rates(text: str) -> tuple[float, ...]:
    """Return comma-separated numbers above 0."""
    return tuple(positive(one) for one in text.split(","))


def duration(text: str) -> float:
    """Return the seconds of a number with the unit s, m, h or d.

    Example:
        >>> duration("90s")
        90.0
    """
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    with suppress(ArgumentTypeError):
        if (seconds := positive(number) * _UNITS[unit]) < inf:
            return seconds
    raise ArgumentTypeError(f"must be a time above 0, such as 90s, 30m, 1h or 2d, not {text!r}")
