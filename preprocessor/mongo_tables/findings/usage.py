"""Errors that end a command. Each is printed as one line with a hint for the user."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from mongo_tables.files.process import install_command
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.reporters import escape_control_chars, hint_line, report

_NO_TEXTS: Final[Mapping[str, str]] = MappingProxyType({})

EXTRAS: Final = {
    "cluster": ("cryptography", "distributed"),
    "lsp": ("pygls",),
    "runner": ("greenlet", "hdrh", "psutil", "scipy"),
}
"""The modules that each extra of the package installs."""


class CommandError(Exception):
    """An error that ends a command with exit status 2. Its message and its hint contain no secrets.

    If there are ``findings``, they are printed instead of the message. ``sources`` has the texts of files by name, from
    which excerpts are printed.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        findings: Sequence[Finding] = (),
        sources: Mapping[str, str] = _NO_TEXTS,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.findings = tuple(findings)
        self.sources = sources


def print_failure(error: CommandError) -> int:
    """Print an error on standard error, and return the exit status 2."""
    if error.findings:
        print(report(error.findings, "text", sources=error.sources), end="", file=sys.stderr)
    else:
        print_error(error.message, error.hint)
    return 2


def print_error(message: str, hint: str = "") -> None:
    """Print an error on standard error. Further lines of a hint are printed unindented, so that users can copy them."""
    print("\n".join(map(escape_control_chars, f"mongo-tables: {message}".split("\n"))), file=sys.stderr)
    if hint:
        first, *below = hint.split("\n")
        print("\n".join([hint_line(first), *map(escape_control_chars, below)]), file=sys.stderr)


def require_extra(command: str, extra: str, *modules: str) -> None:
    """Raise CommandError if a module that a command needs is not installed.

    ``extra`` is the extra of the package that installs the module. Without ``modules``, the command needs all modules
    of the extra.
    """
    if any(importlib.util.find_spec(name) is None for name in modules or EXTRAS[extra]):
        raise CommandError(f"command {command} needs the extra {extra}", install_command(extra))
