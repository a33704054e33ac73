"""Which stage a limit is due to, where what reached it cannot tell: found by trying the stages again, one by one.

Stages pass documents on one at a time, so when the time is over between two documents, any of them may have taken
it. To keep an account of each would cost every pipeline time; to look for the stage costs only those that fail.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mongo_tables.aggregation import meter
from mongo_tables.aggregation.compiler import compile_pipeline
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.limits import LimitReached

if TYPE_CHECKING:
    from mongo_tables.aggregation.compiler import Scope
    from mongo_tables.aggregation.values import Document

_SECONDS = 0.25


def culprit(pipeline: Sequence[Mapping[str, Any]], scope: Scope, documents: Sequence[Document]) -> Path:
    """The path of the stage that reaches a limit with some documents, or else takes longest for them."""
    longest = -1.0
    found: Path = (0, *pipeline[0])
    for place, spec in enumerate(pipeline):
        taken, made = _try_stage(spec, scope, documents, place)
        if taken > longest:
            longest, found = taken, (place, *spec)
        if made is None:
            break
        documents = made or documents
    return found


def _try_stage(
    spec: Mapping[str, Any], scope: Scope, documents: Sequence[Document], place: int
) -> tuple[float, list[Document] | None]:
    """The seconds that a stage takes (infinite if it reaches a limit), and its documents (None if it fails)."""
    start = time.thread_time()
    try:
        with meter.measure_pipeline(meter.limits()._replace(seconds=_SECONDS)):
            stage = compile_pipeline([spec], scope, first=place)
            made = list(stage(meter.admit_documents(documents)))
    except LimitReached:
        return float("inf"), None
    except AggregationError:
        return time.thread_time() - start, None
    return time.thread_time() - start, made
