"""The tables of the two sides that `diff` compares."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from mongo_tables.commands.diff.checkouts import tables_of_checkout
from mongo_tables.commands.diff.keys import read_key
from mongo_tables.commands.diff.sites import is_site, tables_of_site
from mongo_tables.commands.diff.states import tables_of
from mongo_tables.commands.options import request_of
from mongo_tables.findings.usage import UsageError
from mongo_tables.results.answers import Answers
from mongo_tables.results.revisions import on_disk
from mongo_tables.site.disk import read_snapshots, require_pages
from mongo_tables.site.site import parse_site
from mongo_tables.site.site_config import has_site_file
from mongo_tables.site.site_pages import page_folders

if TYPE_CHECKING:
    from mongo_tables.commands.diff.states import Table

Kind = Literal["results source", "built site", "checkout"]

_WHOLE: Final = ":."
"""The end of ``REVISION:.``: all files of a revision from here down."""


def read_sides(arguments: Namespace) -> tuple[list[Table], list[Table]]:
    """The tables of OLD and of NEW. Raises UsageError and ResultsError for what cannot be compared."""
    if not (arguments.old.strip() and arguments.new.strip()):
        raise UsageError("OLD and NEW each name a results source or a built site, and one of them is empty")
    with on_disk(arguments.old) as before, on_disk(arguments.new) as after:
        kind = _require_one_kind(arguments, (_kind(before), _kind(after)))
        if kind == "built site":
            if arguments.pages or arguments.key:
                raise UsageError("two built sites are compared whole: name no pages and no --key")
            return tables_of_site(Path(before)), tables_of_site(Path(after))
        if kind == "checkout":
            old = tables_of_checkout(Path(before), arguments, needs_results=False)
            return old, tables_of_checkout(Path(after), arguments)
        return _read_tables(before, arguments), _read_tables(after, arguments)


def _kind(named: str) -> Kind:
    if "://" in named:
        return "results source"
    if is_site(Path(named)):
        return "built site"
    # What describes a site is a file that no results source has.
    return "checkout" if has_site_file(Path(named)) else "results source"


def _require_one_kind(arguments: Namespace, kinds: tuple[Kind, Kind]) -> Kind:
    """What both sides are. A revision of a checkout may be from before it had a file of a site."""
    if kinds[0] == kinds[1]:
        return kinds[0]
    if kinds[1] == "checkout" and arguments.old.endswith(_WHOLE):
        return "checkout"
    apart = next(kind for kind in kinds if kind != "results source")
    raise UsageError(
        f"one of the two is a {apart}, the other is not", f"give two {apart}s, or two results sources"
    )


def _read_tables(named: str, arguments: Namespace) -> list[Table]:
    paths = arguments.pages or page_folders(arguments.site)
    read = require_pages(read_snapshots(paths, request_of(arguments)))
    sites = [parse_site(snapshot) for snapshot in read.snapshots]
    key = read_key(arguments.key, [page for site in sites for page in site.named])
    with closing(Answers(named, arguments.limits)) as asked:
        asked.source.reach()
        return tables_of(sites, asked, key)
