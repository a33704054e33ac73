"""What is wrong with pages and their figures: ids and tables across pages, rows that came back, what is ignored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from preprocessor.aggregation.limits import Limits
from preprocessor.aggregation.values import MISSING
from preprocessor.files.environment import today
from preprocessor.findings.finding import Finding
from preprocessor.findings.rules import finding
from preprocessor.lint.suppressions import unused_ignores, without_silenced
from preprocessor.lint.versions import since_hint
from preprocessor.pages import statements
from preprocessor.pages.asking import source_answer
from preprocessor.pages.ids import written_ids
from preprocessor.pages.model import Answers, Page
from preprocessor.pages.static import judge_offline
from preprocessor.render.chartdata import plot_of
from preprocessor.render.chartfaults import plot_faults
from preprocessor.render.column import column_value, index_hint
from preprocessor.render.comparison import baseline_faults, range_faults
from preprocessor.results.model import ResultsError
from preprocessor.schemas.validation import did_you_mean
from preprocessor.specs.model import ChartSpec, CheckSpec, PipelineSpec, TableSpec, ValueSpec, shown_columns
from preprocessor.specs.together import duplicate_ids, unknown_tables

if TYPE_CHECKING:
    from preprocessor.aggregation.limits import Limits as FileLimits
    from preprocessor.pages.model import Tables
    from preprocessor.results.model import ResultsSource, Rows
    from preprocessor.specs.model import Spec


def row_findings(spec: PipelineSpec, answers: Answers, collections: Sequence[str] = ()) -> list[Finding]:
    """What is wrong with a table or a chart once its rows are there.

    The pipeline failed, there are no rows, a column that nobody has, what cannot be drawn or compared.

    ``collections`` are those that the source has, for the message about one that it does not have.
    """
    rows = answers[spec.query.key]
    if isinstance(rows, ResultsError):
        at = spec.locate(("pipeline", *(rows.path or ())), key=True)
        return [finding("MT301", spec.file, at, rows.message, rows.hint or since_hint(rows.message))]
    if not rows:
        return [] if spec.empty is not None else [_no_rows(spec, collections)]
    return [*(_empty_columns(spec, rows) or _undrawable(spec, rows)), *_too_old(spec, answers)]


def _too_old(spec: PipelineSpec, answers: Answers) -> list[Finding]:
    if spec.max_age is None:
        return []
    source = source_answer(spec, answers)
    newest = source.last if source else None
    if newest is None:
        message = "`max_age` asks how old the results are, but no `start_time` of theirs is known"
    elif source and (due := source.due(spec.max_age)) and today() > due:
        days = (today() - newest.date()).days
        message = f"the newest result is of {newest.date()}, {days} days ago: more than {spec.max_age}"
    else:
        return []
    return [
        finding("MT333", spec.file, spec.locate(("max_age",)), message, "measure again, or raise `max_age`")
    ]


def _no_rows(spec: PipelineSpec, collections: Sequence[str]) -> Finding:
    if collections and spec.collection not in collections:
        hint = did_you_mean(spec.collection, collections) or f"there are {', '.join(collections)}"
        message = f"the results source has no collection '{spec.collection}'"
        return finding("MT304", spec.file, spec.locate(("collection",)), message, hint)
    return finding(
        "MT303",
        spec.file,
        spec.locate(("pipeline",)),
        f"the pipeline gives no rows from collection '{spec.collection}'",
        '`mongo-tables explain` names the stage that lost them; "empty" says what the page shall show instead',
    )


def _empty_columns(spec: PipelineSpec, rows: Rows) -> list[Finding]:
    empty = []
    for path, column in shown_columns(spec):
        values = (column_value(row, column) for row in rows)  # Usually the first one is enough.
        if all(value is MISSING or (value == [] and index_hint(column)) for value in values):
            empty.append((path, column, any(column_value(row, column) == [] for row in rows)))
    if not empty:
        return []
    names = f"the rows have {', '.join(sorted({name for row in rows for name in row}))}"
    return [
        finding(
            "MT302",
            spec.file,
            spec.locate(path),
            f"no row has the column '{column}'",
            index_hint(column) if in_array else names,
        )
        for path, column, in_array in empty
    ]


def _undrawable(spec: PipelineSpec, rows: Rows) -> list[Finding]:
    """What a chart, or the comparison with a row, would silently leave out."""
    found: list[Finding] = []
    if isinstance(spec, ChartSpec) or (isinstance(spec, TableSpec) and spec.chart):
        for path, message, hint in plot_faults(plot_of(spec), rows):
            found.append(finding("MT330", spec.file, spec.locate(path), message, hint))
    if isinstance(spec, TableSpec) and spec.baseline:
        for path, message, hint in baseline_faults(spec, rows):
            found.append(finding("MT331", spec.file, spec.locate(path), message, hint))
    if isinstance(spec, TableSpec) and spec.spread:
        for path, message, hint in range_faults(spec, rows):
            found.append(finding("MT332", spec.file, spec.locate(path), message, hint))
    return found


def all_findings(
    pages: Sequence[Page],
    answers: Answers | None,
    collections: Sequence[str] = (),
    linted: Sequence[Finding] | None = None,
    judged: Mapping[int, Sequence[Finding]] | None = None,
) -> list[Finding]:
    """Every finding of every page: of reading, of pages held against each other, with ``answers`` of running.

    ``linted`` are those of ``lint_findings``, None where the linter was not asked. What comments ignore is left
    out; with ``linted``, what they ignore in vain is added. ``judged`` are the findings of running that are known
    already, by the identity of specs.
    """
    found = [one for page in pages for one in page.findings]
    specs = [spec for page in pages for spec in page.specs if spec is not None]
    found += _findings_together(pages, specs)
    if answers is not None:
        known, tables = judged or {}, tables_by_id(pages)
        new = [spec for spec in specs if id(spec) not in known]
        found += [one for spec in specs for one in known.get(id(spec), ())]
        found += [one for spec in new for one in spec_findings(spec, tables, answers, collections)]
    if any(spec.ignore for spec in specs):
        found = _heeding(specs, [*found, *(linted or ())], answers is not None, linted is not None)
    elif linted:
        found += linted
    return sorted(set(found))


def _heeding(specs: Sequence[Spec], found: list[Finding], ran: bool, complete: bool) -> list[Finding]:
    """The findings that no comment ignores; where they are ``complete``, also what is ignored in vain."""
    kept = without_silenced(found, specs)
    return [*kept, *unused_ignores(found, specs, ran=ran)] if complete else kept


def lint_findings(
    pages: Sequence[Page], source: ResultsSource | None, answers: Answers | None
) -> list[Finding]:
    """What the linter says of all tables and charts, from what ``source`` and ``answers`` tell of documents."""
    if not any(page.specs for page in pages):
        return []
    from preprocessor.lint.pages import lint

    known: Answers = answers or {}
    rows: dict[int, Rows | None] = {}
    for spec in (spec for page in pages for spec in page.specs) if known else ():
        if isinstance(spec, PipelineSpec) and (answered := known.get(spec.query.key)) is not None:
            rows[id(spec)] = None if isinstance(answered, ResultsError) else answered
    local = source.local if source is not None else None
    found = lint((page.specs for page in pages), local, rows)
    return [*found, *_server_only(pages, rows, local.limits)] if local is not None else found


def _server_only(pages: Sequence[Page], ran: Collection[int], limits: FileLimits) -> Iterator[Finding]:
    """What a source of documents at hand could not run, within ``limits``, of the pipelines that were not run.

    ``ran`` are the ids of the specs that were. Pages are read with the usual limits: with others it is asked again.
    """
    again = limits != Limits()
    for page in pages:
        for spec, usual in zip(page.specs, page.server_only, strict=True):
            if spec is None or id(spec) in ran:
                continue
            fault = judge_offline(spec, limits).server_only if again and spec in page.asking else usual
            if fault is not None:
                yield fault


def _findings_together(pages: Sequence[Page], specs: Sequence[Spec]) -> list[Finding]:
    if not specs:
        return []
    found = duplicate_ids((page.file, page.specs) for page in pages)
    if any(isinstance(spec, ValueSpec | CheckSpec) for spec in specs):
        # The ids of faulty tables count as well: one fault is told once.
        found += unknown_tables(specs, [each for page in pages for each in written_ids(page)])
    return found


def spec_findings(
    spec: Spec, tables: Tables, answers: Answers, collections: Sequence[str] = ()
) -> list[Finding]:
    """What is wrong with a table, a value or a statement once the rows are there."""
    if isinstance(spec, PipelineSpec):
        return row_findings(spec, answers, collections)
    if isinstance(spec, ValueSpec):
        return statements.value_findings(spec, tables, answers)
    if isinstance(spec, CheckSpec):
        return statements.check_findings(spec, tables, answers)
    return []


def tables_by_id(pages: Iterable[Page]) -> Tables:
    """The sound tables of the pages that have an id, by it; of two with the same, the first."""
    found: dict[str, TableSpec] = {}
    for page in pages:
        for spec in page.tables:
            if spec.id is not None:
                found.setdefault(spec.id, spec)
    return found
