"""The live comments of a page: a quick look for anything of ours, then the scan."""

from __future__ import annotations

import re

from mongo_tables.directives.comment import Scan
from mongo_tables.directives.keywords import SUSPECT

# Names are compared loosely, so that a near miss is met too; a page without a match costs this search only.
_SUSPECT = re.compile(SUSPECT, re.IGNORECASE)


def may_have_comment(text: str) -> bool:
    """Whether a page may have a comment of ours, live or not: a quick look, before the scan."""
    return _SUSPECT.search(text) is not None


def find(text: str, file: str) -> Scan:
    """Find the live comments of a page; findings name ``file``. Never raises, whatever the text."""
    if not may_have_comment(text):
        return Scan((), ())
    # Only pages with such a comment pay for the scan, and for the import of markdown-it-py.
    from mongo_tables.directives.pagescan import scan_page

    return scan_page(text, file)
