"""Reads numbers back from texts that readers see, such as cells: what ``numbertext`` writes, the other way round.

Of ``1,234 (1,200–1,300) ms`` the numbers are 1234, 1200 and 1300, and the words ``# (#–#) ms``. No rounding is undone:
a number is what is shown.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.directives.column_format import convention_of
from mongo_tables.render.rounding import shorten_fraction

if TYPE_CHECKING:
    from mongo_tables.directives.column_format import ColumnFormat

_BEFORE_SIGN: Final = r"(?<![\w.,)])"
"""A hyphen behind a word or a number is none."""
_GROUPED_FROM: Final = 4
"""Digits before the decimal sign, from which they are grouped."""


class Shown(NamedTuple):
    """The numbers of a text, in order, as they are written and as they are; ``#`` stands for each in its ``words``."""

    written: tuple[str, ...]
    numbers: tuple[Decimal, ...]
    words: str


class _Signs(NamedTuple):
    """What stands between groups of digits, and before decimals."""

    group: str
    decimal: str

    @classmethod
    def of(cls, form: ColumnFormat | None) -> _Signs:
        """Those that a format writes."""
        convention = convention_of(form.locale if form else None)
        group = form.thousands if form and isinstance(form.thousands, str) else convention.group
        return cls(group, convention.decimal)


def read_numbers(text: str, form: ColumnFormat | None = None) -> Shown:
    """The numbers of a text that ``form`` has written."""
    signs = _Signs.of(form)
    pattern = _number(signs)
    written = tuple(pattern.findall(text))
    return Shown(written, tuple(Decimal(_plain(one, signs)) for one in written), pattern.sub("#", text))


def is_written_by(written: str, form: ColumnFormat | None) -> bool:
    """Whether a number could be written by ``form``: as many decimals or as few digits, thousands parted or not."""
    signs = _Signs.of(form)
    whole, _, fraction = written.partition(signs.decimal)
    digits = sum(map(str.isdigit, whole))
    is_grouped = digits < len(whole.lstrip("+-"))
    if form is not None and form.decimals is not None and len(fraction) != form.decimals:
        return False
    if form is not None and form.few_digits and not form.currency:
        number = Decimal(_plain(written, signs))
        if number != shorten_fraction(number, pad=False):
            return False
    return digits < _GROUPED_FROM or is_grouped == bool(form and form.thousands)


def _plain(text: str, signs: _Signs) -> str:
    """The number as ``Decimal`` reads it. A point that parts groups looks like one of decimals where it is alone."""
    if signs.group == signs.decimal and text.count(signs.group) < 2:
        return text
    return text.replace(signs.group, "").replace(signs.decimal, ".")


@lru_cache(maxsize=16)
def _number(signs: _Signs) -> re.Pattern[str]:
    group, decimal = map(re.escape, signs)
    grouped = rf"\d{{1,3}}(?:{group}\d{{2,3}})*{group}\d{{3}}(?!\d)"
    return re.compile(rf"(?:{_BEFORE_SIGN}[-+])?(?:{grouped}|\d+)(?:{decimal}\d+)?(?:e[-+]?\d+)?")
