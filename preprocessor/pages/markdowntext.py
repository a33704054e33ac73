"""Writes a sound comment as Markdown: the lines of a table, the text of a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from preprocessor.pages.asking import source_answer
from preprocessor.pages.statements import shown_value
from preprocessor.render.formats import DEFAULT, TABLE_FORMATS
from preprocessor.render.provenance import provenance_details, provenance_parts
from preprocessor.results.model import ResultsError
from preprocessor.specs.model import TableSpec

if TYPE_CHECKING:
    from preprocessor.pages.model import Answers, Tables
    from preprocessor.specs.model import PipelineSpec, ValueSpec


class MarkdownContext(NamedTuple):
    """What rendering a page takes: rows, the tables that values may come from, by id, one of ``TABLE_FORMATS``."""

    answers: Answers
    tables: Tables
    form: str = DEFAULT

    def table_lines(self, spec: PipelineSpec) -> list[str]:
        """The lines of a table, without a container's prefix; none when its pipeline failed.

        Markdown has no charts: a chart is the table of what it draws.
        """
        rows = self.answers[spec.query.key]
        if isinstance(rows, ResultsError):
            return []
        if not isinstance(spec, TableSpec):
            from preprocessor.render.chartdata import as_table  # pages without charts do not pay for it

            spec = as_table(spec)
        return TABLE_FORMATS[self.form]().table(spec, rows, below=self._line_below(spec))

    def _line_below(self, spec: PipelineSpec) -> list[str]:
        """Where the rows come from, in one line: in Markdown, which folds nothing away, for those alone who ask."""
        source = source_answer(spec, self.answers) if spec.provenance else None
        if source is None:
            return []
        details = (f"{name}: {text}" for name, text in provenance_details(source))
        return [" · ".join([*provenance_parts(source, source.due(spec.max_age)), *details])]

    def value_text(self, spec: ValueSpec) -> str:
        """A value as the Markdown of a sentence."""
        found = shown_value(spec, self.tables, self.answers)
        if found is None:
            return ""
        from preprocessor.render.inlinetext import inline_markdown, link_markdown  # few pages have either

        plain = TABLE_FORMATS[self.form]().text(found.text)
        return link_markdown(found.to, inline_markdown(found.pieces) if found.pieces else plain)
