"""Pages in a site's folder that its build leaves out, by the patterns of ``exclude_docs`` and ``draft_docs``.

https://www.mkdocs.org/user-guide/configuration/#exclude_docs; Zensical has the same two settings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pathspec.gitignore import GitIgnoreSpec

_ALWAYS: Final = (".*", "/templates/")
"""What MkDocs leaves out of every site, unless a pattern takes it back."""
_PLAIN: Final = re.compile(r"[\w./-]+")
"""A pattern without any sign of the pattern language."""


class LeftOut(NamedTuple):
    """The patterns of one site, a line each, as ``.gitignore`` has them."""

    exclude: str = ""
    drafts: str = ""

    def has(self, page: Path, folder: Path, within: str = "") -> bool:
        """Whether a build leaves out a page below ``folder``, which the build has under the name ``within``.

        Raises ValueError for an invalid pattern.
        """
        if self._is_excluded(page, folder, within):
            return True
        if page.stem != "README":
            return False
        # MkDocs makes one file of the two: https://www.mkdocs.org/user-guide/writing-your-docs/#index-pages
        indexes = (page.with_name(f"index{end}") for end in (".md", page.suffix))
        return any(index.is_file() and not self._is_excluded(index, folder, within) for index in indexes)

    def _is_excluded(self, page: Path, folder: Path, within: str) -> bool:
        name = os.path.join(within, os.path.relpath(page, folder)).replace(os.sep, "/")  # noqa: PTH118
        parts = name.split("/")
        if not any(_may_name(line, parts) for text in self for line in text.splitlines()):
            return _always(parts)
        drafts = self.drafts.strip() and _patterns(tuple(self.drafts.splitlines())).match_file(name)
        return bool(drafts) or _patterns((*_ALWAYS, *self.exclude.splitlines())).match_file(name)


def _may_name(line: str, parts: Sequence[str]) -> bool:
    """Whether a line of patterns may name a page: a plain one names none whose path does not have its last part.

    Most sites have plain patterns or none, and to import the reader of patterns takes as long as to read a page.
    """
    if not line.strip() or line.startswith("#"):
        return False
    return not _PLAIN.fullmatch(line) or line.rstrip("/").rpartition("/")[2] in parts


def _always(parts: Sequence[str]) -> bool:
    """Whether ``_ALWAYS`` names a page."""
    return any(part.startswith(".") for part in parts) or (len(parts) > 1 and parts[0] == "templates")


@cache
def _patterns(lines: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec.gitignore import GitIgnoreSpec  # As MkDocs reads them.

    return GitIgnoreSpec.from_lines(lines)
