"""What ends a command: errors for the user, each one line and a hint, and how they are said."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mongo_tables.findings.reporters import escape_control_chars, hint_line, report

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding


class CommandError(Exception):
    """What a command cannot do: one line for the user, never with a secret, and what to do about it; exit status 2."""

    sources: Mapping[str, str] = {}
    """Texts of files that findings are about, by their names, where they are to be shown."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def as_findings(self) -> Sequence[Finding]:
        """What to say instead of the line, where something is wrong at places of files."""
        return ()


class UsageError(CommandError):
    """The command cannot be done as asked."""


def print_failure(error: CommandError) -> int:
    """Say on standard error why the command ends; give its exit status."""
    if found := error.as_findings():
        print(report(found, "text", sources=error.sources), end="", file=sys.stderr)
    else:
        print_error(error.message, error.hint)
    return 2


def print_error(message: str, hint: str = "") -> None:
    """Say on standard error what keeps the program from doing what it was asked for; lines below a hint are to copy."""
    print("\n".join(map(escape_control_chars, f"mongo-tables: {message}".split("\n"))), file=sys.stderr)
    if hint:
        first, *below = hint.split("\n")
        print("\n".join([hint_line(first), *map(escape_control_chars, below)]), file=sys.stderr)
