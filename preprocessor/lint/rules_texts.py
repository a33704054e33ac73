"""MT408 where values are at hand: in the rows, or in fixtures that are asked for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from preprocessor.findings.finding import Finding
from preprocessor.findings.rules import finding
from preprocessor.lint.asking import collect_documents
from preprocessor.lint.rulecontext import RuleContext
from preprocessor.lint.rules_order import describe_text_order, find_misplaced_texts, sort_keys
from preprocessor.lint.sortings import last_sorting
from preprocessor.render.column import column_value
from preprocessor.specs.model import PipelineSpec

if TYPE_CHECKING:
    from preprocessor.results.model import LocalDocuments


def shows_sort_keys(spec: PipelineSpec) -> bool:
    """Whether the rows have all that they are sorted by, so that `text_order` knows better than who foresees it."""
    sorting = last_sorting(spec.pipeline)
    return sorting is not None and sorting.is_seen


def find_text_order_of_rows(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """MT408: texts with numbers in them are sorted letter by letter, and two of them stand the wrong way round."""
    sorting = last_sorting(spec.pipeline)
    if sorting is None or not sorting.is_seen:
        return
    for key, direction in sorting.keys.items():
        example = find_misplaced_texts((column_value(row, key) for row in rows), direction)
        if example is not None:
            at = spec.locate(("pipeline", sorting.place, sorting.name, key), key=True)
            yield finding("MT408", spec.file, at, *describe_text_order(spec, key, example))


def find_text_order_in_stages(subject: RuleContext, source: LocalDocuments) -> Iterator[Finding]:
    """MT408 about texts that stages make of numbers: fixtures are asked which there are."""
    spec = subject.spec
    for stage in subject.stages("$sort"):
        for key, shape in sort_keys(stage):
            if not shape.traits.numeral or shows_sort_keys(spec):
                continue
            values = [*spec.pipeline[: stage.number], {"$group": {"_id": f"${key}"}}]
            example = find_misplaced_texts(
                (one["_id"] for one in collect_documents(spec, source, values)), stage.argument[key]
            )
            if example is not None:
                path = (*stage.path, key)
                yield subject.in_pipeline("MT408", path, *describe_text_order(spec, key, example), key=True)
