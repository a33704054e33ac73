"""The tables of a checkout: its own pages, with its own shared pipelines and results, as its own site names them."""

from __future__ import annotations

from argparse import Namespace
from contextlib import chdir, closing
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.commands.diff.keys import read_key
from mongo_tables.commands.diff.states import tables_of
from mongo_tables.findings.usage import UsageError
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import Request, read_snapshots
from mongo_tables.site.site import parse_site
from mongo_tables.site.site_config import fill_in
from mongo_tables.site.site_pages import page_folders

if TYPE_CHECKING:
    from mongo_tables.commands.diff.states import Table


def tables_of_checkout(folder: Path, asked: Namespace, *, needs_results: bool = True) -> list[Table]:
    """The tables of the pages in ``folder``, named as they are from there.

    ``asked`` has the options of ``diff``: pages, ``config_file`` and ``key``, all seen from the folder, and ``limit``.
    What is not there has no tables. Raises UsageError for a ``config_file`` that is not seen from there, ResultsError
    for a results source that cannot be used at all, unless ``needs_results`` is false: then the tables say so.
    """
    if asked.config_file and Path(asked.config_file).is_absolute():
        raise UsageError(
            f"{asked.config_file} is a file of one checkout alone",
            "write its path as it is from the root of both",
        )
    with chdir(folder):
        if asked.config_file and not Path(asked.config_file).is_file():
            return []
        site = Namespace(config_file=asked.config_file, pipelines=None, limit=asked.limit, results=None)
        fill_in(site)
        there = [path for path in asked.pages or page_folders(site.site) if Path(path).exists()]
        read = read_snapshots(there, Request(site.site, site.pipelines, site.results, site.limits))
        sites = [parse_site(snapshot) for snapshot in read.snapshots]
        key = read_key(asked.key, [page for one in sites for page in one.named])
        with closing(Answers(site.results, site.limits)) as answers:
            return tables_of(sites, answers, key, needs_results=needs_results)
