"""Tables without rows whose first condition asks for a text that no document has: told at the mistyped text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from mongo_tables.aggregation.fields import conditions_in
from mongo_tables.files.text import shorten
from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.findings.rules import finding
from mongo_tables.results.model import ResultsError

if TYPE_CHECKING:
    from mongo_tables.directives.specs import PipelineSpec
    from mongo_tables.findings.finding import Finding
    from mongo_tables.jsontext.reader import Path
    from mongo_tables.results.model import LocalDocuments
    from mongo_tables.site.model import Page

_RULE = "MT303"


def blame_texts(
    found: Sequence[Finding], pages: Sequence[Page], local: LocalDocuments | None
) -> list[Finding]:
    """The findings, those of tables without rows at the text that loses all documents where one is nearly that."""
    if local is None:
        return list(found)
    placed = {page.file: _by_place(page) for page in pages}
    return [
        (_find_mistyped(_spec_at(one, placed[one.file]), local) or one)
        if one.rule == _RULE and placed.get(one.file)
        else one
        for one in found
    ]


_Placed = list[tuple[tuple[int, int], "PipelineSpec"]]


def _by_place(page: Page) -> _Placed:
    """The tables and charts of a page with the places where their comments begin, in order."""
    placed = [((spec.comment.line, spec.comment.column), spec) for spec in page.pipeline_specs]
    return sorted(placed, key=itemgetter(0))


def _spec_at(one: Finding, placed: _Placed) -> PipelineSpec:
    """The table or the chart that a finding is about."""
    return placed[bisect_right(placed, (one.line, one.column), key=itemgetter(0)) - 1][1]


def _find_mistyped(spec: PipelineSpec, local: LocalDocuments) -> Finding | None:
    """A finding at the first text that is nearly one that documents have in its field."""
    for field, text, path in _list_texts(spec):
        try:
            known = local.texts(spec.collection, field)
        except ResultsError:  # Whoever asks for rows says why.
            return None
        if text not in known and (hint := did_you_mean(text, known)):
            message = (
                f"no document of '{spec.collection}' has `{shorten(text)}` in `{field}`: there are no rows"
            )
            return finding(_RULE, spec.file, spec.locate(("pipeline", 0, "$match", *path)), message, hint)
    return None


def _list_texts(spec: PipelineSpec) -> Iterator[tuple[str, str, Path]]:
    """The texts that all documents must have, of which the pipeline makes something, with their fields and places."""
    first: Mapping[str, Any] = spec.pipeline[0] if spec.pipeline else {}
    for key, value, path in conditions_in(first.get("$match", {})):
        text, at = (
            (value["$eq"], (*path, "$eq")) if isinstance(value, Mapping) and "$eq" in value else (value, path)
        )
        if not key.startswith("$") and isinstance(text, str) and not {"$or", "$nor"} & set(path):
            yield key, text, at
