"""Messages of failed tests: place, fault and remedy; also the text of a file, or its fault."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from mongo_tables.files.text import bad_byte
from mongo_tables.findings.reporters import escape_control_chars, hint_line
from mongo_tables.results.model import ResultsError, combine_faults, file_fault


def fail(text: str) -> NoReturn:
    """Fail the test with only this text, without a traceback of this package."""
    raise pytest.fail.Exception(text, pytrace=False) from None


def say(place: str, message: str, hint: str = "") -> str:
    """Return the text of a failure: ``FILE:LINE:COLUMN: message``, and below it the hint. A place may be ""."""
    line = escape_control_chars(f"{place}: {message}" if place else message)
    return f"{line}\n{hint_line(hint)}" if hint else line


def say_error(place: str, error: ResultsError, at: str = "") -> str:
    """Return the text of a failure for an error. Each fault of a file has a line with its own place.

    ``at`` follows the message: the place in a pipeline.
    """
    if not error.findings:
        return say(place, f"{error.message}{at}", error.hint)
    lines = map(escape_control_chars, error.message.split("\n"))
    return "\n".join([*lines, *([hint_line(error.hint)] if error.hint else [])])


def read_text(path: Path) -> str:
    """Return the text of a file. Raises ``ResultsError``, with the place, if it cannot be read or is not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise combine_faults([file_fault(path, (0, 0), f"cannot be read: {error.strerror}")]) from None
    if bad := bad_byte(content):
        raise combine_faults([file_fault(path, (bad.line, bad.column), "not UTF-8")])
    return content.decode("utf-8-sig")
