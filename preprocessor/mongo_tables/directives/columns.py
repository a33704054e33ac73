"""Columns as comments describe them: headers with inline Markdown, formats of values.

Inline Markdown is CommonMark (https://spec.commonmark.org/0.31.2/#inlines) with GitHub's strikethrough. The parser
returns pieces, never the source, and the writers escape each text for its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self

from mongo_tables.directives.addresses import safe_address
from mongo_tables.jsontext import Path

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Kind = Literal["text", "code", "break", "strong", "em", "del", "link"]

_LONGEST: Final = 5000
"""The length above which a text is not parsed: no author writes such a cell, and parsing it would take time."""
_RULES: Final = ("escape", "backticks", "emphasis", "strikethrough", "link", "autolink", "entity", "newline")
_KINDS: Final[dict[str, Kind]] = {"strong": "strong", "em": "em", "s": "del", "a": "link"}


class Piece(NamedTuple):
    """A part of a text: ``text`` for text or code, else the pieces ``inside``. ``to`` is a link's safe address."""

    kind: Kind
    text: str = ""
    inside: tuple[Piece, ...] = ()
    to: str = ""


@lru_cache(maxsize=4096)
def read_inline(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a text. A link without a safe address stays as written."""
    if len(text) > _LONGEST:
        return (Piece("text", text),)
    tokens = _parser().parseInline(text)[0].children or []
    return _merge_texts(_pieces_of(iter(tokens)))


def plain_text(pieces: Iterable[Piece]) -> str:
    """Return the plain text of the pieces, as it is read aloud."""
    return "".join("\n" if one.kind == "break" else one.text + plain_text(one.inside) for one in pieces)


def has_link(pieces: Iterable[Piece]) -> bool:
    """Return whether the pieces contain a link."""
    return any(one.kind == "link" or has_link(one.inside) for one in pieces)


def _pieces_of(tokens: Iterator[Token]) -> Iterator[Piece]:
    """Yield the pieces up to the end of the open element."""
    for token in tokens:
        if token.nesting < 0:
            return
        if token.nesting:
            to = safe_address(str(token.attrs.get("href", "")))
            yield Piece(_KINDS[token.tag], inside=_merge_texts(_pieces_of(tokens)), to=to)
        elif token.type == "code_inline":
            yield Piece("code", token.content)
        elif token.type in ("softbreak", "hardbreak"):
            yield Piece("break")
        else:
            yield Piece("text", token.content)


def _merge_texts(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Return the pieces without empty texts, and with neighbouring texts merged."""
    merged: list[Piece] = []
    for one in pieces:
        if one.kind == "text" and merged and merged[-1].kind == "text":
            merged[-1] = Piece("text", merged[-1].text + one.text)
        elif one.kind != "text" or one.text:
            merged.append(one)
    return tuple(merged)


@cache
def _parser() -> MarkdownIt:
    """Return the parser with only these rules. Imported late, because most pages do not need it."""
    from markdown_it import MarkdownIt

    class Inline(MarkdownIt):
        def validateLink(self, url: str) -> bool:
            return bool(safe_address(url))

        def normalizeLink(self, url: str) -> str:
            return url

    return Inline("zero").enable(list(_RULES))


class HeaderGroup(NamedTuple):
    """A heading above the headers of ``columns``: its plain text and, for Markdown, its pieces."""

    text: str
    columns: tuple[str, ...]
    pieces: tuple[Piece, ...] = ()


def read_marked(body: Mapping[str, Any]) -> dict[Path, tuple[Piece, ...]]:
    """Return the pieces of title, caption and headers, by path, of a comment that declares them as Markdown."""
    pieces: dict[Path, tuple[Piece, ...]] = {}
    for key in ("title", "caption"):
        if isinstance(body.get(key), str):
            pieces[key,] = read_inline(body[key])
    for index, text in enumerate(body.get("headers", ())):
        pieces["headers", index] = read_inline(text)
    return pieces


def header_groups_of(body: Mapping[str, Any]) -> tuple[HeaderGroup, ...]:
    """Return the headings that span several headers."""
    found = []
    for text, columns in body["header_groups"].items():
        pieces = read_inline(text) if body.get("markdown") else ()
        found.append(HeaderGroup(plain_text(pieces) or text, tuple(columns), pieces))
    return tuple(found)


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z_\s-]+|[A-Z]")


def field_words(name: str) -> str:
    """Return the name of a field in words.

    Example:
        >>> field_words("docSizeKB")
        'Doc size KB'
    """
    words = [word if word.isupper() and len(word) > 1 else word.lower() for word in _WORD.findall(name)]
    text = " ".join(words)
    return text[:1].upper() + text[1:] or name.strip() or "–"


def short_names(paths: Sequence[str]) -> list[str]:
    """Return a distinct name for each path: its last part, or the whole path if several share the last part."""
    last = [path.rpartition(".")[2] for path in paths]
    wanted = [
        name if last.count(name) == 1 else path.replace(".", "_").strip("_") or "id"
        for name, path in zip(last, paths, strict=True)
    ]
    return [name if name not in wanted[:at] else f"{name}_{at + 1}" for at, name in enumerate(wanted)]


def column_headers(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the default headers of columns, made from their names."""
    return tuple(map(field_words, short_names(columns)))


def elements_by_key(path: str, key: str, value: str) -> str:
    """Return the stage that makes a field ``by`` of the objects in a list: the text in ``key`` names each ``value``."""
    each = f'{{"k": "$$this.{key}", "v": "$$this{value and "."}{value}"}}'
    return f'{{"$set": {{"by": {{"$arrayToObject": {{"$map": {{"input": "${path}", "in": {each}}}}}}}}}}}'


MICROSECONDS: Final = "µs"
_WHOLE: Final = ("decimals", "significant")


CELL_UNITS: Final = ("percent", "currency", "duration", "bytes")
"""The format keys that give each cell its own unit; ``render.number_text`` writes the units."""
FOR_NUMBERS: Final = (*CELL_UNITS, "significant", "bar", "scale", "negative")
"""The format keys that no text fits."""
_OF_NUMBERS: Final = ("decimals", "unit", "thousands", *FOR_NUMBERS)
EXCLUDING: Final[Sequence[tuple[Sequence[str], Sequence[str], str]]] = (
    *(((key,), CELL_UNITS[at:], "a value is one of them") for at, key in enumerate(CELL_UNITS, 1)),
    (("unit",), CELL_UNITS, "the other one names the unit of each cell already"),
    (("decimals",), ("significant",), "round in one way"),
    (("date",), (*_OF_NUMBERS, "currency_place"), "dates have none: leave one of them out"),
    (("markdown",), (*_OF_NUMBERS, "date"), "only columns of text can be read as Markdown: remove one of the two keys"),
    (("markdown",), ("link",), "write the link into the text, or remove the Markdown"),
    (("bar",), ("scale",), "one of the two shows the size of a number"),
)  # fmt: skip
"""Sets of format keys that exclude each other, with the hint for a column that has two of a set."""
NEEDED: Final[Mapping[str, str]] = {"timezone": "date", "currency_place": "currency"}
"""For a format key without effect of its own, the key that it needs."""


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
    def raw_unit(self) -> str:
        """The unit of the raw values, for files and axes, or "" if unknown."""
        return self.unit or self.currency or self.duration or ("B" if self.bytes else "")


def formats_of(body: Mapping[str, Any]) -> dict[str, ColumnFormat]:
    """Return the formats of a comment's columns. With a ``locale`` for all, each column has one."""
    written: Mapping[str, Mapping[str, Any]] = body.get("format", {})
    common = {"locale": body["locale"]} if "locale" in body else {}
    named = [*written]
    for key in ("columns", "x", "y", "series") if common else ():
        columns = body.get(key, ())
        named += [columns] if isinstance(columns, str) else columns
    return {column: ColumnFormat.of({**common, **written.get(column, {})}) for column in dict.fromkeys(named)}


def with_reasons(
    formats: Mapping[str, ColumnFormat], columns: Iterable[str], reasons: Mapping[str, str]
) -> dict[str, ColumnFormat]:
    """Return the formats with the reasons of shared lists, for columns without a reason of their own."""
    found = dict(formats)
    for column in columns:
        form = found.get(column, ColumnFormat())
        if column in reasons and form.reason is None:
            found[column] = form._replace(reason=reasons[column])
    return found


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
CONVENTIONS: Final[Mapping[str, Convention]] = {
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
    return CONVENTIONS[locale] if locale else _NO_LOCALE
