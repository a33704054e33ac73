"""Columns that no document has, beside settings of a field that documents have: the fault is told at the column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from preprocessor.aggregation.values import MISSING
from preprocessor.findings.nearest import did_you_mean, nearest_word
from preprocessor.jsontext.document import Document
from preprocessor.render.column import column_value
from preprocessor.results.model import ResultsError
from preprocessor.specs.reading import not_shown

if TYPE_CHECKING:
    from preprocessor.comments.model import Comment
    from preprocessor.findings.finding import Finding
    from preprocessor.pages.model import Page
    from preprocessor.results.model import LocalDocuments, Rows

_RULE = "MT136"


class _Mistyped(NamedTuple):
    """A column that was mistyped, the field that was meant, and the fault to be told."""

    meant: str
    fault: Finding


def blame_columns(
    found: Sequence[Finding], pages: Sequence[Page], local: LocalDocuments | None
) -> list[Finding]:
    """The findings, where settings name a field that the documents have, and the column beside them one that none has.

    That can be told of a comment that shows fields of documents as they are; one with a pipeline says itself what it
    makes.
    """
    kept = list(found)
    for page in pages if local else ():
        for comment, spec in zip(page.comments, page.specs, strict=True):
            for one in _list_mistyped(comment, page.file, local) if spec is None and local else ():
                settings = [
                    each
                    for each in kept
                    if _is_within(comment, page, each) and each.message == not_shown(one.meant)
                ]
                if settings:
                    kept = [one.fault, *(each for each in kept if each not in settings)]
    return kept


def _is_within(comment: Comment, page: Page, one: Finding) -> bool:
    return one.rule == _RULE and one.file == page.file and comment.covers(one.line, one.column)


def _list_mistyped(comment: Comment, file: str, local: LocalDocuments) -> Iterator[_Mistyped]:
    body = comment.parsed.value
    if not isinstance(body, dict) or "pipeline" in body or not isinstance(body.get("columns"), list):
        return
    collection = body.get("collection")
    documents = _read_documents(local, collection) if isinstance(collection, str) else []
    fields = sorted({name for document in documents for name in document})
    for index, column in enumerate(body["columns"]):
        if not isinstance(column, str) or not fields or _is_there(column, documents):
            continue
        if near := nearest_word(column, fields):
            message, hint = f"no document of '{collection}' has `{column}`", did_you_mean(column, fields)
            document = Document(file, comment.parsed, comment.locate)
            yield _Mistyped(near, document.finding(_RULE, ("columns", index), message, hint))


def _is_there(column: str, documents: Rows) -> bool:
    return any(column_value(document, column) is not MISSING for document in documents)


def _read_documents(local: LocalDocuments, collection: str) -> Rows:
    try:
        return local.documents(collection)
    except ResultsError:  # Whoever asks for rows says why.
        return []
