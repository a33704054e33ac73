"""``mongo-tables pull``: result documents from a database into fixture files."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from preprocessor.commands import Unusable, read_pages
from preprocessor.pages import queries

if TYPE_CHECKING:
    from preprocessor.results import Query
    from preprocessor.results.pull import FileChange


def run(arguments: Namespace) -> int:
    """Copies, and prints a line for each file that changed. 0 also when nothing did."""
    from preprocessor.results.pull import pull
    from preprocessor.results.readpaths import trees_by_collection

    wanted = _queries(arguments)
    names = arguments.collections or sorted({query.collection for query in wanted})
    if not names:
        raise Unusable("no page reads a collection", "name the collections, or the pages with --docs")
    trees = trees_by_collection(wanted) if arguments.prune else None
    report = pull(arguments.uri, Path(arguments.to), names, trees, dry_run=arguments.dry_run)
    changed = [_described(file) for file in report.files if file.is_change]
    verb = "would change" if arguments.dry_run else "changed"
    print("\n".join(changed) if changed else "nothing changed")
    print(f"{len(changed)} of {len(report.files)} files {verb}")
    return 0


def _queries(arguments: Namespace) -> list[Query]:
    """What the pages ask; pages are not needed when the collections are named and everything is kept."""
    if arguments.collections and not arguments.prune:
        return []
    pages = read_pages(arguments.docs or ["docs"], arguments.pipelines)
    faulty = [page.file for page in pages if any(one.severity == "error" for one in page.findings)]
    if faulty and arguments.prune:
        raise Unusable(
            f"{faulty[0]} has errors, so what it reads cannot be known",
            f"mend what `mongo-tables check {faulty[0]}` lists, or leave out --prune",
        )
    return queries(pages)


def _described(file: FileChange) -> str:
    return f"{file.path}: {file.documents} documents, {file.added} new, {file.changed} changed, {file.removed} gone"
