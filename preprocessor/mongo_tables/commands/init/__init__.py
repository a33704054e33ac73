"""``mongo-tables init``: the set-up of a repository, or the first comment for a collection.

``setup`` finds results and plans the files of a set-up, and ``site_files`` extends existing files. ``draft`` writes the
comment, and ``columns`` chooses its content.
"""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import SOURCE, add_options

DESCRIPTION = (
    "Finds the results of a repository and writes a first set-up: the setting for these results, a table in README.md\n"
    "or on a page of the site, and the commit hook. Prints each change, and checks the result. Only adds lines to\n"
    "existing files, and prints lines that it cannot add safely. A second run adds nothing.\n"
    "\n"
    "With --table, only writes the comment of a table for a collection: to standard output, or at the end of a page."
)
EPILOG = f"""\
The results are the folder fixtures, else a file of a benchmark tool, else JSON, JSON Lines, CSV or TSV with several
documents. Their setting is an entry for mongo-tables in mkdocs.yml, properdocs.yml or zensical.toml or, without a site,
the file mongo-tables.toml.

with --table, {SOURCE}

examples:
  mongo-tables init                                          set up this repository
  mongo-tables init --numbers                                which numbers can be checked against which results
  mongo-tables init --table results                          the first comment for a collection
  mongo-tables init --table results --append docs/speed.md   at the end of a page

exit status: 0 the set-up is written and the check has no findings, or the comment is written; 1 the check has findings;
2 wrong usage or nothing to work with"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options for a set-up, and those for a comment alone."""
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="the repository (default: .)"
    )
    add_options(parser, "--results")
    parser.add_argument(
        "--dry-run", action="store_true", help="show the changes as a diff without writing them"
    )
    parser.add_argument(
        "--numbers",
        action="store_true",
        help="write no file; print how many numbers in README files, documentation and llms.txt are in each file of "
        "results, and how to check them",
    )
    comment = parser.add_argument_group("a comment alone")
    comment.add_argument(
        "--table",
        nargs="?",
        const="",
        metavar="COLLECTION",
        help="write the comment of a table for this collection (default: the only collection)",
    )
    comment.add_argument("--append", metavar="PAGE", help="write the comment at the end of this page")
    add_options(comment, "--limit", "--config-file")
    # A set-up finds the site itself, because it may have to write the site's file.
    parser.set_defaults(site_only=True)
