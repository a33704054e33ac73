"""Findings about a comment that stands some lines further down or up by now."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mongo_tables.findings.finding import Finding

_NAMES_LINE: Final = re.compile(r"\blines? \d")
"""What names a line of the page is another text where the comment has moved."""


def move_findings(found: Sequence[Finding], file: str, by: int) -> list[Finding] | None:
    """The findings of a page so many lines further down; None where a message names a line."""
    if any(_NAMES_LINE.search(one.message) or _NAMES_LINE.search(one.hint) for one in found):
        return None
    return [one._replace(line=one.line + by) if one.file == file and one.line else one for one in found]
