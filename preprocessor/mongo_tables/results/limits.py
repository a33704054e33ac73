"""The cost limits of a query, and their options, with the same names in plugin, extension and command line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.limits import PipelineLimits


class Limits(NamedTuple):
    """The limits of one query: milliseconds on the server, rows, bytes of BSON, milliseconds to connect.

    ``files``: the limits of a query that runs on files.
    """

    time_ms: int = 10_000
    rows: int = 10_000
    bytes: int = 16 * 2**20
    connect_ms: int = 2_000
    files: PipelineLimits = PipelineLimits()


class LimitOption(NamedTuple):
    """One option: the field of ``Limits``, or of ``Limits.files``, that it sets, in units of ``unit``."""

    field: str
    unit: int
    of_files: bool
    help: str


OPTIONS: Final[Mapping[str, LimitOption]] = {
    "time_limit": LimitOption("time_ms", 1000, False, "seconds that a pipeline may take on a server"),
    "connect_limit": LimitOption("connect_ms", 1000, False, "seconds to find a server"),
    "row_limit": LimitOption("rows", 1, False, "rows that a pipeline may give"),
    "processor_limit": LimitOption(
        "seconds", 1, True, "seconds of processor time that a pipeline may take on files"
    ),
    "memory_limit": LimitOption("stage_bytes", 2**20, True, "MiB that one stage may hold on files"),
    "document_limit": LimitOption(
        "document_bytes", 2**20, True, "MiB of one document, or of one string that is made, on files"
    ),
    "step_limit": LimitOption("regex_steps", 1, True, "steps of a regular expression on one text, on files"),
}
"""All options by name; ``processor_limit: 60`` in a file is ``--limit processor=60`` on the command line."""


def limits_of(options: Mapping[str, Any], base: Limits | None = None) -> Limits:
    """Return ``base`` with the limits that ``options`` sets. Other options are ignored.

    Raises ValueError, which names the option, unless its value is a number above 0.
    """
    limits = base or Limits()
    of_query: dict[str, Any] = {}
    of_files: dict[str, Any] = {}
    for name, option in OPTIONS.items():
        given = options.get(name)
        if given is None or given == "":
            continue
        amount = _number(name, given) * option.unit
        (of_files if option.of_files else of_query)[option.field] = (
            amount if option.field == "seconds" else max(1, round(amount))
        )
    return limits._replace(**of_query, files=limits.files._replace(**of_files))


def _number(name: str, given: Any) -> float:
    try:
        number = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < math.inf:
        raise ValueError(f"{name} is a number above 0, not {given}")
    return number


def parse_limits(limits: Iterable[str]) -> dict[str, str]:
    """Parse ``NAME=NUMBER`` texts of the command line into options. Raises ValueError for an unknown name.

    Example:
        >>> parse_limits(["processor=60"])
        {'processor_limit': '60'}
    """
    found: dict[str, str] = {}
    for text in limits:
        name, _, number = text.partition("=")
        option = f"{name.strip()}_limit"
        if option not in OPTIONS:
            known = ", ".join(each.removesuffix("_limit") for each in OPTIONS)
            raise ValueError(f"unknown limit '{name}': write one of {known}")
        found[option] = number.strip() or "nothing"
    return found
