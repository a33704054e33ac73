"""What may go wrong in a run, each said in one line that names the remedy."""

from __future__ import annotations

from collections.abc import Sequence

from preprocessor.findings.finding import Finding

KEPT = "what is measured is kept; --resume goes on after it"


class RunnerError(Exception):
    """A run that cannot start or cannot go on; ``hint`` says what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ExperimentError(RunnerError):
    """An experiment file that cannot be read, or that says something impossible.

    ``findings`` are the complaints about the file, ``source`` is its text.
    """

    def __init__(
        self, message: str, hint: str = "", findings: Sequence[Finding] = (), source: str = ""
    ) -> None:
        super().__init__(message, hint)
        self.findings = tuple(findings)
        self.source = source


class TargetError(RunnerError):
    """A deployment that does not start, does not answer, or is not ours to change."""


class WorkFailed(RunnerError):
    """Work that met so many errors that its figures would mean nothing; no document is written."""
