"""For which verdicts a comparison fails: ``--fail-if "slower 5 %"``."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from preprocessor.results.comparison import Comparison

_VERDICTS: Final = {
    "slower": ("slower",),
    "faster": ("faster",),
    "different": ("faster", "slower"),
    "not known": ("not known",),
}
_FORM: Final = re.compile(r"(slower|faster|different)(?: +(\d+(?:\.\d+)?) *%)?|not known")
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


def list_not_judged(rows: Iterable[Comparison]) -> list[str]:
    """Rows that no condition of a difference can be met by, each with the reason; controls are not meant to."""
    return [f"{row.name}: {why}" for row in rows if (why := row.why_not_judged) and not row.is_control]


def _meets(row: Comparison, asked: Condition) -> bool:
    """By the verdict, and by the measured ratio: the interval need not lie beyond the percentage as a whole.

    The reference of a campaign can never be known against another campaign, and is no reason to fail.
    """
    judged = row.judged
    if asked.verdicts == ("not known",):
        return judged.verdict in ("not known", None) and not row.is_control
    return (
        judged.verdict in asked.verdicts
        and judged.ratio is not None
        and abs(judged.ratio - 1) * 100 >= asked.percent
    )
