"""Aggregations from a template, as many as the time allows, over the same documents as queries.

What stands for random numbers in the pipeline is described in ``templates``. An aggregation must give exactly
``limit`` documents; another number is an error, not a result.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from mongo_tables.runner.clients import UnexpectedReply
from mongo_tables.runner.workloads import Config, Done, Share, Step, Traits
from mongo_tables.runner.workloads.query import create, plan, preload, report, reset
from mongo_tables.runner.workloads.templates import encoder

if TYPE_CHECKING:
    from mongo_tables.runner.clients import Client

__all__ = ["TRAITS", "create", "open_steps", "plan", "preload", "report", "reset"]

TRAITS = Traits(
    needs=frozenset(
        {
            "initialDocsToInsert",
            "docSizeKB",
            "writeBatchSize",
            "groupSize",
            "pipeline",
            "limit",
            "testTimeSecs",
        }
    ),
    keeps_data=True,
    writes=False,
)


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Encode the template; a step sends one pipeline and takes all it gives."""
    # An array is a document whose names are its places.
    stages = {str(place): stage for place, stage in enumerate(config["pipeline"])}
    pipeline = encoder(stages, random.Random(share.seed))
    limit = config["limit"]

    def step() -> Done:
        found, size = client.aggregate(pipeline())
        if found != limit:
            raise UnexpectedReply(f"a pipeline gave {found} documents, {limit} were expected")
        return Done(1, found, size)

    return step
