"""Pages about whose comments all kinds of Markdown agree, told at a glance: for them no second parser is loaded.

A comment in the words of a plain paragraph is a comment everywhere, one in a plain fence is code everywhere. What is
the least bit unusual is left to the parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_MARK: Final = re.compile(r"(`{3}|~{3})[^`~]*")
_MARKUP: Final = re.compile("<(?!!--\ue000\\d+-->)")
_ANCHOR: Final = re.compile(
    r'(?:<(div|a) id="[\w.-]+"></\1>|<details(?: class="[\w-]+")? markdown(?:="1")?>|<summary>[\w ,.-]+</summary>'
    r"|</details>)[ \t]*"
)
"""Empty elements to link to, and what folds text: a block that one begins ends where a paragraph does."""
_BLOCK: Final = re.compile(rf" {{0,3}}{_MARKUP.pattern}")
_TAG: Final = r'</?(?:abbr|b|em|i|kbd|small|span|strong|sub|sup)(?: [a-z-]+="[^"<>`|\ue000\n]*")*>'
"""A tag in a line of words, which is as good as a word to the tokens beside it."""
_SPAN: Final = "`[^`|\ue000\n]+`"


def agrees(lines: Iterable[str]) -> bool:
    """Whether CommonMark surely takes every token of the page (``htmlcomments.TOKEN``) for what it is on a site.

    ``lines`` are those of a page on which the site sees as a fence whatever looks like one.
    """
    fence, paragraph = "", list[str]()
    for line in lines:
        marked = "```" in line or "~~~" in line
        if fence:
            if marked and line != fence:
                return False
            fence = "" if marked else fence
            continue
        opening = _MARK.fullmatch(line) if marked else None
        anchored = _ANCHOR.fullmatch(paragraph[0] if paragraph else line) is not None
        if marked and (opening is None or anchored):
            return False
        if _BLOCK.match(line) and not (anchored and _ANCHOR.fullmatch(line)):
            return False
        fence = opening[1] if opening else ""
        if line.strip(" \t") and not fence:
            paragraph.append(line)
        elif not _plain(paragraph):
            return False
        else:
            paragraph.clear()
    return not fence and _plain(paragraph)


def _plain(paragraph: list[str]) -> bool:
    """Whether the lines between two blank ones have no token, or it can be nothing but a comment among words."""
    text = "\n".join(paragraph)
    if "\ue000" not in text:
        return True
    if "    " in text or "\t" in text or _MARKUP.search(re.sub(_TAG, "", text)):
        return False
    if "`" not in text:
        return True
    # Spans that begin and end in a line, and in what may be a cell, are the same in every item and heading as well.
    return "\\`" not in text and "`" not in re.sub(_SPAN, "", text)
