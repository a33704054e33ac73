"""``mongo-tables init``: a repository's first set-up, from what is there."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.usage import UsageError

if TYPE_CHECKING:
    from mongo_tables.commands.init.planning import Change, Plan

DESCRIPTION = (
    "Looks at a repository and writes a first working set-up: where results are, a table of them in README.md or\n"
    "on a page of the site, and the commit hook. It says what it did, and checks it at the end. What is there\n"
    "stays as it is: lines are added, and where that cannot be done safely it says which. A second run adds nothing."
)
EPILOG = """\
Results are the folder fixtures, else a file that a benchmark tool wrote, else JSON, JSON Lines, CSV or TSV with
several documents. Without a site the file mongo-tables.toml says where they are; mkdocs.yml, properdocs.yml and
zensical.toml get an entry for mongo-tables.

exit status: 0 set up, and the check finds nothing; 1 the check finds something;
2 wrong usage or nothing to work with"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the folder, its results, and whether anything is written."""
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="the repository (default: .)"
    )
    parser.add_argument(
        "--results", metavar="PATH", help="a file or a folder of results (default: what is found)"
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing, show the changes as a diff")


def run(arguments: Namespace) -> int:
    """Write the set-up, say what is new, and check it; give the exit status of the check.

    Raises UsageError where there is nothing to set up.
    """
    from mongo_tables.commands.init.planning import plan
    from mongo_tables.commands.rewriting import save_texts

    folder = Path(arguments.folder)
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder", "name the folder of a repository")
    planned = plan(folder, arguments.results)
    if arguments.dry_run:
        _show_changes(planned)
        return 0
    save_texts({one.path: one.after for one in planned.changes})
    _say([*planned.remarks, *(_describe(one) for one in planned.changes)])
    status = _check(folder, arguments)
    _say([f"next: {one}" for one in planned.by_hand])
    return status


def _describe(one: Change) -> str:
    from mongo_tables.site.site_config import from_here

    return f"{from_here(one.path)}: {'written' if one.before is None else 'changed'}, {one.said}"


def _say(lines: list[str]) -> None:
    for line in "\n".join(lines).splitlines():
        print(escape_control_chars(line))
    sys.stdout.flush()


def _show_changes(planned: Plan) -> None:
    from mongo_tables.files.changes import NOWHERE, changed_lines
    from mongo_tables.site.site_config import from_here

    for one in planned.changes:
        name = from_here(one.path)
        old = NOWHERE if one.before is None else name
        sys.stdout.writelines(changed_lines(one.before or "", one.after, old, name))
    for line in planned.remarks:
        print(escape_control_chars(line), file=sys.stderr)


def _check(folder: Path, arguments: Namespace) -> int:
    """What ``mongo-tables check --numbers`` says in the folder, as the hook will."""
    from mongo_tables.site.site_config import fill_in, find_files

    file = find_files(folder)[0]
    given = arguments.build_parser(["check"]).parse_args(["check", "--numbers", "--config-file", str(file)])
    fill_in(given)
    status: int = given.run(given)
    return status
