"""Drawings of a page on a code host: SVG files in the page's folder, one for each chart with rows.

A file is named ``PAGE.ID.svg``: the page's name without suffix, then the chart's anchor. If the page is a
link, its drawings are in the folder of the file that the link leads to, under that file's name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.directives.specs import PipelineSpec, TableSpec, may_be_drawn
from mongo_tables.findings.rules import finding
from mongo_tables.render.charts.svg_file import is_as_written, is_marked, with_plain_ends
from mongo_tables.site.snapshot import WrittenFile

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.render.charts.drawing import Drawing
    from mongo_tables.site.pages import AnswersByKey, Page, Tables


_ENDING: Final = ".svg"


class DrawnFile(NamedTuple):
    """The drawing of a chart: its file's path and content, its text alternative, and the Markdown that shows it."""

    spec: PipelineSpec
    path: Path
    text: str
    words: str
    markdown: str


def draw_files(
    page: Page, file: Path, answers: AnswersByKey, tables: Tables, address_of: Callable[[Path], str]
) -> list[DrawnFile]:
    """Return the drawings of the valid charts with rows of the page at ``file``, in order."""
    from mongo_tables.render.charts.drawing import draw_chart
    from mongo_tables.render.charts.plot import plot_of
    from mongo_tables.render.charts.svg_file import chart_file
    from mongo_tables.render.columns import with_few_digits
    from mongo_tables.render.markup import with_anchors  # not needed on pages without charts
    from mongo_tables.render.pipe_table import image
    from mongo_tables.site.statements import with_sentence

    found = []
    for spec, anchored in zip(page.specs, with_anchors(page.specs), strict=True):
        rows = answers.get(spec.query.key) if isinstance(spec, PipelineSpec) else None
        if not isinstance(spec, PipelineSpec) or not isinstance(anchored, PipelineSpec):
            continue
        if not isinstance(rows, list) or not rows:
            continue
        titled = with_sentence(spec, tables, answers)
        if (plot := plot_of(with_few_digits(titled, rows))) is None:
            continue
        path, drawing = file.with_name(f"{file.stem}.{anchored.id}{_ENDING}"), draw_chart(plot, rows)
        words = _say_in_words(titled, drawing)
        found.append(DrawnFile(spec, path, chart_file(drawing), words, image(words, address_of(path))))
    return found


def _say_in_words(spec: PipelineSpec, drawing: Drawing) -> str:
    """Return the alternative text of a drawing: its name, and its content if no table under it shows that."""
    if isinstance(spec, TableSpec):
        return drawing.name
    titled = spec.title or spec.caption
    return f"{drawing.name.rstrip('.')}. {drawing.description}" if titled else drawing.description


Files = Mapping[Path, WrittenFile]
"""The files on disk in the folders of pages, by path."""


def judge_file(one: DrawnFile, file: str, files: Files) -> Finding | None:
    """Return the finding about the file of a drawing, or None if the file is up to date.

    MT168 and MT164 report another file, or a hand-edited one, in the drawing's place; MT166 reports a missing
    or outdated drawing. ``file`` is the page that findings name.
    """
    name, at = one.path.name, (one.spec.comment.line, one.spec.comment.column)
    found = files.get(one.path, WrittenFile(None))
    if found.obstacle:
        message = f"`{name}`, where the drawing of this chart belongs, {found.obstacle}"
        return finding("MT168", file, at, message, "move it away, or give the chart another `id`")
    if found.text is not None and not is_as_written(found.text):
        message = f"the drawing of this chart, `{name}`, was edited by hand"
        return finding("MT164", file, at, message, "undo the edit; --force overwrites the drawing")
    if found.text != one.text:
        is_what = "is not there" if found.text is None else "is not what its pipeline gives now"
        message = f"the drawing of this chart, `{name}`, {is_what}"
        return finding("MT166", file, at, message, f"run `mongo-tables render --in-place {file}`")
    return None


def orphan_findings(page: Page, path: Path, files: Files) -> list[Finding]:
    """Return MT169 for drawings named after a page that none of its charts uses any more.

    The comments decide: a chart without a drawing today, as its results cannot be read, keeps the one it has.
    """
    from mongo_tables.render.markup import with_anchors  # not needed on pages without drawings

    named = [
        each
        for each, found in files.items()
        if found.text is not None and each.parent == path.parent and is_called_after(each.name, path)
    ]
    if not named or None in page.specs:  # A faulty comment may be the one of the chart.
        return []
    charts = [spec for spec in with_anchors(page.specs) if may_be_drawn(spec)]
    own = {f"{path.stem}.{spec.id}{_ENDING}" for spec in charts if isinstance(spec, PipelineSpec)}
    message = "no chart of this page is drawn into `{}` any more"
    orphans = sorted(each.name for each in named if each.name not in own)
    return [finding("MT169", page.file, (0, 0), message.format(name), "remove it") for name in orphans]


def is_called_after(name: str, page: Path) -> bool:
    """Return whether a file in the folder of a page has a name that a drawing of this page would have."""
    start = f"{page.stem}."
    inner = name[len(start) : -len(_ENDING)]
    return name.startswith(start) and name.endswith(_ENDING) and "." not in inner


def read_drawings(page: Path) -> dict[Path, WrittenFile]:
    """Read the files in a page's folder that are named like its drawings."""
    try:
        names = sorted(entry.name for entry in os.scandir(page.parent))
    except OSError:
        return {}  # Reading the page reports the error.
    return {
        page.with_name(name): _read(page.with_name(name)) for name in names if is_called_after(name, page)
    }


def _read(path: Path) -> WrittenFile:
    """Return our drawing at a path, or the reason why the file is not ours."""
    try:
        if path.is_symlink():
            return WrittenFile(None, "is a link")
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        return WrittenFile(None, f"cannot be read: {error.strerror}")
    return WrittenFile(with_plain_ends(text)) if is_marked(text) else WrittenFile(None, "is another file")
