"""A cache of what is costly to make from files: their documents as BSON, the figures of a site.

Parsing Extended JSON costs ten times what reading BSON does. An entry's name is a digest of all it was made from
and of this format, so a stale entry cannot be found; an entry whose own digest does not fit (cut off, changed, under
another name), or that is no plain file of this user, counts as absent. Whatever goes wrong with the folder (read
only, full, gone, another user's), the answer is "not cached".
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

from mongo_tables.files import atomic
from mongo_tables.results import cachefolder

MAX_BYTES = 1024 * 2**20
"""Beyond this size of all projects together the entries not used for longest are dropped."""
MAX_DAYS: Final = 30
"""An entry that was not used for so many days is dropped."""

Payload = bytes | Callable[[], Iterable[bytes]]
"""What an entry is to hold; what gives it part by part is asked twice, for its digest first."""

_BLOCK: Final = 2**20
_LOOKS: Final = 64
"""So often one looks for what is stale while as much is written as fits in."""
_written: dict[Path, int] = {}
"""Bytes that this process wrote into each folder of caches since it looked."""
_MAGIC = b"mongo-tables cache 2\n"
_DIGEST = hashlib.sha256
_HEADER = len(_MAGIC) + _DIGEST().digest_size
# The signature that backup programs look for: https://bford.info/cachedir/
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by mongo-tables; may be deleted at any time.\n"
# A link is not followed, a pipe not waited for; Windows has neither flag, and one of its own.
_FLAGS = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)


def key_of(content: bytes) -> str:
    """The name under which the documents of a file with these bytes are kept."""
    return key_of_digest(_DIGEST(content).digest())


def key_of_digest(digest: bytes) -> str:
    """The same, of the digest (SHA-256) of the file's bytes."""
    return _DIGEST(_MAGIC + digest).hexdigest()


def get(folder: Path | None, key: str) -> bytes | None:
    """The payload kept under ``key``; None when there is no entry."""
    if folder is None or not cachefolder.is_believed(folder):
        return None
    entry = folder / f"{key}.bson"
    try:
        header, payload = _parts(entry)
    except OSError:
        return None
    if header != _header(key, (payload,)):
        drop(folder, key)
        return None
    with suppress(OSError):
        os.utime(entry)  # used now: what is dropped first when the cache is full
    return payload


def open_entry(folder: Path | None, key: str) -> BinaryIO | None:
    """The entry of a key as a file that stands where its payload begins, for one too large for memory.

    What stands there is held against its digest now, and may be read later. None when there is no entry.
    """
    if folder is None or not cachefolder.is_believed(folder):
        return None
    entry = folder / f"{key}.bson"
    try:
        file = _open_plain(entry)
        if file.read(_HEADER) != _header(key, iter(partial(file.read, _BLOCK), b"")):
            file.close()
            drop(folder, key)
            return None
        file.seek(_HEADER)
    except OSError:
        return None
    with suppress(OSError):
        os.utime(entry)
    return file


def put(folder: Path | None, payloads: Mapping[str, Payload]) -> None:
    """Keep each payload under its key; a failure to write is ignored. Readers never see half an entry."""
    if folder is None or not payloads:
        return
    with suppress(OSError):
        cachefolder.prepare(folder)
        if not cachefolder.is_believed(folder):
            return
        tag = folder.parent / "CACHEDIR.TAG"
        if not tag.exists():
            atomic.write(tag, _TAG.encode())
    written = 0
    for key, payload in payloads.items():
        with suppress(OSError):
            header = _header(key, _parts_of(payload))
            atomic.write(folder / f"{key}.bson", chain((header,), _parts_of(payload)))
            written += (folder / f"{key}.bson").stat().st_size
    with suppress(OSError):
        _drop_stale_seldom(folder.parent, written)


def drop(folder: Path | None, key: str) -> None:
    """Remove the entry of a key, if there is one and that can be done."""
    if folder is not None:
        with suppress(OSError):
            (folder / f"{key}.bson").unlink()


def _parts_of(payload: Payload) -> Iterable[bytes]:
    return (payload,) if isinstance(payload, bytes) else payload()


def _header(key: str, parts: Iterable[bytes]) -> bytes:
    total = _DIGEST(key.encode())
    for part in parts:
        total.update(part)
    return _MAGIC + total.digest()


def _parts(entry: Path) -> tuple[bytes, bytes]:
    """Header and payload of an entry. Raises ``OSError`` for what is no plain file of this user."""
    with _open_plain(entry) as file:
        return file.read(_HEADER), file.read()


def _open_plain(entry: Path) -> BinaryIO:
    """Open an entry. Raises ``OSError`` for what is no plain file of this user."""
    file = open(entry, "rb", opener=lambda path, _: os.open(path, _FLAGS))  # noqa: SIM115 (the caller's)
    status = os.fstat(file.fileno())
    if not (stat.S_ISREG(status.st_mode) and cachefolder.is_own(status)):
        file.close()
        raise OSError(f"{entry} is no plain file of this user")
    return file


def _drop_stale_seldom(root: Path, written: int) -> None:
    """Drop what is stale the first time, and after so many bytes: to look at many entries takes long."""
    since = _written.get(root, MAX_BYTES) + written
    if since >= MAX_BYTES // _LOOKS:
        _drop_stale(root)
        since = 0
    _written[root] = since


def _drop_stale(root: Path) -> None:
    """Drop what was not used for long; of the rest, while it is too much, what was not used for longest."""
    oldest = time.time_ns() - MAX_DAYS * 86_400 * 10**9
    entries = sorted(_entries(root))
    total = sum(size for _, _, size in entries)
    for used, path, size in entries:
        if total <= MAX_BYTES and used >= oldest:
            break
        total -= size
        with suppress(OSError):
            path.unlink()
    for place in {path.parent for _, path, _ in entries}:
        with suppress(OSError):  # what is not empty stays
            place.rmdir()


def _entries(root: Path) -> Iterator[tuple[int, Path, int]]:
    """When each file in the caches of all projects was last used, where it is, and its size."""
    for path in root.glob(f"{'[0-9a-f]' * cachefolder.DIGITS}/*"):
        with suppress(OSError):  # another process may be dropping it, too
            status = path.lstat()
            yield status.st_mtime_ns, path, status.st_size
