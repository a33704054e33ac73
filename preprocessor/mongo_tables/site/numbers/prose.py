"""The prose of a text file: the same text, of the same length, with everything else blanked.

Markdown keeps its markup, which ``read_paragraphs`` knows. Of a source file the comments and docstrings remain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import unescape
from itertools import pairwise
from pathlib import PurePath
from typing import Final, NamedTuple

from mongo_tables.directives.columns import CONVENTIONS

BLANK: Final = "\ue000"
"""Replaces each character of markup. A blank would end the paragraph at a comment on its own line."""
NUMBER_MARK: Final = "\ue001"
"""Replaces the character before a number that an attribute holds: it counts without a unit."""
CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef"
"""Ranges of characters whose words have no spaces between them, and none before a number."""

Span = tuple[int, int]


class Prose(NamedTuple):
    """A text without markup, and the spans of its paragraphs, or None where Markdown's grammar decides."""

    shown: str
    spans: Sequence[Span] | None = None


def read_prose(file: str, text: str) -> Prose:
    """Return the prose of a file, whose name says what it is. Any other text is Markdown."""
    read = _KINDS.get(PurePath(file).suffix.lower())
    return read(text) if read and PurePath(file).name.lower() not in _MARKDOWN else Prose(text)


def blank(text: str, spans: Iterable[Span], mark: str = BLANK) -> str:
    """Return a text with ``mark`` in place of each character within ``spans``, except line ends."""
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces += [text[at:start], re.sub(r"[^\r\n]", mark, text[max(at, start) : end])]
        at = max(at, end)
    return "".join([*pieces, text[at:]])


# -- MDX and HTML --

_MDX: Final = re.compile(
    r"^(?:import|export)\b.*?(?=\n[ \t]*\r?\n|\Z)|\{\s*/\*.*?(?:\*/\s*\}|\Z)|(?<!\$)\{[^{}\n]*\}",
    re.DOTALL | re.MULTILINE,
)
_HTML: Final = re.compile(
    r"(?P<opaque><!--.*?(?:-->|\Z)|<(?P<element>script|style|svg|pre|textarea|template)\b.*?(?:</(?P=element)\s*>|\Z))"
    r"""|<(?P<end>/?)(?P<name>[a-z][\w-]*)(?:"[^"<]{0,2000}"|'[^'<]{0,2000}'|[^'"<>]){0,2000}+>|<![^<>]*>"""
    r"|&(?:#\d{1,7}|#x[\da-f]{1,6}|\w{1,32});",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(r"""\sdata-[\w-]+\s*=\s*["']?(\d[\d.,]*)(?=["'\s/>])""", re.IGNORECASE)
_CODE: Final = ("code", "kbd", "samp", "tt")
_INLINE: Final = re.compile(
    r"code|kbd|samp|tt|a|abbr|b|bdi|bdo|big|br|button|cite|data|del|dfn|em|font|i|img|ins|label|mark|q|s|small|span"
    r"|strong|su[bp]|t[dh]|time|u|var|wbr",
    re.IGNORECASE,
)


def _read_mdx(text: str) -> Prose:
    return Prose(blank(text, (one.span() for one in _MDX.finditer(text))))


def _read_html(text: str) -> Prose:
    blocks = (
        one for one in _HTML.finditer(text) if one["opaque"] or not _INLINE.fullmatch(one["name"] or "b")
    )
    # An attribute of an element counts where it is, so the tag is a paragraph, too.
    edges = [0, *(at for one in blocks for at in one.span()), len(text)]
    return Prose(_HTML.sub(_blank_tag, text), list(pairwise(edges)))


def _blank_tag(found: re.Match[str]) -> str:
    tag, name = found[0], (found["name"] or "").lower()
    if tag[0] == "&":
        sign = unescape(tag)
        return BLANK * (len(tag) - 1) + sign if len(sign) == 1 else tag
    shown = list(re.sub(r"[^\r\n]", BLANK, tag))
    if name in _CODE:
        shown[0 if found["end"] else -1] = "`"  # what is between them is code, as in Markdown
    for number in _ATTRIBUTE.finditer(tag) if name else ():
        shown[number.start(1) - 1 : number.end(1)] = [NUMBER_MARK, *number[1]]
    return "".join(shown)


# -- reStructuredText and plain text --

_RST: Final = re.compile(
    r"^(?P<indent>[ \t]*+)(?:\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?(?:code(?:-block)?|sourcecode|(?:literal)?include|math|raw"
    r"|parsed-literal|highlight|toctree|image|test\w+|doctest|plot|mermaid|graphviz|auto\w+)::[^\n]*"
    r"|\.\.(?![ \t]+(?:\[|[^\n]*?::))[^\n]*|(?!\.\.[ \t])(?P<prose>[^\n]*)::[ \t]*(?=\r?$))"
    r"(?P<block>\r?(?:\n[ \t]*\r?(?=\n|\Z)|\n(?P=indent)[ \t]+\S[^\n]*)*)"
    r"|^[ \t]*\.\.[ \t]+[\w:.+-]+::|^[ \t]+:[\w-]+:[^\n]*",
    re.MULTILINE,
)
"""What is not prose: a directive of code, a comment, a literal block, and the markers of other directives."""
_BLOCK: Final = re.compile(r"(?:^[ \t]*+\S[^\n]*(?:\n|\Z))+", re.MULTILINE)
_BORDER: Final = re.compile(r"^[ \t]*(?:[=~-]+(?:[ \t]+[=~-]+)+|\+(?:[-=]+\+)+)[ \t]*\r?$", re.MULTILINE)
_ITEM: Final = re.compile(r"^([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]", re.MULTILINE)
_LINE: Final = re.compile(r"^", re.MULTILINE)


def _read_rst(text: str) -> Prose:
    found = _RST.finditer(text)
    spans = (one.span() if one["prose"] is None else one.span("block") for one in found)
    return _read_plain(blank(text, spans, " "))


def _read_plain(text: str) -> Prose:
    """Return the paragraphs of a text: between blank lines, and each item of a list and row of a table."""
    spans: list[Span] = []
    for block in _BLOCK.finditer(text):
        items = list(_ITEM.finditer(text, *block.span()))
        outer = min((len(one[1]) for one in items), default=0)
        rows = _LINE.finditer(text, *block.span()) if _BORDER.search(text, *block.span()) else ()
        starts = (one.start() for one in (*rows, *(one for one in items if len(one[1]) == outer)))
        spans += pairwise(sorted({block.start(), *starts, block.end()}))
    return Prose(text, spans)


# -- source files --

_HASHED: Final = re.compile(
    r'^[ \t]*[rRuU]?(?P<quotes>"""|\'\'\')(?P<text>.*?)(?P=quotes)'
    r'|(?P<other>"""|\'\'\').*?(?P=other)'
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    r"|\#(?P<line>[^\n]*)",
    re.DOTALL | re.MULTILINE,
)
_SLASHED: Final = re.compile(
    r"//(?P<line>[^\n]*)|/\*(?P<text>.*?)(?:\*/|\Z)"
    r'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\'(?:\\.|[^\'\\\n])*\'',
    re.DOTALL,
)
_LEADING: Final = re.compile(r"(?:^[ \t]*\*+|(?<=//)[/!]+|(?<=/\*)[*!]+|(?<=#)[#:!]+)(?=\s)", re.MULTILINE)


def _read_comments(pattern: re.Pattern[str], text: str) -> Prose:
    found = (
        one.span(name) for one in pattern.finditer(text) for name in ("line", "text") if one[name] is not None
    )
    # Between comments everything is blank, and within them what each line begins with.
    edges = [0, *(at for span in found for at in span), len(text)]
    hidden = list(zip(edges[::2], edges[1::2], strict=True))
    hidden += (
        one.span()
        for start, end in zip(edges[1::2], edges[2::2], strict=False)
        for one in _LEADING.finditer(text, start, end)
    )
    return _read_plain(blank(text, hidden, " "))


_HASHED_SUFFIXES: Final = (".py", ".pyi", ".rb", ".sh", ".r", ".jl", ".pl")
_SLASHED_SUFFIXES: Final = (
    ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".rs", ".go", ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".kt",
    ".swift", ".cs", ".scala", ".dart", ".zig",
)  # fmt: skip
_KINDS: Final[Mapping[str, Callable[[str], Prose]]] = {
    ".mdx": _read_mdx,
    **dict.fromkeys((".html", ".htm"), _read_html),
    ".rst": _read_rst,
    ".txt": _read_plain,
    **dict.fromkeys(_HASHED_SUFFIXES, partial(_read_comments, _HASHED)),
    **dict.fromkeys(_SLASHED_SUFFIXES, partial(_read_comments, _SLASHED)),
}
_MARKDOWN: Final = frozenset({"llms.txt", "llms-full.txt"})
"""Texts that are Markdown though their suffix does not say so: https://llmstxt.org."""

TEXT_SUFFIXES: Final = tuple(_KINDS)
"""File suffixes of texts that are read besides Markdown."""


# -- languages --

_LIKE: Final[Mapping[str, str]] = {
    "pt": "pt-BR",
    **dict.fromkeys(("ru", "uk", "cs", "sk", "fi", "no", "nb", "hu", "bg"), "pl"),
    **dict.fromkeys(("da", "tr", "id", "el", "ro", "ca"), "de"),
    **dict.fromkeys(("en", "zh", "ko"), "en"),
}
"""Languages that write numbers as another one does."""
_CODE_OF: Final = r"([a-z]{2}(?:[-_][a-z]{2,4})?)"
_IN_TEXT: Final = re.compile(
    rf"\A---\r?\n(?:.*\n)*?(?:lang|language|locale)\s*:\s*[\"']?{_CODE_OF}\b|<html\b[^>]*\slang=[\"']?{_CODE_OF}\b",
    re.IGNORECASE,
)
_IN_PATH: Final = re.compile(
    rf"(?:^|(?<=/)){_CODE_OF}/|(?:\.|(?<=readme)[_-]|(?<=index)[_-]){_CODE_OF}(?=\.[^./]+$)", re.IGNORECASE
)
_HEAD: Final = 2000
"""The characters of a file in which it names its language."""


def language_of(file: str, text: str) -> str | None:
    """Return the locale of a text, from its front matter, its ``lang``, its name or its folder, or None.

    Example:
        >>> language_of("docs/README.fr.md", ""), language_of("docs/de/index.md", ""), language_of("a.md", "")
        ('fr', 'de', None)
    """
    found = [*_IN_PATH.finditer(file), *_IN_TEXT.finditer(text[:_HEAD])]
    return next(filter(None, map(_locale_of, reversed(found))), None)


def _locale_of(found: re.Match[str]) -> str | None:
    base, _, region = (found[1] or found[2]).lower().replace("_", "-").partition("-")
    full = f"{base}-{region.upper()}"
    return next((one for one in (full, base) if one in CONVENTIONS), _LIKE.get(base))


def without_language(file: str) -> str:
    """Return a file's name without its language: translations of a text have the same.

    Example:
        >>> without_language("README.zh-CN.md"), without_language("docs/de/speed.md")
        ('README.md', 'docs/speed.md')
    """
    return _IN_PATH.sub(lambda found: "" if _locale_of(found) else found[0], file)
