"""What the versions with buckets share: expressions over the items of a bucket, and the pipelines around them."""

from __future__ import annotations

from typing import Any

from mongo_tables.runner.eventschemas.events import STATUSES
from mongo_tables.runner.eventschemas.reports import summed
from mongo_tables.runner.eventschemas.version import Pipeline


def none_yet() -> dict[str, int]:
    """Totals of no events, by short names."""
    return dict.fromkeys(STATUSES.values(), 0)


def added(field: str, count: int) -> dict[str, Any]:
    """The number in a field, 0 where it is not there, and ``count`` more."""
    return {"$add": [{"$ifNull": [field, 0]}, count]}


def increased(totals: str, counts: str) -> dict[str, Any]:
    """Totals at a path, each increased by the count of that name at another, where there is one."""
    return {
        name: {"$add": [f"{totals}.{name}", {"$ifNull": [f"{counts}.{name}", 0]}]}
        for name in STATUSES.values()
    }


def totals_of(items: Any, inside: Any, counts: str) -> dict[str, Any]:
    """Totals of ``counts`` over the items for which ``inside`` is true; both are said of ``$$this``."""
    return {
        "$reduce": {
            "input": items,
            "initialValue": none_yet(),
            "in": {"$cond": [inside, increased("$$value", counts), "$$value"]},
        }
    }


def between(lower: bytes, upper: bytes) -> dict[str, Any]:
    """The stage that selects buckets by ``_id``, both ends with them."""
    return {"$match": {"_id": {"$gte": lower, "$lte": upper}}}


def summing(lower: bytes, upper: bytes, totals: Any) -> Pipeline:
    """The pipeline for one range: buckets from ``lower`` to ``upper``, the totals of each, their sums."""
    return [between(lower, upper), {"$project": {"within": totals}}, *summed("within.", STATUSES)]


def kept_or(lower: bytes, upper: bytes, totals: Any) -> dict[str, Any]:
    """The totals that a bucket keeps where it lies between those at the ends; those only hold other days too."""
    return {"$cond": [{"$and": [{"$gt": ["$_id", lower]}, {"$lt": ["$_id", upper]}]}, "$totals", totals]}
