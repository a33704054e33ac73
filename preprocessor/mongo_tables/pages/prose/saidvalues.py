"""A page with what its values say, as readers see it: a number that a value writes names a row as a typed one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mongo_tables.pages.prose.paragraphs import BLANK
from mongo_tables.pages.statements import shown_value
from mongo_tables.specs.model import ValueSpec

if TYPE_CHECKING:
    from mongo_tables.pages.model import Answers, Page, Tables


def say_values(page: Page, tables: Tables, answers: Answers) -> str:
    """The text of a page with values in the place of their comments; all else stays where it is.

    Where a value stands behind its comment, and where it is longer than that, nothing is put there.
    """
    parts, end = [], 0
    for comment, spec in zip(page.comments, page.specs, strict=True):
        if not isinstance(spec, ValueSpec) or comment.region:
            continue
        found = shown_value(spec, tables, answers)
        length = comment.end - comment.start
        if found and len(found.text) <= length:
            parts += [page.text[end : comment.start], found.text.ljust(length, BLANK)]
            end = comment.end
    return "".join((*parts, page.text[end:]))
