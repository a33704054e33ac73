"""Errors of a run. Each has a message of one line and a remedy."""

from __future__ import annotations

from mongo_tables.findings.usage import CommandError

KEPT = "--resume continues after the finished measurements"


class TargetError(CommandError):
    """A deployment does not start, does not answer, or is not ours to change."""


class WorkFailed(CommandError):
    """Work had so many errors that its figures would be meaningless. No document is written."""


class TimeIsOver(CommandError):
    """The run's time ended before enough was measured. The run keeps its measurements."""
