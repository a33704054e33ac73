"""How many rows a comment gives and how long that took, as it stands above it; and the rows up to one of its stages."""

from __future__ import annotations

from typing import NamedTuple

from mongo_tables.commands.explain.choosing import explain_comment
from mongo_tables.commands.explain.explaining import explain
from mongo_tables.commands.explain.terminal import lines
from mongo_tables.editor.project import TimedAnswers
from mongo_tables.findings.reporters import format_count
from mongo_tables.pages.model import Page
from mongo_tables.pages.static import read_comment
from mongo_tables.results.model import ResultsError, ResultsSource
from mongo_tables.specs.model import DIRECTIVES, PipelineSpec
from mongo_tables.specs.sharedpipelines import Lookup

_WIDTH = 100
_ROWS = 5


class Lens(NamedTuple):
    """What stands above the comment that begins at an offset."""

    start: int
    title: str


def list_lenses(page: Page, answers: TimedAnswers) -> list[Lens]:
    """The amounts of rows of a page's tables and charts, as far as they were run."""
    found = []
    for comment, spec in zip(page.comments, page.specs, strict=True):
        answer = answers.by_key.get(spec.query.key) if isinstance(spec, PipelineSpec) else None
        if not isinstance(spec, PipelineSpec) or answer is None:
            continue
        if isinstance(answer, ResultsError):
            found.append(Lens(comment.start, "fails"))
        else:
            took = answers.milliseconds.get(spec.query.key, 0.0)
            found.append(Lens(comment.start, f"{format_count(len(answer), 'row')} · {_tell_time(took)}"))
    return found


def _tell_time(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def explain_at(page: Page, line: int, column: int, shared: Lookup, source: ResultsSource) -> str:
    """What the pipeline of a comment does, up to the stage at a place, both from 1; of a place before them all of it.

    Nothing where no comment with a pipeline is. Raises ResultsError for a source that cannot be used.
    """
    comment = next((one for one in page.comments if one.covers(line, column)), None)
    if comment is None or not DIRECTIVES[comment.kind].has_pipeline:
        return ""
    read, _ = read_comment(comment, page.file, shared)
    spec = read.pipeline
    until = _count_stages(spec, line, column) if spec else 0
    if spec is None or until in (0, len(spec.pipeline)):
        told = explain_comment(comment, page.file, shared, source)
    else:
        told = explain(
            spec._replace(pipeline=spec.pipeline[:until], origins=spec.origins[:until]), (), source
        )
    return "\n".join(lines(told, width=_WIDTH, rows=_ROWS, color=False))


def _count_stages(spec: PipelineSpec, line: int, column: int) -> int:
    """How many stages begin before a place."""
    starts = [spec.locate(("pipeline", number)) for number in range(len(spec.pipeline))]
    return sum(start <= (line, column) for start in starts)
