"""What CommonMark makes of a comment: the second opinion, by markdown-it-py.

A page is read on GitHub and in editors too, and those follow CommonMark (https://spec.commonmark.org).
Where it disagrees with the scan for Python-Markdown, an author is told, because one of the two audiences
sees raw JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

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
