"""The rows that the last build of a site wrote, held aside while MkDocs empties the site.

Most of them are those of this build too. To move a file costs little; to make thousands where thousands were just
removed costs as much as the rest of a build: ext4 looks for room for each past all that it gave back a moment ago
(``recently_deleted`` in https://github.com/torvalds/linux/blob/v6.1/fs/ext4/ialloc.c).
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from preprocessor.site.downloads import FOLDER

ASIDE: Final = ".mongo-tables-rows"
"""MkDocs leaves what begins with a dot where it is."""
# A link is not followed, a pipe not waited for.
_FLAGS = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)


class LastRows:
    """Those of the site in a folder; none until they are held aside."""

    def __init__(self, site: Path) -> None:
        self._rows = site / FOLDER
        self._aside = site / ASIDE
        self._are_there = False
        self._is_emptied = False

    def hold_aside(self) -> None:
        """Move them where MkDocs leaves them; those that a build left there which was killed are next best."""
        with suppress(OSError):
            if self._rows.is_dir() and not self._rows.is_symlink():
                _remove(self._aside)
                self._rows.rename(self._aside)
        self._are_there = self._aside.is_dir() and not self._aside.is_symlink()

    def note_emptied(self) -> None:
        """Know that the site is empty now: nothing is put back any more where the build fails."""
        self._is_emptied = True

    def take(self, path: str, place: str, content: bytes) -> bool:
        """Whether a file was among them with this content, which is moved to its place then.

        ``path`` is its path in the site. Raises ``FileNotFoundError`` where the place has no folder.
        """
        if not self._are_there or not path.startswith(f"{FOLDER}/"):
            return False
        aside = f"{self._aside}{path[len(FOLDER) :]}"
        if _read(aside, len(content) + 1) != content:
            return False
        os.rename(aside, place)  # noqa: PTH104 - of thousands, a Path costs as much as to move the file
        return True

    def drop(self) -> None:
        """Remove those that no page has by now; of a site that was not emptied they are put back."""
        if self._are_there and not self._is_emptied:
            with suppress(OSError):
                self._aside.rename(self._rows)
        _remove(self._aside)
        self._are_there = False


def _read(file: str, most: int) -> bytes | None:
    """The first bytes of a file; None where there is none."""
    try:
        opened = os.open(file, _FLAGS)
        try:
            return os.read(opened, most)
        finally:
            os.close(opened)
    except OSError:
        return None


def _remove(folder: Path) -> None:
    """Remove what is held aside; a link to it alone."""
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder, ignore_errors=True)
