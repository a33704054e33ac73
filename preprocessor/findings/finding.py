"""The one shape of every complaint.

A fault is data: whoever meets one records a ``Finding`` and goes on, so that one run reports all faults of all
files. ``preprocessor.findings.reporters`` alone turns findings into text, JSON, annotations and exit codes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]


class Finding(NamedTuple):
    """One complaint and where it stands.

    ``line`` and ``column`` count from 1, in characters, in the Markdown file as it is on disk; 0 means that the
    complaint is about the file (or the run) as a whole. ``hint`` says what to do about it.
    """

    file: str
    line: int
    column: int
    rule: str
    severity: Severity
    message: str
    hint: str = ""
