"""Texts, inline Markdown and anchors for pages, as HTML and as Markdown.

Each text of an author or a database is escaped for its place, and each address has been validated
(``directives.addresses``), so that no other elements can get into a page.

Markdown shows exactly the same text on GitHub and with Python-Markdown. Characters that a backslash escapes in both
dialects get a backslash, and other special characters become character references. Addresses that dialects would turn
into links are broken by ``<wbr>``.

* GFM: https://github.github.com/gfm/#tables-extension- and #backslash-escapes
* Python-Markdown: ``Markdown.ESCAPED_CHARS`` (and ``|`` within tables)

An anchor of a table, a chart or a row consists of words that readers see, not of a position or a hash. So a link keeps
working as long as the table keeps its title and the row its label, even if tables or rows are added.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Final
from unicodedata import combining, east_asian_width

from mongo_tables.directives.columns import Piece
from mongo_tables.directives.specs import PipelineSpec, TableSpec
from mongo_tables.render.values import visible

if TYPE_CHECKING:
    from mongo_tables.directives.specs import Spec
    from mongo_tables.render.column import Column

_LONGEST: Final = 60
_KEYS: Final = 3
ANCHOR: Final = re.compile(' id="([^"]+)"')
"""Finds the ids of a figure and of its rows in the figure's HTML, in which quotes in texts are escaped."""
_GAP: Final = re.compile("[^a-z0-9]+")


def with_anchors(specs: Sequence[Spec | None]) -> list[Spec | None]:
    """Return the specs of one page, in which every table and chart has an ``id``.

    A spec without an ``id`` gets one from its kind and its title; without a title, from its caption or its headers.
    Duplicates are numbered in page order.
    """
    found = list(specs)
    taken: set[str] = set()
    unnamed: dict[int, str] = {}
    for number, spec in enumerate(specs):
        if not isinstance(spec, PipelineSpec):
            continue
        if spec.id:
            taken.add(spec.id)
            continue
        name = spec.comment.kind
        for text in (spec.title, spec.caption, " ".join(spec.headers) if isinstance(spec, TableSpec) else ""):
            if text and (title := words(text)):
                name = f"{name}-{title}"
                break
        unnamed[number] = name
    for number, name in zip(unnamed, distinct(unnamed.values(), taken), strict=True):
        # A copy keeps the cached query, which does not depend on the id.
        found[number] = named = copy(specs[number])
        object.__setattr__(named, "id", name)
    return found


def row_anchors(anchor: str, columns: Sequence[Column]) -> list[str]:
    """Return an id for each row of a table: the table's anchor, followed by words that name the row.

    The words come from the first cell and, if rows would have the same id, from the next one or two cells. Columns
    with fractions are not used, because measured values change. Rows that still have the same id are numbered.
    """
    names = labels = list[str]()
    for column in columns[:_KEYS]:
        texts = column.texts if column.marked else column.raws  # The raw text of Markdown has its markup.
        if not names:
            names = labels = [f"{anchor}--{words(text) or 'row'}" for text in texts]
        elif any(isinstance(value, float) and not value.is_integer() for value in column.values):
            break
        else:
            names = [f"{name}-{words(text)}" for name, text in zip(names, texts, strict=True)]
        if len(set(names)) == len(names):
            return names
    return distinct(labels, set())


def words(text: str, longest: int = _LONGEST) -> str:
    """Return the text as at most ``longest`` lower-case letters, digits and hyphens, which are valid in addresses.

    Example:
        >>> words("Mean latency (ms)")
        'mean-latency-ms'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _GAP.sub("-", text.lower())[:longest].strip("-")


def distinct(names: Iterable[str], taken: set[str]) -> list[str]:
    """Return the names made distinct: a repeated name gets the first free number from 2.

    Example:
        >>> distinct(["a", "a", "b"], set())
        ['a', 'a-2', 'b']
    """
    taken = set(taken)
    numbers: dict[str, int] = {}
    found = []
    for name in names:
        number, free = numbers.get(name, 2), name
        while free in taken:
            free, number = f"{name}-{number}", number + 1
        numbers[name] = number
        taken.add(free)
        found.append(free)
    return found


NO_ROWS: Final = "There are no results for this table yet."
# A currency may be between the sign and the digits: -€5, -EUR 5.
_HYPHEN_OF_NUMBER: Final = r"(?<![^\s(–])-(?=[A-Z]{0,4}[^\s\w.(-]?\s?\.?\d|Infinity)"
_SPECIAL_IN_HTML: Final = re.compile(r"[^ !#-%(-;=?-~]").search
"""Finds a character that needs escaping, or that is not a printable character of ASCII."""
_SPECIAL: Final = r"""
      [\\`*\[\]{}|\#]                      # a backslash escapes these in both dialects
    | (?<![A-Za-z0-9])_ | _(?![A-Za-z0-9]) # an underscore inside a word is no emphasis
    | (?<=-)- | -(?=-)                     # smart dashes
    | !(?=\[)
    | [&<>~$^@]                            # markup, strikethrough, mathematics, superscript, mentions
    | (?<==)= | =(?==)                     # highlighting
    | (?<=\+)\+ | \+(?=\+)                 # insertion
    | (?<=:)/(?=/)                         # bare addresses
    | (?<=[wW]{3})\.
    | [^\S\ \t\n]                          # no-break and other wide blanks: stripped at the ends of a cell
    | :(?=(?:[+-]1|100|1234|[a-z0-9_+-]*[a-z_][a-z0-9_+-]*):)   # emoji
    """
_BACKSLASHED: Final = frozenset("\\`*[]{}|#_-!")
_NAMED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_IN_HTML: Final = str.maketrans({**_NAMED, '"': "&quot;", "'": "&#x27;"})
_BREAK: Final = "<br> "
"""A line break. The blank separates words in search indexes, which drop tags."""
_BREAK_IN_MDX: Final = "<br /> "
_APART: Final = "<wbr>"
"""The tag that breaks addresses and emoji. Formatters of Markdown would undo other escapes."""
_FOUND_IN_TEXT: Final = rf"{_APART}\.|[/:@]{_APART}"
_WIDE: Final = 0xFEE0
"""The difference between the code points of an ASCII character and its full-width form."""
_SPACE: Final = re.compile(r"[ \t]+")
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ()/,;%.")
"""Frequent characters that need no escaping."""
_SIGNS: Final = {"strong": "**", "em": "_"}
_PLAIN_CODE: Final = re.compile(r"[A-Za-z0-9_.,:/=+()-](?:[A-Za-z0-9_.,:/=+() -]*[A-Za-z0-9_.,:/=+()-])?")
_IN_DESTINATION: Final = {
    "&": "&amp;", "(": "%28", ")": "%29", "*": "%2A", "$": "%24", "'": "%27", "[": "%5B", "]": "%5D", "!": "%21"
}  # fmt: skip
"""Characters that could end an address in a dialect of Markdown or in an extension, each with its escape."""
_FREE: Final = frozenset(("", " ", ",", ".", ";", "(", ")"))
"""Both dialects recognise an emphasis delimiter next to one of these characters. "" is the start or the end of the
text.
"""


# -- shared --


def typeset(text: str) -> str:
    """Return the text with U+2212 as minus signs, which are as wide as a plus, and a no-break space before ``%``.

    Use it for pages only: in files and Markdown, other programs parse hyphens and blanks.
    """
    signed = re.sub(_HYPHEN_OF_NUMBER, "−", text) if "-" in text else text
    return signed.replace(" %", "\u00a0%")


def range_text(low: str, high: str) -> str:
    """Return both ends of a range: ``0.9–1.25``, or ``-5 to -3`` for negative numbers.

    Example:
        >>> range_text("0.9", "1.25")
        '0.9–1.25'
        >>> range_text("-5", "-3")
        '-5 to -3'
    """
    return f"{low} to {high}" if low.startswith("-") or high.startswith("-") else f"{low}–{high}"


def display_width(text: str) -> int:
    """Return the width of the text in a fixed-width font, in which East Asian wide characters take 2 columns.

    Example:
        >>> display_width("日本")
        4
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def align(table: Sequence[Sequence[str]], left: Collection[int]) -> list[str]:
    """Return the rows as lines with aligned columns. ``left`` has the numbers of the columns to align to the left.

    Example:
        >>> align([["a", "10"], ["bcd", "9"]], left=[0])
        ['a    10', 'bcd   9']
    """
    widths = [max(map(display_width, column)) for column in zip(*table, strict=True)]

    def pad(text: str, number: int) -> str:
        blanks = " " * (widths[number] - display_width(text))
        return text + blanks if number in left else blanks + text

    return ["  ".join(pad(text, number) for number, text in enumerate(line)).rstrip() for line in table]


# -- HTML --


def text_html(text: str) -> str:
    """Return the text escaped for an HTML element or a quoted attribute.

    Example:
        >>> text_html("a < b")
        'a &lt; b'
    """
    return visible(text).translate(_IN_HTML) if _SPECIAL_IN_HTML(text) else text


def words_html(text: str, pieces: Sequence[Piece] | None = None) -> str:
    """Return a text of one or several lines, or its inline Markdown ``pieces`` if there are any, as HTML."""
    if pieces:
        return inline_html(pieces)
    shown = text_html(text)
    return shown.replace("\n", _BREAK) if "\n" in shown else shown


def inline_html(pieces: Sequence[Piece]) -> str:
    """Return pieces of inline Markdown as HTML."""
    return "".join(map(_piece_html, pieces))


def _piece_html(one: Piece) -> str:
    match one.kind:
        case "text":
            return words_html(one.text)
        case "code":
            return f"<code>{text_html(one.text)}</code>"
        case "break":
            return _BREAK
        case "link":
            return link_html(one.to, inline_html(one.inside))
    return f"<{one.kind}>{inline_html(one.inside)}</{one.kind}>"


def link_html(to: str, inner: str) -> str:
    """Return HTML as a link, or unchanged if it has no visible text, because the link would have no name."""
    return f'<a href="{text_html(to)}">{inner}</a>' if to and inner.strip() else inner


# -- Markdown --


def escape_cell(text: str) -> str:
    """Return the Markdown that shows exactly this text in a cell of a table.

    Example:
        >>> print(escape_cell("a|b *c*"))
        a\\|b \\*c\\*
    """
    return _BREAK.join(_escape_line(line.strip(" \t")) for line in visible(text).split("\n"))


def escape_words(text: str) -> str:
    """Return the Markdown that shows exactly this text in a sentence, also within raw HTML.

    In raw HTML, such as a ``<p align="center">`` of a README, a backslash escapes nothing.
    """
    lines = (_SPACE.sub(" ", line).strip(" ") for line in visible(text).split("\n"))
    return _BREAK.join(_escape(line, _refer_to) for line in lines)


def _escape_line(text: str) -> str:
    """Return the Markdown of a text without line ends. Blanks at its ends stay."""
    return _escape(
        _SPACE.sub(" ", text), lambda sign: f"\\{sign}" if sign in _BACKSLASHED else _refer_to(sign)
    )


def _escape(text: str, write: Callable[[str], str]) -> str:
    if _PLAIN.issuperset(text) and "www." not in text.lower():
        return text
    return re.sub(_SPECIAL, lambda found: write(found[0]), text, flags=re.VERBOSE)


def _refer_to(character: str) -> str:
    if character == ".":
        return f"{_APART}."
    return f"{character}{_APART}" if character in "/:@" else _NAMED.get(character) or f"&#{ord(character)};"


def alternative_text(text: str) -> str:
    """Return the text as the alternative of a picture, with full-width forms of signs that are special in Markdown.

    Formatters of Markdown lose escapes there. An underscore within a path stays, because no emphasis ends there.

    Example:
        >>> alternative_text("dumps[10] of runs._key")
        'dumps［10］ of runs._key'
    """
    words = " ".join(visible(text).split())
    special = rf"(?!(?<=\w\.)_[A-Za-z0-9])(?:{_SPECIAL})"
    return re.sub(special, lambda found: chr(ord(found[0]) + _WIDE), words, flags=re.VERBOSE)


def words_markdown(pieces: Sequence[Piece] | None, text: str) -> str:
    """Return a text, or its inline Markdown ``pieces`` if there are any, as the Markdown of a cell."""
    return inline_markdown(pieces) if pieces else escape_cell(text)


def inline_markdown(pieces: Sequence[Piece]) -> str:
    """Return pieces of inline Markdown as one line that GitHub and Python-Markdown render alike."""
    return _pieces_markdown(pieces).strip(" ")


def _pieces_markdown(pieces: Sequence[Piece]) -> str:
    texts = []
    for at, one in enumerate(pieces):
        before, after = _end_of(pieces[at - 1 : at] if at else (), -1), _end_of(pieces[at + 1 : at + 2], 0)
        text = _piece_markdown(one, stands_free=_FREE.issuperset((before, after)))
        # An exclamation mark right before a link would make it an image, which browsers would fetch.
        if text.endswith("!") and at + 1 < len(pieces) and pieces[at + 1].kind == "link":
            text = f"{text[:-1]}&#33;"
        texts.append(text)
    return "".join(texts)


def _end_of(beside: Sequence[Piece], end: int) -> str:
    """Return the adjacent character of a neighbour, or "" without a neighbour. If the neighbour is not text, return
    a line end.
    """
    if not beside:
        return ""
    return beside[0].text[end] if beside[0].kind == "text" else "\n"


def _piece_markdown(one: Piece, *, stands_free: bool) -> str:
    if one.kind == "code" and _PLAIN_CODE.fullmatch(one.text):
        return f"`{one.text}`"
    if one.kind in ("text", "code"):
        # Blanks at the ends of a text separate it from its neighbours.
        text = _BREAK.join(map(_escape_line, visible(one.text).split("\n")))
        return text if one.kind == "text" else f"<code>{text}</code>"
    if one.kind == "break":
        return _BREAK
    inner = _pieces_markdown(one.inside)
    if one.kind == "link":
        return link_markdown(one.to, inner)
    sign = _SIGNS.get(one.kind, "")
    # Emphasis delimiters work in both dialects around a text that begins and ends with a letter or a digit.
    (first, *others) = one.inside or (Piece("text"),)
    is_word = not others and first.kind == "text" and first.text[:1].isalnum() and first.text[-1:].isalnum()
    if sign and stands_free and is_word:
        return f"{sign}{inner}{sign}"
    return f"<{one.kind}>{inner}</{one.kind}>"


def link_markdown(to: str, inner: str) -> str:
    """Return Markdown as a link, or unchanged if it has no visible text."""
    if not to or not inner.strip():
        return inner
    return f"[{inner}]({_destination(to)})"


def picture_markdown(address: str, text: str) -> str:
    """Return the Markdown of a picture with an alternative text, or the text if there is no address."""
    return f"![{text}]({_destination(address)})" if address else text


def markdown_as_mdx(line: str) -> str:
    """Return a line of our Markdown as MDX, in which every tag is closed (https://mdxjs.com/docs/what-is-mdx/).

    Expressions break addresses and emoji, because plugins would find them despite other escapes. The alternative text
    of a picture cannot have expressions.
    """
    line = line.replace(_BREAK, _BREAK_IN_MDX)
    if "![" in line:
        return line
    return re.sub(_FOUND_IN_TEXT, lambda found: f'{{"{found[0].replace(_APART, "")}"}}', line)


def _destination(address: str) -> str:
    return "".join(_IN_DESTINATION.get(sign, sign) for sign in address)
