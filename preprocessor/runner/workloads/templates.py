"""Templates of queries: where random numbers stand in them.

``RANDINT(a,b)`` stands for a random whole number from a - 1 to b - 1, so that ``RANDINT(1,n)`` draws one of the
numbers 0 to n - 1 that n documents or groups have, and ``RANDINTLIST(a,b,n)`` for a list of n different ones.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

RANGE = re.compile(r"(RANDINT(?:LIST)?)\((\d+),(\d+)(?:,(\d+))?\)")
_MEANT = re.compile(r"\s*RANDINT", re.IGNORECASE)


def compile_template(template: Any, chance: random.Random) -> Callable[[], Any]:
    """Give what gives the template with new random numbers from ``chance``."""
    if isinstance(template, Mapping):
        parts = {key: compile_template(value, chance) for key, value in template.items()}
        return lambda: {key: part() for key, part in parts.items()}
    if isinstance(template, list):
        items = [compile_template(value, chance) for value in template]
        return lambda: [item() for item in items]
    if isinstance(template, str) and (match := RANGE.fullmatch(template)):
        first, last = int(match[2]) - 1, int(match[3]) - 1
        width = last - first + 1
        if match[4]:
            count = int(match[4])
            return lambda: chance.sample(range(first, first + width), count)
        draw = chance.random
        return lambda: first + int(draw() * width)
    return lambda: template


def faults(
    template: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Everything that is meant as a random number and is none: its path in the template, what, and a hint."""
    if isinstance(template, Mapping):
        for key, value in template.items():
            yield from faults(value, (*path, key))
    elif isinstance(template, list):
        for number, value in enumerate(template):
            yield from faults(value, (*path, number))
    elif isinstance(template, str) and _MEANT.match(template) and (reason := _fault(template)):
        yield (
            path,
            f"{template!r} {reason}",
            "RANDINT(first,last), or RANDINTLIST(first,last,count) for a list",
        )


def _fault(text: str) -> str:
    match = RANGE.fullmatch(text)
    if match is None:
        return "is no random number"
    name, first, last, count = match.groups()
    if (name == "RANDINTLIST") != (count is not None):
        return "needs a count" if count is None else "has a count, which only a list has"
    width = int(last) - int(first) + 1
    if int(first) < 1 or width < 1:
        return "is an empty range; numbers count from 1"
    if count is not None and not 1 <= int(count) <= width:
        return f"cannot give {count} different numbers of {width}"
    return ""
