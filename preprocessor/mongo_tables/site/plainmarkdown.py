"""The Markdown of a page once its figures are there, for plugins that read it: feeds, abstracts, copies of pages.

While MkDocs converts a page its Markdown holds tokens. A reader of it afterwards would publish them in the
place of numbers. So each gives way to what an author would have written by hand: a pipe table, or the value as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.comments.keywords import place_of
from mongo_tables.pages.placeholders import ANY_TOKEN

if TYPE_CHECKING:
    from mongo_tables.comments.model import Comment
    from mongo_tables.pages.build import Build
    from mongo_tables.pages.model import Page
    from mongo_tables.specs.model import Spec


class Plain(NamedTuple):
    """What stands for a figure: its lines, and what they begin with in its container; no lines for a sentence's text.

    ``text`` of a value is put into its sentence as it is.
    """

    text: str
    prefix: str = ""
    lines: Sequence[str] | None = None


def plain_figures(page: Page, build: Build) -> list[Plain]:
    """The Markdown text in place of each comment of the page, in order."""
    here = build.within(page)
    return [_plain(comment, spec, here) for comment, spec in zip(page.comments, page.specs, strict=True)]


def _plain(comment: Comment, spec: Spec | None, build: Build) -> Plain:
    if spec is None:
        return Plain("")
    from mongo_tables.pages.kinds import KINDS
    from mongo_tables.pages.markdowntext import MarkdownContext

    lines = KINDS[type(spec)].markdown(spec, MarkdownContext(build.answers, build.tables))
    return Plain("", comment.prefix, lines) if place_of(comment.keyword) == "block" else Plain("".join(lines))


def with_plain_figures(markdown: str, figures: Mapping[str, Plain]) -> str:
    """The Markdown with what stands for each figure in the place of its token; other tokens stay."""
    pieces, done = list[str](), 0
    for token in ANY_TOKEN.finditer(markdown):
        if (plain := figures.get(token[0])) is None:
            continue
        start, text = _place(markdown, token.start(), token.end(), plain)
        pieces += [markdown[done:start], text]
        done = token.end()
    return "".join([*pieces, markdown[done:]])


def _place(markdown: str, start: int, end: int, plain: Plain) -> tuple[int, str]:
    if plain.lines is None:
        return start, plain.text
    from mongo_tables.pages.markdown import Place, standing_alone

    return standing_alone(markdown, Place(start, end, plain.prefix), plain.lines)
