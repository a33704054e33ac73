"""A page as it was read, and what the results source answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.findings.finding import Finding
from mongo_tables.results.model import ResultsError

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.directives.specs import PipelineSpec, Spec, TableSpec
    from mongo_tables.results.model import Rows
    from mongo_tables.results.provenance import Provenance

Answers = Mapping[str, "Rows | ResultsError"]
"""What the results source said, by ``Query.key``."""


class Page(NamedTuple):
    """One page as it was read: its live comments, what each asks for (None where it is faulty), and the faults.

    ``rejected`` are the offsets, from and to, of comments that are none because of a fault (``comments.Scan``).
    ``server_only`` says for each comment what of its pipeline fixtures cannot run: a finding only where they are to
    run it and it was not run, which says the same. ``owned`` has the findings of each comment where they do not stand
    within it: of a comment whose place is in another file, or elsewhere in this one.
    """

    file: str
    text: str
    comments: tuple[Comment, ...]
    specs: tuple[Spec | None, ...]
    findings: tuple[Finding, ...]
    rejected: tuple[tuple[int, int], ...] = ()
    server_only: tuple[Finding | None, ...] = ()
    owned: tuple[tuple[Finding, ...], ...] = ()

    @property
    def tables(self) -> list[TableSpec]:
        """The sound tables of the page, in order."""
        if not self.specs:
            return []
        from mongo_tables.directives.specs import TableSpec  # a page without comments does not pay for it

        return [spec for spec in self.specs if isinstance(spec, TableSpec)]

    @property
    def pipeline_specs(self) -> list[PipelineSpec]:
        """The sound tables and charts of the page, in order."""
        if not self.specs:
            return []
        from mongo_tables.directives.specs import PipelineSpec

        return [spec for spec in self.specs if isinstance(spec, PipelineSpec)]

    @property
    def quoted_tables(self) -> list[str]:
        """The ids of tables that values and statements of the page name, as often as they do."""
        quoted = (spec.quoted_table for spec in self.specs if spec is not None)
        return [table for table in quoted if table is not None]


Tables = Mapping[str, "TableSpec"]
"""The sound tables of pages that have an id, by it."""


def tables_by_id(pages: Iterable[Page]) -> dict[str, TableSpec]:
    """The sound tables of the pages that have an id, by it; of two with the same, the first."""
    found: dict[str, TableSpec] = {}
    for page in pages:
        for spec in page.tables:
            if spec.id is not None:
                found.setdefault(spec.id, spec)
    return found


def provenance_in(spec: PipelineSpec, answers: Answers) -> Provenance | None:
    """The provenance of a figure; None without result documents or without an answer of the source."""
    groups = answers.get(spec.source_query.key)
    if groups is None or isinstance(groups, ResultsError):
        return None
    from mongo_tables.results.provenance import provenance_of

    return provenance_of(groups, asked=bool(spec.provenance))
