"""What may go wrong in a run, each said in one line that names the remedy."""

from __future__ import annotations

from collections.abc import Sequence

from mongo_tables.findings.finding import Finding
from mongo_tables.findings.usage import CommandError

KEPT = "what is measured is kept; --resume goes on after it"

NOTHING_KEPT = "no window was measured yet; the same command begins anew, with --resume or without"


class RunnerError(CommandError):
    """A run that cannot start or cannot go on."""


class ExperimentError(RunnerError):
    """An experiment file that cannot be read, or that says something impossible.

    ``findings`` are the complaints about the file, ``source`` is its text.
    """

    def __init__(
        self, message: str, hint: str = "", findings: Sequence[Finding] = (), source: str = ""
    ) -> None:
        super().__init__(message, hint)
        self._findings = tuple(findings)
        self.sources = {each.file: source for each in findings}

    def as_findings(self) -> Sequence[Finding]:
        """The complaints about the file."""
        return self._findings


class TargetError(RunnerError):
    """A deployment that does not start, does not answer, or is not ours to change."""


class WorkFailed(RunnerError):
    """Work that met so many errors that its figures would mean nothing; no document is written."""


class TimeIsOver(RunnerError):
    """A run that was to end by now and has not measured enough; what it has is kept."""
