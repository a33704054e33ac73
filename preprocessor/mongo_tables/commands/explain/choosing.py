"""Which comments `explain` explains: those of a page, or the one at a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.commands.explain.explaining import Explanation, explain
from mongo_tables.directives.search import find
from mongo_tables.directives.specs import DIRECTIVES, PipelineSpec
from mongo_tables.findings.usage import UsageError
from mongo_tables.site.static import read_comment

if TYPE_CHECKING:
    from mongo_tables.directives.comment import Comment
    from mongo_tables.directives.sharedpipelines import SharedPipeline
    from mongo_tables.results.model import ResultsSource


def find_place(written: str) -> tuple[Path, int | None]:
    """File and line of ``FILE:LINE``, ``FILE:LINE:COLUMN`` (as findings name their place) or ``FILE``.

    Raises UsageError when there is no such file.
    """
    found = re.fullmatch(r"(.+?):(\d+)(?::\d+)?", written, re.DOTALL)
    if Path(written).exists() or not found:
        file, line = Path(written), None
    else:
        file, line = Path(found[1]), int(found[2])
    if not file.is_file():
        raise UsageError(f"{file}: no such file", "name a Markdown page: FILE or FILE:LINE")
    return file, line


def find_comments(text: str, file: str, line: int | None) -> list[Comment]:
    """The comments with a pipeline: all of them, or the one that ``line`` stands in or is nearest to.

    Raises UsageError when the page has none.
    """
    found = [comment for comment in find(text, file).comments if DIRECTIVES[comment.kind].has_pipeline]
    if not found:
        kinds = " or a ".join(one.kind for one in DIRECTIVES.values() if one.has_pipeline)
        raise UsageError(f"{file} has no comment for a {kinds}")
    return found if line is None else [min(found, key=lambda comment: _distance(text, comment, line))]


def _distance(text: str, comment: Comment, line: int) -> int:
    newlines = re.compile(r"\r\n|\r|\n")
    last = comment.line + len(newlines.findall(text, comment.start, comment.end))
    return max(comment.line - line, line - last, 0)


def explain_comment(
    comment: Comment, file: str, shared: Callable[[str], SharedPipeline | None], source: ResultsSource
) -> Explanation:
    """What the pipeline of a comment does, as far as it can be read, with the faults of the comment."""
    read, _ = read_comment(comment, file, shared)
    errors = [one for one in read.findings if one.severity == "error"]
    pipeline = read.spec if isinstance(read.spec, PipelineSpec) and not errors else read.pipeline
    if pipeline is None or not pipeline.collection:
        return Explanation(file, comment.line, comment.column, "", findings=tuple(errors))
    return explain(pipeline, read.columns, source, errors)
