"""Errors of a run, each with a one-line message that includes a remedy."""

from __future__ import annotations

from mongo_tables.findings.usage import CommandError

KEPT = "--resume continues after what is measured"


class TargetError(CommandError):
    """A deployment does not start, does not answer, or is not ours to change."""


class WorkFailed(CommandError):
    """Work had so many errors that its figures would be meaningless. No document is written."""


class TimeIsOver(CommandError):
    """The time of a run is over before it has measured enough. It keeps its measurements."""
