"""The comment for a collection: options decide, else a person at a terminal, else the documents.

Of several drafts the first that ``check`` accepts is written.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mongo_tables.build import build
from mongo_tables.commands.explain.causes import why_nothing
from mongo_tables.commands.explain.walk import StageWalk
from mongo_tables.commands.init.columns import (
    FirstTable,
    choose_formats,
    explain_left_out,
    find_candidates,
    format_comment,
    propose_headers,
    propose_orders,
    propose_sorting,
    suggest_columns,
    suggest_for_benchmarks,
    suggest_for_runs,
)
from mongo_tables.directives.keywords import HTML, MDX, is_mdx, keyword_like
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.row_paths import ROWS, find_rows, rows_stages
from mongo_tables.files.folders import list_some
from mongo_tables.findings.finding import did_you_mean
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.rules import RULES
from mongo_tables.findings.usage import CommandError
from mongo_tables.jsontext.extended import decode
from mongo_tables.results.model import Query
from mongo_tables.results.row_names import order_of
from mongo_tables.site.disk import snapshot_of
from mongo_tables.site.markdown import newline_of

if TYPE_CHECKING:
    from mongo_tables.commands.init.columns import CandidateField
    from mongo_tables.findings.finding import Finding
    from mongo_tables.results.answers import Answers
    from mongo_tables.results.model import ResultsSource, Rows

_LOOKED_AT = 50
_LISTED = 5
_AT_HAND = 10_000


@dataclass(frozen=True, slots=True)
class Wishes:
    """The requested properties of a comment. None means chosen from the documents.

    ``rows`` is the path to a list inside each document. ``where`` has texts FIELD=VALUE; ``columns``, ``headers`` and
    ``sort`` are comma-separated; a ``-`` before a field sorts descending. ``name`` is the id of the table. ``asking``:
    ask a person at a terminal for what is None.
    """

    keyword: str
    collection: str | None = None
    rows: str | None = None
    where: Sequence[str] = ()
    columns: str | None = None
    headers: str | None = None
    sort: str | None = None
    title: str = ""
    name: str = ""
    asking: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A comment that shows the fields ``paths``. ``write`` returns its text, which ignores rules, id → why."""

    paths: tuple[str, ...]
    write: Callable[[Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A comment that shows the fields ``paths`` of a collection, based on ``looked_at`` documents.

    ``left_out``: fields that are not shown, by reason. ``remarks`` say what the documents have and the table lacks;
    ``ignored`` are the messages of the findings that it ignores.
    """

    collection: str
    looked_at: int
    text: str
    paths: Sequence[str]
    left_out: Mapping[str, Sequence[str]]
    remarks: Sequence[str]
    ignored: Sequence[str]

    def written_for(self, page: str, file: str) -> str:
        """Return the comment with the marks that a page takes."""
        if not is_mdx(page, file):
            return self.text
        # Prettier breaks comments of MDX that have several lines.
        inner = re.sub(r"\n\s*", " ", self.text.removeprefix(HTML.open).removesuffix(HTML.close))
        return f"{MDX.open}{inner}{MDX.close}"


def table_keyword(page: str) -> str:
    """Return the keyword of a new table on a page: it begins like the existing ones."""
    written = find(page, "").comments
    return keyword_like(written[0].keyword if written else "", "table")


def append_block(page: str, block: str) -> tuple[str, int]:
    """Append a block after a blank line, with the line ends of the page. Return the page and the line of the block."""
    newline = newline_of(page)
    ended = not page or page.endswith(newline)
    blank = "" if not page or page.endswith(newline * 2) else newline if ended else newline * 2
    above = page + blank
    whole = above + block.replace("\n", newline) + newline
    return whole, whole.count(newline, 0, len(above)) + 1


def propose_comment(wishes: Wishes, asked: Answers) -> Proposal:
    """Return a comment that fulfils the wishes. Raises CommandError for fields that the collection lacks."""
    where = dict(map(_parse_condition, wishes.where))
    source = asked.source
    collection = _choose_collection(wishes.collection, source.collections(), wishes.asking)
    documents = _read_documents(source, collection, wishes.rows, where)
    inner = find_rows(documents[0]) if len(documents) == 1 and not wishes.rows else []
    rows = inner[0] if inner else wishes.rows
    if inner:
        documents = _read_documents(source, collection, rows, where)
    is_open = not (wishes.columns or wishes.headers or wishes.sort or wishes.asking)
    suggested = (suggest_for_benchmarks(documents) or suggest_for_runs(documents)) if is_open else None
    if suggested and suggested.where:
        where |= suggested.where
        documents = _read_documents(source, collection, rows, where)
    fields = find_candidates(documents)
    if not fields:
        raise CommandError(
            f"the documents of `{collection}` have no numbers or strings in their first two levels",
            "write a pipeline that computes some; `mongo-tables explain` shows what it does",
        )
    chosen = suggested or _choose(wishes, fields, documents)
    write = partial(
        format_comment, wishes.keyword, collection, where, rows=rows, title=wishes.title, name=wishes.name
    )
    drafts = _draft(wishes, chosen, write, fields, documents, is_measured=suggested is not None)
    # Trying a draft is cheap on local documents, or on the few that were examined.
    can_be_tried = source.local is not None or len(documents) < _LOOKED_AT
    ignored: Sequence[Finding] = ()
    if wishes.sort or wishes.asking or not can_be_tried:
        draft = next(drafts)
    else:
        draft, ignored = _choose_soundest(drafts, asked)
    # The text of the rule, not of the finding: its figures would be old after the next measurement.
    text = draft.write({one.rule: f"A first draft: {RULES[one.rule].summary}" for one in ignored})
    out = {} if wishes.columns or wishes.asking else explain_left_out(documents, fields, draft.paths)
    messages = [one.message for one in ignored]
    remarks = [*_say_other_lists(inner), *chosen.remarks]
    return Proposal(collection, len(documents), text, draft.paths, out, remarks, messages)


def _say_other_lists(paths: Sequence[str]) -> Iterator[str]:
    """Yield the other lists inside the document, and how to show one of them."""
    if len(paths) > 1:
        listed = list_some([f"`{path}`" for path in paths[1:]], _LISTED)
        yield f'the table shows the list `{paths[0]}`; other lists are {listed}: `"rows": "{paths[1]}"` shows one'


def _parse_condition(text: str) -> tuple[str, Any]:
    """Return field and value of FIELD=VALUE. The value is JSON, or else the text itself."""
    field, found, value = text.partition("=")
    if not found or not field.strip():
        raise CommandError(
            f"--where {text}: not FIELD=VALUE", "for example --where _id.testname=insert_docsize"
        )
    try:
        return field.strip(), json.loads(value)
    except ValueError:
        return field.strip(), value


def _choose_collection(named: str | None, known: Sequence[str], asking: bool) -> str:
    if named in known:
        return str(named)
    listed = ", ".join(known)
    if not known:
        raise CommandError("the results source has no collections", "see --results")
    if named is not None:
        hint = did_you_mean(named, known) or f"there are {listed}"
        raise CommandError(f"the results source has no collection `{named}`", hint)
    if len(known) == 1:
        return known[0]
    if not asking:
        raise CommandError("which collection?", f"there are {listed}")
    return _choose_collection(_ask(f"Collection ({listed})", known[0]), known, asking)


def _read_documents(
    source: ResultsSource, collection: str, rows: str | None, where: Mapping[str, Any]
) -> Rows:
    """Return the first documents, or entries of their list ``rows``. Raises UsageError if there are none."""
    if rows is not None and not re.fullmatch(ROWS, rows):
        raise CommandError(f"--rows {rows}: no path to a list", "for example --rows measurements.*")
    wanted, malformed = decode(dict(where))
    if malformed:
        raise CommandError(f"--where: {malformed[0].message}")
    stage = {"$match": wanted}
    most = _LOOKED_AT if source.local is None else _AT_HAND
    made = rows_stages(rows) if rows else ()
    found = source.aggregate(Query(collection, (*made, stage, {"$limit": most})))
    if found:
        return found
    if rows:
        raise CommandError(
            f"`{rows}` with --where is not an entry of a list in `{collection}`", "see --rows and --where"
        )
    walk = StageWalk(source, Query(collection, (stage,)))
    walk.run()
    if not walk.steps or not walk.steps[0].count:
        raise CommandError(f"the collection `{collection}` has no documents")
    reason, hint = why_nothing(stage, 0, walk)
    raise CommandError(reason or "no document fulfils --where", hint)


# -- what it shows --


def _choose(wishes: Wishes, fields: Sequence[CandidateField], documents: Rows) -> FirstTable:
    """Choose columns, headers and order as wished, asked for, or suggested by the documents."""
    paths = _choose_columns(wishes.columns, fields, documents, wishes.asking)
    headers = _choose_headers(wishes.headers, paths, propose_headers(paths, documents), wishes.asking)
    if wishes.sort or wishes.asking:
        return FirstTable({}, paths, headers, _choose_sorting(wishes.sort, paths, wishes.asking))
    _, sort = next(propose_orders(paths, fields, may_add=False))
    return FirstTable({}, paths, headers, sort)


def _choose_columns(
    written: str | None, fields: Sequence[CandidateField], documents: Rows, asking: bool
) -> list[str]:
    """Return the paths of the columns: named, picked from a list, or suggested."""
    proposal = suggest_columns(fields, documents)
    if asking:
        for number, one in enumerate(fields, 1):
            kinds = "|".join(one.types)
            line = f"{number:>4}  {one.path}  {kinds}  {one.distinct} different, such as {one.example}"
            print(escape_control_chars(line), file=sys.stderr)
        written = _ask("Columns, by number or name, with commas", ", ".join(proposal))
    if not written:
        return proposal
    parts = (part.strip() for part in written.split(","))
    return list(dict.fromkeys(_find_path(part, fields) for part in parts if part))


def _find_path(written: str, fields: Sequence[CandidateField]) -> str:
    known = [one.path for one in fields]
    if written.isdigit() and 1 <= int(written) <= len(known):
        return known[int(written) - 1]
    if written not in known:
        listed = f"there are {', '.join(known[:20])}{' …' if len(known) > 20 else ''}"
        hint = did_you_mean(written, known) or listed
        raise CommandError(f"no document has a number, a string or a date as `{written}`", hint)
    return written


def _choose_headers(
    written: str | None, paths: Sequence[str], proposal: Sequence[str], asking: bool
) -> Sequence[str]:
    if written:
        headers = [part.strip() for part in written.split(",")]
        if len(headers) != len(paths):
            raise CommandError(f"{len(headers)} headers for {len(paths)} columns: {', '.join(paths)}")
        return headers
    if not asking:
        return proposal
    return [_ask(f"Header of {path}", text) for path, text in zip(paths, proposal, strict=True)]


def _choose_sorting(written: str | None, paths: Sequence[str], asking: bool) -> Sequence[str]:
    proposal = propose_sorting(paths)
    text = written or (_ask("Sorted by", ", ".join(proposal)) if asking else "")
    sort = [part.strip() for part in text.split(",")] if text else proposal
    for path in (one.removeprefix("-") for one in sort):
        if path not in paths:
            hint = "a table is sorted by what it shows"
            raise CommandError(f"`{path}` is not one of the columns {', '.join(paths)}", hint)
    return sort


def _ask(question: str, otherwise: str) -> str:
    prompt = f"{escape_control_chars(question)} [{escape_control_chars(otherwise)}]: "
    print(prompt, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip() or otherwise


# -- drafts --


def _draft(
    wishes: Wishes,
    chosen: FirstTable,
    write: Callable[..., str],
    fields: Sequence[CandidateField],
    documents: Rows,
    *,
    is_measured: bool,
) -> Iterator[Draft]:
    """Yield the chosen comment, then alternatives: in another order, or with the ``_id`` as well."""
    texts = dict(zip(chosen.columns, chosen.headers, strict=True))
    may_add = not (wishes.columns or wishes.headers)
    others = (
        [(chosen.columns, ["_id"])]  # Rows of benchmarks and runs are never sorted by their figures.
        if is_measured
        else propose_orders(chosen.columns, fields, may_add=may_add)
    )
    for shown, sort in ((chosen.columns, chosen.sort), *others):
        headers = [texts.get(path) or propose_headers([path], documents)[0] for path in shown]
        formats = choose_formats(shown, fields, chosen.formats)
        keys = [order_of(path, documents) for path in sort]
        yield Draft(tuple(shown), partial(write, shown, headers, formats, keys))


def _choose_soundest(drafts: Iterable[Draft], asked: Answers) -> tuple[Draft, list[Finding]]:
    """Return the first draft without a finding, or the one with the fewest findings, and these otherwise."""
    best: tuple[int, Draft, list[Finding]] | None = None
    for draft in drafts:
        report = build(snapshot_of({"draft.md": draft.write({})}), asked)
        if report.away:
            raise report.away
        found = list(report.findings)
        if not found:
            return draft, found
        gravity = sum({"error": 100, "warning": 10, "note": 1}[one.severity] for one in found)
        if best is None or gravity < best[0]:
            best = gravity, draft, found
    assert best is not None, "there is a draft"
    return best[1:]
