"""Columns as comments describe them: headers with inline Markdown, formats of values.

Inline Markdown is CommonMark (https://spec.commonmark.org/0.31.2/#inlines) with GitHub's strikethrough. The parser
returns pieces of plain text, which the room ``render`` escapes for HTML or Markdown.
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
"""The maximum length of a text that is parsed. Longer texts are not written by hand, and parsing them takes time."""
_RULES: Final = ("escape", "backticks", "emphasis", "strikethrough", "link", "autolink", "entity", "newline")
_KINDS: Final[dict[str, Kind]] = {"strong": "strong", "em": "em", "s": "del", "a": "link"}


class Piece(NamedTuple):
    """A part of a text. Text and code have ``text``, other kinds have ``inside``; ``to`` is the address of a link."""

    kind: Kind
    text: str = ""
    inside: tuple[Piece, ...] = ()
    to: str = ""


@lru_cache(maxsize=4096)
def read_inline(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a text. A link with an unsafe address stays text, with its brackets."""
    if len(text) > _LONGEST:
        return (Piece("text", text),)
    tokens = _parser().parseInline(text)[0].children or []
    return _merge_texts(_pieces_of(iter(tokens)))


def plain_text(pieces: Iterable[Piece]) -> str:
    """Return the text of the pieces without markup."""
    return "".join("\n" if one.kind == "break" else one.text + plain_text(one.inside) for one in pieces)


def has_link(pieces: Iterable[Piece]) -> bool:
    """Return whether the pieces contain a link."""
    return any(one.kind == "link" or has_link(one.inside) for one in pieces)


def _pieces_of(tokens: Iterator[Token]) -> Iterator[Piece]:
    """Yield the pieces of the tokens, up to the end of the enclosing element."""
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
    from markdown_it import MarkdownIt  # most pages do not need it

    class Inline(MarkdownIt):
        def validateLink(self, url: str) -> bool:
            return bool(safe_address(url))

        def normalizeLink(self, url: str) -> str:
            return url

    return Inline("zero").enable(list(_RULES))


class HeaderGroup(NamedTuple):
    """A heading above the headers of ``columns``. ``pieces`` is empty unless the heading is Markdown."""

    text: str
    columns: tuple[str, ...]
    pieces: tuple[Piece, ...] = ()


def read_marked(body: Mapping[str, Any]) -> dict[Path, tuple[Piece, ...]]:
    """Return the pieces of title, caption and headers by path, for a comment with the key ``markdown``."""
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
    """Return a distinct name for each path: its last part or, if several paths end in this part, the whole path."""
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
    """Return a stage that turns a list of objects into an object ``by``.

    In ``by``, the field ``key`` of each element becomes a key, and the field ``value`` becomes its value.
    """
    each = f'{{"k": "$$this.{key}", "v": "$$this{value and "."}{value}"}}'
    return f'{{"$set": {{"by": {{"$arrayToObject": {{"$map": {{"input": "${path}", "in": {each}}}}}}}}}}}'


MICROSECONDS: Final = "µs"
_WHOLE: Final = ("decimals", "significant")


CELL_UNITS: Final = ("percent", "currency", "duration", "bytes")
"""The format keys that write a unit into each cell (``render.number_text``)."""
FOR_NUMBERS: Final = (*CELL_UNITS, "significant", "bar", "scale", "negative")
"""The format keys that need numbers and cannot format texts."""
_OF_NUMBERS: Final = ("decimals", "unit", "thousands", *FOR_NUMBERS)
EXCLUDING: Final[Sequence[tuple[Sequence[str], Sequence[str], str]]] = (
    *(((key,), CELL_UNITS[at:], "keep the key that fits the values") for at, key in enumerate(CELL_UNITS, 1)),
    (("unit",), CELL_UNITS, "remove `unit`: each cell already has the unit of the other key"),
    (("decimals",), ("significant",), "remove one: both round the number"),
    (("date",), (*_OF_NUMBERS, "currency_place"), "a date is not written as a number: remove one of the two keys"),
    (("markdown",), (*_OF_NUMBERS, "date"), "only columns of text can be read as Markdown: remove one of the two keys"),
    (("markdown",), ("link",), "write the link into the text, or remove the Markdown"),
    (("bar",), ("scale",), "remove one: both show the size of a number"),
)  # fmt: skip
"""Pairs of sets of format keys, each with a hint. A format must not have keys of both sets of a pair."""
NEEDED: Final[Mapping[str, str]] = {"timezone": "date", "currency_place": "currency"}
"""Format keys that have an effect only together with another key."""


class ColumnFormat(NamedTuple):
    """The format of values. Fields are keys of comments, except ``few_digits``, which ``render.columns`` sets.

    Attributes:
        thousands: The separator; True for the separator of ``locale``, False or None for no separator.
        missing: The text of a cell without a value.
        reason: The reason why cells have no value, which is printed under the table.
        duration: The unit of the values.
        bytes: "IEC" or "SI".
        date: A pattern of ``$dateToString``.
        timezone: The time zone for ``date``.
        link: An address with fields in braces.
        negative: "brackets" or None.
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
        """The key of the format that writes a unit into each cell, or ""."""
        for key in CELL_UNITS:  # No generator: this runs for each number.
            if getattr(self, key):
                return key
        return ""

    @property
    def raw_unit(self) -> str:
        """The unit of the raw values, for files and axes, or "" if unknown."""
        return self.unit or self.currency or self.duration or ("B" if self.bytes else "")


def formats_of(body: Mapping[str, Any]) -> dict[str, ColumnFormat]:
    """Return the formats of a comment's columns, with the comment's ``locale`` in each."""
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
    """Return the formats. A format without a reason gets the column's reason from a shared pipeline, if there is such a
    reason.
    """
    found = dict(formats)
    for column in columns:
        form = found.get(column, ColumnFormat())
        if column in reasons and form.reason is None:
            found[column] = form._replace(reason=reasons[column])
    return found


_BLANK: Final = "\u00a0"
_NARROW: Final = "\u202f"


class Convention(NamedTuple):
    """The way in which a language writes numbers.

    Attributes:
        decimal: The decimal sign.
        group: The sign between groups of digits.
        percent: The text between a number and the percent sign.
        gap: The text between a number and its currency. If the currency is before the number, the text is used only if
            ``spaced`` is true or the currency ends in a letter.
        currency_first: Whether the currency is before the number.
        lakhs: Whether all groups of digits have two digits, except the group of the last three digits.
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
    """Return the convention of a language. Without a language, return that of the program's own texts (``1,234.5``)."""
    return CONVENTIONS[locale] if locale else _NO_LOCALE
