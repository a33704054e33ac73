"""For which verdicts a comparison fails: ``--fail-if "slower 5 %"``."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from mongo_tables.results.comparison import Comparison, Difference

_VERDICTS: Final = {
    "slower": ("slower",),
    "faster": ("faster",),
    "different": ("faster", "slower"),
    "not known": ("not known",),
}
_FORM: Final = re.compile(r"(slower|faster|different)(?: +(\d+(?:\.\d+)?) *%)?|not known", re.ASCII)
_ALLOWED: Final = "`slower`, `slower 5 %`, `faster 5 %`, `different 3 %` or `not known`"


class Condition(NamedTuple):
    """Verdicts that fail, from so many per cent of difference on; ``text`` is how it was asked for."""

    verdicts: tuple[str, ...]
    percent: float
    text: str


def condition(text: str) -> Condition:
    """Read a condition; raises what argparse shows."""
    asked = " ".join(text.split())
    found = _FORM.fullmatch(asked)
    if found is None:
        raise ArgumentTypeError(f"must be {_ALLOWED}, not {text!r}")
    return Condition(_VERDICTS[found[1] or asked], float(found[2] or 0), asked)


def list_failing(rows: Iterable[Comparison], conditions: Iterable[Condition]) -> list[tuple[Condition, str]]:
    """The conditions that are met, each with the name of a row that meets it, and with what it is compared."""
    asked = tuple(conditions)
    return [(one, f"{row.name} ({row.heading})") for row in rows for one in asked if _meets(row, one)]


def list_not_judged(found: Difference) -> list[str]:
    """Rows that no condition of a difference can be met by, each with the reason; controls are not meant to."""
    rows = [row for row in found.rows if row.why_not_judged and not (row.is_control or row.lost)]
    rest = [one for one in found.not_compared if one not in found.gone]
    return list(dict.fromkeys([*(f"{row.name}: {row.why_not_judged}" for row in rows), *rest]))


def list_lost(found: Difference) -> list[str]:
    """Rows that did something on the first side and on the other nothing in a block, or are not there; controls too."""
    rows = [f"{row.name}: {row.lost}" for row in found.rows if row.lost]
    return list(dict.fromkeys([*rows, *found.gone, *(f"{name}: only in OLD" for name in found.only_old)]))


def list_controls(rows: Iterable[Comparison]) -> list[str]:
    """Controls that are called different: nothing differs there, so that they are no finding, and do not count."""
    return [
        f"{row.name} ({row.heading}) is called {row.verdict}, though nothing differs there: differences as small mean "
        "nothing here"
        for row in rows
        if row.is_control and row.verdict in ("faster", "slower")
    ]


def _meets(row: Comparison, asked: Condition) -> bool:
    """By the verdict, and by the measured ratio: the interval need not lie beyond the percentage as a whole.

    What is compared with itself meets none.
    """
    judged = row.judged
    if row.is_control:
        return False
    if asked.verdicts == ("not known",):
        return judged.verdict in ("not known", None)
    return (
        judged.verdict in asked.verdicts
        and judged.ratio is not None
        and abs(judged.ratio - 1) * 100 >= asked.percent
    )
