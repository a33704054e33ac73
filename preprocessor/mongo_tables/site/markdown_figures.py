"""Rendering of valid comments as Markdown: the lines of a table or a chart, the text of a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.directives.keywords import MDX
from mongo_tables.directives.specs import TableSpec
from mongo_tables.render.columns import with_few_digits
from mongo_tables.render.formats import DEFAULT, table_writer
from mongo_tables.results.model import ResultsError
from mongo_tables.site.pages import provenance_in

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.directives.specs import PipelineSpec, ValueSpec
    from mongo_tables.site.pages import AnswersByKey, Tables


class MarkdownContext(NamedTuple):
    """The inputs of rendering a page: rows, quotable tables by id, and one of ``TABLE_FORMATS``.

    ``picture`` returns the Markdown of the drawing of a table or chart in the page's folder, or "" if there
    is none; ``picture`` is None if the page has no drawing files. ``mdx``: figures are for MDX.
    """

    answers: AnswersByKey
    tables: Tables
    form: str = DEFAULT
    picture: Callable[[PipelineSpec], str] | None = None
    mdx: bool = False

    def within(self, comment: Comment) -> MarkdownContext:
        """Return the context for the figure of a comment."""
        return self._replace(mdx=comment.marks == MDX)

    def table_lines(self, spec: PipelineSpec, *, told: bool = True) -> list[str]:
        """Return the lines of a table without a container's prefix, or none if its pipeline failed.

        Without a picture, a chart becomes the table of its data, with its reference values in a note. The
        keyword argument adds the provenance of the rows if the comment asks for it.
        """
        lines = self._list_lines(spec, told)
        if not self.mdx:
            return lines
        from mongo_tables.render.markup import html_as_mdx, markdown_as_mdx  # few pages are MDX

        return list(map(markdown_as_mdx if self.form == DEFAULT else html_as_mdx, lines))

    def _list_lines(self, spec: PipelineSpec, told: bool) -> list[str]:
        rows = self.answers[spec.query.key]
        if isinstance(rows, ResultsError):
            return []
        from mongo_tables.site.statements import with_sentence  # many pages have only tables

        below = self._line_below(spec) if told else []
        picture = self.picture(spec) if self.picture else ""
        spec = with_few_digits(with_sentence(spec, self.tables, self.answers), rows)
        if picture:
            from mongo_tables.render.pipe_table import pipe_table  # only pages with drawing files

            return pipe_table(spec, rows, below=below, picture=picture)
        write = table_writer(self.form)
        if isinstance(spec, TableSpec):
            return write(spec, rows, below=below)
        # Imported on demand, because pages without charts do not need it.
        from mongo_tables.render.charts.legend import note_on_references
        from mongo_tables.render.charts.plot import as_table, plot_of

        plot = plot_of(spec)
        note = note_on_references(plot) if plot and rows else ""
        return write(as_table(spec), rows, below=[*([note] if note else []), *below])

    def _line_below(self, spec: PipelineSpec) -> list[str]:
        """Return the provenance in one line, only if asked for: Markdown cannot fold it away."""
        source = provenance_in(spec, self.answers) if spec.provenance else None
        if source is None:
            return []
        from mongo_tables.render.provenance import provenance_details, provenance_parts  # rarely used

        details = (f"{name}: {text}" for name, text in provenance_details(source))
        return [" · ".join([*provenance_parts(source, source.due(spec.max_age)), *details])]

    def value_text(self, spec: ValueSpec) -> str:
        """Return a value as Markdown for a sentence."""
        from mongo_tables.site.statements import shown_value  # many pages have only tables

        found = shown_value(spec, self.tables, self.answers)
        if found is None:
            return ""
        from mongo_tables.render.markup import (  # few pages have a value
            escape_words,
            inline_markdown,
            link_markdown,
            markdown_as_mdx,
            picture_markdown,
        )

        text = inline_markdown(found.pieces) if found.pieces else escape_words(found.text)
        text = link_markdown(found.to, picture_markdown(found.picture, text))
        return markdown_as_mdx(text) if self.mdx else text
