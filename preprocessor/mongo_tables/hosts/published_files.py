"""Published files of a site: style sheet and script, the rows behind figures, and the result documents behind rows.

A file is named by its page and its figure, or by the ``_id`` of its document, so that its address is the same
in every build. Links are relative, so they also work from a folder opened as files. Pages have no folders of
their own, because many file systems take longer for hundreds of small folders than for the files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import relpath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from mongo_tables.render.charts.svg_file import STYLE_SHEET_FILE
from mongo_tables.render.markup import distinct, words
from mongo_tables.results.conclusions import variant_name
from mongo_tables.results.model import FilesChanged, ResultsError

if TYPE_CHECKING:
    from mongo_tables.results.file_source import FileSource

SCRIPT_FILE: Final = Path(__file__).parent / "assets" / "mongo-tables.js"
"""Sorts and filters tables, shows tooltips, marks old results. A page is complete without it."""
ROWS_FOLDER: Final = "rows"


def inline_assets() -> str:
    """Return the style sheet and the script as HTML, for a page that cannot link to other files."""
    style_sheet, script = (file.read_text(encoding="utf-8") for file in (STYLE_SHEET_FILE, SCRIPT_FILE))
    return f"<style>\n{style_sheet}</style>\n<script>\n{script}</script>"


@dataclass
class Shelf:
    """The files of one page: ``page`` is its path in the docs folder, ``url`` its address within the site.

    ``files`` maps paths in the site to texts.
    """

    page: str
    url: str
    files: dict[str, str] = field(default_factory=dict)
    _stem: str = ""
    _way: str = ""

    def place(self, name: str, text: str) -> str:
        """Add a file. Return its address relative to the page, quoted like ``url``."""
        if not self._stem:
            # The common part of the paths in the site, and of the addresses from the page.
            self._stem = f"{ROWS_FOLDER}/{self.page.rpartition('.')[0]}"
            here = self.url if self.url.endswith("/") else self.url.rpartition("/")[0]
            self._way = relpath(f"/{quote(self._stem)}", f"/{here}")
        self.files[f"{self._stem}.{name}"] = text
        return f"{self._way}.{quote(name)}"


def put(files: Mapping[str, str | bytes], folder: Path) -> None:
    """Write files, text or bytes by path, below a folder. Raises ``OSError``, which names the file."""
    for path, content in files.items():
        place = f"{folder}/{path}"  # a Path for each of thousands takes as long as writing it
        encoded = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
        try:
            try:
                file = open(place, "wb")  # noqa: PTH123, SIM115
            except FileNotFoundError:
                # The first file of a folder: checking before each write would take longer.
                Path(place).parent.mkdir(parents=True, exist_ok=True)
                file = open(place, "wb")  # noqa: PTH123, SIM115
            with file:
                file.write(encoded)
        except OSError as error:
            # A file is written completely or not at all: readers could not see that rows are missing at its end.
            with suppress(OSError):
                Path(place).unlink()
            raise OSError(error.errno, error.strerror, place) from None


DOCUMENTS_FOLDER: Final = "documents"
_LONGEST: Final = 120
"""Maximum characters of a file's name without its folder."""


@dataclass(frozen=True, slots=True)
class PublishedDocuments:
    """The published documents of a collection: ``paths`` in the site by ``repr(_id)``, ``files`` by path."""

    collection: str
    paths: Mapping[str, str]
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, local: FileSource | None, collection: str) -> PublishedDocuments:
        """Publish the local documents, or none if they cannot be read, which the results source reports.

        Raises ``FilesChanged``.
        """
        try:
            lines = list(local.lines(collection)) if local else []
            keys = [one["_id"] for one in local.documents(collection)] if local else []
        except FilesChanged:
            raise
        except ResultsError:
            return cls(collection, {}, {})
        names = distinct((f"{_path_of(collection)}/{_name(key)}" for key in keys), set())
        paths = {repr(key): f"{name}.json" for key, name in zip(keys, names, strict=True)}
        files = {f"{name}.json": line for name, line in zip(names, lines, strict=True)}
        return cls(collection, paths, files)

    @property
    def together(self) -> bytes:
        """Return all documents as JSON Lines for ``mongoimport``, in the order of the source's files."""
        return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in self.files.values())

    def address(self, page: str, collection: str, key: Any) -> str:
        """Return the relative path from a page's address to a document, or "" if it is not published."""
        path = self.paths.get(repr(key)) if collection == self.collection else None
        here = page if page.endswith("/") else page.rpartition("/")[0]
        return relpath(f"/{path}", f"/{here}") if path else ""


def collections_of(documents: str | Sequence[str]) -> Sequence[str]:
    """Return the collections that the option ``documents`` names: one, several, or none."""
    return ([documents] if documents else []) if isinstance(documents, str) else documents


def path_of_all(collection: str) -> str:
    """Return the path of the file with all documents of a collection. Known before any document is read."""
    return f"{_path_of(collection)}.jsonl"


def _path_of(collection: str) -> str:
    return f"{DOCUMENTS_FOLDER}/{words(collection) or DOCUMENTS_FOLDER}"


def _name(key: Any) -> str:
    """Return experiment and variant, as in ``insert-docsize.docsizekb-4``, in letters valid in addresses."""
    parts = key if isinstance(key, Mapping) else {"_id": key}
    named = [str(parts.get("testname", "")), variant_name(parts)]
    return ".".join(filter(None, (words(each, _LONGEST) for each in named))) or "document"
