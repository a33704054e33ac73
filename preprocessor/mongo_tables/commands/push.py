"""``mongo-tables push``: copy fixture files into a results database."""

from __future__ import annotations

from argparse import Namespace

from mongo_tables.commands.file_changes import find_fixture_folder
from mongo_tables.findings.reporters import escape_control_chars, format_count
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.file_source import FileSource
from mongo_tables.results.opening import is_uri, open_source
from mongo_tables.runner.push import push


def run(arguments: Namespace) -> int:
    """Copy the documents, and print a line for each changed collection. Return 0, even without changes."""
    if not is_uri(arguments.target):
        raise CommandError(f"{arguments.target} is not a database", "write mongodb://HOST/DATABASE")
    source = open_source(arguments.origin or find_fixture_folder(arguments.site))
    if not isinstance(source, FileSource):
        raise CommandError("--from must name files or a folder", "to copy a database, use pull, then push")
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
