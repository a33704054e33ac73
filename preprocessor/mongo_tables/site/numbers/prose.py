"""The prose of a text file: the same text, of the same length, with everything else blanked.

Markdown keeps its markup, which ``read_paragraphs`` knows. Of a source file the comments and docstrings remain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import unescape
from pathlib import PurePath
from typing import Final, NamedTuple

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


# -- MDX --

_MDX: Final = re.compile(
    r"^(?:import|export)\b.*?(?=\n[ \t]*\r?\n|\Z)|\{/\*.*?\*/\}|(?<!\$)\{[^{}\n]*\}", re.DOTALL | re.MULTILINE
)


def _read_mdx(text: str) -> Prose:
    return Prose(blank(text, (one.span() for one in _MDX.finditer(text))))


# -- HTML --

_HTML: Final = re.compile(
    r"(?P<opaque><!--.*?-->|<(?P<element>script|style|svg|pre|textarea|template)\b.*?</(?P=element)\s*>)"
    r"""|<(?P<end>/?)(?P<name>[a-z][\w-]*)(?:"[^"]*"|'[^']*'|[^'">])*>|<![^>]*>"""
    r"|&(?:#\d{1,7}|#x[\da-f]{1,6}|\w{1,32});",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(r"""\sdata-[\w-]+\s*=\s*["']?(\d[\d.,]*)(?=["'\s/>])""", re.IGNORECASE)
_CODE: Final = frozenset({"code", "kbd", "samp", "tt"})
_INLINE: Final = re.compile(
    r"code|kbd|samp|tt|a|abbr|b|bdi|bdo|big|br|button|cite|data|del|dfn|em|font|i|img|ins|label|mark|q|s|small|span"
    r"|strong|su[bp]|t[dh]|time|u|var|wbr",
    re.IGNORECASE,
)


def _read_html(text: str) -> Prose:
    pieces, at, edges = [], 0, [0]
    for found in _HTML.finditer(text):
        pieces += [text[at : found.start()], _blank_tag(found)]
        at = found.end()
        if found["opaque"] or not _INLINE.fullmatch(found["name"] or "b"):
            edges += found.span()
    shown = "".join([*pieces, text[at:]])
    # An attribute of an element counts where it is, so the tag is a paragraph, too.
    return Prose(shown, list(zip(edges, [*edges[1:], len(text)], strict=True)))


def _blank_tag(found: re.Match[str]) -> str:
    if found[0][0] == "&":
        sign = unescape(found[0])
        return BLANK * (len(found[0]) - 1) + sign if len(sign) == 1 else found[0]
    shown = list(re.sub(r"[^\r\n]", BLANK, found[0]))
    if (found["name"] or "").lower() in _CODE:
        shown[0 if found["end"] else -1] = "`"  # what is between them is code, as in Markdown
    for number in _ATTRIBUTE.finditer(found[0]) if found["name"] else ():
        shown[number.start(1) - 1 : number.end(1)] = [NUMBER_MARK, *number[1]]
    return "".join(shown)


# -- reStructuredText and plain text --

_DIRECTIVE: Final = re.compile(
    r"[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?(?P<name>[\w:.+-]*?)::(?=\s|$)|[ \t]*\.\.(?=\s|$)(?![ \t]+\[)"
)
_FOOTNOTE: Final = re.compile(r"[ \t]*\.\.[ \t]+\[")
_OPTION: Final = re.compile(r"[ \t]+:[\w-]+:")
_OPAQUE: Final = re.compile(
    r"code|code-block|sourcecode|literalinclude|include|math|raw|parsed-literal|highlight|toctree|image|test\w+|doctest"
    r"|plot|mermaid|graphviz|auto\w+"
)
"""Directives whose content is not prose."""


def _read_rst(text: str) -> Prose:
    lines, hidden, after_directive = text.splitlines(keepends=True), "", False
    for number, line in enumerate(lines):
        indent = line[: len(line) - len(line.lstrip())]
        if hidden and (not line.strip() or len(indent) >= len(hidden)):
            lines[number] = _spaces(line)
            continue
        found = None if _FOOTNOTE.match(line) else _DIRECTIVE.match(line)
        is_option = after_directive and _OPTION.match(line) is not None
        if found or is_option:
            lines[number] = _spaces(line) if is_option or not found or not found["name"] else _marker(found)
        is_opaque = (
            not found["name"] or bool(_OPAQUE.fullmatch(found["name"]))
            if found
            else line.rstrip().endswith("::")
        )
        hidden = f"{indent} " if is_opaque else ""
        after_directive = found is not None or is_option
    shown = "".join(lines)
    return Prose(shown, _split(shown))


def _marker(found: re.Match[str]) -> str:
    line = found.string
    return _spaces(line) if _OPAQUE.fullmatch(found["name"]) else _spaces(found[0]) + line[found.end() :]


def _spaces(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


_BORDER: Final = re.compile(r"[ \t]*(?:[=~-]+(?:[ \t]+[=~-]+)+|\+(?:[-=]+\+)+)[ \t]*\r?\n?$")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]")


def _read_plain(text: str) -> Prose:
    return Prose(text, _split(text))


def _split(text: str) -> list[Span]:
    """Return the paragraphs of a text: between blank lines, and each item of a list and row of a table."""
    spans: list[Span] = []
    block: list[tuple[int, str]] = []
    at = 0
    for line in [*text.splitlines(keepends=True), ""]:
        if line.strip():
            block.append((at, line))
        elif block:
            spans += _split_block(block)
            block = []
        at += len(line)
    return spans


def _split_block(block: Sequence[tuple[int, str]]) -> Iterator[Span]:
    is_table = any(_BORDER.match(line) for _, line in block)
    items = [len(line) - len(line.lstrip()) for _, line in block if _ITEM.match(line)]
    start = block[0][0]
    for at, line in block[1:]:
        outer = bool(items) and len(line) - len(line.lstrip()) == min(items)
        if is_table or (outer and _ITEM.match(line)):
            yield start, at
            start = at
    yield start, block[-1][0] + len(block[-1][1])


# -- source files --

_HASHED: Final = re.compile(
    r'^[ \t]*[rRuU]?(?P<quotes>"""|\'\'\')(?P<text>.*?)(?P=quotes)'
    r'|(?P<other>"""|\'\'\').*?(?P=other)'
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    r"|\#(?P<line>[^\n]*)",
    re.DOTALL | re.MULTILINE,
)
_SLASHED: Final = re.compile(
    r"//(?P<line>[^\n]*)|/\*(?P<text>.*?)\*/"
    r'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\'(?:\\.|[^\'\\\n])*\'',
    re.DOTALL,
)
_LEADING: Final = re.compile(r"(?:^[ \t]*\*+(?=[ \t\r\n]|$)|\A[/!#*:]+)", re.MULTILINE)


def _read_comments(pattern: re.Pattern[str], text: str) -> Prose:
    pieces, at = [], 0
    for found in pattern.finditer(text):
        name = "line" if found["line"] is not None else "text"
        if found[name] is not None:
            start, end = found.span(name)
            own = _LEADING.sub(lambda one: _spaces(one[0]), found[name])
            pieces += [_spaces(text[at:start]), own]
            at = end
    shown = "".join([*pieces, _spaces(text[at:])])
    return Prose(shown, _split(shown))


def _read_hashed(text: str) -> Prose:
    return _read_comments(_HASHED, text)


def _read_slashed(text: str) -> Prose:
    return _read_comments(_SLASHED, text)


_KINDS: Final[Mapping[str, Callable[[str], Prose]]] = {
    ".mdx": _read_mdx,
    ".html": _read_html,
    ".htm": _read_html,
    ".rst": _read_rst,
    ".txt": _read_plain,
    **dict.fromkeys((".py", ".pyi", ".rb", ".sh", ".r", ".jl", ".pl"), _read_hashed),
    **dict.fromkeys(
        (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".rs", ".go", ".c", ".h", ".cc"), _read_slashed
    ),
    **dict.fromkeys(
        (".cpp", ".hpp", ".java", ".kt", ".swift", ".cs", ".scala", ".dart", ".zig"), _read_slashed
    ),
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
_OWN: Final = ("en", "en-IN", "ja", "de", "de-CH", "es", "it", "nl", "pt-BR", "fr", "pl", "sv")
_CODE_OF: Final = r"([a-z]{2}(?:[-_][a-z]{2,4})?)"
_IN_TEXT: Final = re.compile(
    rf"\A---\r?\n(?:.*\n)*?(?:lang|language|locale)\s*:\s*[\"']?{_CODE_OF}\b|<html\b[^>]*\slang=[\"']?{_CODE_OF}\b",
    re.IGNORECASE,
)
_IN_NAME: Final = re.compile(
    rf"(?:^(?:readme|index|llms|changelog)[._-]|\.){_CODE_OF}\.[^.]+$", re.IGNORECASE
)
_HEAD: Final = 2000
"""The characters of a file in which it names its language."""


def language_of(file: str, text: str) -> str | None:
    """Return the locale of a text, from its front matter, its ``lang``, its name or its folder, or None.

    Example:
        >>> language_of("docs/README.fr.md", ""), language_of("docs/de/index.md", ""), language_of("a.md", "")
        ('fr', 'de', None)
    """
    found = _IN_TEXT.search(text[:_HEAD])
    named = _IN_NAME.search(PurePath(file).name)
    folders = [part for part in PurePath(file).parts[:-1] if re.fullmatch(_CODE_OF, part, re.IGNORECASE)]
    for code in (found and (found[1] or found[2]), named and named[1], *reversed(folders)):
        if code and (locale := _locale_of(code)):
            return locale
    return None


def _locale_of(code: str) -> str | None:
    base, _, region = code.replace("_", "-").partition("-")
    full = f"{base.lower()}-{region.upper()}"
    return next((one for one in (full, base.lower()) if one in _OWN), _LIKE.get(base.lower()))


def without_language(file: str) -> str:
    """Return a file's name without its language: translations of a text have the same.

    Example:
        >>> without_language("README.zh-CN.md"), without_language("docs/de/speed.md")
        ('README.md', 'docs/speed.md')
    """
    path = PurePath(file)
    found = _IN_NAME.search(path.name)
    own = bool(found and _locale_of(found[1]))
    name = f"{path.name[: found.start(1) - 1]}{path.suffix}" if found and own else path.name
    folders = [one for one in path.parts[:-1] if not (re.fullmatch(_CODE_OF, one) and _locale_of(one))]
    return PurePath(*folders, name).as_posix()
