"""Faults of a pipeline before it runs: refused stages, operators that do not exist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.aggregation import AggregationError, LimitReached, NotOffline, check
from mongo_tables.directives import reader
from mongo_tables.directives.pipelines import hint_on_inner_name
from mongo_tables.findings.finding import Finding, did_you_mean
from mongo_tables.findings.rules import finding
from mongo_tables.results.guards import refusals

if TYPE_CHECKING:
    from mongo_tables.aggregation.limits import PipelineLimits
    from mongo_tables.directives.comments import Comment
    from mongo_tables.directives.pipelines import SharedPipeline
    from mongo_tables.directives.reader import Reading
    from mongo_tables.directives.specs import PipelineSpec


class Judgement(NamedTuple):
    """The judgement of a pipeline before it runs: its faults, and the parts that need a server."""

    faults: tuple[Finding, ...] = ()
    server_only: Finding | None = None


def read_comment(
    comment: Comment, file: str, shared: Callable[[str], SharedPipeline | None]
) -> tuple[Reading, Finding | None]:
    """Read a comment, without a spec if its pipeline is faulty. Also return its server-only fault."""
    read = reader.read(comment, file, shared)
    judged = judge(read.pipeline) if read.pipeline else Judgement()
    spec = None if judged.faults else read.spec
    return replace(read, spec=spec, findings=[*read.findings, *judged.faults]), judged.server_only


def judge(spec: PipelineSpec) -> Judgement:
    """Judge a pipeline before it runs, with the list of allowed operators and the offline evaluator."""
    refused = [
        finding(one.rule, spec.file, spec.locate((key, *one.at), key=True), one.message, one.hint)
        for key, part in (("pipeline", spec.pipeline), ("let", spec.let))
        for one in refusals(part)
    ]
    if any(one.rule == "MT201" for one in refused):
        return Judgement(tuple(refused))
    compiled = judge_offline(spec)  # It has better messages about unknown names.
    return compiled if compiled.faults or not refused else Judgement(tuple(refused))


def judge_offline(spec: PipelineSpec, limits: PipelineLimits | None = None) -> Judgement:
    """Judge a pipeline by compiling it. ``limits`` apply to constants, which are computed at once."""
    try:
        check(spec.pipeline, variables=spec.let, limits=limits)
    except AggregationError as error:
        at = spec.locate(("pipeline", *(error.path or ())), key=True)
        if not isinstance(error, NotOffline):
            hint = did_you_mean(error.unknown, error.known)
            hint = hint or hint_on_inner_name(spec.pipeline, error.path or ())
            return Judgement((finding("MT301", spec.file, at, error.message, hint),))
        # A server may know the operator; on files the run itself reports it.
        message = f"{error.message}: this pipeline cannot run on files"
        hint = "use a mongodb:// source, or other operators"
        if isinstance(error, LimitReached):
            hint = "simplify it, or use a mongodb:// source"
        return Judgement(server_only=finding("MT312", spec.file, at, message, hint))
    return Judgement()
