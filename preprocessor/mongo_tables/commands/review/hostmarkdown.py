"""Text of a pull request within Markdown of GitHub: shown as it is, whoever wrote it, and obeyed by nothing.

GitHub makes links of names (``@team``), numbers (``#12``), commits and addresses after it has made HTML of Markdown, so
a reference such as ``&#64;`` is no help: whoever is named is told all the same. It leaves code alone. So what is not
plainly words or numbers stands in a ``<code>``, with references for all that Markdown itself would look at.
https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
"""

from __future__ import annotations

import re
from typing import Final

from mongo_tables.findings.reporters import escape_control_chars

_LONGEST: Final = 200
"""Characters of a text that are shown."""

_POINT: Final = r"(?<=[0-9])\.(?=[0-9])"
_PLAIN: Final = rf"(?:[-−](?=[0-9]))?(?:[A-Za-z0-9 ,%()/µ×±→–−]|:(?= )|{_POINT})*"
"""Words and numbers, in which nothing means anything to Markdown or to GitHub."""

_SAFE_IN_CODE: Final = re.compile(rf"[^\w ,%()/]|_|(?!{_POINT})\.")


def show(text: str) -> str:
    """The text as a part of a line or of a cell, cut where it is very long."""
    cut = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    shown = escape_control_chars(cut)
    if re.fullmatch(_PLAIN, shown):
        return shown
    return f"<code>{_SAFE_IN_CODE.sub(_refer, shown)}</code>"


def _refer(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"
