"""A parsed page: its comments, the spec of each, and its faults before anything runs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.aggregation import AggregationError, LimitReached, NotOffline, check
from mongo_tables.directives import page_scan
from mongo_tables.directives.pipelines import Lookup, hint_on_inner_name
from mongo_tables.directives.references import find_written_ids
from mongo_tables.directives.specs import PipelineSpec, Spec, TableSpec, ValueSpec
from mongo_tables.findings.finding import Finding, did_you_mean
from mongo_tables.findings.rules import finding
from mongo_tables.jsontext.reader import parse
from mongo_tables.results.guards import is_lasting, refused_parts
from mongo_tables.results.model import ResultsError, Rows
from mongo_tables.results.provenance import Provenance, provenance_of

if TYPE_CHECKING:
    from mongo_tables.aggregation.limits import PipelineLimits
    from mongo_tables.directives.comments import Comment, Scan
    from mongo_tables.directives.reader import Reading
    from mongo_tables.files.folders import BadByte


AnswersByKey = Mapping[str, "Rows | ResultsError"]
"""The answers of the results source, by ``Query.key``."""


class Page(NamedTuple):
    """A parsed page: its comments, their specs (None for faulty comments), and its faults.

    Attributes:
        rejected: The start and end of each text that is no comment because of a fault (``comments.Scan``).
        server_only: For each comment, the finding about a part of its pipeline that needs a server, or None. The
            finding is reported only if the source has files and the pipeline did not run. A run would report the
            problem itself.
        owned: The findings of each comment, if a host has changed the page. Their places are in the original files.
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
        """Return the valid tables of the page, in order."""
        return [spec for spec in self.specs if isinstance(spec, TableSpec)]

    @property
    def pipeline_specs(self) -> list[PipelineSpec]:
        """Return the valid tables and charts of the page, in order."""
        return [spec for spec in self.specs if isinstance(spec, PipelineSpec)]

    @property
    def queried(self) -> list[PipelineSpec]:
        """Return everything with a query: valid tables and charts, and the own tables of values."""
        found: list[PipelineSpec] = []
        for spec in self.specs:
            table = spec.own if isinstance(spec, ValueSpec) else spec
            if isinstance(table, PipelineSpec):
                found.append(table)
        return found

    @property
    def quoted_tables(self) -> list[str]:
        """Return the ids of the tables that values and statements of the page quote. Ids may repeat."""
        quotes = [one for spec in self.specs if spec is not None for one in spec.quotes]
        return [one.table for one in quotes if ":" not in one.table] if quotes else []


Tables = Mapping[str, "TableSpec"]
"""The valid tables with an id, by this id."""


def tables_by_id(pages: Iterable[Page]) -> dict[str, TableSpec]:
    """Return the valid tables of the pages by id. If several have the same id, the first one counts."""
    found: dict[str, TableSpec] = {}
    for page in pages:
        for spec in page.queried:
            if isinstance(spec, TableSpec) and spec.id is not None:
                found.setdefault(spec.id, spec)
    return found


def provenance_in(spec: PipelineSpec, answers: AnswersByKey) -> Provenance | None:
    """Return the provenance of a figure, or None if there is none or its query failed."""
    groups = answers.get(spec.source_key)
    if groups is None:  # The figure needs only the dates.
        groups = answers.get(spec.dated_query.key)
    if groups is None or isinstance(groups, ResultsError):
        return None
    joined: Rows = []
    for key in spec.joined:
        rows = answers.get(key)
        joined += [] if rows is None or isinstance(rows, ResultsError) else rows
    return provenance_of(groups, joined, asked=bool(spec.provenance)) if groups or joined else None


if TYPE_CHECKING:
    ReadComment = Callable[[Comment, str, Lookup], tuple[Reading, Finding | None]]


def is_lasting_figure(spec: Spec, quoted: Iterable[PipelineSpec]) -> bool:
    """Return whether a figure that quotes these tables changes only if documents change."""
    asked = (one for one in (spec, *quoted) if isinstance(one, PipelineSpec))
    written = [(one.where, getattr(one, "expect", None)) for one in spec.quotes]
    return all(one.is_lasting for one in asked) and is_lasting(written)


def no_text(file: str, bad: BadByte) -> Finding:
    """Return the fault of a page that is not UTF-8, at its first bad byte."""
    message = f"the page is not UTF-8: there is a byte 0x{bad.value:02x} here"
    return finding("MT100", file, (bad.line, bad.column), message, "save the page as UTF-8")


def read_page(
    text: str,
    file: str,
    shared: Lookup,
    wanted: Callable[[Comment], bool] | None = None,
    read: ReadComment | None = None,
    find: Callable[[str, str], Scan] | None = None,
) -> Page:
    """Read the comments of a page, and check each against its schema and the rules of safety. Nothing runs.

    Args:
        shared: Returns the shared stages of a name, or None.
        wanted: Selects the comments to read. None reads all.
        read: Replaces ``read_comment``.
        find: Replaces ``page_scan.find``.
    """
    scan = (find or page_scan.find)(text, file)
    found: list[Finding] = list(scan.findings)
    chosen = scan.comments if wanted is None else tuple(filter(wanted, scan.comments))
    if not chosen:
        return Page(file, text, (), (), tuple(found), scan.rejected)
    specs, server_only = [], []
    for comment in chosen:
        reading, fault = (read or read_comment)(comment, file, shared)
        found += reading.findings
        specs.append(reading.spec)
        server_only.append(fault)
    return Page(file, text, chosen, tuple(specs), tuple(found), scan.rejected, tuple(server_only))


def source_findings(error: ResultsError, file: str) -> list[Finding]:
    """Return why a results source is unusable: the faults of its files, or one fault of ``file``."""
    return list(error.findings) or [finding("MT310", file, (0, 0), error.message, error.hint)]


def place_findings(given: Page, pages: Iterable[Page]) -> Page:
    """Return a page that a host has changed, with its comments and faults at their places in the original files.

    ``pages`` are the original files. Equal comments are matched in order, because a file may be included several times.
    """
    known: dict[tuple[str, str], list[tuple[Spec | None, list[Finding]]]] = {}
    at_home: list[Finding] = []
    for page in pages:
        at_home += page.findings
        theirs = by_comment(page.comments, page.findings)
        for comment, spec, found in zip(page.comments, page.specs, theirs, strict=True):
            known.setdefault((comment.keyword, comment.body), []).append((spec, found))
    within = by_comment(given.comments, given.findings)
    specs, owned, loose = [], [], []
    for comment, spec, found in zip(given.comments, given.specs, within, strict=True):
        if there := known.get((comment.keyword, comment.body)):
            spec, found = there.pop(0) if len(there) > 1 else there[0]
        else:
            found = list(map(_elsewhere, found))
        specs.append(spec)
        owned.append(tuple(found))
    boxed = {each for found in within for each in found}
    for each in given.findings:
        if each not in boxed:
            same = (one for one in at_home if (one.rule, one.message) == (each.rule, each.message))
            loose.append(next(same, None) or _elsewhere(each))
            at_home = [one for one in at_home if one is not loose[-1]]
    findings = (*loose, *(each for found in owned for each in found))
    return given._replace(specs=tuple(specs), findings=findings, owned=tuple(owned))


def _elsewhere(finding: Finding) -> Finding:
    return finding._replace(
        message=f"{finding.message} (at this place of the page that other plugins have changed)"
    )


def by_comment(comments: Sequence[Comment], findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return the findings within each comment of a page, in the order of the comments."""
    found: list[list[Finding]] = [[] for _ in comments]
    for each in findings:
        if (index := find_comment(comments, each)) is not None:
            found[index].append(each)
    return found


def find_comment(comments: Sequence[Comment], one: Finding) -> int | None:
    """Return the number of the comment that contains a finding, or None."""
    place = one.line, one.column
    index = bisect_right(comments, place, key=lambda each: (each.line, each.column)) - 1
    return index if index >= 0 and place <= comments[index].locate(len(comments[index].body)) else None


def list_written_ids(page: Page) -> list[str]:
    """Return the ids in all comments of the page, including faulty and rejected ones."""
    found = [each for pair in zip(page.comments, page.specs, strict=True) for each in ids_of(*pair)]
    if page.rejected:
        for start, end in page.rejected:
            found += find_written_ids(parse(page.text[start:end]))
    return found


def ids_of(comment: Comment, spec: Spec | None) -> list[str]:
    """Return the id of a valid comment's table, or all ids that a faulty comment may have."""
    if spec is not None:
        return [spec.id] if isinstance(spec, PipelineSpec) and spec.id else []
    return find_written_ids(comment.parsed)


# -- a pipeline before it runs --


class Judgement(NamedTuple):
    """The faults of a pipeline before it runs, and the finding about a part that needs a server."""

    faults: tuple[Finding, ...] = ()
    server_only: Finding | None = None


def read_comment(comment: Comment, file: str, shared: Lookup) -> tuple[Reading, Finding | None]:
    """Read a comment, and check its pipeline. Also return the finding about a part that needs a server, or None.

    If the pipeline is faulty, there is no spec.
    """
    from mongo_tables.directives import reader  # Pages without comments do not need it.

    read = reader.read(comment, file, shared)
    if read.pipeline is None:
        return read, None
    judged = judge(read.pipeline)
    if judged.faults:
        read = read._replace(spec=None, findings=[*read.findings, *judged.faults])
    return read, judged.server_only


def judge(spec: PipelineSpec, limits: PipelineLimits | None = None) -> Judgement:
    """Check a pipeline before it runs, with the list of allowed operators and the offline evaluator.

    ``limits`` apply to constant expressions, which are computed in advance.
    """
    refused: list[Finding] = []
    for part, one in refused_parts(spec.query):
        at = spec.locate((part, *one.at), key=True)
        refused.append(finding(one.rule, spec.file, at, one.message, one.hint))
    if refused and any(one.rule == "MT201" for one in refused):
        return Judgement(tuple(refused))
    try:
        check(spec.pipeline, variables=spec.let, limits=limits)
    except AggregationError as error:
        at = spec.locate(("pipeline", *(error.path or ())), key=True)
        if not isinstance(error, NotOffline):  # The messages of the evaluator about unknown names are better.
            from mongo_tables.lint.failures import failure_hint  # only for faults

            hint = did_you_mean(error.unknown, error.known)
            hint = hint or hint_on_inner_name(spec.pipeline, error.path or ()) or failure_hint(spec, error)
            return Judgement((finding("MT301", spec.file, at, error.message, hint),))
        if refused:
            return Judgement(tuple(refused))
        # A server may know the operator. On files, the run reports it.
        message = f"{error.message}; so the pipeline cannot run on files"
        hint = "use a mongodb:// source, or other operators"
        if isinstance(error, LimitReached):
            hint = "simplify it, or use a mongodb:// source"
        return Judgement(server_only=finding("MT312", spec.file, at, message, hint))
    return Judgement(tuple(refused))
