"""How numbers are written in the languages that a ``locale`` can name.

What is here are the facts of the Unicode CLDR (https://cldr.unicode.org, number symbols and patterns) for those
languages. They are written down instead of asked of Babel: it is 33 megabytes of which a page needs this table, takes
0.06 s to start, and its next release may write a page's numbers otherwise. The tests hold the table against Babel.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

_BLANK: Final = "\u00a0"
_NARROW: Final = "\u202f"


class Convention(NamedTuple):
    """A way to write numbers: its decimal sign, and what stands between groups of digits where they are grouped.

    ``lakhs``: above the first three digits they are grouped by two. ``percent`` is what stands between a number and its
    percent sign, ``gap`` between a number and its currency: always behind it; before it where ``spaced``, and where
    the currency ends in a letter. ``currency_first``: it stands before the number.
    """

    decimal: str = "."
    group: str = ","
    percent: str = ""
    gap: str = _BLANK
    currency_first: bool = True
    spaced: bool = False
    lakhs: bool = False


_NO_LOCALE: Final = Convention(percent=" ", gap=" ")
_CONVENTIONS: Final[Mapping[str, Convention]] = {
    "en": Convention(),
    "en-IN": Convention(lakhs=True),
    "ja": Convention(),
    "de": Convention(",", ".", _BLANK, currency_first=False),
    "es": Convention(",", ".", _BLANK, currency_first=False),
    "it": Convention(",", ".", currency_first=False),
    "nl": Convention(",", ".", spaced=True),
    "pt-BR": Convention(",", ".", spaced=True),
    "fr": Convention(",", _NARROW, _BLANK, currency_first=False),
    "pl": Convention(",", _BLANK, currency_first=False),
    "sv": Convention(",", _BLANK, _BLANK, currency_first=False),
    "de-CH": Convention(".", "'", spaced=True),
}


def convention_of(locale: str | None) -> Convention:
    """The convention of a language; without one that of all other texts of the program: ``1,234.5`` and ``25 %``."""
    return _CONVENTIONS[locale] if locale else _NO_LOCALE
