"""``mongo-tables push``: copy fixture files into a results database."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from mongo_tables.commands.options import add_options
from mongo_tables.findings.reporters import escape_control_chars, format_count
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.opening import is_uri, open_source

DESCRIPTION = (
    "Copies collections from a fixture folder, or from plain files, into a results database: the reverse of\n"
    "`pull`. Documents that exist already are not changed, so a second push writes nothing."
)
EPILOG = """\
push writes only to a database that a push created, or that has its marker. It refuses another one, and says how the
owner releases it. Documents that the files lack stay where they are.

examples:
  mongo-tables push mongodb://HOST/DATABASE                every collection of the site's files
  mongo-tables push mongodb://HOST/DATABASE results        one of them
  mongo-tables push mongodb://HOST/DATABASE --from bench.json
  mongo-tables push mongodb://HOST/DATABASE --remove       remove what the files lack

exit status: 0 copied, or nothing to change, 2 wrong usage or nothing to work with
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the database, the collections, and the source."""
    parser.add_argument(
        "target", metavar="URI", help="mongodb://HOST/DATABASE, with a user who may write there"
    )
    parser.add_argument(
        "collections", nargs="*", metavar="COLLECTION", help="default: all collections of the files"
    )
    parser.add_argument(
        "--from",
        dest="origin",
        metavar="FILES",
        help="files or folder (default: the site's folder, else fixtures)",
    )
    parser.add_argument("--remove", action="store_true", help="remove documents that the files do not have")
    parser.add_argument("--dry-run", action="store_true", help="print the changes without writing them")
    add_options(parser, "--config-file")


def run(arguments: Namespace) -> int:
    """Copy the documents, and print a line for each changed collection. Return 0, even without changes."""
    from mongo_tables.commands.file_changes import find_fixture_folder
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.runner.push import push

    if not is_uri(arguments.target):
        raise CommandError(f"{arguments.target} is not a database", "mongodb://HOST/DATABASE names one")
    source = open_source(arguments.origin or find_fixture_folder(arguments.site))
    if not isinstance(source, FileSource):
        raise CommandError("--from names files, or a folder of them", "between databases: pull, then push")
    source.reach()
    done = push(
        source, arguments.target, arguments.collections, remove=arguments.remove, dry_run=arguments.dry_run
    )
    for one in done:
        name = escape_control_chars(one.collection)
        if one.is_change:
            documents = format_count(one.documents, "document")
            print(f"{name}: {documents}, {one.added} new, {one.changed} changed, {one.removed} gone")
        if one.kept:
            print(f"{name}: kept {format_count(one.kept, 'document')} that the files do not have (--remove)")
    changed = sum(one.is_change for one in done)
    print(f"{changed} of {len(done)} collections {'would change' if arguments.dry_run else 'changed'}")
    return 0
