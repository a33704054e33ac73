"""Errors that end a command, each with one line and a hint for the user, and their output."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mongo_tables.findings.reporters import escape_control_chars, hint_line, report

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding


class CommandError(Exception):
    """An error that prevents a command: one line for the user, without secrets, and a hint; exit status 2."""

    sources: Mapping[str, str] = {}
    """The texts, by file name, of files with findings, if excerpts are to be shown."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def as_findings(self) -> Sequence[Finding]:
        """Return the findings to report in place of the line, if the error has places in files."""
        return ()


class UsageError(CommandError):
    """The command cannot run as requested."""


def print_failure(error: CommandError) -> int:
    """Print on standard error why the command ends; return its exit status."""
    if found := error.as_findings():
        print(report(found, "text", sources=error.sources), end="", file=sys.stderr)
    else:
        print_error(error.message, error.hint)
    return 2


def print_error(message: str, hint: str = "") -> None:
    """Print an error on standard error; the lines below a hint are for copying."""
    print("\n".join(map(escape_control_chars, f"mongo-tables: {message}".split("\n"))), file=sys.stderr)
    if hint:
        first, *below = hint.split("\n")
        print("\n".join([hint_line(first), *map(escape_control_chars, below)]), file=sys.stderr)
