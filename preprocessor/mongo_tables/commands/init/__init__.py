"""``mongo-tables init``: the set-up of a repository, or the first comment for a collection.

``setup`` finds results and plans the files of a set-up, and ``site_files`` extends existing files. ``draft`` writes the
comment, and ``columns`` chooses its content.
"""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import SOURCE, add_options

DESCRIPTION = (
    "Looks at a repository and writes a first working set-up: where results are, a table of them in README.md or\n"
    "on a page of the site, and the commit hook. It says what it did, and checks it at the end. Existing\n"
    "lines stay: it only adds some, and says which ones it cannot add safely. A second run adds nothing.\n"
    "\n"
    "With --table it looks at the documents of a collection instead, and writes a comment that shows them as a table:\n"
    "to standard output, or at the end of a page."
)
EPILOG = f"""\
Results of a set-up are the folder fixtures, else a file that a benchmark tool wrote, else JSON, JSON Lines, CSV or TSV
with several documents. Without a site the file mongo-tables.toml says where they are; mkdocs.yml, properdocs.yml and
zensical.toml get an entry for mongo-tables.

with --table, {SOURCE}

examples:
  mongo-tables init                                          set up this repository
  mongo-tables init --numbers                                which numbers can be checked against which results
  mongo-tables init --table results                          the first comment for a collection
  mongo-tables init --table results --append docs/speed.md   at the end of a page

exit status: 0 set up, and the check finds nothing, or the comment is written; 1 the check finds something;
2 wrong usage or nothing to work with"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the folder and its results; the collection of a comment, and the page for it."""
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
        help="write no file; print how many numbers of README files, documentation and llms.txt are in which results, "
        "and how to check them",
    )
    comment = parser.add_argument_group("a comment alone")
    comment.add_argument(
        "--table",
        nargs="?",
        const="",
        metavar="COLLECTION",
        help="write the comment of a table for this collection (default: the only one there is)",
    )
    comment.add_argument("--append", metavar="PAGE", help="write the comment at the end of this page")
    add_options(comment, "--limit", "--config-file")
    # A set-up finds the site itself, because it may have to write the site's file first.
    parser.set_defaults(site_only=True)
