"""The result documents themselves beside the pages of a site, a file for each: what a reader finds behind a row.

They are the lines of a source's documents, unchanged. A file is named by what its document's ``_id`` says, so that its
address is the same from build to build. One more file has all of them, for readers who work with the rows themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from posixpath import relpath
from typing import Any, Final

from mongo_tables.render.anchors import distinct, words
from mongo_tables.results.fixturetext import documents
from mongo_tables.results.model import LocalDocuments, ResultsError
from mongo_tables.results.variants import variant_name

FOLDER: Final = "documents"
_LONGEST: Final = 120
"""Characters of a file's name without its folder."""
_ID_FIRST: Final = re.compile(r'\s*\{\s*"_id"\s*:\s*')
_SCANNER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Documents:
    """The published documents of a collection: ``paths`` in the site by the ``repr`` of ``_id``, ``files`` by path."""

    collection: str
    paths: Mapping[str, str]
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, local: LocalDocuments | None, collection: str) -> Documents:
        """Publish the documents on this machine; none when they cannot be read, which the results source reports."""
        try:
            lines = list(local.lines(collection)) if local is not None and collection else []
            keys = _keys(lines)
        except (ResultsError, ValueError):
            return cls(collection, {}, {})
        names = distinct((f"{_path_of(collection)}/{_name(key)}" for key in keys), set())
        paths = {repr(key): f"{name}.json" for key, name in zip(keys, names, strict=True)}
        files = {f"{name}.json": line for name, line in zip(names, lines, strict=True)}
        return cls(collection, paths, files)

    @property
    def together(self) -> bytes:
        """All of them as JSON Lines, in the order of the source's files; ``mongoimport`` takes them so."""
        return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in self.files.values())

    def address(self, page: str, collection: str, key: Any) -> str:
        """The way from a page, whose address within the site is given, to a document; "" where it is not published."""
        path = self.paths.get(repr(key)) if collection == self.collection else None
        here = page if page.endswith("/") else page.rpartition("/")[0]
        return relpath(f"/{path}", f"/{here}") if path else ""


def path_of_all(collection: str) -> str:
    """Where the one file with all documents of a collection lies in a site; known before any of them is read."""
    return f"{_path_of(collection)}.jsonl"


def _path_of(collection: str) -> str:
    return f"{FOLDER}/{words(collection) or FOLDER}"


def _keys(lines: list[bytes]) -> list[Any]:
    """The ``_id`` of each document, as a results source gives it. Usually only the start of a line is parsed."""
    if not lines:
        return []
    content = "\n".join(_with_id_alone(line.decode()) for line in lines).encode()
    return [one["_id"] for one in documents(Path(FOLDER), content)]


def _with_id_alone(line: str) -> str:
    """The line without anything behind its ``_id``, where that comes first."""
    start = _ID_FIRST.match(line)
    if start is None:
        return line
    end = _SCANNER.raw_decode(line, start.end())[1]
    return f"{line[:end]}}}"


def _name(key: Any) -> str:
    """``insert-docsize.docsizekb-4``: the experiment and the variant, in letters that stand in any address."""
    parts = key if isinstance(key, Mapping) else {"_id": key}
    named = [str(parts.get("testname", "")), variant_name(parts)]
    return ".".join(filter(None, (words(each, _LONGEST) for each in named))) or "document"
