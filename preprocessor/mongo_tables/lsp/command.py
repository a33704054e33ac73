"""The work of ``mongo-tables lsp``."""

from __future__ import annotations

import sys
from argparse import Namespace

from mongo_tables.findings.usage import CommandError
from mongo_tables.lsp.server import serve


def run(arguments: Namespace) -> int:
    """Serve until the editor ends the session. Raises CommandError if a terminal starts the command."""
    if sys.stdin.isatty():
        raise CommandError("an editor starts this command, and speaks to it", "see `mongo-tables lsp --help`")
    serve(arguments)
    return 0
