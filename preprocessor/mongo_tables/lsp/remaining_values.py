"""Which values of a field the stages before a place leave, as far as their conditions say it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.lsp.knowledge import Stage

Values = frozenset[Any]

_DROPPING: Final = frozenset(("$match", "$limit", "$skip", "$sample", "$redact"))
"""The stages behind which some documents are gone."""
_SETTING: Final = frozenset(("$set", "$addFields", "$setWindowFields", "$lookup", "$graphLookup"))
"""The stages that say by name which fields they change."""
_KEEPING: Final = _DROPPING - {"$redact"} | {"$sort"}
"""The stages that change no field."""


class Left(NamedTuple):
    """The values that conditions on their field leave; ``fewer``: whether a stage may drop more of them."""

    values: Values
    fewer: bool


def leave(values: Values, path: str, stages: Sequence[Stage], *, unchanged: bool) -> Left:
    """What stages leave of the values that a field has in a collection.

    ``unchanged``: whether the field behind the stages is that of the collection, no array on the way to it; a
    condition upon it is one upon each value then.
    """
    fewer = False
    for stage in reversed(stages):
        ((name, argument),) = stage.items()
        if name == "$match" and unchanged and isinstance(argument, dict):
            values = _passing(values, argument[path]) if path in argument else values
            fewer = fewer or bool(argument.keys() - {path})
        else:
            fewer = fewer or name in _DROPPING
            unchanged = unchanged and (name in _KEEPING or _sets_others(name, argument, path))
    return Left(values, fewer)


def _sets_others(name: str, argument: Any, path: str) -> bool:
    """Whether a stage leaves the field at a path as it was."""
    if name not in _SETTING or not isinstance(argument, dict):
        return False
    if name in ("$lookup", "$graphLookup"):
        changed = [argument.get("as"), argument.get("depthField")]
    elif name == "$setWindowFields":
        changed = list(argument["output"]) if isinstance(argument.get("output"), dict) else [path]
    else:
        changed = list(argument)
    first = path.partition(".")[0]
    return all(str(one).partition(".")[0] != first for one in changed)


def _passing(values: Values, condition: Any) -> Values:
    """The values that meet a condition; all of them where it cannot be judged, or is not written to its end."""
    if condition == {}:  # As one reads whose operand is still to come.
        return values
    order = list(values)
    documents = [{"_id": number, "value": value} for number, value in enumerate(order)]
    try:
        return frozenset(
            order[one["_id"]] for one in aggregate(documents, [{"$match": {"value": condition}}])
        )
    except AggregationError:
        return values
