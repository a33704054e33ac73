"""What a pipeline in a page may not do: write, run code, or read the state of a server instead of results.

Needs no database and no BSON library, so that every check can use it. Called once for every query, before
anything is sent (``results.running.guard``). Sources: the stage and operator lists of the MongoDB manual,
https://www.mongodb.com/docs/manual/reference/operator/aggregation-pipeline/ and
https://www.mongodb.com/docs/manual/core/server-side-javascript/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Path = tuple[str | int, ...]

_WRITES = "writes to the database; a page only reads"
_CODE = "runs code on the server; say it with aggregation operators"
_STATE = "reads the state of the server, not results; its rows differ from run to run"

REFUSED_STAGES: Mapping[str, str] = {
    "$out": _WRITES,
    "$merge": _WRITES,
    "$changeStream": _STATE,
    "$changeStreamSplitLargeEvent": _STATE,
    "$collStats": _STATE,
    "$currentOp": _STATE,
    "$indexStats": _STATE,
    "$listCachedAndActiveUsers": _STATE,
    "$listCatalog": _STATE,
    "$listClusterCatalog": _STATE,
    "$listLocalSessions": _STATE,
    "$listSampledQueries": _STATE,
    "$listSearchIndexes": _STATE,
    "$listSessions": _STATE,
    "$operationMetrics": _STATE,
    "$planCacheStats": _STATE,
    "$queryStats": _STATE,
    "$querySettings": _STATE,
    "$shardedDataDistribution": _STATE,
}
"""Stages that are refused, with the reason."""

REFUSED_OPERATORS: Mapping[str, str] = {
    "$function": _CODE,
    "$accumulator": _CODE,
    "$where": _CODE,
    "$_internalJsEmit": _CODE,
}
"""Operators that are refused wherever an expression or a filter can stand, with the reason."""

_REFUSED = {**REFUSED_STAGES, **REFUSED_OPERATORS}
_NAMES = frozenset(_REFUSED)
_SCALARS = frozenset({str, int, float, bool, type(None)})


class Refusal(NamedTuple):
    """Why a pipeline is not run, and where: ``path`` leads from the pipeline to the refused key or value."""

    path: Path
    message: str


def refusals(pipeline: Sequence[Any] | Mapping[str, Any]) -> list[Refusal]:
    """Everything in a pipeline (or in a mapping of variables) that must not reach a server, in reading
    order.

    A refused name is refused at any depth: pipelines nest in ``$lookup``, ``$facet``, ``$unionWith`` and
    whatever a later server adds, and no expression has the name of a refused stage. Under ``$literal`` keys
    are data.
    """
    return list(_in_value(pipeline, (), False)) if _suspicious(pipeline) else []


def _suspicious(value: Any) -> bool:
    """Whether there may be a refusal anywhere; what is none of JSON's own types is looked at with care."""
    kind = type(value)
    if kind in _SCALARS:
        return False
    if kind is dict:
        return not _NAMES.isdisjoint(value) or any(map(_suspicious, value.values()))
    if kind is list or kind is tuple:
        return any(map(_suspicious, value))
    return isinstance(value, (Mapping, list, tuple, str))


def _in_value(value: Any, path: Path, is_data: bool) -> Iterator[Refusal]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in _REFUSED and not is_data:
                yield Refusal((*path, key), f"{key} {_REFUSED[key]}")
            else:
                yield from _in_value(inner, (*path, key), is_data or key == "$literal")
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            yield from _in_value(inner, (*path, number), is_data)
    elif isinstance(value, str) and type(value).__name__ == "Code":
        yield Refusal(path, f"JavaScript code as a value: {_CODE}")
