"""What ends a command: an error for the user, with one line and a hint, and how it is said."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from preprocessor.findings.reporters import escape_control_chars

if TYPE_CHECKING:
    pass


class UsageError(Exception):
    """The command cannot be done as asked: one line for the user, exit status 2."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def print_error(message: str, hint: str = "") -> None:
    """Say on standard error what keeps the program from doing what it was asked for."""
    print("\n".join(map(escape_control_chars, f"mongo-tables: {message}".split("\n"))), file=sys.stderr)
    if hint:
        print(f"  hint: {escape_control_chars(hint)}", file=sys.stderr)
