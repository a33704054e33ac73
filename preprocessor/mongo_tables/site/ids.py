"""The ids that the comments of a page have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mongo_tables.directives.references import find_written_ids as ids_in
from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.jsontext.reader import parse

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.directives.specs import Spec
    from mongo_tables.site.model import Page


def list_written_ids(page: Page) -> list[str]:
    """The ids in all comments of the page, including faulty and rejected comments."""
    sound = [each for pair in zip(page.comments, page.specs, strict=True) for each in ids_of(*pair)]
    return sound + [each for start, end in page.rejected for each in ids_in(parse(page.text[start:end]))]


def ids_of(comment: Comment, spec: Spec | None) -> list[str]:
    """The id of a comment, which its table has if it is sound; a faulty one may have several that could be it."""
    if spec is None:
        return ids_in(comment.parsed)
    return [spec.id] if isinstance(spec, PipelineSpec) and spec.id else []
