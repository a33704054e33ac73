"""The paragraphs of a page or another text, without markup and generated text, and the sentences in them.

For each kind of text, a function replaces markup and code by blanks, so that every number keeps its place. Markdown is
parsed for its paragraphs. In other texts, paragraphs end at blank lines, list items, table rows and tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import unescape
from itertools import accumulate, pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from mongo_tables.directives.specs import PipelineSpec, ValueSpec

if TYPE_CHECKING:
    from mongo_tables.site.pages import Page

Span = tuple[int, int]

BLANK: Final = "\ue000"
"""The sign that replaces each character of markup. Spaces would turn a comment on its own line into a blank line."""
NUMBER_MARK: Final = "\ue001"
"""The sign before a number in an attribute of HTML. Such a number counts even without a unit."""
_BREAK: Final = "\f"
"""The sign at both ends of a tag, for tags that end a paragraph."""
_NOTHING: Final = f" \t\r\n+=~-{BLANK}{_BREAK}"
_DIGIT: Final = re.compile(r"\d")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#x[\da-f]{1,6}|\w{1,32});", re.IGNORECASE)
_BADGE: Final = re.compile(
    r"""shields\.io/badge/(?P<label>(?:[^-\s/?()"'<>]|--)+)-(?P<message>(?:[^-\s/?()"'<>]|--)+)-"""
)
"""The address of a badge with a text: https://shields.io/badges/static-badge."""
_BADGE_SIGN: Final = re.compile(r"(?:%[\da-f]{2})+|--|.", re.IGNORECASE)
_CELL: Final = "\x1f"
"""The sign before a cell of HTML, and between cells of reStructuredText."""
_BETWEEN_CELLS: Final = re.compile(rf"(?<!\\)\||{_CELL}")
_TABLE_START: Final = re.compile(
    r"<table\b|-table::|^[ \t]*\r?\n[ \t]*(?:=+[ \t]+=|\+-)", re.IGNORECASE | re.MULTILINE
)
_SENTENCE_END: Final = re.compile(rf"[.!?][\s{BLANK}]+|[。！？]")
_REACH: Final = 400


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph without markup, and the offset in the page of each character.

    Attributes:
        words: The text with its code, which may contain names.
        sections: The spans of the sections around it, the innermost first. The section under the title of the page is
            included only if it is the innermost.
        header: The first row of the table, if the paragraph is a later row of a table that an author typed.
    """

    text: str
    words: str
    offsets: Sequence[int]
    sections: Sequence[Span]
    header: str = ""

    @property
    def start(self) -> int:
        """Return the offset of the first character in the page."""
        return self.offsets[0]

    @property
    def end(self) -> int:
        """Return the offset after the last character in the page."""
        return self.offsets[-1] + 1

    def fill(self, texts: Mapping[Span, str]) -> Paragraph:
        """Return the paragraph with texts in place of spans of the page.

        Each character of a text has the offset of its span. A text is at least as long as its span.
        """
        text, words, offsets = list(self.text), list(self.words), list(self.offsets)
        for (start, end), said in sorted(texts.items(), reverse=True):
            at = slice(start - self.start, end - self.start)
            text[at] = words[at] = said.ljust(end - start, BLANK)
            offsets[at] = [start] * max(len(said), end - start)
        return replace(self, text="".join(text), words="".join(words), offsets=offsets)

    def header_of(self, at: int) -> str:
        """Return the header of the cell whose first number begins at ``at``, or ""."""
        before = _BETWEEN_CELLS.split(self.text[:at])
        headers = _BETWEEN_CELLS.split(self.header)
        # Both rows may begin with a bar.
        column = len(before) - (not before[0].strip()) - 1 + (not headers[0].strip())
        is_first = not _DIGIT.search(before[-1]) and column < len(headers)
        return headers[column].replace(BLANK, " ").strip().strip('"') if is_first and self.header else ""

    def sentence_span(self, at: int) -> Span:
        """Return the span of the sentence around an offset, up to ``_REACH`` characters in each direction."""
        first, last = max(at - _REACH, 0), min(at + _REACH, len(self.text))
        start = max((one.end() for one in _SENTENCE_END.finditer(self.text, first, at)), default=first)
        found = _SENTENCE_END.search(self.text, at, last)
        return start, found.end() if found else last


def read_paragraphs(page: Page) -> list[Paragraph]:
    """Return the paragraphs of a page or another text, without generated text, and then its badges.

    The suffix of the file shows the kind of text. Unknown kinds, and ``llms.txt`` (https://llmstxt.org), are Markdown.
    """
    path = PurePath(page.file.lower())
    read = _KINDS.get(path.suffix)
    if path.suffix == ".mdx" or read is None or path.name in ("llms.txt", "llms-full.txt"):
        hidden = _MDX.finditer(page.text) if path.suffix == ".mdx" else ()
        found = [*_read_markdown(page, blank(page.text, (one.span() for one in hidden)))]
        return [*found, *(badge for one in found for badge in _read_badges(one))]
    shown, all_of_it = read(page.text), [(0, len(page.text))]
    found, header, last = [], "", 0
    for start, end in _split(shown):
        words = shown[start:end]
        inner = words.strip(_NOTHING)
        text, is_row = _without_markup(words), _CELL in inner or inner[:1] == "|"
        if inner and (not is_row or _TABLE_START.search(page.text, last, end)):
            header = ""  # Other text, or the next table, ends the table.
        if _DIGIT.search(words):
            found.append(Paragraph(text, words, range(start, end), all_of_it, header))
        header, last = (header or text, end) if is_row else (header, end if inner else last)
    return [*found, *_read_badges(Paragraph("", page.text, range(len(page.text)), all_of_it))]


def _read_badges(paragraph: Paragraph) -> Iterator[Paragraph]:
    """Yield the text of each badge in a paragraph, with its message first: ``431 tests``."""
    for badge in _BADGE.finditer(paragraph.words):
        words, offsets = "", list[int]()
        for part in ("message", "label"):
            for sign in _BADGE_SIGN.finditer(badge[part] + "_"):
                text = unquote(sign[0]).replace("--", "-").replace("_", " ")
                words += text
                offsets += [paragraph.offsets[badge.start(part) + sign.start()]] * len(text)
        yield Paragraph(words, words, offsets, paragraph.sections)


def blank(text: str, spans: Iterable[Span], mark: str = BLANK) -> str:
    """Return a text with ``mark`` in place of each character within ``spans``, except line ends."""
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces += [text[at:start], re.sub(r"[^\r\n]", mark, text[max(at, start) : end])]
        at = max(at, end)
    return "".join([*pieces, text[at:]])


def _without_markup(text: str) -> str:
    for pattern in (_CODE, _MARKUP):
        text = blank(text, (one.span() for one in pattern.finditer(text)))
    return _ENTITY.sub(_show_entity, text) if "&" in text else text


def _show_entity(found: re.Match[str]) -> str:
    sign = unescape(found[0]).replace("|", BLANK)  # An escaped bar separates no cells.
    return sign.ljust(len(found[0]), BLANK) if len(sign) == 1 else found[0]


# -- Markdown and MDX --

_MDX: Final = re.compile(
    r"^(?:import|export)\b.*?(?=\n[ \t]*\r?\n|\Z)|\{\s*/\*.*?(?:\*/\s*\}|\Z)|(?<!\$)\{[^{}\n]*\}",
    re.DOTALL | re.MULTILINE,
)
_HIDDEN: Final = re.compile(r"\A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*$|<!--.*?-->", re.DOTALL | re.MULTILINE)
"""Front matter and comments."""
_CODE: Final = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_MARKUP: Final = re.compile(
    r"\]\([^)]*\)|\]\[[^\]]*\]|\{[:#.][^}\n]*\}"
    r"|(?:https?|mongodb(?:\+srv)?)://\S+"
    r"|<[/!a-zA-Z][^>]*>"
    r"|\*+(?=\S)|(?<=\S)\*+|(?<!\w)_+(?=\S)|(?<=[^\s_])_+(?!\w)"
    r"|^[ \t>]*(?:#{1,6}[ \t]+)?(?:\d+(?:\.\d+)*[.)]|[-*+])[ \t]",
    re.MULTILINE,
)
_PARAGRAPHS: Final = frozenset({"paragraph_open", "heading_open", "tr_open", "html_block"})
_OPAQUE: Final = re.compile(r"\s*<(?:script|style|pre|svg|textarea)\b", re.IGNORECASE)
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')


def _read_markdown(page: Page, text: str) -> Iterator[Paragraph]:
    from markdown_it import MarkdownIt

    hidden = [one.span() for one in _HIDDEN.finditer(text)]
    shown = blank(
        text, [*hidden, *((one.region.start, one.region.end) for one in page.comments if one.region)]
    )
    # markdown-it ends lines at fewer characters than Python.
    lines = shown.splitlines(keepends=True)
    starts = list(accumulate(map(len, lines), initial=0))
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    parsed = parser.parse("".join(f"{line.splitlines()[0]}\n" for line in lines))
    blocks = [(one.type, one.tag, one.map) for one in parsed if one.map]
    headings = [(int(tag[1]), starts[lines[0]]) for kind, tag, lines in blocks if kind == "heading_open"]
    tables = [lines for kind, _, lines in blocks if kind == "table_open"]
    rows = {starts[line]: starts[first] for first, last in tables for line in range(first + 1, last)}
    found = [
        (starts[first], shown[starts[first] : starts[min(last, len(starts) - 1)]])
        for kind, _, (first, last) in blocks
        if kind in _PARAGRAPHS and not _OPAQUE.match(shown, starts[first])
    ]
    found += [(start, text[start:end]) for start, end in _figure_texts(page)]
    for start, words in sorted(found):
        header = shown[rows[start] : shown.find("\n", rows[start])] if start in rows else ""
        sections = [*_sections(start, headings, len(text))]
        offsets = range(start, start + len(words))
        yield Paragraph(_without_markup(words), words, offsets, sections, _without_markup(header))


def _figure_texts(page: Page) -> Iterator[Span]:
    """Yield the spans of titles, captions and sentences in comments."""
    for spec in filter(None, page.specs):
        own = [spec.title, spec.caption] if isinstance(spec, PipelineSpec) else []
        own += [text for one in spec.quotes if isinstance(one, ValueSpec) for text in one.say.values()]
        for found in _STRING.finditer(page.text, spec.comment.start, spec.comment.end) if any(own) else ():
            if found[1] in own:
                yield found.span(1)


def _sections(at: int, headings: Sequence[tuple[int, int]], end: int) -> Iterator[Span]:
    """Yield the sections around an offset. Each ends at the next heading of its level or above."""
    level = 0
    for own, start in reversed(headings):
        if start <= at and (not level or 1 < own < level):
            level = own
            yield start, next((other for under, other in headings if other > start and under <= own), end)
    if not level:
        yield 0, end


# -- HTML --

_HTML: Final = re.compile(
    r"(?P<opaque><!--.*?(?:-->|\Z)|<(?P<element>script|style|svg|pre|textarea|template)\b.*?(?:</(?P=element)\s*>|\Z))"
    r"""|<(?P<end>/?)(?P<name>[a-z][\w-]*)(?:"[^"<]{0,2000}"|'[^'<]{0,2000}'|[^'"<>]){0,2000}+>|<![^<>]*>"""
    rf"|{_ENTITY.pattern}",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(r"""\sdata-[\w-]+\s*=\s*["']?(\d[\d.,]*)(?=["'\s/>])""", re.IGNORECASE)
_CODE_NAMES: Final = ("code", "samp", "tt")
_INLINE: Final = re.compile(
    r"code|kbd|samp|tt|a|abbr|b|bdi|bdo|big|br|button|cite|data|del|dfn|em|font|i|img|ins|label|mark|q|s|small|span"
    r"|strong|su[bp]|t[dh]|time|u|var|wbr",
)


def _blank_tag(found: re.Match[str]) -> str:
    tag, name = found[0], (found["name"] or "").lower()
    if tag[0] == "&":
        return _show_entity(found)
    shown = list(re.sub(r"[^\r\n]", BLANK, tag))
    if name in _CODE_NAMES:
        shown[0 if found["end"] else -1] = "`"  # The text between two such signs is code, as in Markdown.
    elif found["opaque"] or (name and not _INLINE.fullmatch(name)):
        shown[0] = shown[-1] = _BREAK
    elif name in ("td", "th") and not found["end"]:
        shown[0] = _CELL
    for number in _ATTRIBUTE.finditer(tag) if name else ():
        shown[number.start(1) - 1 : number.end(1)] = [NUMBER_MARK, *number[1]]
    return "".join(shown)


# -- reStructuredText and source files --

_RST: Final = re.compile(
    r"^(?P<indent>[ \t]*+)(?:\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?(?:code(?:-block)?|sourcecode|(?:literal)?include|math|raw"
    r"|parsed-literal|highlight|toctree|image|test\w+|doctest|plot|mermaid|graphviz|auto\w+)::[^\n]*"
    r"|\.\.(?![ \t]+(?:\[|[^\n]*?::))[^\n]*|(?!\.\.[ \t])(?P<prose>[^\n]*)::[ \t]*(?=\r?$))"
    r"(?P<block>\r?(?:\n[ \t]*\r?(?=\n|\Z)|\n(?P=indent)[ \t]+\S[^\n]*)*)"
    r"|^[ \t]*\.\.[ \t]+[\w:.+-]+::|^[ \t]+:(?!header:)[\w-]+:[^\n]*",
    re.MULTILINE,
)
"""Text that is not prose: a directive of code, a comment, a literal block, and the markers of other directives."""
_STRINGS: Final = r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"""
_HASHED: Final = re.compile(
    r"""^[ \t]*[rRuU]?(?P<quotes>\"{3}|'{3})(?P<text>.*?)(?P=quotes)|(\"{3}|'{3}).*?\3|\#(?P<line>[^\n]*)"""
    + _STRINGS,
    re.DOTALL | re.MULTILINE,
)
_SLASHED: Final = re.compile(r"//(?P<line>[^\n]*)|/\*(?P<text>.*?)(?:\*/|\Z)" + _STRINGS, re.DOTALL)
_LEADING: Final = re.compile(r"^[ \t]*[*/!#:]+(?=\s)", re.MULTILINE)


_RST_TABLE: Final = re.compile(
    r"^(?P<indent>[ \t]*)\.\.[ \t]+(?P<kind>list|csv)-table::[^\n]*"
    r"(?P<rows>(?:\n[ \t]*\r?(?=\n|\Z)|\n(?P=indent)[ \t]+\S[^\n]*)*)"
    r"|^(?P<border>[ \t]*=+(?:[ \t]+=+)+)[ \t]*\r?\n(?P<simple>(?:[^\n]+\n)+?)(?P=border)"
    r"[ \t]*\r?(?=\n[ \t]*\r?\n|\n?\Z)",
    re.MULTILINE,
)
_CELL_STARTS: Final = {
    "list": re.compile(r"(?P<join>\n)(?=[ \t]*[^*\s])|(?:^|(?<=\*))[ \t]*(?P<cell>-)(?=[ \t])", re.MULTILINE),
    "csv": re.compile(r'"[^"\n]*"|(?P<cell>,)'),
}


def _read_rst(text: str) -> str:
    """Return the prose of a text. Each row of a table is one line, with a sign between its cells."""
    found = _RST.finditer(text)
    shown = blank(text, (one.span() if one["prose"] is None else one.span("block") for one in found), " ")
    signs = list(shown)
    for table in _RST_TABLE.finditer(text):
        if table["kind"]:
            for one in _CELL_STARTS[table["kind"]].finditer(shown, *table.span("rows")):
                if one.lastgroup:
                    signs[one.start(one.lastgroup)] = _CELL if one.lastgroup == "cell" else BLANK
            continue
        before = [one.start() - 1 for one in re.finditer(r"(?<=\s)=+", table["border"].lstrip())]
        for line in re.finditer(r"\S[^\n]*", table["simple"]):
            for at in (table.start("simple") + line.start() + one for one in before):
                signs[at] = _CELL if shown[at] == " " and not set(line[0]) <= set("= \r") else signs[at]
    return "".join(signs)


def _read_comments(pattern: re.Pattern[str], text: str) -> str:
    """Return the comments and docstrings of a source file, without the signs at the beginning of their lines."""
    found = (one.span(one.lastgroup) for one in pattern.finditer(text) if one.lastgroup)
    edges = [0, *(at for span in found for at in span), len(text)]
    shown = blank(text, zip(edges[::2], edges[1::2], strict=True), " ")
    return blank(shown, (one.span() for one in _LEADING.finditer(shown)), " ")


_HASHED_SUFFIXES: Final = ".py .pyi .rb .sh .r .jl .pl"
_SLASHED_SUFFIXES: Final = (
    ".js .jsx .mjs .cjs .ts .tsx .rs .go .c .h .cc .cpp .hpp .java .kt .swift .cs .scala .dart .zig"
)
_KINDS: Final[Mapping[str, Callable[[str], str]]] = {
    ".rst": _read_rst,
    ".txt": str,
    **dict.fromkeys((".html", ".htm"), partial(_HTML.sub, _blank_tag)),
    **dict.fromkeys(_HASHED_SUFFIXES.split(), partial(_read_comments, _HASHED)),
    **dict.fromkeys(_SLASHED_SUFFIXES.split(), partial(_read_comments, _SLASHED)),
}
TEXT_SUFFIXES: Final = (".mdx", *_KINDS)
"""The suffixes of the files, other than Markdown, whose text is read."""

_PARAGRAPH_END: Final = re.compile(rf"\n[ \t]*\r?(?=\n)|{_BREAK}")
_BORDER: Final = re.compile(r"^[ \t]*(?:[=~-]+(?:[ \t]+[=~-]+)+|\+(?:[-=]+\+)+)[ \t]*\r?$", re.MULTILINE)
_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]", re.MULTILINE)
_LINE: Final = re.compile(r"^", re.MULTILINE)


def _split(shown: str) -> Iterator[Span]:
    """Yield the paragraphs of a text. Each item of a list and each row of a table is a paragraph, too."""
    edges = [0, *(one.end() for one in _PARAGRAPH_END.finditer(shown)), len(shown)]
    for start, end in pairwise(edges):
        inner = _LINE if _BORDER.search(shown, start, end) or _CELL in shown[start:end] else _ITEM
        yield from pairwise(sorted({start, end, *(one.start() for one in inner.finditer(shown, start, end))}))
