"""Writes a sound comment as Markdown: the lines of a table or a chart, the text of a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.directives.specs import TableSpec
from mongo_tables.render.columns import with_few_digits
from mongo_tables.render.formats import DEFAULT, table_writer
from mongo_tables.results.model import ResultsError
from mongo_tables.site.pages import provenance_in

if TYPE_CHECKING:
    from mongo_tables.directives.specs import PipelineSpec, ValueSpec
    from mongo_tables.results.model import Rows
    from mongo_tables.site.pages import Answers, Tables


class MarkdownContext(NamedTuple):
    """What rendering a page takes: rows, the tables that values may come from, by id, one of ``TABLE_FORMATS``.

    ``picture`` gives the Markdown of the drawing that a table or a chart has in a file beside the page, "" where it has
    none; None where there are no such files.
    """

    answers: Answers
    tables: Tables
    form: str = DEFAULT
    picture: Callable[[PipelineSpec], str] | None = None

    def table_lines(self, spec: PipelineSpec, *, told: bool = True) -> list[str]:
        """The lines of a table, without a container's prefix; none when its pipeline failed.

        Without a picture a chart is the table of what it draws, with what it holds that against below. ``told``: with
        where the rows come from, if that is asked for.
        """
        rows = self.answers[spec.query.key]
        if isinstance(rows, ResultsError):
            return []
        below = self._line_below(spec) if told else []
        picture = self.picture(spec) if self.picture else ""
        spec = with_few_digits(spec, rows)
        if picture:
            return _with_picture(spec, rows, picture, below)
        write = table_writer(self.form)
        if isinstance(spec, TableSpec):
            return write(spec, rows, below=below)
        # Pages without charts do not pay for it.
        from mongo_tables.render.charts.legend import note_on_references
        from mongo_tables.render.charts.plot import as_table, plot_of

        plot = plot_of(spec)
        note = note_on_references(plot) if plot and rows else ""
        return write(as_table(spec), rows, below=[*([note] if note else []), *below])

    def _line_below(self, spec: PipelineSpec) -> list[str]:
        """Where the rows come from, in one line: in Markdown, which folds nothing away, for those alone who ask."""
        source = provenance_in(spec, self.answers) if spec.provenance else None
        if source is None:
            return []
        from mongo_tables.render.provenance import provenance_details, provenance_parts  # few ask

        details = (f"{name}: {text}" for name, text in provenance_details(source))
        return [" · ".join([*provenance_parts(source, source.due(spec.max_age)), *details])]

    def value_text(self, spec: ValueSpec) -> str:
        """A value as the Markdown of a sentence."""
        from mongo_tables.site.statements import shown_value  # many pages have tables alone

        found = shown_value(spec, self.tables, self.answers)
        if found is None:
            return ""
        from mongo_tables.render.markup import (  # few pages have one
            escape_words,
            inline_markdown,
            link_markdown,
        )

        text = inline_markdown(found.pieces) if found.pieces else escape_words(found.text)
        return link_markdown(found.to, text)


def _with_picture(spec: PipelineSpec, rows: Rows, picture: str, below: Sequence[str]) -> list[str]:
    """A chart, or a table under its chart, in a page that has drawings beside it: such a page has pipe tables."""
    from mongo_tables.render.pipe_table import pipe_picture, pipe_table

    if isinstance(spec, TableSpec):
        return pipe_table(spec, rows, below=below, picture=picture)
    return pipe_picture(spec, picture, below=below)
