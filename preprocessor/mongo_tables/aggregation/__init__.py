"""MongoDB's aggregation language in Python: bson types in, bson types out, no server.

``aggregate`` returns the documents that a server returns, or raises ``NotOffline`` for unsupported features. The
package imports no other package of this project.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from threading import RLock
from typing import Any

from mongo_tables.aggregation import limits as meter
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path
from mongo_tables.aggregation.fields import Gives, record_of
from mongo_tables.aggregation.limits import LimitReached, PipelineLimits

__all__ = ["AggregationError", "LimitReached", "NotOffline", "PipelineLimits", "aggregate", "check"]

# A compiled stage keeps the values of its variables, so two threads must not run the same stage.
_ONE_AT_A_TIME = RLock()


def aggregate(
    documents: Iterable[dict[str, Any]],
    pipeline: Sequence[Mapping[str, Any]],
    *,
    collections: Mapping[str, Sequence[dict[str, Any]]] | None = None,
    now: datetime | None = None,
    variables: Mapping[str, Any] | None = None,
    seed: int = 0,
    limits: PipelineLimits | None = None,
) -> list[dict[str, Any]]:
    """Run ``pipeline`` on ``documents`` and return the resulting documents.

    ``collections`` are the collections that ``$lookup``, ``$graphLookup`` and ``$unionWith`` read, by name. ``now`` is
    ``$$NOW`` (default: the time of the call). ``variables`` is the command's ``let`` (constant expressions). ``seed``
    is the seed of ``$sample`` and ``$rand``. ``limits`` bounds time and memory. Input documents are never changed; the
    output may share parts with them.

    Raises AggregationError (with the path of the culprit) if the server would refuse the pipeline or fail, or if a
    document has a field name that is not a string. Raises NotOffline if the pipeline needs a server, and its subclass
    LimitReached if the pipeline exceeds the limits.

    Example:
        >>> aggregate([{"n": 1}, {"n": 2}], [{"$group": {"_id": None, "sum": {"$sum": "$n"}}}])
        [{'_id': None, 'sum': 3}]
    """
    # ``bson`` is slow to import, and many checks evaluate nothing.
    from mongo_tables.aggregation.pipelines import compile_pipeline, make_scope

    with _ONE_AT_A_TIME, meter.measure_pipeline(limits or PipelineLimits()):
        others = (
            {} if collections is None else collections
        )  # ``or {}`` would need the length, which may be on disk.
        run = compile_pipeline(pipeline, make_scope(others, variables, now, seed))
        last: Path = (len(pipeline) - 1, *pipeline[-1]) if pipeline else ()
        try:
            given = chain.from_iterable(meter.admit_blocks(documents))
            rows = meter.gather_within_limits(run(given), last)
            for stage in pipeline:
                record = record_of(next(iter(stage)))
                if record is None or record.gives not in (Gives.CHOSEN, Gives.BY_PLACE):
                    break
            else:
                return rows  # The rows are unchanged input documents of known size.
            for row in rows:
                meter.check_size(row, "a document", last)
        except LimitReached as error:
            if error.limit == "seconds" and error.path is last:
                error.path = None  # The code that collects the rows does not know the stage.
            raise
        except TypeError as error:
            if any(map(_has_other_names, chain(documents, *others.values()))):
                raise AggregationError("a document has a field name that is not a string") from error
            raise
        return rows


def _has_other_names(value: Any) -> bool:
    """Return whether a value has a field name that is not a string, at any depth."""
    if isinstance(value, Mapping):
        return any(not isinstance(name, str) or _has_other_names(one) for name, one in value.items())
    return isinstance(value, list) and any(map(_has_other_names, value))


def check(
    pipeline: Sequence[Mapping[str, Any]],
    *,
    variables: Mapping[str, Any] | None = None,
    limits: PipelineLimits | None = None,
) -> None:
    """Parse the pipeline without running it. ``limits`` applies to the computation of constants.

    Raises AggregationError (with the path of the culprit) for faults that do not depend on documents: an unknown stage
    or operator, arguments of the wrong shape or number, or a constant that can never be computed.

    Example:
        >>> check([{"$set": {"x": {"$abs": []}}}])
        Traceback (most recent call last):
        mongo_tables.aggregation.errors.AggregationError: $abs takes 1 argument, not 0 (at pipeline[0].$set.x.$abs)
    """
    from mongo_tables.aggregation.pipelines import check_pipeline

    with _ONE_AT_A_TIME, meter.measure_pipeline(limits or PipelineLimits()):
        check_pipeline(pipeline, variables)
