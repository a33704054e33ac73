"""Anchors of headings: a table with the same id would be the second place of a link."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from mongo_tables.directives.html_comments import closed_fences
from mongo_tables.findings.rules import finding

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.pages import Page

_COMMENT: Final = re.compile("<!--.*?-->", re.DOTALL)
_HASHES: Final = re.compile(r"#{1,6}[ \t]*(.*)")
_UNDERLINE: Final = re.compile(r"(?:=+|-+)[ \t]*$")
_OWN_ID: Final = re.compile(r"\{[^{}]*#([\w-]+)[^{}]*\}")
# Tags, the tokens that stand for comments in a build, and the addresses of links.
_NO_TEXT: Final = re.compile(r"<[^<>]*>|[\ue000-\uf8ff]+|(?<=\])\([^()]*\)")


def heading_anchors(text: str) -> dict[str, str]:
    """Return the headings of a page by the anchors that Python-Markdown's ``toc`` and ``attr_list`` give them.

    Example:
        >>> heading_anchors("# Mean latency (ms)")
        {'mean-latency-ms': 'Mean latency (ms)'}
    """
    # Behind the last end nothing is a comment: each of many begins without an end would be searched to the end.
    until = text.rfind("-->") + len("-->")
    lines = f"{_COMMENT.sub('', text[:until])}{text[until:]}".splitlines()
    fenced = {at for fence in closed_fences(lines) for at in range(fence.first, fence.last + 1)}
    found: dict[str, str] = {}
    for at, (line, below) in enumerate(pairwise([*lines, ""])):
        hashes = _HASHES.match(line)
        if at in fenced or not (hashes or (line.strip() and _UNDERLINE.match(below))):
            continue
        heading = hashes[1].rstrip(" \t#") if hashes else line.strip()
        own = _OWN_ID.fullmatch(heading, heading.rfind("{")) if heading.endswith("}") else None
        heading = _NO_TEXT.sub("", heading[: own.start()] if own else heading).strip()
        found.setdefault(own[1] if own else _slug(heading), heading)
    return found


def _slug(heading: str) -> str:
    """Return the default anchor: https://python-markdown.github.io/extensions/toc/#usage (``slugify``)."""
    letters = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", letters).strip().lower())


def find_taken_anchors(page: Page, text: str, taken: Collection[str] | None = None) -> list[Finding]:
    """Return findings for tables with the id of a heading: a link to such a table leads to the heading.

    ``text`` is the page's Markdown; ``taken`` has the anchors that the page really has, if they are known.
    """
    specs = [spec for spec in page.pipeline_specs if spec.id]
    headings = heading_anchors(text) if specs else {}
    hint = "give the table another id, because links lead to the first of the two"
    found = []
    for spec in specs:
        if spec.id in (headings if taken is None else taken):
            other = f"the heading `{headings[spec.id]}`" if spec.id in headings else "an element of the page"
            message = f"{other} has the id `{spec.id}` already"
            found.append(finding("MT144", page.file, spec.locate(("id",)), message, hint))
    return found
