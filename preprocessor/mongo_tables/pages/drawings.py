"""The drawings of a page that a code host shows: SVG files beside it, one for each chart with rows.

A file is called ``PAGE.ID.svg``: after the page, without its suffix, and after the chart's anchor. Of a page that is a
link, the file that it leads to counts, beside which its drawings stand.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from mongo_tables.findings.rules import finding
from mongo_tables.render.filemark import is_as_written, is_marked, with_plain_ends
from mongo_tables.specs.model import PipelineSpec, TableSpec

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.model import Answers, Page
    from mongo_tables.render.chart import Drawing

_ENDING: Final = ".svg"


class DrawnFile(NamedTuple):
    """The drawing of a chart: the file where it belongs, what is to stand in it, and what shows it in the page."""

    spec: PipelineSpec
    path: Path
    text: str
    markdown: str


def draw_files(page: Page, answers: Answers) -> list[DrawnFile]:
    """The drawings of the sound charts of a page that have rows, in order; nothing is written."""
    from mongo_tables.render.anchors import with_anchors  # pages without charts do not pay for what draws
    from mongo_tables.render.chart import draw_chart
    from mongo_tables.render.chartdata import plot_of
    from mongo_tables.render.chartfile import chart_file
    from mongo_tables.render.fewdigits import with_few_digits
    from mongo_tables.render.pipetable import image

    file = Path(os.path.realpath(page.file))
    found = []
    for spec, anchored in zip(page.specs, with_anchors(page.specs), strict=True):
        rows = answers.get(spec.query.key) if isinstance(spec, PipelineSpec) else None
        if not isinstance(spec, PipelineSpec) or not isinstance(anchored, PipelineSpec):
            continue
        if not isinstance(rows, list) or not rows or (plot := plot_of(with_few_digits(spec, rows))) is None:
            continue
        path, drawing = file.with_name(f"{file.stem}.{anchored.id}{_ENDING}"), draw_chart(plot, rows)
        markdown = image(_say_in_words(spec, drawing), quote(path.name))
        found.append(DrawnFile(spec, path, chart_file(drawing), markdown))
    return found


def _say_in_words(spec: PipelineSpec, drawing: Drawing) -> str:
    """What who cannot see a drawing gets instead: its name, and what is drawn where no table under it says that."""
    if isinstance(spec, TableSpec):
        return drawing.name
    titled = spec.title or spec.caption
    return f"{drawing.name.rstrip('.')}. {drawing.description}" if titled else drawing.description


def judge_file(one: DrawnFile, file: str) -> Finding | None:
    """What keeps a drawing from being what it is to be: MT168 and MT164 where somebody else's work stands there.

    MT166 is about a drawing of ours that is not there, or is another. ``file`` is the page that findings name.
    """
    name, at = one.path.name, (one.spec.comment.line, one.spec.comment.column)
    found = _read(one.path)
    if isinstance(found, str):
        message = f"`{name}`, where the drawing of this chart belongs, {found}"
        return finding("MT168", file, at, message, "move it away, or give the chart another `id`")
    if found.text is not None and not is_as_written(found.text):
        message = f"the drawing of this chart, `{name}`, was edited by hand"
        return finding("MT164", file, at, message, "undo the edit; --force overwrites the drawing")
    if found.text != one.text:
        is_what = "is not there" if found.text is None else "is not what its pipeline gives now"
        message = f"the drawing of this chart, `{name}`, {is_what}"
        return finding("MT166", file, at, message, f"run `mongo-tables render --in-place {file}`")
    return None


def read_text(path: Path) -> str:
    """The text of the file of ours at a path; "" where there is none."""
    found = _read(path)
    return found.text or "" if isinstance(found, _Found) else ""


class _Found(NamedTuple):
    """A file of ours; ``text`` is None where there is none yet."""

    text: str | None


def _read(path: Path) -> _Found | str:
    """The file of ours at a path, or why what is there is none."""
    try:
        if path.is_symlink():
            return "is a link"
        if not path.exists():
            return _Found(None)
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return _Found(with_plain_ends(text)) if is_marked(text) else "is another file"


def orphan_findings(page: Page, own: Collection[Path]) -> list[Finding]:
    """MT169: files of ours beside a page, called after it, that are not its ``own``: no chart is drawn there."""
    found = _find_orphans(Path(os.path.realpath(page.file)), own)
    message = "no chart of this page is drawn into `{}` any more"
    return [finding("MT169", page.file, (0, 0), message.format(path.name), "remove it") for path in found]


def _find_orphans(page: Path, own: Collection[Path]) -> Iterator[Path]:
    start = f"{page.stem}."
    try:
        names = sorted(
            entry.name for entry in os.scandir(page.parent) if entry.is_file(follow_symlinks=False)
        )
    except OSError:
        return  # Whoever reads the page says so.
    for name in names:
        called = (
            name.startswith(start) and name.endswith(_ENDING) and "." not in name[len(start) : -len(_ENDING)]
        )
        path = page.with_name(name)
        if called and path not in own and isinstance(found := _read(path), _Found) and found.text is not None:
            yield path
