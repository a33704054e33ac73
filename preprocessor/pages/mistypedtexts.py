"""Tables without rows whose first condition asks for a text that no document has: told at the mistyped text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from preprocessor.aggregation.fields import conditions_in
from preprocessor.files.text import shorten
from preprocessor.findings.nearest import did_you_mean
from preprocessor.findings.rules import finding
from preprocessor.results.model import ResultsError

if TYPE_CHECKING:
    from preprocessor.findings.finding import Finding
    from preprocessor.jsontext.model import Path
    from preprocessor.pages.model import Page
    from preprocessor.results.model import LocalDocuments
    from preprocessor.specs.model import PipelineSpec

_RULE = "MT303"


def blame_texts(
    found: Sequence[Finding], pages: Sequence[Page], local: LocalDocuments | None
) -> list[Finding]:
    """The findings, those of tables without rows at the text that loses all documents where one is nearly that."""
    kept = list(found)
    for spec in (spec for page in pages for spec in page.pipeline_specs) if local else ():
        empty = [one for one in kept if _is_of(spec, one)]
        mistyped = _find_mistyped(spec, local) if empty and local else None
        if mistyped is not None:
            kept = [*(one for one in kept if one not in empty), mistyped]
    return kept


def _is_of(spec: PipelineSpec, one: Finding) -> bool:
    return one.rule == _RULE and one.file == spec.file and spec.comment.covers(one.line, one.column)


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
