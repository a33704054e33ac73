"""The pass over a written site that replaces the tokens that other plugins copied, in the notation of each file.

A token within its element (``site.placeholders``) becomes the HTML of its figure. Feeds contain escaped HTML, so the
figure is escaped as often as the element. A token without its element becomes the text of the figure. In a Markdown
file, tokens become the Markdown of their figures. A string in JSON may contain tokens in all these forms. If a plugin
cut a text in the middle of a token, the rest of the token is removed. A file in which a token or a comment remains is
reported.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from mongo_tables.directives.keywords import PREFIXES
from mongo_tables.files.folders import shorten_path
from mongo_tables.findings.rules import finding
from mongo_tables.hosts.published_files import ROWS_FOLDER
from mongo_tables.site.markdown import standing_alone
from mongo_tables.site.placeholders import (
    BEGIN,
    DIGITS,
    END,
    MARK,
    NAME,
    TAGS,
    met_names,
    swap_tokens,
    take_out_live_comments,
)

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.hosts.page_figures import PlainFigure


_LT, _GT = "(?:<|&(?:amp;)*lt;)", "(?:>|&(?:amp;)*gt;)"
_TAG: Final = f"{_LT}{TAGS}{_GT}"
_ELEMENT: Final = re.compile(rf"&((?:amp;)*)lt;({TAGS}){_GT}({NAME.pattern}){_LT}/\2{_GT}")
_ESCAPED_MARK: Final = re.compile(f"{_LT}!--({NAME.pattern})--{_GT}")
_PLAIN: Final = re.compile(rf"(?:{_TAG})?({NAME.pattern})(?:{_LT}/{TAGS}{_GT})?")
_DIGITS: Final = f"[{DIGITS}]"
_HALF: Final = re.compile(
    f"({_TAG})?{BEGIN}({_DIGITS}*)(?!{_DIGITS}|{END})|(?<!{_DIGITS})(?<!{BEGIN}){_DIGITS}+{END}(?:{_LT}/{TAGS}{_GT})?"
)

_CHARACTERS: Final = BEGIN + DIGITS + END
_CODES: Final = tuple(map(ord, _CHARACTERS))
_HEX: Final = "(?i:" + "|".join(map("{:x}".format, _CODES)) + ")"
_DECIMAL: Final = "|".join(map(str, _CODES))
_REFERENCE: Final = re.compile(rf"&(?:amp;)*#(?:[xX]0*({_HEX})|0*({_DECIMAL}));")
_ESCAPE: Final = re.compile(rf"\\u00({_HEX})")
_QUOTED: Final = "|".join(map(quote, _CHARACTERS))
_PERCENT: Final = re.compile(_QUOTED, re.IGNORECASE)
_START: Final = END.encode()[:1]
"""The first byte, in UTF-8, of every character of a token's name."""
_ONE: Final = _START + b"[%s]" % _CHARACTERS.encode()[1::2]
_SURELY_OURS: Final = re.compile(b"(?:%s){4}" % _ONE)
"""Four characters of a token's name in a row, which no picture or archive contains by chance."""
_QUOTED_REST: Final = _QUOTED.replace("%C2", "C2")
_MARKS: Final = {
    _START: re.compile(_ONE),
    b"\\": re.compile(_ESCAPE.pattern.encode()),
    b"#": re.compile(f"#(?:[xX]0*(?:{_HEX})|0*(?:{_DECIMAL}))".encode()),
    b"%": re.compile(f"%(?i:{_QUOTED_REST})".encode()),
}
"""For each possible first byte, the pattern of one character of a token's name.

The character is written in UTF-8, or escaped as in JSON, XML or addresses.

A search for the byte, and then for its pattern, is much faster than a search for all patterns at once.
"""
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_MARK_OF_LIST: Final = re.compile(r"[^>\s]")


@dataclass(frozen=True, slots=True)
class TokenFigures:
    """The tokens of a site with their figures.

    Attributes:
        known: The names of all tokens.
        html: Returns the figure of a token as HTML.
        text: Returns the figure of a token as escaped text.
        markdown: Returns the figure of a token as Markdown.
    """

    known: Collection[str]
    html: Callable[[str], str]
    text: Callable[[str], str]
    markdown: Callable[[str], PlainFigure]


def swap_markup(text: str, figures: TokenFigures) -> str:
    """Return HTML or XML with figures in place of tokens."""
    text = _REFERENCE.sub(_character, text) if "&#" in text or "amp;#" in text else text

    def escaped(match: re.Match[str]) -> str:
        if match[3] not in figures.known:
            return match[0]
        html = figures.html(match[3])
        for _ in range(1 + match[1].count("amp;")):
            html = escape(html, quote=False)
        return html

    def bare(match: re.Match[str]) -> str:
        # References such as &nbsp; are not defined in XML.
        known = match[0] in figures.known
        return escape(unescape(figures.text(match[0]))) if known else match[0]

    text = _without_marks(text, figures)
    if BEGIN not in text:
        return _without_halves(text, figures)
    known = [name for name in met_names(text) if name in figures.known]
    text, _ = swap_tokens(text, {name: figures.html(name) for name in known})
    return _without_halves(NAME.sub(bare, _ELEMENT.sub(escaped, text)), figures)


def swap_json(text: str, figures: TokenFigures) -> str:
    """Return JSON, or a script that is mostly JSON, with figures in place of the tokens in its strings."""

    def string(match: re.Match[str]) -> str:
        try:
            before = json.loads(match[0]) if _has_marks(match[0]) else ""
        except ValueError:
            return match[0]
        after = swap_markup(before, figures)
        return match[0] if after == before else json.dumps(after, ensure_ascii=match[0].isascii())

    return _STRING.sub(string, text)


def swap_markdown(text: str, figures: TokenFigures) -> str:
    """Return Markdown, or plain text, with figures in place of tokens."""
    text = _without_marks(text, figures)
    pieces, done = list[str](), 0
    for match in _PLAIN.finditer(text):
        if match[1] not in figures.known:
            continue
        plain, start = figures.markdown(match[1]), match.start()
        if plain.is_block:
            lead = text[text.rfind("\n", 0, start) + 1 : start]
            prefix = _MARK_OF_LIST.sub(" ", lead)
            start, written = standing_alone(text, start, match.end(), prefix, plain.lines)
        else:
            written = "".join(plain.lines)
        pieces += [text[done:start], written]
        done = match.end()
    return _without_halves("".join([*pieces, text[done:]]), figures)


def names_left(text: str, figures: TokenFigures) -> bool:
    """Return whether a text contains a token of the site in any notation."""
    text = _REFERENCE.sub(_character, _ESCAPE.sub(_character, text))
    text = _PERCENT.sub(lambda quoted: unquote(quoted[0]), text)
    return any(name in figures.known for name in NAME.findall(text))


def _without_marks(text: str, figures: TokenFigures) -> str:
    pattern = _ESCAPED_MARK if f"lt;!--{BEGIN}" in text else MARK
    return pattern.sub(lambda mark: "" if mark[1] in figures.known else mark[0], text)


def _without_halves(text: str, figures: TokenFigures) -> str:
    if not _has_marks(text):
        return text

    def half(match: re.Match[str]) -> str:
        if match[1] or match[0][0] != BEGIN:
            return ""
        ours = any(name.startswith(match[0]) for name in figures.known)
        return "" if ours else match[0]

    return _HALF.sub(half, text)


def _has_marks(text: str) -> bool:
    return BEGIN in text or END in text or bool(_ESCAPE.search(text))


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1], 16) if match[1] else int(match[2]))


_SWAPS: Final = {
    **dict.fromkeys((".html", ".htm", ".xhtml", ".xml", ".rss", ".atom", ".svg"), swap_markup),
    **dict.fromkeys((".json", ".js", ".webmanifest"), swap_json),
}
_COMMENT_HINT: Final = (
    "write it in a page: comments in themes, copied HTML and the output of later hooks are not processed"
)
_HINT: Final = "another plugin wrote this file in a notation that is not supported"


def swap_left(
    site: Path, without: Collection[str], figures_for: Callable[[str, str], TokenFigures]
) -> list[Finding]:
    """Replace the tokens in the files of a site. Return a finding for each file in which a token or a comment remains.

    Args:
        site: The folder of the site.
        without: The files without tokens, which were copied unchanged.
        figures_for: Returns the figures for a file, from its path in the site and its text.
    """
    found, rows = [], f"{site}/{ROWS_FOLDER}"
    for folder, folders, names in os.walk(site):
        folders.sort()
        if folder == str(site):  # MkDocs does not clean these folders, such as Git's.
            folders[:] = [name for name in folders if not name.startswith(".")]
        has_rows = folder == rows or folder.startswith(f"{rows}/")
        for name in sorted(names):
            if not (has_rows and name.endswith((".csv", ".json"))):
                found += _swap_in_file(f"{folder}/{name}", site, without, figures_for)
    return found


def _swap_in_file(
    file: str, site: Path, without: Collection[str], figures_for: Callable[[str, str], TokenFigures]
) -> list[Finding]:
    is_html = file.endswith((".html", ".htm"))
    if file in without and not is_html:
        return []
    try:
        with open(file, "rb", buffering=0) as opened:  # noqa: PTH123 (thousands of them)
            content = opened.read()
    except OSError:  # The file was removed, or is not a regular file.
        return []
    found = []
    if file not in without and any(
        first in content and mark.search(content) for first, mark in _MARKS.items()
    ):
        text = content.decode("utf-8", "surrogateescape")
        path = Path(file)
        figures = figures_for(path.relative_to(site).as_posix(), text)
        swap = _SWAPS.get(path.suffix.lower(), swap_markdown)
        after = swap(text, figures) if _is_text(content) else text
        if after != text:
            content = after.encode("utf-8", "surrogateescape")
            path.write_bytes(content)
        if names_left(after, figures):
            found.append(_finding(file, "a figure is missing in this file", _HINT))
    if is_html and any(prefix.encode() in content for prefix in PREFIXES):
        _, live = take_out_live_comments(content.decode("utf-8", "replace"))
        for keyword in live[:1]:
            message = f"a {keyword} comment in this file was not processed"
            found.append(_finding(file, message, _COMMENT_HINT))
    return found


def _is_text(content: bytes) -> bool:
    """Return whether a file that contains a character of a token's name is text. Text may be invalid UTF-8."""
    if b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return bool(_SURELY_OURS.search(content))
    return True


def _finding(file: str, message: str, hint: str) -> Finding:
    return finding("MT170", shorten_path(Path(file)), (0, 0), message, hint)
