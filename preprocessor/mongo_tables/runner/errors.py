"""Errors of a run, each with a one-line message that includes a remedy."""

from __future__ import annotations

from collections.abc import Sequence

from mongo_tables.findings.finding import Finding
from mongo_tables.findings.usage import CommandError

KEPT = "what is measured is kept; --resume goes on after it"

NOTHING_KEPT = "no window was measured yet; the same command begins anew, with --resume or without"


class RunnerError(CommandError):
    """A run cannot start or cannot continue."""


class ExperimentError(RunnerError):
    """An experiment file cannot be read or is invalid.

    ``findings`` are the complaints about the file, ``source`` is its text.
    """

    def __init__(
        self, message: str, hint: str = "", findings: Sequence[Finding] = (), source: str = ""
    ) -> None:
        super().__init__(message, hint)
        self._findings = tuple(findings)
        self.sources = {each.file: source for each in findings}

    def as_findings(self) -> Sequence[Finding]:
        """Return the complaints about the file."""
        return self._findings


class TargetError(RunnerError):
    """A deployment does not start, does not answer, or is not ours to change."""


class WorkFailed(RunnerError):
    """Work had so many errors that its figures would be meaningless; no document is written."""


class TimeIsOver(RunnerError):
    """The time of a run is over before it has measured enough; it keeps its measurements."""
