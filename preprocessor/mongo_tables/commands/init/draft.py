"""The comment for a collection: the first of several drafts that ``check`` accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mongo_tables.build import build
from mongo_tables.commands.init.columns import (
    NUMBERS,
    CandidateField,
    FirstTable,
    choose_formats,
    find_candidates,
    format_comment,
    list_left_out,
    make_body,
    propose_headers,
    propose_orders,
    suggest_columns,
    suggest_for_benchmarks,
    suggest_for_runs,
)
from mongo_tables.directives.keywords import HTML, MDX, is_mdx, keyword_like
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.references import find_written_ids
from mongo_tables.directives.row_paths import find_rows, rows_stages
from mongo_tables.files.folders import list_some
from mongo_tables.findings.finding import Finding, did_you_mean
from mongo_tables.findings.rules import RULES
from mongo_tables.findings.usage import CommandError
from mongo_tables.jsontext.reader import parse
from mongo_tables.render.markup import distinct, words
from mongo_tables.results.answers import Answers
from mongo_tables.results.model import Query, ResultsSource, Rows
from mongo_tables.results.row_names import order_of
from mongo_tables.site.disk import snapshot_of
from mongo_tables.site.markdown import newline_of

_LOOKED_AT = 50
_LISTED = 5
_AT_HAND = 10_000
DRAFT = "draft.md"
"""The name of the page on which drafts are tried."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft of a comment that shows the fields ``paths``.

    ``make`` returns the keys of the comment. Its argument has the ids of rules to ignore, with reasons.
    """

    paths: tuple[str, ...]
    make: Callable[[Mapping[str, str]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A comment that shows the fields ``paths`` of a collection.

    Attributes:
        looked_at: The number of documents from which the comment was chosen.
        left_out: The fields that the comment does not show.
        remarks: Messages about content of the documents that the table lacks.
        ignored: The messages of findings that the comment ignores.
    """

    collection: str
    looked_at: int
    keyword: str
    body: Mapping[str, Any]
    paths: Sequence[str]
    left_out: Sequence[str]
    remarks: Sequence[str]
    ignored: Sequence[str]

    @property
    def text(self) -> str:
        """The text of the comment."""
        return format_comment(self.keyword, self.body)


def mark_for(page: str, file: str, text: str) -> str:
    """Return an HTML comment in the syntax of the page: HTML or MDX."""
    if not is_mdx(page, file):
        return text
    # Prettier would break a comment of several lines in MDX.
    inner = re.sub(r"\n\s*", " ", text.removeprefix(HTML.open).removesuffix(HTML.close))
    return f"{MDX.open}{inner}{MDX.close}"


def append_block(page: str, block: str) -> tuple[str, int]:
    """Append a block after a blank line, with the page's newlines. Return the page and the line of the block."""
    newline = newline_of(page)
    ended = not page or page.endswith(newline)
    blank = "" if not page or page.endswith(newline * 2) else newline if ended else newline * 2
    above = page + blank
    whole = above + block.replace("\n", newline) + newline
    return whole, whole.count(newline, 0, len(above)) + 1


def _choose_id(collection: str, pages: Iterable[str]) -> str:
    """Return an id for the table of a collection that no comment on ``pages`` has."""
    anchor = words(collection)
    # An id begins with a letter.
    wanted = anchor if anchor[:1].isalpha() else f"results-{anchor}".strip("-")
    taken = {name for page in pages for name in find_written_ids(parse(page))}
    return distinct([f"{wanted}-table" if wanted in taken else wanted], taken)[0]


def propose_comment(
    asked: Answers, page: str, named: str | None = None, others: Iterable[str] = ()
) -> Proposal:
    """Return a comment for a page, for the collection ``named`` or, without a name, for the only collection.

    ``others`` are the texts of other pages, whose ids are taken. Raises CommandError if there is nothing to show.
    """
    source = asked.source
    collection = _choose_collection(named, source.collections())
    documents = _read_documents(source, collection)
    inner = find_rows(documents[0]) if len(documents) == 1 else []
    rows = inner[0] if inner else None
    if inner:
        documents = _read_documents(source, collection, rows)
    suggested = suggest_for_benchmarks(documents) or suggest_for_runs(documents)
    where = suggested.where if suggested else {}
    if where:
        documents = _read_documents(source, collection, rows, where)
    if suggested and suggested.newest:
        documents = [one for one in documents if one.get("start_time") == suggested.newest]
    fields = find_candidates(documents)
    if not fields:
        raise CommandError(
            f"the documents of `{collection}` have no numbers or strings in their first two levels",
            "write a pipeline that computes some; `mongo-tables explain` shows what it does",
        )
    name = _choose_id(collection, [page, *others])
    chosen = suggested or _suggest(fields, documents, rows or "")
    make = partial(make_body, collection, where, rows=rows, name=name, newest_run=chosen.newest_run)
    drafts = _draft(chosen, make, fields, documents, is_measured=suggested is not None)
    # Trying drafts is cheap if the documents are local or few.
    can_be_tried = source.local is not None or len(documents) < _LOOKED_AT
    draft, ignored = _choose_soundest(drafts, asked) if can_be_tried else (next(drafts), [])
    # The reason is the text of the rule, because figures in the finding would change with each measurement.
    body = draft.make({one.rule: f"A first draft: {RULES[one.rule].summary}" for one in ignored})
    texts = [one for one in fields if "string" in one.types and "." not in one.path and not suggested]
    gaps = [one for one in texts if not one.everywhere and one.path not in draft.paths][:_LISTED]
    out = list_left_out(documents, fields, [*draft.paths, *(one.path for one in gaps)])
    messages = [one.message for one in ignored]
    lists = '"columns" and "headers"' if "headers" in body else '"columns"'
    remarks = [*_say_other_lists(inner), *chosen.remarks]
    remarks += (
        f"left out: {one.path}, empty in {len(documents) - len(one.values)} of {len(documents)} rows; to show it, "
        f'add it to {lists}, and "format": {{{json.dumps(one.path, ensure_ascii=False)}: {{"missing": "–"}}}}'
        for one in gaps
    )
    written = find(page, "").comments
    keyword = keyword_like(written[0].keyword if written else "", "table")
    return Proposal(collection, len(documents), keyword, body, draft.paths, out, remarks, messages)


def _say_other_lists(paths: Sequence[str]) -> Iterator[str]:
    if len(paths) > 1:
        listed = list_some([f"`{path}`" for path in paths[1:]], _LISTED)
        yield f'the table shows the list `{paths[0]}`; other lists are {listed}: `"rows": "{paths[1]}"` shows one'


def _choose_collection(named: str | None, known: Sequence[str]) -> str:
    if named in known:
        return str(named)
    listed = f"there are {', '.join(known)}"
    if not known:
        raise CommandError("the results source has no collections", "see --results")
    if named is not None:
        raise CommandError(
            f"the results source has no collection `{named}`", did_you_mean(named, known) or listed
        )
    if len(known) > 1:
        raise CommandError("the results source has several collections: name one", listed)
    return known[0]


def _read_documents(
    source: ResultsSource, collection: str, rows: str | None = None, where: Mapping[str, Any] | None = None
) -> Rows:
    """Return the first documents, or the first entries of their list ``rows``. Raises CommandError without any."""
    most = _LOOKED_AT if source.local is None else _AT_HAND
    made = rows_stages(rows) if rows else ()
    found = source.aggregate(Query(collection, (*made, {"$match": dict(where or {})}, {"$limit": most})))
    if not found:
        raise CommandError(f"the collection `{collection}` has no documents")
    return found


def _suggest(fields: Sequence[CandidateField], documents: Rows, rows: str) -> FirstTable:
    paths = suggest_columns(fields, documents)
    _, sort = next(propose_orders(paths, fields))
    numbers = [one.path for one in fields if set(one.types) <= NUMBERS]
    return FirstTable({}, paths, propose_headers(paths, documents, numbers, rows), sort)


# -- drafts --


def _draft(
    chosen: FirstTable,
    make: Callable[..., dict[str, Any]],
    fields: Sequence[CandidateField],
    documents: Rows,
    *,
    is_measured: bool,
) -> Iterator[Draft]:
    """Yield the chosen comment, then alternatives with other sort keys or with ``_id`` as a column."""
    texts = dict(zip(chosen.columns, chosen.headers, strict=True))
    others = (
        [(chosen.columns, ["_id"])]  # Rows of benchmarks and runs are never sorted by their figures.
        if is_measured
        else propose_orders(chosen.columns, fields)
    )
    for shown, sort in ((chosen.columns, chosen.sort), *others):
        headers = [texts.get(path) or propose_headers([path], documents)[0] for path in shown]
        formats = choose_formats(shown, fields, chosen.formats)
        keys = [order_of(path, documents) for path in sort]
        yield Draft(tuple(shown), partial(make, shown, headers, formats, keys))


def _choose_soundest(drafts: Iterable[Draft], asked: Answers) -> tuple[Draft, list[Finding]]:
    """Return the first draft without findings, or else the draft with the least severe findings, and its findings."""
    best: tuple[int, Draft, list[Finding]] | None = None
    for draft in drafts:
        report = build(snapshot_of({DRAFT: format_comment("RESULT_TABLE", draft.make({}))}), asked)
        if report.source.unreachable:
            raise report.source.unreachable
        found = [
            one for one in report.findings if one.file == DRAFT
        ]  # without findings about files of results
        if not found:
            return draft, found
        gravity = sum({"error": 100, "warning": 10, "note": 1}[one.severity] for one in found)
        if best is None or gravity < best[0]:
            best = gravity, draft, found
    assert best is not None, "there is a draft"
    return best[1:]
