"""A cache of decoded fixture files: their documents as BSON, found by the content of the file alone.

Parsing Extended JSON costs ten times what reading BSON does. An entry's name is the digest of the fixture
file's bytes and of this format, so a stale entry cannot be found; an entry whose own digest does not fit
(cut off, changed, foreign) counts as absent. Whatever goes wrong with the folder (read only, full, gone),
the answer is "not cached".
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from preprocessor import atomic

VARIABLE = "MONGO_TABLES_CACHE"
"""Environment variable with the cache's folder; set but empty, it turns the cache off."""

FOLDER = ".mongo-tables-cache"
MAX_BYTES = 512 * 2**20
"""Beyond this size the entries not used for longest are dropped."""

_MAGIC = b"mongo-tables bson 1\n"
_DIGEST = hashlib.sha256
_HEADER = len(_MAGIC) + _DIGEST().digest_size
# The signature that backup programs look for: https://bford.info/cachedir/
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by mongo-tables; may be deleted at any time.\n"


def folder_for(fixtures: Path) -> Path | None:
    """Where the cache of a fixture folder lies: ``MONGO_TABLES_CACHE``, else beside the folder; None = no
    cache.
    """
    named = os.environ.get(VARIABLE)
    if named is None:
        return fixtures.absolute().parent / FOLDER
    return Path(named) if named else None


def key_of(content: bytes) -> str:
    """The name under which the documents of a file with these bytes are kept."""
    return _DIGEST(_MAGIC + _DIGEST(content).digest()).hexdigest()


def get(folder: Path | None, key: str) -> bytes | None:
    """The concatenated BSON documents kept under ``key``, or None."""
    if folder is None:
        return None
    entry = folder / f"{key}.bson"
    try:
        held = entry.read_bytes()
    except OSError:
        return None
    payload = held[_HEADER:]
    if held[:_HEADER] != _MAGIC + _DIGEST(payload).digest():
        return None
    with suppress(OSError):
        os.utime(entry)  # used now: what is dropped first when the cache is full
    return payload


def put(folder: Path | None, payloads: Mapping[str, bytes]) -> None:
    """Keep each payload under its key, or quietly do not. Readers see whole entries or none."""
    if folder is None or not payloads:
        return
    with suppress(OSError):
        _prepare(folder)
        atomic.write_all({folder / f"{key}.bson": _entry(payload) for key, payload in payloads.items()})
        _drop_oldest(folder)


def _entry(payload: bytes) -> bytes:
    return _MAGIC + _DIGEST(payload).digest() + payload


def _prepare(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _TAG)):
        if not (folder / name).exists():
            atomic.write(folder / name, text.encode())


def _drop_oldest(folder: Path) -> None:
    entries = []
    for path in folder.glob("*.bson"):
        with suppress(OSError):  # another process may be dropping it, too
            status = path.stat()
            entries.append((status.st_mtime_ns, path.name, status.st_size))
    total = sum(size for _, _, size in entries)
    for _, name, size in sorted(entries):
        if total <= MAX_BYTES:
            return
        total -= size
        with suppress(OSError):
            (folder / name).unlink()
