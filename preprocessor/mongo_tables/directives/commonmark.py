"""What CommonMark makes of a comment: the second opinion, by markdown-it-py.

A page is read on GitHub and in editors too, and those follow CommonMark (https://spec.commonmark.org).
Where it disagrees with the scan for Python-Markdown, an author is told, because one of the two audiences
sees raw JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


Opinion = Literal["live", "code", "fence", "span", "tag"]

_TOKEN = re.compile(r"<!--\ue000(\d+)-->")

_BLOCKS: dict[str, Opinion] = {"html_block": "live", "code_block": "code", "fence": "fence"}

_parser: MarkdownIt | None = None


def opinions(page: str) -> dict[int, Opinion]:
    """Give for the number of each one-line ``TOKEN`` in ``page`` what CommonMark takes it for.

    ``live`` is an HTML comment, ``code`` an indented code block, ``fence`` fenced code, ``span`` a code
    span, ``tag`` the inside of another HTML tag. Numbers of tokens that end up anywhere else (a link
    definition, say) are missing.
    """
    found: dict[int, Opinion] = {}
    parser = _block_parser()
    for token in parser.parse(page):
        if "\ue000" not in token.content:
            continue
        if token.type == "inline":
            _judge_inline(parser, token.content, found)
        elif token.type in _BLOCKS:
            _note(token.content, _BLOCKS[token.type], found)
    return found


def _block_parser() -> MarkdownIt:
    """Give the one parser; its inline rule is off, because only paragraphs with a token are worth parsing."""
    global _parser
    if _parser is None:
        from markdown_it import MarkdownIt

        _parser = MarkdownIt("commonmark").enable("table").disable("inline")
    return _parser


def _judge_inline(parser: MarkdownIt, content: str, found: dict[int, Opinion]) -> None:
    """Judge the tokens in the text of one paragraph, heading or cell."""
    tokens: list[Token] = []
    parser.inline.parse(content, parser, {}, tokens)
    for token in tokens:
        if token.type == "html_inline":
            _note(token.content, "live" if token.content.startswith("<!--") else "tag", found)
        elif token.type == "code_inline":
            _note(token.content, "span", found)


def _note(content: str, opinion: Opinion, found: dict[int, Opinion]) -> None:
    for number in _TOKEN.findall(content):
        found[int(number)] = opinion


_MARK: Final = re.compile(r"(`{3}|~{3})[^`~]*")
_MARKUP: Final = re.compile("<(?!!--\ue000\\d+-->)")
_ANCHOR: Final = re.compile(
    r'(?:<(div|a) id="[\w.-]+"></\1>|<details(?: class="[\w-]+")? markdown(?:="1")?>|<summary>[\w ,.-]+</summary>'
    r"|</details>)[ \t]*"
)
"""Empty elements to link to, and what folds text: a block that one begins ends where a paragraph does."""
_BLOCK: Final = re.compile(rf" {{0,3}}{_MARKUP.pattern}")
_TAG: Final = r'</?(?:abbr|b|em|i|kbd|small|span|strong|sub|sup)(?: [a-z-]+="[^"<>`|\ue000\n]*")*>'
"""A tag in a line of words, which is as good as a word to the tokens beside it."""
_SPAN: Final = "`[^`|\ue000\n]+`"


def agrees(lines: Iterable[str]) -> bool:
    """Whether CommonMark surely takes every token of the page (``htmlcomments.TOKEN``) for what it is on a site.

    ``lines`` are those of a page on which the site sees as a fence whatever looks like one.
    """
    fence, paragraph = "", list[str]()
    for line in lines:
        marked = "```" in line or "~~~" in line
        if fence:
            if marked and line != fence:
                return False
            fence = "" if marked else fence
            continue
        opening = _MARK.fullmatch(line) if marked else None
        anchored = _ANCHOR.fullmatch(paragraph[0] if paragraph else line) is not None
        if marked and (opening is None or anchored):
            return False
        if _BLOCK.match(line) and not (anchored and _ANCHOR.fullmatch(line)):
            return False
        fence = opening[1] if opening else ""
        if line.strip(" \t") and not fence:
            paragraph.append(line)
        elif not _plain(paragraph):
            return False
        else:
            paragraph.clear()
    return not fence and _plain(paragraph)


def _plain(paragraph: list[str]) -> bool:
    """Whether the lines between two blank ones have no token, or it can be nothing but a comment among words."""
    text = "\n".join(paragraph)
    if "\ue000" not in text:
        return True
    if "    " in text or "\t" in text or _MARKUP.search(re.sub(_TAG, "", text)):
        return False
    if "`" not in text:
        return True
    # Spans that begin and end in a line, and in what may be a cell, are the same in every item and heading as well.
    return "\\`" not in text and "`" not in re.sub(_SPAN, "", text)
