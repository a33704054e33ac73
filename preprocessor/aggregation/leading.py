"""Which ``$lookup`` stages the server runs in its other engine, because they lead the pipeline.

There the field that a join sets is dropped and set at the end of the document; elsewhere it keeps its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# What a query takes in before the engine proper, in the order in which it can: a later stage of an earlier rank
# ends it. $match moves ahead of $sort.
_RANKS = {"$match": 1, "$sort": 1, "$skip": 2, "$limit": 2, "$project": 3, "$group": 4, "$lookup": 4}


def leading_joins(pipeline: Sequence[Any]) -> frozenset[int]:
    """The places in a pipeline of the ``$lookup`` stages that set their field at the end."""
    found, reached = set(), 0
    for place, spec in enumerate(pipeline):
        name = next(iter(spec), "") if isinstance(spec, Mapping) else ""
        rank = _RANKS.get(name, 0)
        if rank < reached or not rank or (rank == reached == 3):
            break
        if name == "$project" and not _includes(spec[name]):
            break
        if name == "$lookup":
            if not _joins(spec[name]) or _unwound(spec[name], pipeline[place + 1 : place + 2]):
                break
            found.add(place)
        reached = rank
    return frozenset(found)


def _includes(projection: Any) -> bool:
    """Whether a projection names what stays, and what is computed at its top level alone."""
    if not isinstance(projection, Mapping):
        return False
    computed = [name for name, value in projection.items() if not isinstance(value, bool | int | float)]
    if computed and ("_id" in computed or any("." in name for name in projection)):
        return False
    return not any(value in (0, False) for name, value in projection.items() if name != "_id")


def _joins(argument: Any) -> bool:
    """Whether a join is by two fields alone, with no number in their paths."""
    if not isinstance(argument, Mapping) or "pipeline" in argument:
        return False
    fields = f"{argument.get('localField')}.{argument.get('foreignField')}"
    return not any(part.isdigit() for part in fields.split("."))


def _unwound(argument: Mapping[str, Any], following: Sequence[Any]) -> bool:
    """Whether the next stage unwinds the joined field: the server makes one stage of the two."""
    if not following or not isinstance(following[0], Mapping):
        return False
    unwind = following[0].get("$unwind")
    path = unwind.get("path") if isinstance(unwind, Mapping) else unwind
    return path == f"${argument.get('as')}"
