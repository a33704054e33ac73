"""The tables of the two sides that `diff` compares."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from preprocessor.commands.diff.sites import is_site, tables_of_site
from preprocessor.commands.diff.states import tables_of
from preprocessor.findings.usage import UsageError
from preprocessor.pages.build import Build
from preprocessor.pages.files import read_pages
from preprocessor.pages.keptanswers import KeptAnswers
from preprocessor.pages.sitepages import page_folders
from preprocessor.results.revisions import on_disk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from preprocessor.commands.diff.states import Table
    from preprocessor.pages.model import Page


def read_sides(arguments: Namespace) -> tuple[list[Table], list[Table]]:
    """The tables of OLD and of NEW. Raises UsageError and ResultsError for what cannot be compared."""
    sides = (arguments.old, arguments.new)
    if not all(side.strip() for side in sides):
        raise UsageError("OLD and NEW each name a results source or a built site, and one of them is empty")
    sites = ["://" not in side and is_site(Path(side)) for side in sides]
    if all(sites):
        if arguments.pages or arguments.key:
            raise UsageError("two built sites are compared whole: name no pages and no --key")
        old, new = (tables_of_site(Path(side)) for side in sides)
        return old, new
    if any(sites):
        raise UsageError("one of the two is a built site, the other is not", "give two sites, or two sources")
    return _read_tables(arguments.old, arguments), _read_tables(arguments.new, arguments)


def _read_tables(where: str, arguments: Namespace) -> list[Table]:
    with on_disk(where) as named:
        pages = read_pages(arguments.pages or page_folders(arguments.site), arguments.pipelines)
        with closing(KeptAnswers(named, arguments.limits)) as asked:
            asked.source.reach()
            return tables_of(Build(asked, pages), _read_key(arguments.key, pages))


def _read_key(written: str | None, pages: Sequence[Page]) -> list[str]:
    """The columns that name rows. Raises UsageError when no figure shows all of them."""
    key = [name.strip() for name in written.split(",")] if written else []
    shown = ({column for _, column in spec.shown_columns} for page in pages for spec in page.pipeline_specs)
    if key and not any(map(set(key).issubset, shown)):
        raise UsageError(
            f"--key {written}: no table has all of these columns", "name them as the comments do"
        )
    return key
