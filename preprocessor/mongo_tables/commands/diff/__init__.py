"""``mongo-tables diff``: changes in the tables of a site, and a report of them for reviewers.

``tables`` reads the tables of both sides, ``changes`` compares them and formats the result, and ``github`` finds the
base of a pull request.
"""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from mongo_tables.commands.diff.changes import compare, markdown, text
from mongo_tables.commands.diff.github import read_both, read_pull_request, report
from mongo_tables.commands.diff.tables import read_sides
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.usage import CommandError


def run(arguments: Namespace) -> int:
    """Print the changes, or write a report. Return 1 if there are changes, else 0.

    Raises CommandError and ResultsError if the sides cannot be compared.
    """
    request = None
    if arguments.report or arguments.old is None:
        request = read_pull_request()
    if arguments.new is not None:
        names = arguments.old, arguments.new
        old, new = read_sides(arguments)
    elif request is None or arguments.old is not None:
        raise CommandError(
            "OLD and NEW are required outside a GitHub Actions job for a pull request",
            "for example: mongo-tables diff origin/main:. .",
        )
    else:
        old, new, base = read_both(request, arguments)
        names = base, request.head
    changes = compare(old, new)
    failed = sum(bool(table.failed) for table in new)
    if arguments.report:
        report(Path(arguments.report), changes, failed, names, arguments.config_file)
        print(f"tables that differ from {escape_control_chars(names[0])}: {len(changes)}")
    elif arguments.format == "json":
        print(json.dumps({"tables": [asdict(one) for one in changes]}, indent=2))
    elif arguments.format == "markdown":
        print(markdown(changes, names, failed), end="")
    else:
        print("\n".join(text(changes)))
    return 1 if changes else 0
