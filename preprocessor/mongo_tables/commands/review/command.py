"""``mongo-tables review``: which numbers a pull request changes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from mongo_tables.commands.options import add_config_file, add_limit

DESCRIPTION = (
    "Compares this checkout, its pages and its results, with the commit that a pull request is to be merged into,\n"
    "writes every changed number into FOLDER, as changes.md and changes.json, and adds it to the summary of the job.\n"
    "With --post it reads no page: it makes FOLDER/changes.md the comment of the pull request, and edits that comment\n"
    "the next time. The GitHub Action of this program does both, the second alone with a token."
)
EPILOG = (
    "environment: the variables that GitHub Actions set; GITHUB_TOKEN with --post\n\n"
    "exit status: 0 done, also where nothing changed or the token may not write; 2 wrong usage or nothing to work with"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add where the outcome is written, what is compared, and how the comment is found again."""
    parser.add_argument("folder", metavar="FOLDER", help="where the changes are written, and read by --post")
    parser.add_argument(
        "--base",
        metavar="REVISION",
        help="compare with this Git revision (default: what the pull request is to be merged into)",
    )
    parser.add_argument(
        "--post", action="store_true", help="make FOLDER/changes.md the comment of the pull request"
    )
    parser.add_argument(
        "--author",
        default="github-actions[bot]",
        metavar="LOGIN",
        help="who owns the token: no comment of anybody else is edited (default: github-actions[bot])",
    )
    add_limit(parser)
    add_config_file(parser)


def run(arguments: Namespace) -> int:
    """Write the changes, or post them; give 0.

    Raises UsageError and ResultsError for what cannot be compared.
    """
    from mongo_tables.commands.review.reviewing import post_changes, write_changes

    if arguments.post:
        post_changes(arguments)
    else:
        write_changes(arguments)
    return 0
