"""How the values of a column are written, as a comment's ``format`` asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, Self

MICROSECONDS: Final = "µs"
_WHOLE: Final = ("decimals", "significant")


class Notation(NamedTuple):
    """What is special about numbers whose cells say in which unit they are.

    ``power``: a cell shows the number times ten to this power. ``least_decimals``: it has so many at least. ``fits``:
    each cell has the unit that fits its number, and three digits where the format does not say how many.
    """

    power: int = 0
    least_decimals: int = 0
    fits: bool = False


PLAIN: Final = Notation()
NOTATIONS: Final[Mapping[str, Notation]] = {
    "percent": Notation(power=2),
    "currency": Notation(least_decimals=2),
    "duration": Notation(fits=True),
    "bytes": Notation(fits=True),
}
"""By the key of the format that asks for it. How they are written: ``render.number_text``."""


class ColumnFormat(NamedTuple):
    """How values are written. ``thousands``: the separator, True for that of the ``locale``, False or None for none.

    ``missing`` is the text of a cell without a value, ``reason`` why there is none, told under the table. ``duration``
    is the unit of the values, ``bytes`` "IEC" or "SI", ``date`` a pattern of ``$dateToString`` and ``timezone`` its
    zone. ``link`` is an address with fields in braces. No comment says ``few_digits``: see ``render.columns``.
    """

    decimals: int | None = None
    unit: str | None = None
    align: str | None = None
    thousands: bool | str | None = None
    missing: str | None = None
    reason: str | None = None
    significant: int | None = None
    locale: str | None = None
    percent: bool = False
    currency: str | None = None
    currency_place: str | None = None
    duration: str | None = None
    bytes: str | None = None
    date: str | None = None
    timezone: str | None = None
    markdown: bool = False
    link: str | None = None
    bar: bool = False
    scale: str | None = None
    few_digits: bool = False

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Give the format that a comment has."""
        whole = {key: int(written[key]) for key in _WHOLE if key in written}
        form = cls(**{**written, **whole})
        return form._replace(duration=MICROSECONDS) if form.duration == "us" else form

    @property
    def named_notation(self) -> str:
        """The key that says how numbers are written with their unit; "" for plain numbers."""
        for key in NOTATIONS:  # This is asked for each number: no generator.
            if getattr(self, key):
                return key
        return ""

    @property
    def notation(self) -> Notation:
        """What is special about its numbers."""
        return NOTATIONS.get(self.named_notation, PLAIN)

    @property
    def names_unit(self) -> bool:
        """Whether each cell says what its number is of, so that the header need not."""
        return self.named_notation != ""

    @property
    def raw_unit(self) -> str:
        """The unit of the values as they came, for files and axes; "" where none is known."""
        return self.unit or self.currency or self.duration or ("B" if self.bytes else "")

    @property
    def rounds(self) -> bool:
        """Whether it says how many digits are shown."""
        return self.decimals is not None or self.significant is not None or self.notation.fits


def formats_of(body: Mapping[str, Any]) -> dict[str, ColumnFormat]:
    """Give the formats of a comment's columns; each column has one where there is a ``locale`` for all."""
    written: Mapping[str, Mapping[str, Any]] = body.get("format", {})
    common = {"locale": body["locale"]} if "locale" in body else {}
    named = [*written, *(_named_columns(body) if common else ())]
    return {column: ColumnFormat.of({**common, **written.get(column, {})}) for column in dict.fromkeys(named)}


def _named_columns(body: Mapping[str, Any]) -> Iterator[str]:
    for key in ("columns", "x", "y", "series"):
        named = body.get(key, ())
        yield from (named,) if isinstance(named, str) else named


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
