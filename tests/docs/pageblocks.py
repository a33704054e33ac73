"""What a page gives its readers to write and to run: its fences, each with the paragraph before it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from markdown_it import MarkdownIt

NAMED_FILE: Final = re.compile(r"`([\w./-]+\.\w+)`")
"""The name of a file in a paragraph."""


class Block(NamedTuple):
    """A fence: its language, its text, the paragraph before it, and the heading that it stands under."""

    language: str
    text: str
    before: str
    heading: str


def blocks(page: Path) -> list[Block]:
    """The fences of a page, in their order."""
    found: list[Block] = []
    before = heading = ""
    opened = ""
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8")):
        if token.type == "fence":
            found.append(Block(token.info, token.content, before, heading))
            before = ""
        elif token.type == "inline" and opened == "heading_open":
            heading = token.content
        elif token.type in ("inline", "html_block"):
            before = f"{before} {token.content}" if token.type == "html_block" else token.content
        opened = token.type
    return found


def assert_says(said: str, expected: str) -> None:
    """Each of the lines is in what was said, in their order."""
    at = 0
    for line in expected.splitlines():
        assert line in said[at:], f"{line!r} is not in:\n{said}"
        at = said.index(line, at) + len(line)
