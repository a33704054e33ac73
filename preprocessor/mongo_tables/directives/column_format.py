"""The format of a column's values, as the key ``format`` of a comment sets it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, Self

MICROSECONDS: Final = "µs"
_WHOLE: Final = ("decimals", "significant")


class CellUnit(NamedTuple):
    """The properties of numbers whose cells contain their unit.

    ``power``: a cell shows the number times ten to this power. ``least_decimals``: the minimum number of decimals.
    ``fits``: each cell has the unit that fits its number, and three digits if the format sets none.
    """

    power: int = 0
    least_decimals: int = 0
    fits: bool = False


PLAIN: Final = CellUnit()
CELL_UNITS: Final[Mapping[str, CellUnit]] = {
    "percent": CellUnit(power=2),
    "currency": CellUnit(least_decimals=2),
    "duration": CellUnit(fits=True),
    "bytes": CellUnit(fits=True),
}
"""The cell units by format key; ``render.number_text`` writes them."""


class ColumnFormat(NamedTuple):
    """The format of values. ``thousands``: the separator, True for the one of ``locale``, False or None for none.

    ``missing`` is the text of a cell without a value, ``reason`` the explanation printed under the table. ``duration``
    is the unit of the values, ``bytes`` "IEC" or "SI", ``date`` a pattern of ``$dateToString`` and ``timezone`` its
    zone. ``link`` is an address with fields in braces. ``negative``: "brackets". ``few_digits`` is
    not a key of comments: see ``render.columns``.
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
    negative: str | None = None

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Return the format that a comment sets."""
        whole = {key: int(written[key]) for key in _WHOLE if key in written}
        form = cls(**{**written, **whole})
        return form._replace(duration=MICROSECONDS) if form.duration == "us" else form

    @property
    def cell_unit_key(self) -> str:
        """The key for numbers with their unit, or "" for plain numbers."""
        for key in CELL_UNITS:  # No generator: this runs for each number.
            if getattr(self, key):
                return key
        return ""

    @property
    def cell_unit(self) -> CellUnit:
        """The properties of numbers whose cells contain their unit."""
        return CELL_UNITS.get(self.cell_unit_key, PLAIN)

    @property
    def names_unit(self) -> bool:
        """Whether cells show the unit, so that the header need not."""
        return self.cell_unit_key != ""

    @property
    def raw_unit(self) -> str:
        """The unit of the raw values, for files and axes, or "" if unknown."""
        return self.unit or self.currency or self.duration or ("B" if self.bytes else "")

    @property
    def rounds(self) -> bool:
        """Whether the format sets the number of digits."""
        return self.decimals is not None or self.significant is not None or self.cell_unit.fits


def formats_of(body: Mapping[str, Any]) -> dict[str, ColumnFormat]:
    """Return the formats of a comment's columns. With a ``locale`` for all, each column has one."""
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
    """A way to write numbers: the decimal sign, and the sign between groups of digits.

    ``lakhs``: above the first three digits, groups have two digits. ``percent`` is the text between a number and its
    percent sign. ``gap`` is the text between a number and its currency. It always applies before a currency that
    follows; after a currency that precedes, only if ``spaced`` or if the currency ends in a letter. ``currency_first``:
    the currency precedes the number.
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
    """Return the convention of a language; for "", the one of the program's own texts: ``1,234.5`` and ``25 %``."""
    return _CONVENTIONS[locale] if locale else _NO_LOCALE
