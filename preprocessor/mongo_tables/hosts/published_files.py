"""Published files of a site: style sheet and script, the rows behind figures, and the result documents behind rows.

A file is named after its page and its figure, or after the ``_id`` of its document, so that its address is the same in
every build. Links are relative, so that they also work without a web server. Pages have no folders of their own,
because many file systems take longer for hundreds of small folders than for the files.
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
"""The script that sorts and filters tables, shows tooltips, and marks old results. Pages do not depend on it."""
ROWS_FOLDER: Final = "rows"


def inline_assets() -> str:
    """Return the style sheet and the script as HTML, for a page that cannot link to other files."""
    style_sheet, script = (file.read_text(encoding="utf-8") for file in (STYLE_SHEET_FILE, SCRIPT_FILE))
    return f"<style>\n{style_sheet}</style>\n<script>\n{script}</script>"


@dataclass
class Shelf:
    """The files to publish with a page.

    Attributes:
        page: The path of the page in the docs folder.
        url: The address of the page within the site.
        files: The text of each file by its path in the site.
    """

    page: str
    url: str
    files: dict[str, str] = field(default_factory=dict)
    _stem: str = ""
    _way: str = ""

    def place(self, name: str, text: str) -> str:
        """Add a file and return its address relative to the page."""
        if not self._stem:
            # The common beginning of the paths in the site, and of the addresses from the page.
            self._stem = f"{ROWS_FOLDER}/{self.page.rpartition('.')[0]}"
            here = self.url if self.url.endswith("/") else self.url.rpartition("/")[0]
            self._way = relpath(f"/{quote(self._stem)}", f"/{here}")
        self.files[f"{self._stem}.{name}"] = text
        return f"{self._way}.{quote(name)}"


def put(files: Mapping[str, str | bytes], folder: Path) -> None:
    """Write files, given by their paths below a folder. Raises ``OSError`` with the name of the file."""
    for path, content in files.items():
        place = f"{folder}/{path}"  # Creating a Path takes as long as writing the file.
        encoded = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
        try:
            try:
                file = open(place, "wb")  # noqa: PTH123, SIM115
            except FileNotFoundError:
                # Checking for the folder before each write would take longer.
                Path(place).parent.mkdir(parents=True, exist_ok=True)
                file = open(place, "wb")  # noqa: PTH123, SIM115
            with file:
                file.write(encoded)
        except OSError as error:
            # Remove an incomplete file: readers would not notice that rows are missing at its end.
            with suppress(OSError):
                Path(place).unlink()
            raise OSError(error.errno, error.strerror, place) from None


DOCUMENTS_FOLDER: Final = "documents"
_LONGEST: Final = 120
"""The maximum number of characters in each part of a file's name."""


@dataclass(frozen=True, slots=True)
class PublishedDocuments:
    """The published documents of a collection.

    Attributes:
        collection: The name of the collection.
        paths: The path of each document in the site, by the ``repr`` of its ``_id``.
        files: The JSON of each document, by its path.
    """

    collection: str
    paths: Mapping[str, str]
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, local: FileSource | None, collection: str) -> PublishedDocuments:
        """Return the local documents of a collection to publish, or none if they cannot be read.

        Raises ``FilesChanged`` if files change during the build.
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
        """All documents as JSON Lines for ``mongoimport``, in the order of the source's files."""
        return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in self.files.values())

    def address(self, page: str, collection: str, key: Any) -> str:
        """Return the address of a document relative to a page's address, or "" if the document is not published."""
        path = self.paths.get(repr(key)) if collection == self.collection else None
        here = page if page.endswith("/") else page.rpartition("/")[0]
        return relpath(f"/{path}", f"/{here}") if path else ""


def collections_of(documents: str | Sequence[str]) -> Sequence[str]:
    """Return the collections that the option ``documents`` names."""
    return ([documents] if documents else []) if isinstance(documents, str) else documents


def path_of_all(collection: str) -> str:
    """Return the path, within the site, of the file that has all documents of a collection."""
    return f"{_path_of(collection)}.jsonl"


def _path_of(collection: str) -> str:
    return f"{DOCUMENTS_FOLDER}/{words(collection) or DOCUMENTS_FOLDER}"


def _name(key: Any) -> str:
    """Return the name of a document's file: experiment and variant, as in ``insert-docsize.docsizekb-4``."""
    parts = key if isinstance(key, Mapping) else {"_id": key}
    named = [str(parts.get("testname", "")), variant_name(parts)]
    return ".".join(filter(None, (words(each, _LONGEST) for each in named))) or "document"
