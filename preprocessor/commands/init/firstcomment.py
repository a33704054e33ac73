"""A page with its first comment: a table of a collection, and on pages of a code host its rows as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from preprocessor.commands.new.appending import append_block, table_keyword
from preprocessor.commands.new.choosing import Wishes, propose_comment
from preprocessor.comments.search import find
from preprocessor.findings.usage import UsageError
from preprocessor.pages.build import Build
from preprocessor.pages.inplace import render_in_place
from preprocessor.pages.reading import read_page
from preprocessor.render.anchors import words

if TYPE_CHECKING:
    from preprocessor.commands.new.choosing import Proposal
    from preprocessor.pages.keptanswers import KeptAnswers

_TITLE = "Results"


class FirstTable(NamedTuple):
    """A page with a table: its text, the line of the comment, the collection, fields that are shown, what is not."""

    text: str
    line: int
    collection: str
    columns: Sequence[str]
    remarks: Sequence[str] = ()


def add_first_table(page: str, asked: KeptAnswers, *, in_place: bool) -> FirstTable | None:
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


def _propose(asked: KeptAnswers, keyword: str) -> Proposal:
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


def _with_rows(text: str, asked: KeptAnswers) -> str:
    page = read_page(text, "", lambda name: None)
    build = Build(asked, [page])
    build.ask_or_raise()
    return render_in_place(page, build.answers, build.tables)
