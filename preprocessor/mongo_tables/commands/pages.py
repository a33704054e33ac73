"""The pages that the arguments of a command name."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable

from mongo_tables.build import Report, build
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import Request, read_snapshots, require_pages
from mongo_tables.site.snapshot import Needs


def request_of(arguments: Namespace) -> Request:
    """Return the request for reading pages, from arguments with the defaults of the site."""
    results = getattr(arguments, "results", None) or ""
    return Request(arguments.site, arguments.pipelines, results, arguments.limits, arguments.server)


def build_pages(
    paths: Iterable[str], arguments: Namespace, source: Answers, needs: Needs = "rows"
) -> list[Report]:
    """Build the pages that ``paths`` name. Raises CommandError if a path names no page."""
    read = require_pages(read_snapshots(paths, request_of(arguments), needs))
    return [build(snapshot, source) for snapshot in read.snapshots]
