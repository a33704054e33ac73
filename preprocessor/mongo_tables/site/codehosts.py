"""Where GitHub does not take for a comment what a site does, so that its readers would see JSON, or no Markdown.

It goes by older rules for comments within a line: https://github.github.com/gfm/#html-comment. A line that begins with
one is HTML, and ends a paragraph: https://github.github.com/gfm/#html-blocks. A table is parted into cells, and a
heading is one line, before anything in them is looked at: https://github.github.com/gfm/#tables-extension-.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from mongo_tables.directives.comments import RAW_HTML, Comment
from mongo_tables.directives.keywords import place_of
from mongo_tables.site.markdown import leads_its_line

_LINE_END: Final = re.compile(r"[\r\n]")
_BLANK_LINE: Final = re.compile(r"(?:\r\n|\r|\n)[> \t]*[\r\n]")
_TABLE, _HEADING = "a table", "a heading"


class Shown(NamedTuple):
    """Why a comment would be shown, or what is behind it would be none of Markdown; and what to do."""

    reason: str
    hint: str


def find_why_shown(text: str, comment: Comment) -> Shown | None:
    """Why GitHub would show a comment of a sentence, or its line as HTML; None where all is well.

    A statement on lines of its own is in no sentence. ``text`` is the page.
    """
    if place_of(comment.keyword) == "either" and not comment.inline:
        return None
    written = text[comment.start + len("<!--") : comment.end - len("-->")]
    if "--" in written:
        reason = "GitHub takes no comment in a sentence for one that has `--` in it"
        return Shown(reason, r"write -\u002d in a string of JSON")
    if _BLANK_LINE.search(written) or (comment.holder in (_TABLE, _HEADING) and _LINE_END.search(written)):
        return Shown(
            f"GitHub ends {comment.holder or 'the paragraph'} within this comment", "write it on one line"
        )
    if comment.holder == _TABLE and "|" in written:
        reason = "GitHub ends the cell of a table at a `|`, in a comment as well"
        return Shown(reason, r"write \u007c in a string of JSON")
    if _leads_a_line_of_markdown(text, comment) and place_of(comment.keyword) == "sentence":
        reason = "GitHub takes a line that begins with a comment for HTML, and all of it for no Markdown"
        return Shown(reason, "let a word stand before it on its line")
    return None


def _leads_a_line_of_markdown(text: str, comment: Comment) -> bool:
    return comment.holder != RAW_HTML and leads_its_line(text, comment)
