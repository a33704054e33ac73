"""Mistyped columns and texts: words that no document has and that are close to one that documents have."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice, takewhile
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from mongo_tables.aggregation.fields import conditions_in
from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.body_checks import not_shown
from mongo_tables.files.folders import shorten
from mongo_tables.findings.finding import did_you_mean, nearest_word
from mongo_tables.findings.rules import finding
from mongo_tables.jsontext.document import Document
from mongo_tables.render.column import column_value
from mongo_tables.results.model import ResultsError
from mongo_tables.site.statements import say_never_text

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.directives.specs import PipelineSpec
    from mongo_tables.findings.finding import Finding
    from mongo_tables.jsontext.reader import Path
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.model import Rows
    from mongo_tables.site.pages import Page


_UNKNOWN_COLUMN = "MT136"
_place = attrgetter("line", "column")


class _Mistyped(NamedTuple):
    """A mistyped column, the field that was meant, and the finding about it."""

    meant: str
    fault: Finding


class _KnownFields(NamedTuple):
    """The documents of a collection, and their top-level fields."""

    documents: Rows
    fields: Sequence[str]


def blame_columns(found: Sequence[Finding], pages: Sequence[Page], local: FileSource | None) -> list[Finding]:
    """Replace findings about settings by one about the mistyped column that the settings name correctly.

    This applies if settings name a field of the documents and the comment's column is close to it but in no
    document. Only comments that show document fields directly qualify; a pipeline defines its own fields.
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
    """Return the findings about settings with unknown columns, by file and message, in file order."""
    told: dict[tuple[str, str], list[Finding]] = {}
    for one in sorted((one for one in found if one.rule == _UNKNOWN_COLUMN), key=_place):
        told.setdefault((one.file, one.message), []).append(one)
    return told


def _list_within(comment: Comment, told: Sequence[Finding]) -> list[Finding]:
    first = bisect_left(told, (comment.line, comment.column), key=_place)
    return list(takewhile(lambda one: comment.covers(one.line, one.column), islice(told, first, None)))


def _list_mistyped(
    comment: Comment, file: str, collections: Callable[[str], _KnownFields]
) -> Iterator[_Mistyped]:
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
            yield _Mistyped(near, document.finding(_UNKNOWN_COLUMN, ("columns", index), message, hint))


def _is_there(column: str, documents: Rows) -> bool:
    return any(column_value(document, column) is not MISSING for document in documents)


def _read_collection(local: FileSource, collection: str) -> _KnownFields:
    try:
        documents = list(local.documents(collection))
    except ResultsError:  # The query for the rows reports the error.
        return _KnownFields([], [])
    return _KnownFields(documents, sorted({name for document in documents for name in document}))


_NO_ROWS = "MT303"


def blame_texts(found: Sequence[Finding], pages: Sequence[Page], local: FileSource | None) -> list[Finding]:
    """Replace findings about tables without rows by ones about mistyped texts that exclude all documents."""
    if local is None:
        return list(found)
    placed = {page.file: _by_place(page) for page in pages}
    return [
        (_find_mistyped(_spec_at(one, placed[one.file]), local) or one)
        if one.rule == _NO_ROWS and placed.get(one.file)
        else one
        for one in found
    ]


_Placed = list[tuple[tuple[int, int], "PipelineSpec"]]


def _by_place(page: Page) -> _Placed:
    """Return the tables and charts of a page with the start of their comments, in order."""
    placed = [((spec.comment.line, spec.comment.column), spec) for spec in page.pipeline_specs]
    return sorted(placed, key=itemgetter(0))


def _spec_at(one: Finding, placed: _Placed) -> PipelineSpec:
    """Return the table or chart that a finding is about."""
    return placed[bisect_right(placed, (one.line, one.column), key=itemgetter(0)) - 1][1]


def _find_mistyped(spec: PipelineSpec, local: FileSource) -> Finding | None:
    """Return a finding at the first text that is close to one that documents have in its field."""
    for field, text, path in _list_texts(spec):
        try:
            known = local.texts(spec.collection, field)
        except ResultsError:  # The query for the rows reports the error.
            return None
        documents = () if known else local.documents(spec.collection)
        hint = did_you_mean(text, known) if known else say_never_text(documents, field, text)
        if text not in known and hint:
            message = (
                f"no document of '{spec.collection}' has `{shorten(text)}` in `{field}`: there are no rows"
            )
            return finding(_NO_ROWS, spec.file, spec.locate(("pipeline", 0, "$match", *path)), message, hint)
    return None


def _list_texts(spec: PipelineSpec) -> Iterator[tuple[str, str, Path]]:
    """Yield the texts that all input documents of the pipeline must have, with their fields and paths."""
    first: Mapping[str, Any] = spec.pipeline[0] if spec.pipeline else {}
    for key, value, path in conditions_in(first.get("$match", {})):
        text, at = (
            (value["$eq"], (*path, "$eq")) if isinstance(value, Mapping) and "$eq" in value else (value, path)
        )
        if not key.startswith("$") and isinstance(text, str) and not {"$or", "$nor"} & set(path):
            yield key, text, at
