"""The titles and captions of figures, which readers see as they see a paragraph, though they stand in comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mongo_tables.pages.model import Page

_WRITTEN: Final = re.compile(r'"(?:title|caption)"[\s>]*:[\s>]*"((?:[^"\\]|\\.)*)"')


def list_captions(page: Page) -> Iterator[tuple[int, int]]:
    """Where each of them begins and ends in the page, without its quotes."""
    for spec in page.pipeline_specs:
        said = {text for text in (spec.title, spec.caption) if text}
        for found in _WRITTEN.finditer(page.text, spec.comment.start, spec.comment.end):
            # What is escaped in JSON is not what readers see, and a `title` may be a field of the pipeline.
            if found[1] in said:
                yield found.span(1)
