"""The errors of a run. A message has one line and contains no secret."""

from __future__ import annotations

from mongo_tables.findings.usage import CommandError
from mongo_tables.results.source_text import redact

KEPT = "--resume continues after the finished measurements"


class TargetError(CommandError):
    """A deployment does not start, does not answer, or may not be changed by the run."""


class WorkFailed(CommandError):
    """The load failed, or so many requests failed that the figures of the window are meaningless and not stored."""


class TimeIsOver(CommandError):
    """The time of the run is over before all blocks are measured. The finished measurements are kept."""


class UnexpectedReply(Exception):
    """An unexpected answer of the server. ``code`` is the error code in the answer, or 0."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


def shown(where: str) -> str:
    """Return a target as an error message shows it: without secrets, if it may be a connection string.

    Example:
        >>> shown("mongodb://user:secret@host/db")
        'mongodb://host/db'
    """
    return redact(where) if "@" in where or "://" in where else where
