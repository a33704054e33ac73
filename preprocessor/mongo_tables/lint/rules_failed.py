"""MT432: rows that come of benchmarks that failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.findings.finding import Finding
from mongo_tables.lint.asking import Documents, collect_documents, leading_match, run_stages
from mongo_tables.lint.rulecontext import RuleContext
from mongo_tables.lint.rules_order import draws
from mongo_tables.results.benchmarks import is_benchmark

if TYPE_CHECKING:
    from mongo_tables.results.model import LocalDocuments
    from mongo_tables.specs.model import PipelineSpec

FAILED: Final = "failed"
"""The field in which a document of a benchmark tool says what went wrong (``schemas/benchmark.schema.json``)."""


def find_failed_benchmarks(subject: RuleContext, source: LocalDocuments) -> Iterator[Finding]:
    """MT432: without the benchmarks that failed the rows would be others, and no column says that they did."""
    spec = subject.spec
    if _shows_failures(subject) or any(draws(spec.pipeline, ())):
        return  # Of documents picked at random, other rows would say nothing.
    documents = collect_documents(spec, source, leading_match(spec.pipeline))
    failed = [one for one in documents if _has_failed(one)]
    sound = [one for one in documents if not _has_failed(one)]
    if not failed or _rows(spec, source, documents) == _rows(spec, source, sound):
        return
    first = failed[0]
    others = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
    yield subject.finding(
        "MT432",
        spec.locate(("collection",)),
        f"a benchmark failed, and its figures are shown: {first.get('name')}: {first[FAILED]}{others}",
        'leave them out with {"failed": {"$exists": false}} in `where`, or in the first `$match`; or show `failed` '
        "in a column",
    )


def _shows_failures(subject: RuleContext) -> bool:
    return any(FAILED in subject.column(name).traits.sources for name in subject.columns)


def _has_failed(document: dict[str, Any]) -> bool:
    return FAILED in document and is_benchmark(document)


def _rows(spec: PipelineSpec, source: LocalDocuments, documents: Documents) -> Documents:
    return run_stages(spec, source, documents, spec.pipeline)
