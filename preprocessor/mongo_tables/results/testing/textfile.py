"""The text of a file that a test names, or what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from mongo_tables.files.text import bad_byte
from mongo_tables.results.model import Fault, combine_faults


def read_text(path: Path) -> str:
    """The text of a file. Raises ``ResultsError``, with the place, for one that cannot be read or is not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise combine_faults([Fault(path, 0, 0, f"cannot be read: {error.strerror}")]) from None
    if bad := bad_byte(content):
        raise combine_faults([Fault(path, bad.line, bad.column, "not UTF-8")])
    return content.decode("utf-8-sig")
