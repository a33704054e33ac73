"""A language server that gives editors completion, hovers, findings and fixes for pages and pipelines.

``server`` speaks the protocol. The other modules take texts and positions, and return plain data. ``project`` has the
edited files and finds the same faults in them as the command ``check``.
"""

from __future__ import annotations

import sys
from argparse import Namespace

from mongo_tables.findings.usage import CommandError
from mongo_tables.lsp.server import serve


def run(arguments: Namespace) -> int:
    """Serve until the editor ends the session. Raises CommandError if a terminal starts the command."""
    if sys.stdin.isatty():
        raise CommandError("only an editor can use this command", "see `mongo-tables lsp --help`")
    serve(arguments)
    return 0
