"""A page with its first comment: a table of a collection, and on pages of a code host its rows as well."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.build import build
from mongo_tables.commands.new.appending import append_block, table_keyword
from mongo_tables.commands.new.choosing import Wishes, propose_comment
from mongo_tables.directives.page_scan import find
from mongo_tables.findings.usage import UsageError
from mongo_tables.render.anchors import words
from mongo_tables.site.disk import snapshot_of

if TYPE_CHECKING:
    from mongo_tables.commands.new.choosing import Proposal
    from mongo_tables.results.answers import Answers

_TITLE = "Results"


class FirstTable(NamedTuple):
    """A page with a table: its text, the line of the comment, the collection, fields that are shown, what is not."""

    text: str
    line: int
    collection: str
    columns: Sequence[str]
    remarks: Sequence[str] = ()


def add_first_table(page: str, asked: Answers, *, in_place: bool) -> FirstTable | None:
    """The page with a comment at its end, and with ``in_place`` the table under it.

    None where a comment would be text there, as within code that is not closed. Raises UsageError where no collection
    can be shown, and ResultsError where results cannot be read.
    """
    proposal = _propose(asked, table_keyword(page))
    heading = f"{'##' if page.strip() else '#'} {_TITLE}"
    titled = append_block(page, heading).text
    added = append_block(titled, proposal.drafted.text)
    if all(comment.line != added.line for comment in find(added.text, "").comments):
        return None
    text = _with_rows(added.text, asked) if in_place else added.text
    return FirstTable(text, added.line, proposal.collection, proposal.drafted.paths, proposal.remarks)


def _propose(asked: Answers, keyword: str) -> Proposal:
    """The comment of the first collection that can be shown."""
    why = UsageError("the results have no collections", "--results names other ones")
    for name in asked.source.collections():
        try:
            return propose_comment(Wishes(keyword, name, name=_table_id(name)), asked)
        except UsageError as error:
            why = error
    raise why


def _table_id(collection: str) -> str:
    """An id for the table of a collection, by which values quote it; "" where its name has no letter for one."""
    name = words(collection)
    return name if name[:1].isalpha() else f"results-{name}".strip("-")


def _with_rows(text: str, asked: Answers) -> str:
    report = build(snapshot_of({"page.md": text}), asked)
    if report.away:
        raise report.away
    return report.figures.in_place(report.pages[0], Path("page.md")).text
