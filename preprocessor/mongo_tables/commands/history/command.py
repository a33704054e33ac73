"""The implementation of ``mongo-tables history``."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from fnmatch import fnmatchcase
from itertools import groupby
from operator import itemgetter

from mongo_tables.commands.history.series import (
    find_known,
    format_text,
    list_documents,
    read_campaigns,
    read_known,
)
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.history import list_series
from mongo_tables.results.revisions import list_revisions
from mongo_tables.runner.store import open_store


def run(arguments: Namespace) -> int:
    """Print the series. With ``--fail``, return 1 if a change has no known reason.

    Raises CommandError if there is nothing to show, or if a file or a revision cannot be read.
    """
    known = read_known(arguments.known) if arguments.known else []
    revisions = list_revisions(arguments.revisions) if arguments.revisions else []
    if not (arguments.campaigns or revisions):
        raise CommandError("no campaign is named", "mongo-tables history fixtures/campaigns/*")
    wanted = arguments.experiment or ["*"]
    rows = read_campaigns(arguments.campaigns, revisions)
    asked = [row for row in rows if any(fnmatchcase(row["_id"]["testname"], one) for one in wanted)]
    series = list_series(asked, ratios=arguments.ratio)
    if not series:
        raise CommandError("no row has a ratio to a reference" if arguments.ratio else "no row has a speed")
    if arguments.write:
        measure = "ratio" if arguments.ratio else "speed"
        documents = sorted(list_documents(series, known, measure), key=itemgetter("experiment"))
        with closing(open_store(arguments.write)) as store:
            for experiment, some in groupby(documents, itemgetter("experiment")):
                store.put_history(experiment, measure, list(some))
    print("\n".join(format_text(series, known, points=arguments.points, ratios=arguments.ratio)))
    unknown = any(
        find_known(one.name, change.point.campaign, known) is None for one in series for change in one.changes
    )
    return int(arguments.fail and unknown)
