"""Columns that no document has, beside settings of a field that documents have: the fault is told at the column."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice, takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.body_checks import not_shown
from mongo_tables.findings.nearest import did_you_mean, nearest_word
from mongo_tables.jsontext.document import Document
from mongo_tables.render.column import column_value
from mongo_tables.results.model import ResultsError, Rows

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.findings.finding import Finding
    from mongo_tables.results.model import LocalDocuments
    from mongo_tables.site.model import Page

_RULE = "MT136"
_place = attrgetter("line", "column")


class _Mistyped(NamedTuple):
    """A column that was mistyped, the field that was meant, and the fault to be told."""

    meant: str
    fault: Finding


class _Known(NamedTuple):
    """The documents of a collection, and the fields at their top."""

    documents: Rows
    fields: Sequence[str]


def blame_columns(
    found: Sequence[Finding], pages: Sequence[Page], local: LocalDocuments | None
) -> list[Finding]:
    """The findings, where settings name a field that the documents have, and the column beside them one that none has.

    That can be told of a comment that shows fields of documents as they are; one with a pipeline says itself what it
    makes.
    """
    if local is None:
        return list(found)
    told = _by_text(found)
    collections = cache(partial(_read_collection, local))
    faults: list[Finding] = []
    replaced: set[Finding] = set()
    for page in pages:
        for comment, spec in zip(page.comments, page.specs, strict=True):
            for one in _list_mistyped(comment, page.file, collections) if spec is None else ():
                settings = _list_within(comment, told.get((page.file, not_shown(one.meant)), ()))
                replaced.update(settings)
                faults += [one.fault] if settings else []
    return [*faults, *(one for one in found if one not in replaced)]


def _by_text(found: Iterable[Finding]) -> dict[tuple[str, str], list[Finding]]:
    """The findings of settings that name no column, by file and message, in their order in the file."""
    told: dict[tuple[str, str], list[Finding]] = {}
    for one in sorted((one for one in found if one.rule == _RULE), key=_place):
        told.setdefault((one.file, one.message), []).append(one)
    return told


def _list_within(comment: Comment, told: Sequence[Finding]) -> list[Finding]:
    first = bisect_left(told, (comment.line, comment.column), key=_place)
    return list(takewhile(lambda one: comment.covers(one.line, one.column), islice(told, first, None)))


def _list_mistyped(comment: Comment, file: str, collections: Callable[[str], _Known]) -> Iterator[_Mistyped]:
    body = comment.parsed.value
    if not isinstance(body, dict) or "pipeline" in body or not isinstance(body.get("columns"), list):
        return
    collection = body.get("collection")
    if not isinstance(collection, str):
        return
    documents, fields = collections(collection)
    for index, column in enumerate(body["columns"]):
        if not isinstance(column, str) or not fields or _is_there(column, documents):
            continue
        if near := nearest_word(column, fields):
            message, hint = f"no document of '{collection}' has `{column}`", did_you_mean(column, fields)
            document = Document(file, comment.parsed, comment.locate)
            yield _Mistyped(near, document.finding(_RULE, ("columns", index), message, hint))


def _is_there(column: str, documents: Rows) -> bool:
    return any(column_value(document, column) is not MISSING for document in documents)


def _read_collection(local: LocalDocuments, collection: str) -> _Known:
    try:
        documents = list(local.documents(collection))
    except ResultsError:  # Whoever asks for rows says why.
        return _Known([], [])
    return _Known(documents, sorted({name for document in documents for name in document}))
