"""``mongo-tables explain``: a pipeline stage by stage, on the results source."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preprocessor.comments.search import find
from preprocessor.findings.usage import UsageError
from preprocessor.jsontext.parsing import parse
from preprocessor.pages.files import read_text, shared_pipelines
from preprocessor.pages.static import static_findings
from preprocessor.results.opening import open_source
from preprocessor.specs.model import DIRECTIVES, PipelineSpec

if TYPE_CHECKING:
    from preprocessor.commands.explain.explaining import Explanation
    from preprocessor.comments.model import Comment
    from preprocessor.findings.finding import Finding
    from preprocessor.results.model import ResultsSource
    from preprocessor.specs.sharedpipelines import SharedPipeline


def run(arguments: Namespace) -> int:
    """Writes the explanations to standard output; 0 when every table has its rows and columns, 1 otherwise."""
    file, line = place(arguments.place)
    text = read_text(file)
    shared = shared_pipelines(arguments.pipelines)
    comments = chosen(text, file.as_posix(), line)
    source = open_source(arguments.results, arguments.limits)
    try:
        told = [_explained(comment, file.as_posix(), shared, source) for comment in comments]
    finally:
        source.close()
    _write(told, arguments)
    return 0 if all(one.sound for one in told) else 1


def place(written: str) -> tuple[Path, int | None]:
    """File and line of ``FILE:LINE``, ``FILE:LINE:COLUMN`` (as findings name their place) or ``FILE``.

    Raises Unusable when there is no such file.
    """
    found = re.fullmatch(r"(.+?):(\d+)(?::\d+)?", written, re.DOTALL)
    if Path(written).exists() or not found:
        file, line = Path(written), None
    else:
        file, line = Path(found[1]), int(found[2])
    if not file.is_file():
        raise UsageError(f"{file}: no such file", "name a Markdown page: FILE or FILE:LINE")
    return file, line


def chosen(text: str, file: str, line: int | None) -> list[Comment]:
    """The comments with a pipeline: all of them, or the one that ``line`` stands in or is nearest to.

    Raises Unusable when the page has none.
    """
    found = [comment for comment in find(text, file).comments if DIRECTIVES[comment.keyword].has_pipeline]
    if not found:
        known = " and no ".join(one.keyword for one in DIRECTIVES.values() if one.has_pipeline)
        raise UsageError(f"{file} has no {known} comment")
    return found if line is None else [min(found, key=lambda comment: _distance(text, comment, line))]


def _distance(text: str, comment: Comment, line: int) -> int:
    newlines = re.compile(r"\r\n|\r|\n")
    last = comment.line + len(newlines.findall(text, comment.start, comment.end))
    return max(comment.line - line, line - last, 0)


def _explained(
    comment: Comment, file: str, shared: Callable[[str], SharedPipeline | None], source: ResultsSource
) -> Explanation:
    from preprocessor.commands.explain.explaining import Explanation, explain
    from preprocessor.specs import reading

    seen: list[PipelineSpec] = []

    def judge(pipeline: PipelineSpec) -> list[Finding]:
        # Called for every readable pipeline, so that a fault elsewhere in the comment leaves it to be explained.
        seen.append(pipeline)
        return static_findings(pipeline)

    spec, findings = reading.read(comment, file, shared, judge)
    errors = [one for one in findings if one.severity == "error"]
    pipeline = spec if isinstance(spec, PipelineSpec) else next(iter(seen), None)
    if pipeline is None or not pipeline.collection:
        return Explanation(file, comment.line, comment.column, "", findings=tuple(errors))
    return explain(pipeline, _columns(comment), source, errors)


def _columns(comment: Comment) -> list[str]:
    """The columns that a comment shows, sound or not."""
    body: Any = parse(comment.body).value
    if comment.keyword == "MONGO_TABLE":
        written = body.get("columns")
    else:
        y = body.get("y")
        written = [body.get("x"), *(y if isinstance(y, list) else [y]), body.get("series")]
    return [name for name in written if isinstance(name, str)] if isinstance(written, list) else []


def _write(told: Sequence[Explanation], arguments: Namespace) -> None:
    if arguments.json:
        from preprocessor.commands.explain.asjson import plain

        content = {"tables": [plain(one, arguments.rows) for one in told]}
        print(json.dumps(content, indent=2))
        return
    color, width = _colored(), max(40, shutil.get_terminal_size((100, 24)).columns)
    print(f"\n\n{'─' * width}\n".join(_texts(told, arguments.rows, width, color)))


def _texts(told: Sequence[Explanation], rows: int, width: int, color: bool) -> list[str]:
    from preprocessor.commands.explain.terminal import lines

    texts, listed = [], set[str]()
    for one in told:
        fields = one.collection not in listed
        texts.append("\n".join(lines(one, width=width, rows=rows, color=color, fields=fields)))
        listed.add(one.collection)
    return texts


def _colored() -> bool:
    """Whether to use colours: on a terminal, unless NO_COLOR (https://no-color.org) is set or it is a dumb one."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
