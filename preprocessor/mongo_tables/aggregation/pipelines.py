"""Pipelines: stages, compiled into functions from documents to documents and chained.

A stage that depends only on its own content is compiled once and cached: a pipeline is compiled to be judged
and again to run, pipelines of one site share stages, and the statements of a page query the same rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import bson

from mongo_tables.aggregation import limits
from mongo_tables.aggregation.compiler import Scope, find_form
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.fields import StageRecord, record_of, register_record
from mongo_tables.aggregation.limits import LimitReached, give_held_documents
from mongo_tables.aggregation.optimizer import leading_group, leading_joins, reorder, sort_limit
from mongo_tables.aggregation.values import Document

Stage = Callable[[Iterator[Document]], Iterator[Document]]
StageForm = Callable[[Any, Scope, Path], Stage]
_STAGES: dict[str, StageForm] = {}
_MOST_COMPILED: Final = 4096
_COMPILED: Final[dict[bytes, Stage]] = {}
_TRIAL_SECONDS: Final = 0.25


def stage(*names: str, record: StageRecord) -> Callable[[StageForm], StageForm]:
    """Register a function ``(argument, scope, path) -> Stage``, and the record of its effect on fields."""

    def register(function: StageForm) -> StageForm:
        for name in names:
            _STAGES[name] = function
            register_record(name, record)
        return function

    return register


def compile_pipeline(pipeline: Sequence[Any], scope: Scope, path: Path = (), first: int = 0) -> Stage:
    """Compile a pipeline into one function from documents to documents.

    Input documents are never changed and may share parts with the output. ``first``: the position of the
    pipeline's first stage in the list at ``path``.
    """
    if not isinstance(pipeline, list | tuple):
        raise AggregationError("a pipeline must be a list of stages", path, 14)
    for index, spec in enumerate(pipeline, first):
        if not isinstance(spec, Mapping):
            raise AggregationError(say_no_stage(spec), (*path, index), 14)
        if len(spec) != 1:
            message = f"a stage must have exactly one '$' name, not {len(spec)}"
            raise AggregationError(message, (*path, index), 40323)
    leads = not path or path[-2:] == ("$unionWith", "pipeline")
    order = reorder(pipeline)
    specs = [pipeline[place] for place in order]
    ahead = {leading_group(specs, scope.let), *leading_joins(specs, scope.let)} if leads else set()
    hints = {place: (at in ahead, sort_limit(specs, at)) for at, place in enumerate(order)}
    compiled: dict[int, Stage] = {}
    for place, spec in enumerate(pipeline):
        leading, most = hints.get(place, (False, 0))
        compiled[place] = _compile_stage(
            spec, scope._replace(leading=leading, most=most), (*path, place + first)
        )
    stages = [(compiled[place], record_of(next(iter(pipeline[place])))) for place in order]

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        for one, record in stages:
            made = one(documents)
            documents = made if record and record.watched else give_held_documents(made)
        return documents

    return run


def say_no_stage(value: object) -> str:
    """Return the message about a stage that is not a document."""
    text = f", not the string '{value}'" if isinstance(value, str) else ""
    return f"a stage must be a document with one '$' name{text}"


def _compile_stage(spec: Any, scope: Scope, path: Path) -> Stage:
    key = b"" if scope.slots else content_key(spec, path, scope.leading, scope.most)
    found = _COMPILED.get(key)
    if found is None:
        asked = scope.context.asked
        ((name, argument),) = spec.items()
        found = find_form("stage", name, _STAGES, (*path, name), 40324)(argument, scope, (*path, name))
        if key and scope.context.asked == asked:
            if len(_COMPILED) >= _MOST_COMPILED:  # a preview may run for days
                _COMPILED.clear()
            _COMPILED[key] = found
    return found


def content_key(*parts: Any) -> bytes:
    """Return a key for BSON values, equal only for equal values of equal types, or nothing if there is none."""
    try:
        return bytes(bson.encode({"": parts}))
    except (bson.errors.BSONError, ValueError, OverflowError, RecursionError):
        return b""


def utc_now() -> datetime:
    """Return the current time as BSON stores it: naive UTC, milliseconds."""
    return datetime.now(UTC).replace(tzinfo=None)


def find_slowest(pipeline: Sequence[Mapping[str, Any]], scope: Scope, documents: Sequence[Document]) -> Path:
    """Return the path of the stage that reaches a limit with some documents, or else takes longest.

    Stages pass documents on one at a time, so when the time is over between two documents, any of them may
    have used it. Measuring each stage would slow down every pipeline; a second run affects only those that
    fail.
    """
    longest = -1.0
    found: Path = (0, *pipeline[0])
    for place, spec in enumerate(pipeline):
        start = time.thread_time()
        made: list[Document] | None = None
        try:
            with limits.measure_pipeline(limits.current()._replace(seconds=_TRIAL_SECONDS)):
                made = list(compile_pipeline([spec], scope, first=place)(limits.admit_documents(documents)))
            taken = time.thread_time() - start
        except LimitReached:
            taken = float("inf")
        except AggregationError:
            taken = time.thread_time() - start
        if taken > longest:
            longest, found = taken, (place, *spec)
        if made is None:
            break
        documents = made or documents
    return found
