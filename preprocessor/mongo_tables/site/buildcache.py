"""The figures of a whole site, kept from one build to the next while nothing they are made from has changed.

Most builds change no comment, no pipeline and no result. Such a build needs neither the parser of comments
nor the evaluator of pipelines, and spares their import as well. The key is the content of what is known before the
first page is read; beyond it other plugins may write into any page, or add some, at any time. So each page says of
what text it was made, and is right for that text alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from mongo_tables.files.environment import today
from mongo_tables.files.text import leads_within
from mongo_tables.pages.lasting import is_lasting
from mongo_tables.results import bsoncache, cachefolder
from mongo_tables.results.ownfiles import sign_of_program
from mongo_tables.site.keptpages import KeptPage
from mongo_tables.site.spool import HeldFile, Packed, Stretch, bytes_of

if TYPE_CHECKING:
    from mongo_tables.pages.model import Page


def hash_given(markdown: str, url: str) -> str:
    """Hash what the figures of a page depend on besides the key of the site: its text and its address.

    And the day, where a table may be too old tomorrow though nothing changes.
    """
    dated = any(word in markdown for word in ("max_age", "\\u"))  # It may be written by codes of letters.
    day = today().isoformat() if dated else ""
    return hashlib.sha256(json.dumps([url, day, markdown]).encode("ascii")).hexdigest()


def hash_text(text: str) -> str:
    """Hash a page as it is on disk."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def key_of(parts: Iterable[str]) -> str:
    """A key of the parts, their order, and this program as it is."""
    total = hashlib.sha256(sign_of_program().encode())
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        total.update(b"%d\n" % len(content) + content)
    return total.hexdigest()


def folder_state(folder: Path) -> str:
    """A key of the shared pipelines in a folder; a file that cannot be read has its name alone in it.

    And of whether they may be read there: a link that leads out of the folder is refused, whatever it leads to.
    """
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    return json.dumps([[file.name, _digest(file), leads_within(file, folder)] for file in files])


def _digest(file: Path) -> str:
    try:
        # A pipe, or a link to a device, has no end.
        return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
    except OSError:
        return ""


def load(fixtures: Path, key: str) -> dict[str, KeptPage] | None:
    """The pages kept under a key, by their path in the docs folder; None when there are none."""
    folder = cachefolder.folder_for(fixtures)
    entry = bsoncache.open_entry(folder, key)
    if entry is None:
        return None
    try:
        return dict(_restore_pages(entry))
    except (
        ValueError,
        TypeError,
        AttributeError,
        OSError,
        RecursionError,
    ):  # No text of ours, whatever its digest says.
        bsoncache.drop(folder, key)
        return None


def _restore_pages(entry: BinaryIO) -> Iterator[tuple[str, KeptPage]]:
    """Take pages apart, which stay in the file. Raises ``TypeError`` or ``ValueError`` for another form."""
    file = HeldFile(entry)
    index = json.loads(entry.readline())
    start = entry.tell()
    for name, (given, told, text, ids, quoted, *lengths) in index.items():
        starts = accumulate(lengths, initial=start)
        head, body, words = (Stretch(file, *each) for each in zip(starts, lengths, strict=False))
        yield name, KeptPage(given, told, head, body, words, text, tuple(ids), tuple(quoted))
        start += sum(lengths)
    if start != entry.seek(0, SEEK_END):
        raise ValueError("other bytes than the pages have")


def store(fixtures: Path, key: str, pages: Mapping[str, KeptPage]) -> None:
    """Keep pages under a key, or quietly do not when the cache's folder cannot be written."""
    index = {
        name: (page.given, page.told, page.text, page.ids, page.quoted, *map(_length, _parts(page)))
        for name, page in pages.items()
    }

    def parts() -> Iterator[bytes]:
        yield json.dumps(index, ensure_ascii=True).encode("ascii") + b"\n"
        for page in pages.values():
            yield from map(bytes_of, _parts(page))

    bsoncache.put(cachefolder.folder_for(fixtures), {key: parts})


def _parts(page: KeptPage) -> tuple[Packed, Packed, Packed]:
    return page.head, page.body, page.words


def _length(packed: Packed) -> int:
    return len(packed) if isinstance(packed, bytes) else packed.length


def note_latest(fixtures: Path, around: str, key: str) -> None:
    """Note that the pages kept under ``key`` are the latest of a site, whatever its texts: ``around`` is the rest."""
    bsoncache.put(cachefolder.folder_for(fixtures), {around: key.encode()})


def load_latest(fixtures: Path, around: str) -> Mapping[str, KeptPage]:
    """The latest pages that were kept of a site, however its texts were; none where there are none."""
    noted = bsoncache.get(cachefolder.folder_for(fixtures), around)
    return (load(fixtures, noted.decode("ascii", "replace")) if noted else None) or {}


def forget(fixtures: Path, key: str) -> None:
    """Drop what is kept under a key."""
    bsoncache.drop(cachefolder.folder_for(fixtures), key)


def may_be_kept(pages: Iterable[Page]) -> bool:
    """Whether the same results give the same figures tomorrow."""
    return all(is_lasting(spec) for page in pages for spec in page.specs if spec is not None)
