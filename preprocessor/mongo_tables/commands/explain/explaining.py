"""From one comment and a results source to its ``Explanation``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mongo_tables.commands.explain.emptystage import exists, why_nothing
from mongo_tables.commands.explain.fieldcounts import (
    Difference,
    Shape,
    difference,
    has_path,
    nearest_path,
    shape_of,
)
from mongo_tables.commands.explain.notes import Remark, format_count, suggest_path
from mongo_tables.commands.explain.nulls import Gap, gap, new_gaps
from mongo_tables.commands.explain.reading import (
    Stage,
    fields_guarded,
    fields_named,
    fields_read,
    operator_of,
)
from mongo_tables.commands.explain.stepper import Step, Walk, walk
from mongo_tables.directives.sharedpipelines import hint_on_inner_name
from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.findings.rules import finding
from mongo_tables.results.model import Query, ResultsError, ResultsSource, Rows

if TYPE_CHECKING:
    from mongo_tables.directives.specs import PipelineSpec
    from mongo_tables.findings.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class StageReport:
    """One stage: where it is written, how many documents it got and gave, what it did to them.

    ``name`` is what the comment calls it: the operator, or a key such as ``where``.
    ``milliseconds`` is its own time, or with ``from_start`` the time of the pipeline up to it. ``shared``: whether it
    comes from a shared stage list; line and column are then those of the list's name.
    """

    number: int
    name: str
    stage: Stage
    line: int
    column: int
    shared: bool
    before: Step
    after: Step
    shape: Shape
    difference: Difference
    gaps: tuple[Gap, ...]
    remarks: tuple[Remark, ...]

    @property
    def operator(self) -> str:
        """The stage's name, such as ``$match``."""
        return operator_of(self.stage)[0]

    @property
    def focus(self) -> list[str]:
        """The fields that the stage is about."""
        return fields_named(self.stage)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the pipeline of one comment does on a results source.

    ``start`` are the collection's documents, None where nothing could be run. ``findings`` say why a stage, or all
    of them, could not be run; ``unreached`` are the stages from there on, each behind its name. ``rows`` is the number
    of the table's rows, None when it failed.
    """

    file: str
    line: int
    column: int
    title: str
    collection: str = ""
    source: str = ""
    columns: tuple[str, ...] = ()
    start: Step | None = None
    shape: Shape = field(default_factory=lambda: Shape(0, ()))
    stages: tuple[StageReport, ...] = ()
    unreached: tuple[tuple[str, Stage], ...] = ()
    remarks: tuple[Remark, ...] = ()
    findings: tuple[Finding, ...] = ()
    rows: int | None = None

    @property
    def sound(self) -> bool:
        """Whether the table has rows (or says itself what it shows without) and all of its columns."""
        severities = [*(one.severity for one in self.findings), *(one.severity for one in self.remarks)]
        return self.rows is not None and "error" not in severities


def explain(
    spec: PipelineSpec, columns: Sequence[str], source: ResultsSource, known: Iterable[Finding] = ()
) -> Explanation:
    """The explanation of a pipeline whose table shows ``columns``; ``known`` are findings that there are already.

    Raises ResultsError when the source cannot be used at all.
    """
    query = Query(spec.collection, tuple(spec.pipeline), spec.let)
    way = walk(source, query)
    steps, failure = _collect_steps(way)
    found = tuple(known)
    if failure is not None:
        found = _with_failure(found, spec, failure)
    told = replace(_heading(spec, columns, source), findings=found)
    named = tuple((spec.name_stage(operator_of(stage)[0]), stage) for stage in query.pipeline)
    if not steps:
        return replace(told, unreached=named)
    stages = _reports(spec, steps, way)
    complete = failure is None
    return replace(
        told,
        start=steps[0],
        shape=shape_of(steps[0].rows),
        stages=tuple(stages),
        unreached=named[len(stages) :],
        remarks=tuple(_verdict(spec, columns, steps, stages, way, source) if complete else ()),
        rows=steps[-1].count if complete else None,
    )


def _heading(spec: PipelineSpec, columns: Sequence[str], source: ResultsSource) -> Explanation:
    """What is known before anything is run."""
    return Explanation(
        file=spec.file,
        line=spec.comment.line,
        column=spec.comment.column,
        title=spec.title or spec.id or "",
        collection=spec.collection,
        source=source.name,
        columns=tuple(columns),
    )


def _collect_steps(way: Walk) -> tuple[list[Step], ResultsError | None]:
    steps: list[Step] = []
    try:
        for step in way.steps():
            steps.append(step)
    except ResultsError as error:
        if error.environment:
            raise
        return steps, error
    return steps, None


def _with_failure(
    known: tuple[Finding, ...], spec: PipelineSpec, failure: ResultsError
) -> tuple[Finding, ...]:
    """The findings with the failure of the run, unless one of the same stage says it already."""
    path = failure.path or ()
    if any(_is_in_stage(one, spec, path[:1]) for one in known):
        return known
    at = spec.locate(("pipeline", *path), key=True)
    hint = failure.hint or hint_on_inner_name(spec.pipeline, path)
    return (*known, finding("MT301", spec.file, at, failure.message, hint))


def _is_in_stage(one: Finding, spec: PipelineSpec, stage: tuple[str | int, ...]) -> bool:
    """Whether a finding says why the stage that a path leads to cannot be run; of a shared list the name counts."""
    if one.rule not in ("MT201", "MT301") or not stage or not isinstance(stage[0], int):
        return False
    starts = [spec.locate(("pipeline", index)) for index in range(len(spec.pipeline))]
    following = next((start for start in starts[stage[0] :] if start > starts[stage[0]]), (sys.maxsize, 0))
    return starts[stage[0]] <= (one.line, one.column) < following


def _reports(spec: PipelineSpec, steps: Sequence[Step], way: Walk) -> list[StageReport]:
    reports: list[StageReport] = []
    shapes = [shape_of(step.rows) for step in steps]
    for index, stage in enumerate(spec.pipeline[: len(steps) - 1]):
        before, after = steps[index], steps[index + 1]
        gaps = tuple(new_gaps(stage, before, after, spec.let))
        line, column = spec.locate(("pipeline", index))
        report = StageReport(
            number=index + 1,
            name=spec.name_stage(operator_of(stage)[0]),
            stage=stage,
            line=line,
            column=column,
            shared=bool(spec.origins) and spec.origins[index].form == "shared",
            before=before,
            after=after,
            shape=shapes[index + 1],
            difference=difference(shapes[index], shapes[index + 1]),
            gaps=gaps,
            remarks=(),
        )
        reports.append(replace(report, remarks=tuple(_stage_remarks(report, reports, steps, way))))
    return reports


# -- one stage --


def _stage_remarks(
    report: StageReport, earlier: Sequence[StageReport], steps: Sequence[Step], way: Walk
) -> Iterable[Remark]:
    if not report.before.count or not report.after.count:
        return  # A stage that lost everything is what the verdict is about.
    absent = _absent(report, way)
    for each in report.gaps:
        if each.null or not each.some or each.culprit in absent:
            yield _gap_remark(report, each, absent, earlier, steps)
    guarded, blamed = fields_guarded(report.stage), {each.culprit for each in report.gaps}
    for path in absent:
        if path not in blamed:
            severity: Severity = "note" if path in guarded else "warning"
            history, hint = _history(path, report.number, earlier, steps)
            message = f"reads `{path}`, which no document has{history}"
            yield Remark(severity, message, "" if path in guarded else hint, report.number)


def _absent(report: StageReport, way: Walk) -> list[str]:
    """The paths that the stage reads and no document has. What a ``$match`` asks for may well be absent."""
    if report.operator == "$match":
        return []
    position, before = report.number - 1, report.before
    return [path for path in fields_read(report.stage) if not exists(way, position, before, path)]


def _gap_remark(
    report: StageReport,
    each: Gap,
    absent: Sequence[str],
    earlier: Sequence[StageReport],
    steps: Sequence[Step],
) -> Remark:
    message, hint = f"`{each.field}` {each.state('document')}", ""
    if each.reason:
        message += f": {each.reason}"
        history = ""
        if each.culprit in absent:
            history, hint = _history(each.culprit, report.number, earlier, steps)
        elif since := _since(each.culprit, earlier):
            history = f" since stage {since.number}, {since.name}"
        message += history
    return Remark("warning" if each.reason else "note", message, hint, report.number)


def _history(
    path: str, number: int, earlier: Sequence[StageReport], steps: Sequence[Step]
) -> tuple[str, str]:
    """What became of a path that is not there before stage ``number``: dropped by a stage, or never there."""
    dropper = _dropper(path, earlier)
    if dropper is not None:
        return f"; stage {dropper.number}, {dropper.name}, dropped it", ""
    return "", suggest_path(nearest_path(path, steps[number - 1].rows))


def _dropper(path: str, earlier: Sequence[StageReport]) -> StageReport | None:
    """The last stage that a path went into and did not come out of."""
    parts = path.split(".")
    for report in reversed(earlier):
        before = any(has_path(row, parts) for row in report.before.rows)
        if before and not any(has_path(row, parts) for row in report.after.rows):
            return report
    return None


def _since(path: str, earlier: Sequence[StageReport]) -> StageReport | None:
    """The stage that gave the field its gap."""
    for report in reversed(earlier):
        if any(each.field == path or path.startswith(each.field + ".") for each in report.gaps):
            return report
    return None


# -- the table --


def _verdict(
    spec: PipelineSpec,
    columns: Sequence[str],
    steps: Sequence[Step],
    stages: Sequence[StageReport],
    way: Walk,
    source: ResultsSource,
) -> list[Remark]:
    if not steps[-1].count:
        severity: Severity = "error" if spec.empty is None else "note"
        return [replace(_loss(spec, steps, stages, way, source), severity=severity)]
    return [
        remark for name in columns if (remark := _column_remark(name, steps[-1].rows, stages)) is not None
    ]


def _loss(
    spec: PipelineSpec,
    steps: Sequence[Step],
    stages: Sequence[StageReport],
    way: Walk,
    source: ResultsSource,
) -> Remark:
    if not steps[0].count:
        return _no_documents(spec.collection, source)
    loser = next(report for report in stages if not report.after.count)
    try:
        reason, hint = why_nothing(loser.stage, loser.number - 1, loser.before, way)
    except ResultsError:
        reason, hint = "", ""  # The loss itself stands; only the question for its cause went wrong.
    count = loser.before.count
    lost = "the only document" if count == 1 else f"all {format_count(count, 'document')}"
    message = f"stage {loser.number}, {loser.name}, lost {lost}"
    return Remark("error", f"{message}: {reason}" if reason else message, hint, loser.number)


def _no_documents(collection: str, source: ResultsSource) -> Remark:
    try:
        known = source.collections()
    except ResultsError:
        known = ()  # A user may read a collection without the right to list them.
    if not known or collection in known:
        return Remark("error", f"the collection `{collection}` has no documents")
    hint = did_you_mean(collection, known) or f"there are {', '.join(f'`{name}`' for name in known)}"
    return Remark("error", f"the results source has no collection `{collection}`", hint)


def _column_remark(column: str, rows: Rows, stages: Sequence[StageReport]) -> Remark | None:
    here = gap(column, rows)
    if here.missing == here.documents:
        return _no_column(column, rows, stages)
    if not here.empty:
        return None
    message = f"column `{column}` {here.state('row')}"
    since = _since(column, stages)
    if since is None:
        return Remark("note", message)
    return Remark("warning", f"{message}, since stage {since.number}, {since.name}", "", since.number)


def _no_column(column: str, rows: Sequence[Mapping[str, Any]], stages: Sequence[StageReport]) -> Remark:
    message = f"no row has the column `{column}`"
    dropper = _dropper(column, stages)
    if dropper is not None:
        what = f"stage {dropper.number}, {dropper.name}, dropped it"
        return Remark("error", f"{message}: {what}", "", dropper.number)
    since = _since(column, stages)
    if since is not None:
        what = f"stage {since.number}, {since.name}, gives it no value"
        return Remark("error", f"{message}: {what}", "", since.number)
    hint = suggest_path(nearest_path(column, rows)) or f"the rows have {_fields(rows)}"
    return Remark("error", message, hint)


def _fields(rows: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"`{each.path}`" for each in shape_of(rows).top)
