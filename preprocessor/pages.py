"""From the text of pages to rendered tables: read, ask, judge. Every door (plugin, extension, command) goes this way.

``read_page`` finds and checks the comments of one page, ``queries`` lists what all pages ask for, ``answer`` asks a
results source once for each distinct query, ``row_findings`` judges what came back. No step raises for an author's
mistake: each gives findings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from preprocessor import comments
from preprocessor.findings import Finding
from preprocessor.rules import finding
from preprocessor.textfiles import shown

if TYPE_CHECKING:
    from preprocessor.aggregation.limits import Limits as FileLimits
    from preprocessor.comments import Comment
    from preprocessor.provenance import Provenance
    from preprocessor.results import Query, ResultsError, ResultsSource, Rows
    from preprocessor.results.fixtures import FixtureSource
    from preprocessor.sharedpipelines import SharedPipeline
    from preprocessor.specs import PipelineSpec, Spec, TableSpec
    from preprocessor.statements import Tables
    from preprocessor.textfiles import BadByte

Answers = Mapping[str, "Rows | ResultsError"]
"""What the results source said, by ``Query.key``."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page as it was read: its live comments, what each asks for (None where it is faulty), and the faults.

    ``rejected`` are the offsets, from and to, of comments that are none because of a fault (``comments.Scan``).
    ``server_only`` says for each comment what of its pipeline fixtures cannot run: a finding only where they are to
    run it and it was not run, which says the same. ``owned`` has the findings of each comment where they do not stand
    within it: of a comment whose place is in another file, or elsewhere in this one.
    """

    file: str
    text: str
    comments: tuple[Comment, ...]
    specs: tuple[Spec | None, ...]
    findings: tuple[Finding, ...]
    rejected: tuple[tuple[int, int], ...] = ()
    server_only: tuple[Finding | None, ...] = ()
    owned: tuple[tuple[Finding, ...], ...] = ()

    @property
    def tables(self) -> list[TableSpec]:
        """The sound tables of the page, in order."""
        from preprocessor.specs import TableSpec

        return [spec for spec in self.specs if isinstance(spec, TableSpec)]

    @property
    def asking(self) -> list[PipelineSpec]:
        """The sound tables and charts of the page, in order."""
        from preprocessor.specs import PipelineSpec

        return [spec for spec in self.specs if isinstance(spec, PipelineSpec)]


def no_text(file: str, bad: BadByte) -> Finding:
    """The fault of a page that is not UTF-8, at its first bad byte."""
    message = f"the page is not UTF-8: byte 0x{bad.value:02x} stands here"
    return finding("MT100", file, (bad.line, bad.column), message, "save the page as UTF-8")


def read_page(text: str, file: str, shared: Callable[[str], SharedPipeline | None]) -> Page:
    """The page's comments, each validated against its schema and held to the rules of safety.

    ``shared`` gives the shared stage list of a name, None when there is none. Nothing is run.
    """
    scan = comments.find(text, file)
    found: list[Finding] = list(scan.findings)
    if not scan.comments:
        return Page(file, text, (), (), tuple(found), scan.rejected)
    from preprocessor import specs

    read: list[Spec | None] = []
    server_only: list[Finding | None] = []
    for comment in scan.comments:
        judged: list[_Judgement] = []
        spec, faults = specs.read(comment, file, shared, partial(_judge, judged))
        read.append(spec)
        server_only += [one.server_only for one in judged] or [None]
        found.extend(faults)
    return Page(file, text, scan.comments, tuple(read), tuple(found), scan.rejected, tuple(server_only))


@dataclass(frozen=True, slots=True)
class _Judgement:
    """What is said of a pipeline before it runs: its faults, and what of it needs a server."""

    faults: tuple[Finding, ...] = ()
    server_only: Finding | None = None


def _judge(judged: list[_Judgement], spec: PipelineSpec) -> list[Finding]:
    """The faults of a pipeline; the whole judgement goes to ``judged``, for a pipeline is compiled once."""
    judgement = _judgement(spec)
    judged.append(judgement)
    return list(judgement.faults)


def static_findings(spec: PipelineSpec) -> list[Finding]:
    """What can be said of a pipeline without a document: refused stages, operators that do not exist."""
    return list(_judgement(spec).faults)


def _judgement(spec: PipelineSpec) -> _Judgement:
    from preprocessor.results.readonly import refusals

    refused = [
        finding(
            "MT201" if one.known else "MT202",
            spec.file,
            spec.locate((key, *one.path), key=True),
            one.message,
        )
        for key, part in (("pipeline", spec.pipeline), ("let", spec.let))
        for one in refusals(part)
    ]
    if any(one.rule == "MT201" for one in refused):
        return _Judgement(tuple(refused))
    compiled = _compiled(spec)  # which knows better what is wrong with a name that nobody knows
    return compiled if compiled.faults or not refused else _Judgement(tuple(refused))


def _compiled(spec: PipelineSpec, limits: FileLimits | None = None) -> _Judgement:
    from preprocessor.aggregation import AggregationError, LimitReached, NotOffline, check

    try:
        check(spec.pipeline, variables=spec.let, limits=limits)
    except AggregationError as error:
        at = spec.locate(("pipeline", *(error.path or ())), key=True)
        if not isinstance(error, NotOffline):
            return _Judgement((finding("MT301", spec.file, at, error.message),))
        # A server may know it; on a fixture the run itself says so.
        message = f"{error.message}: fixtures cannot run this pipeline."
        hint = "Give a mongodb:// source, or say it with other operators."
        if isinstance(error, LimitReached):
            hint = "Let it do less, or give a mongodb:// source."
        return _Judgement(server_only=finding("MT312", spec.file, at, message, hint))
    return _Judgement()


def query_of(spec: PipelineSpec) -> Query:
    """What a table or a chart asks of the results source."""
    return spec.query


def queries(pages: Iterable[Page], *, with_sources: bool = False) -> list[Query]:
    """The distinct queries of all sound tables and charts, in the order of the pages.

    What documents they start from is asked for figures that need it in any case, and ``with_sources`` for all: where
    their rows come from is told under them, and what their columns mean in their headers.
    """
    distinct: dict[str, Query] = {}
    for page in pages:
        for spec in page.asking:
            asked = [query_of(spec)]
            if with_sources or spec.max_age or spec.provenance:
                asked.append(source_of(spec))
            for query in asked:
                distinct.setdefault(query.key, query)
    return list(distinct.values())


def source_of(spec: PipelineSpec) -> Query:
    """What is asked about the documents that a table or a chart starts from."""
    return spec.source_query


def source_answer(spec: PipelineSpec, answers: Answers) -> Provenance | None:
    """The provenance of a figure; None where its documents are no results, and where nobody could be asked."""
    from preprocessor.provenance import provenance_of
    from preprocessor.results import ResultsError

    groups = answers.get(source_of(spec).key)
    if groups is None or isinstance(groups, ResultsError):
        return None
    return provenance_of(groups, asked=bool(spec.provenance))


def answer(pages: Sequence[Page], source: ResultsSource) -> Answers:
    """Rows, or why there are none, for every query of the pages. A source out of reach raises ``ResultsError``."""
    wanted = queries(pages)
    if not wanted:
        return {}
    from preprocessor.results import ResultsError
    from preprocessor.results.running import run_all

    answers = run_all(source, wanted)
    for outcome in answers.values():
        if isinstance(outcome, ResultsError) and outcome.environment:
            raise outcome
    return answers


def source_findings(error: ResultsError, file: str) -> list[Finding]:
    """Why a results source cannot be used: the faults of fixture files at their places, else one of ``file``."""
    if not error.faults:
        return [finding("MT310", file, (0, 0), error.message, error.hint)]
    found = [
        finding("MT310", shown(each.file), (each.line, each.column), each.message, each.hint)
        for each in error.faults
    ]
    if error.more:
        message = f"fixture files have {error.more} more faults"
        found.append(finding("MT310", file, (0, 0), message, "mend those that are told first"))
    return found


def row_findings(spec: PipelineSpec, answers: Answers, collections: Sequence[str] = ()) -> list[Finding]:
    """What is wrong with a table or a chart once its rows are there.

    The pipeline failed, there are no rows, a column that nobody has, what cannot be drawn or compared.

    ``collections`` are those that the source has, for the message about one that it does not have.
    """
    from preprocessor.results import ResultsError

    rows = answers[query_of(spec).key]
    if isinstance(rows, ResultsError):
        from preprocessor.lint.versions import since_hint

        at = spec.locate(("pipeline", *(rows.path or ())), key=True)
        return [finding("MT301", spec.file, at, rows.message, rows.hint or since_hint(rows.message))]
    if not rows:
        return [] if spec.empty is not None else [_no_rows(spec, collections)]
    return [*(_empty_columns(spec, rows) or _undrawable(spec, rows)), *_too_old(spec, answers)]


def _too_old(spec: PipelineSpec, answers: Answers) -> list[Finding]:
    if spec.max_age is None:
        return []
    from preprocessor.environment import today

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
        from preprocessor.schemacheck import did_you_mean

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
    from preprocessor.aggregation.values import MISSING
    from preprocessor.render.columns import column_value, index_hint
    from preprocessor.specs import shown_columns

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
    from preprocessor.specs import ChartSpec, TableSpec

    found: list[Finding] = []
    if isinstance(spec, ChartSpec) or (isinstance(spec, TableSpec) and spec.chart):
        from preprocessor.render.chartdata import plot_of
        from preprocessor.render.chartfaults import plot_faults

        for path, message, hint in plot_faults(plot_of(spec), rows):
            found.append(finding("MT330", spec.file, spec.locate(path), message, hint))
    if isinstance(spec, TableSpec) and spec.baseline:
        from preprocessor.render.comparison import baseline_faults

        for path, message, hint in baseline_faults(spec, rows):
            found.append(finding("MT331", spec.file, spec.locate(path), message, hint))
    if isinstance(spec, TableSpec) and spec.spread:
        from preprocessor.render.comparison import range_faults

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
    from preprocessor.lint.ignoring import unused_ignores, without_silenced

    kept = without_silenced(found, specs)
    return [*kept, *unused_ignores(found, specs, ran=ran)] if complete else kept


def lint_findings(
    pages: Sequence[Page], fixtures: FixtureSource | None, answers: Answers | None
) -> list[Finding]:
    """What the linter says of all tables and charts, from what ``fixtures`` and ``answers`` tell of documents."""
    if not any(page.specs for page in pages):
        return []
    from preprocessor.lint.pages import lint
    from preprocessor.results import ResultsError
    from preprocessor.specs import PipelineSpec

    known: Answers = answers or {}
    rows: dict[int, Rows | None] = {}
    for spec in (spec for page in pages for spec in page.specs) if known else ():
        if isinstance(spec, PipelineSpec) and (answered := known.get(query_of(spec).key)) is not None:
            rows[id(spec)] = None if isinstance(answered, ResultsError) else answered
    found = lint((page.specs for page in pages), fixtures, rows)
    return [*found, *_server_only(pages, rows, fixtures.limits)] if fixtures is not None else found


def _server_only(pages: Sequence[Page], ran: Collection[int], limits: FileLimits) -> Iterator[Finding]:
    """What fixtures could not run, within ``limits``, of the pipelines that were not run.

    ``ran`` are the ids of the specs that were. Pages are read with the usual limits: with others it is asked again.
    """
    from preprocessor.aggregation.limits import Limits

    again = limits != Limits()
    for page in pages:
        for spec, usual in zip(page.specs, page.server_only, strict=True):
            if spec is None or id(spec) in ran:
                continue
            fault = _compiled(spec, limits).server_only if again and spec in page.asking else usual
            if fault is not None:
                yield fault


def _findings_together(pages: Sequence[Page], specs: Sequence[Spec]) -> list[Finding]:
    if not specs:
        return []
    from preprocessor.specs import CheckSpec, ValueSpec, duplicate_ids, unknown_tables

    found = duplicate_ids((page.file, page.specs) for page in pages)
    if any(isinstance(spec, ValueSpec | CheckSpec) for spec in specs):
        # The ids of faulty tables count as well: one fault is told once.
        found += unknown_tables(specs, [each for page in pages for each in written_ids(page)])
    return found


def written_ids(page: Page) -> list[str]:
    """The ids that comments of the page have, those that are faulty or were rejected too."""
    from preprocessor import specs

    sound = [each for pair in zip(page.comments, page.specs, strict=True) for each in ids_of(*pair)]
    return sound + [each for start, end in page.rejected for each in specs.written_ids(page.text[start:end])]


def ids_of(comment: Comment, spec: Spec | None) -> list[str]:
    """The id of a comment, which its table has if it is sound; a faulty one may have several that could be it."""
    from preprocessor import specs

    if spec is None:
        return specs.written_ids(comment.body)
    return [spec.id] if isinstance(spec, specs.PipelineSpec) and spec.id else []


def spec_findings(
    spec: Spec, tables: Tables, answers: Answers, collections: Sequence[str] = ()
) -> list[Finding]:
    """What is wrong with a table, a value or a statement once the rows are there."""
    from preprocessor import specs, statements

    if isinstance(spec, specs.PipelineSpec):
        return row_findings(spec, answers, collections)
    if isinstance(spec, specs.ValueSpec):
        return statements.value_findings(spec, tables, answers)
    if isinstance(spec, specs.CheckSpec):
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
