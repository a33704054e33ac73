"""Reads numbers back from texts that readers see, such as cells: what ``values`` writes, the other way round.

Of ``1,234 (1,200–1,300) ms`` the numbers are 1234, 1200 and 1300, and the words ``# (#–#) ms``. No rounding is undone:
a number is what is shown.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from preprocessor.specs.model import ColumnFormat

_BEFORE_SIGN: Final = r"(?<![\w.,)])"
"""A hyphen behind a word or a number is none."""
_GROUPED_FROM: Final = 4
"""Digits before the point, from which thousands are parted."""


class Shown(NamedTuple):
    """The numbers of a text, in order, as they are written and as they are; ``#`` stands for each in its ``words``."""

    written: tuple[str, ...]
    numbers: tuple[Decimal, ...]
    words: str


def read_numbers(text: str, form: ColumnFormat | None = None) -> Shown:
    """The numbers of a text that ``form`` has written."""
    separator = form.thousands if form and isinstance(form.thousands, str) else ","
    pattern = _number(separator)
    written = tuple(pattern.findall(text))
    return Shown(written, tuple(Decimal(_plain(one, separator)) for one in written), pattern.sub("#", text))


def is_written_by(written: str, form: ColumnFormat | None) -> bool:
    """Whether a number could be written by ``form``: with as many decimals, thousands parted or not."""
    whole, _, fraction = written.partition(".")
    digits = sum(map(str.isdigit, whole))
    is_grouped = digits < len(whole.lstrip("+-"))
    if form is not None and form.decimals is not None and len(fraction) != form.decimals:
        return False
    return digits < _GROUPED_FROM or is_grouped == bool(form and form.thousands)


def _plain(text: str, separator: str) -> str:
    """The number as ``Decimal`` reads it. A point that parts thousands looks like one of decimals where it is alone."""
    return text if separator == "." and text.count(".") < 2 else text.replace(separator, "")


@lru_cache(maxsize=16)
def _number(separator: str) -> re.Pattern[str]:
    grouped = rf"\d{{1,3}}(?:{re.escape(separator)}\d{{3}})+(?!\d)"
    return re.compile(rf"(?:{_BEFORE_SIGN}[-+])?(?:{grouped}|\d+)(?:\.\d+)?(?:e[-+]?\d+)?")
