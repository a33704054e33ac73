"""The files with the rows behind figures, beside the pages of a site.

A file is named by its page and its figure's id, so that its address is the same from build to build. Links are
relative: they lead there from a folder opened as files, too. No page has a folder of its own: for hundreds of small
folders many file systems take longer than for the files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from posixpath import relpath
from typing import Final
from urllib.parse import quote

FOLDER: Final = "rows"
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class Shelf:
    """The files of one page: ``page`` is its path in the docs folder, ``url`` its address within the site.

    ``files`` has their texts, by their paths in the site.
    """

    page: str
    url: str
    files: dict[str, str] = field(default_factory=dict)

    def place(self, name: str, text: str) -> str:
        """Put a file on the shelf; gives its address relative to the page, quoted as ``url`` is."""
        self.files[f"{self._stem}.{name}"] = text
        return f"{self._way}.{quote(name)}"

    @cached_property
    def _stem(self) -> str:
        return f"{FOLDER}/{self.page.rpartition('.')[0]}"

    @cached_property
    def _way(self) -> str:
        """The way from the page to its files, as far as it is the same for all."""
        here = self.url if self.url.endswith("/") else self.url.rpartition("/")[0]
        return relpath(f"/{quote(self._stem)}", f"/{here}")


def put(files: Mapping[str, str | bytes], folder: Path) -> None:
    """Write files, text or bytes by path, below a folder. Raises ``OSError``, which names the file."""
    for path, content in files.items():
        place = f"{folder}/{path}"
        encoded = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
        try:
            _write(place, encoded)
        except FileNotFoundError:  # The first file of a folder: to look before each would take longer.
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            _write(place, encoded)


def _write(place: str, content: bytes) -> None:
    """Write a file, whole or not at all: readers cannot see that rows are missing at its end."""
    try:
        # Of thousands, each object around a file costs as much as the file.
        file = os.open(place, _FLAGS, 0o666)
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(file, left) :]
        finally:
            os.close(file)
    except OSError as error:
        with suppress(OSError):
            Path(place).unlink()
        raise OSError(error.errno, error.strerror, place) from None
