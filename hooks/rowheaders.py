"""The first cell of a row names the row, also in tables written by hand (a MkDocs hook, see ``mkdocs.yml``)."""

from __future__ import annotations

import re
from typing import Final

_TABLE: Final = re.compile(r"<table>\n<thead>.*?</table>", re.DOTALL)
"""A table as Markdown makes it; those of result comments have their headers."""
_FIRST: Final = re.compile(r"(<tr>\n)<td( [^>]*)?>(.+?)</td>", re.DOTALL)


def on_page_content(html: str, **_: object) -> str:
    """Makes headers of the first cells that say anything."""
    return _TABLE.sub(lambda table: _FIRST.sub(r'\1<th scope="row"\2>\3</th>', table[0]), html)
