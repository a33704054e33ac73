"""The ``Explanation`` of a comment: the effect of each stage of its pipeline on a results source."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from mongo_tables.directives.pipelines import hint_on_inner_name
from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.findings.finding import Finding, Severity, did_you_mean
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.rules import finding
from mongo_tables.jsontext.reader import value_at
from mongo_tables.lint.causes import Gap, gap, new_gaps, why_fewer, why_nothing
from mongo_tables.lint.failures import failure_hint
from mongo_tables.lint.walk import (
    FieldChanges,
    FieldCounts,
    Stage,
    StageWalk,
    Step,
    difference,
    fields_guarded,
    fields_read,
    operator_of,
    shape_of,
    suggest_path,
)
from mongo_tables.results.model import Query, ResultsError, ResultsSource
from mongo_tables.results.row_names import has_path


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark about a stage (counted from 1) or, if ``stage`` is None, about the table."""

    severity: Severity
    message: str
    hint: str = ""
    stage: int | None = None


@dataclass(frozen=True, slots=True)
class StageReport:
    """A stage, the documents before and after it, and its effect on their fields.

    Attributes:
        number: The number of the stage for readers, from 1. The key ``rows`` is one stage for readers, but several
            stages of the pipeline.
        name: The name in the comment: an operator, or a key such as ``where``.
        written: The stage as written in the comment.
        position: The number of stages of the pipeline that run before this one.
        line: The line of the stage or, if it is ``shared``, of the name of its shared stage list.
        column: The column of the stage or of this name.
        shared: Whether the stage comes from a shared stage list.
    """

    number: int
    name: str
    stage: Stage
    written: Stage
    position: int
    line: int
    column: int
    shared: bool
    before: Step
    after: Step
    shape: FieldCounts
    difference: FieldChanges
    gaps: tuple[Gap, ...]
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The effect of a comment's pipeline on a results source.

    Attributes:
        start: The documents of the collection, or None if no stage could run.
        shape: The fields of these documents.
        unreached: The stages that did not run, each with its name.
        findings: The reasons why stages could not run, and warnings about stages that ran.
        rows: The number of rows of the table, or None if the pipeline failed.
    """

    file: str
    line: int
    column: int
    title: str
    collection: str = ""
    source: str = ""
    columns: tuple[str, ...] = ()
    start: Step | None = None
    shape: FieldCounts = field(default_factory=lambda: FieldCounts(0, ()))
    stages: tuple[StageReport, ...] = ()
    unreached: tuple[tuple[str, Stage], ...] = ()
    remarks: tuple[Remark, ...] = ()
    findings: tuple[Finding, ...] = ()
    rows: int | None = None

    @property
    def sound(self) -> bool:
        """Whether the table has all of its columns, and has rows or the key ``empty``."""
        severities = [*(one.severity for one in self.findings), *(one.severity for one in self.remarks)]
        return self.rows is not None and "error" not in severities


def explain(
    spec: PipelineSpec,
    columns: Sequence[str],
    source: ResultsSource,
    known: Iterable[Finding] = (),
    warnings: Iterable[Finding] = (),
) -> Explanation:
    """Return the explanation of a pipeline whose table shows ``columns``.

    ``known`` are the errors of the comment, ``warnings`` the warnings of a check, which are shown only if the table has
    rows. Raises ResultsError for an unusable source.
    """
    query = Query(spec.collection, tuple(spec.pipeline), spec.let)
    walk = StageWalk(source, query, perf_counter)
    failure = walk.run()
    named = tuple(
        (spec.name_stage(number), _as_written(spec, number)) for number in range(len(query.pipeline))
    )
    told = Explanation(
        file=spec.file,
        line=spec.comment.line,
        column=spec.comment.column,
        title=spec.title or spec.id or "",
        collection=spec.collection,
        source=source.name,
        columns=tuple(columns),
        unreached=named,
        findings=_with_failure(tuple(known), spec, failure),
    )
    if not walk.steps:
        return told
    stages = _report_stages(spec, walk)
    told = replace(
        told,
        start=walk.steps[0],
        shape=shape_of(walk.steps[0].rows),
        stages=tuple(stages),
        unreached=named[len(walk.steps) - 1 :],
    )
    if failure is not None:
        return told
    last = walk.steps[-1]
    if last.count:
        found = [_remark_on_column(name, last.rows, stages) for name in columns]
        remarks = tuple(one for one in found if one is not None)
    else:
        severity: Severity = "error" if spec.empty is None else "note"
        remarks = (replace(_explain_loss(spec.collection, stages, walk, source), severity=severity),)
    findings = (*told.findings, *warnings) if last.count else told.findings
    return replace(told, remarks=remarks, rows=last.count, findings=findings)


def _with_failure(
    known: tuple[Finding, ...], spec: PipelineSpec, failure: ResultsError | None
) -> tuple[Finding, ...]:
    """Return the findings with the failure of the run, unless a finding reports it already on the same stage."""
    if failure is None:
        return known
    path = failure.path or ()
    if path and isinstance(path[0], int):
        # All stages of a shared list have the position of the list's name.
        starts = [spec.locate(("pipeline", index)) for index in range(len(spec.pipeline))]
        start = starts[path[0]]
        following = next((one for one in starts[path[0] :] if one > start), (sys.maxsize, 0))
        if any(
            one.rule in ("MT201", "MT301") and start <= (one.line, one.column) < following for one in known
        ):
            return known
    at = spec.locate(("pipeline", *path), key=True)
    hint = failure.hint or hint_on_inner_name(spec.pipeline, path) or failure_hint(spec, failure)
    return (*known, finding("MT301", spec.file, at, failure.message, hint))


def _report_stages(spec: PipelineSpec, walk: StageWalk) -> list[StageReport]:
    reports: list[StageReport] = []
    steps, shapes = walk.steps, [shape_of(step.rows) for step in walk.steps]
    start = 0
    for index, stage in enumerate(spec.pipeline[: len(steps) - 1]):
        # Several stages from the key ``rows`` are one stage for readers.
        both = spec.origins[index : index + 2]
        if len(both) == 2 and index + 2 < len(steps) and all(one.path == ("rows",) for one in both):
            continue
        before, after = steps[start], steps[index + 1]
        line, column = spec.locate(("pipeline", index))
        report = StageReport(
            number=len(reports) + 1,
            name=spec.name_stage(index),
            stage=stage,
            written=_as_written(spec, index),
            position=index,
            line=line,
            column=column,
            shared=bool(spec.origins) and spec.origins[index].form == "shared",
            before=before,
            after=after,
            shape=shapes[index + 1],
            difference=difference(shapes[start], shapes[index + 1]),
            gaps=tuple(new_gaps(stage, before, after, spec.let)),
        )
        reports.append(replace(report, remarks=tuple(_remark_on_stage(report, reports, walk))))
        start = index + 1
    return reports


def _as_written(spec: PipelineSpec, index: int) -> Stage:
    """Return the stage as written: the key ``rows`` or ``compute`` with its value, else the stage itself."""
    origin = spec.origins[index] if spec.origins else None
    if origin is None or origin.path[0] not in ("rows", "compute"):
        return spec.pipeline[index]
    key, *inner = origin.path
    value = value_at(spec.comment.parsed.value, origin.path)
    return {str(key): {str(inner[0]): value} if inner else value}


# -- one stage --


def _remark_on_stage(
    report: StageReport, earlier: Sequence[StageReport], walk: StageWalk
) -> Iterator[Remark]:
    if not report.before.count or not report.after.count:
        return  # the remark about the table explains the loss of all documents
    with suppress(ResultsError):  # then the cause stays unknown
        cause = why_fewer(report.stage, report.position, walk)
        if cause.reason:
            yield Remark("note", cause.reason, cause.hint, report.number)
    is_match = operator_of(report.stage)[0] == "$match"  # a $match may test for absent fields on purpose
    read = () if is_match else fields_read(report.stage)
    absent = [path for path in read if not walk.may_have(report.position, path)]
    for each in report.gaps:
        if not (each.null or not each.some or each.culprit in absent):
            continue
        message, hint = f"`{each.field}` {each.state('document')}", ""
        if each.reason:
            message += f": {each.reason}"
            if each.culprit in absent:
                history, hint = _trace_absent(each.culprit, report, earlier)
                message += history
            elif since := _find_emptier(each.culprit, earlier):
                message += f" since stage {since.number}, {since.name}"
        yield Remark("warning" if each.reason else "note", message, hint, report.number)
    guarded, blamed = fields_guarded(report.stage), {each.culprit for each in report.gaps}
    for path in absent:
        if path not in blamed:
            history, hint = _trace_absent(path, report, earlier)
            message = f"reads `{path}`, which no document has{history}"
            if path in guarded:
                yield Remark("note", message, "", report.number)
            else:
                yield Remark("warning", message, hint, report.number)


def _trace_absent(path: str, report: StageReport, earlier: Sequence[StageReport]) -> tuple[str, str]:
    """Return a clause about the stage that dropped a path, and a suggestion if no stage did."""
    if dropper := _find_dropper(path, earlier):
        return f"; stage {dropper.number}, {dropper.name}, dropped it", ""
    return "", suggest_path(path, report.before.rows)


def _find_dropper(path: str, earlier: Sequence[StageReport]) -> StageReport | None:
    """Return the last stage whose input has the path and whose output lacks it, or None."""
    parts = path.split(".")
    for report in reversed(earlier):
        before = any(has_path(row, parts) for row in report.before.rows)
        if before and not any(has_path(row, parts) for row in report.after.rows):
            return report
    return None


def _find_emptier(path: str, earlier: Sequence[StageReport]) -> StageReport | None:
    """Return the last stage that caused a gap in the field ``path``, or None."""
    for report in reversed(earlier):
        if any(each.field == path or path.startswith(each.field + ".") for each in report.gaps):
            return report
    return None


# -- the table --


def _explain_loss(
    collection: str, stages: Sequence[StageReport], walk: StageWalk, source: ResultsSource
) -> Remark:
    if not walk.steps[0].count:
        return _explain_no_documents(collection, source)
    loser = next(report for report in stages if not report.after.count)
    try:
        reason, hint, _ = why_nothing(loser.stage, loser.position, walk)
    except ResultsError:
        reason, hint = "", ""  # the cause stays unknown
    count = loser.before.count
    lost = "the only document" if count == 1 else f"all {format_count(count, 'document')}"
    message = f"stage {loser.number}, {loser.name}, lost {lost}"
    return Remark("error", f"{message}: {reason}" if reason else message, hint, loser.number)


def _explain_no_documents(collection: str, source: ResultsSource) -> Remark:
    try:
        known = source.collections()
    except ResultsError:
        known = ()  # a user may be allowed to read a collection, but not to list collections
    if not known or collection in known:
        return Remark("error", f"the collection `{collection}` has no documents")
    hint = did_you_mean(collection, known) or f"there are {', '.join(f'`{name}`' for name in known)}"
    return Remark("error", f"the results source has no collection `{collection}`", hint)


def _remark_on_column(
    column: str, rows: Sequence[Mapping[str, Any]], stages: Sequence[StageReport]
) -> Remark | None:
    here = gap(column, rows)
    if not here.empty:
        return None
    since = _find_emptier(column, stages)
    if here.missing != here.documents:
        message = f"column `{column}` {here.state('row')}"
        if since is None:
            return Remark("note", message)
        return Remark("warning", f"{message}, since stage {since.number}, {since.name}", "", since.number)
    message = f"no row has the column `{column}`"
    if dropper := _find_dropper(column, stages):
        what = f"stage {dropper.number}, {dropper.name}, dropped it"
        return Remark("error", f"{message}: {what}", "", dropper.number)
    if since is not None:
        what = f"stage {since.number}, {since.name}, gives it no value"
        return Remark("error", f"{message}: {what}", "", since.number)
    names = ", ".join(f"`{each.path}`" for each in shape_of(rows).top)
    return Remark("error", message, suggest_path(column, rows) or f"the rows have {names}")
