"""The links of a page, as they are written, and which file each leads to. What is code, or hidden, has none."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple
from urllib.parse import unquote

from mongo_tables.directives.comments import Comment
from mongo_tables.directives.containers import places
from mongo_tables.directives.front_matter import front_matter_lines
from mongo_tables.directives.html_comments import Page, fold

_LINK: Final = re.compile(
    r"\]\([ \t]*<?(?P<inline>[^)>\s]+)"
    r"|^[> \t]*\[[^\]\n]+\]:[ \t]*<?(?P<defined>[^>\s]+)"
    r"""|<a\s(?:[^>]*\s)?href\s*=\s*["']?(?P<html>[^"'\\>\s]+)""",
    re.MULTILINE | re.IGNORECASE,
)
_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_PROBE: Final = "<!-- -->"


class Link(NamedTuple):
    """Where the target of a link begins, and the target: a path, which may be none, and what follows a ``#``."""

    start: int
    path: str
    anchor: str

    def leads_to(self, file: str, page: str, folders: Sequence[str]) -> bool:
        """Whether it leads from ``page`` to a file; a path from the root may be one within ``folders``."""
        if _ELSEWHERE.match(self.path):
            return False
        path = unquote(self.path.partition("?")[0])
        if path.startswith("/"):
            return any(posixpath.normpath(f"{folder}{path}") == file for folder in (".", *folders))
        return posixpath.normpath(posixpath.join(posixpath.dirname(page), path) if path else page) == file

    @property
    def anchor_start(self) -> int:
        """Where what follows the ``#`` begins."""
        return self.start + len(self.path) + 1


def find_links(text: str, comments: Sequence[Comment]) -> Iterator[Link]:
    """The links of a page, with those in captions and cells of its ``comments``; none in what programs wrote."""
    written = [one for one in _LINK.finditer(text) if not _is_generated(one.start(), comments)]
    live = _list_live(text, [one.start() for one in written])
    for one in written:
        start = one.start()
        if start in live or any(each.start <= start < each.end for each in comments):
            kind = str(one.lastgroup)
            path, _, anchor = one[kind].partition("#")
            yield Link(one.start(kind), path, anchor)


def _is_generated(at: int, comments: Sequence[Comment]) -> bool:
    return any(each.region and each.region.start <= at < each.region.end for each in comments)


def _list_live(text: str, starts: Sequence[int]) -> set[int]:
    """Those of some offsets that are neither in code nor in comments: where a comment would be one."""
    page = Page(text)
    first_line = front_matter_lines(page.lines)
    _, hidden = fold(page, first_line)
    open_to = [at for at in starts if not any(one.start <= at < one.end for one in hidden)]
    cuts = [0, *open_to, len(text)]
    probed = _PROBE.join(text[start:end] for start, end in pairwise(cuts))
    folded, found = fold(Page(probed), first_line)
    meant = {at + number * len(_PROBE): at for number, at in enumerate(open_to)}
    numbers = {one.number: meant[one.start] for one in found if one.start in meant}
    where = places(folded, numbers.keys())
    return {at for number, at in numbers.items() if number in where and where[number].kind == "live"}
