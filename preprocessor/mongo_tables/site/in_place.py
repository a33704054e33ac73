"""Figures that are written into the page, for hosts that show Markdown as it is.

A table or a chart is written under its comment, a value after its comment, between two markers that readers do not see.
The drawing of a chart is an SVG file in the folder of the page, ``PAGE.ID.svg``: the name of the page without its
suffix, then the id of the chart. If the page is a link, its drawings are next to the file that the link leads to, under
the name of that file.

The first marker has a digest of the text between the markers, which shows whether a figure was edited by hand. Figures
are compared by the words that readers see, because formatters of Markdown change signs, escapes and blanks. Writing a
second time changes nothing, and a figure within its tolerance stays. A table and the values of the page that quote it
are written together, so that they always agree.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mongo_tables.directives.comments import RAW_HTML, Comment, Region, markers, read_generated, was_edited
from mongo_tables.directives.keywords import HTML, place_of
from mongo_tables.directives.specs import PipelineSpec, Spec, TableSpec, may_be_drawn
from mongo_tables.findings.rules import finding
from mongo_tables.render.charts.plot import plot_of
from mongo_tables.render.charts.svg_file import chart_file, is_as_written, is_marked, with_plain_ends
from mongo_tables.render.columns import with_few_digits
from mongo_tables.render.markup import with_anchors
from mongo_tables.render.pipe_table import image
from mongo_tables.site.kinds import KINDS
from mongo_tables.site.markdown import (
    MarkdownContext,
    end_of_line,
    leads_its_line,
    newline_of,
    prefix_lines,
    stands_alone,
)
from mongo_tables.site.snapshot import WrittenFile, relative_address
from mongo_tables.site.statements import with_sentence

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.render.charts.drawing import Drawing
    from mongo_tables.site.pages import AnswersByKey, Page, Tables


FigureState = Literal["not there", "the same", "near", "another"]
"""How the page compares with a figure. ``near`` means that the written figure is within its tolerance."""


class PlacedFigure(NamedTuple):
    """The figure of ``spec``. Its ``text``, with markers, replaces the page from ``start`` to ``end``.

    ``shown`` is the figure without markers, and without the prefix of a container such as a quotation. ``is_due`` is
    true if the figure must be written.
    """

    spec: Spec
    start: int
    end: int
    text: str
    shown: str
    state: FigureState
    is_due: bool = True


class InPlace(NamedTuple):
    """All figures of a page, in order, and the drawings for its folder."""

    page: Page
    path: Path
    parts: Sequence[PlacedFigure]
    drawings: Sequence[DrawnFile]

    @property
    def text(self) -> str:
        """Return the page with all figures that are due."""
        pieces, done = list[str](), 0
        for part in self.parts:
            if part.is_due:
                pieces += (self.page.text[done : part.start], part.text)
                done = part.end
        return "".join([*pieces, self.page.text[done:]])

    @property
    def due_drawings(self) -> list[DrawnFile]:
        """Return the drawings that must be current. The drawing of a table within its tolerance may stay as it is."""
        staying = {id(part.spec) for part in self.parts if part.state == "near" and not part.is_due}
        return [one for one in self.drawings if id(one.spec) not in staying]

    @property
    def settled_drawings(self) -> list[DrawnFile]:
        """Return the due drawings whose figures are current in the page. Other figures have findings of their own."""
        due = {id(part.spec) for part in self.parts if part.is_due}
        return [one for one in self.due_drawings if id(one.spec) not in due]


def compose_in_place(
    page: Page,
    path: Path,
    answers: AnswersByKey,
    tables: Tables,
    address_of: Callable[[Path], str] = relative_address,
) -> InPlace:
    """Compose the figures and drawings of the page at ``path``, without writing anything.

    ``address_of`` returns the address of a drawing by its path. A comment without a place for its figure is skipped,
    because ``region_findings`` reports it.
    """
    drawings = draw_files(page, path, answers, tables, address_of)
    pictures = {id(one.spec): one.markdown for one in drawings}
    context = MarkdownContext(answers, tables, picture=lambda spec: pictures.get(id(spec), ""))
    return InPlace(page, path, _mark_due(list(_list_parts(page, context))), drawings)


def _list_parts(page: Page, context: MarkdownContext) -> Iterator[PlacedFigure]:
    for comment, spec in zip(page.comments, page.specs, strict=True):
        if spec is None or place_of(comment.keyword) == "either" or _find_no_place(page, comment):
            continue
        if isinstance(spec, PipelineSpec) and not isinstance(context.answers.get(spec.key), list):
            continue
        own = context.within(comment)
        lines = KINDS[type(spec)].markdown(spec, own)
        if lines != [""]:  # An empty text means that the value has a fault, which is reported elsewhere.
            yield _place_figure(page, comment, spec, lines, own)


_NO_MARKUP: Final = re.compile(r"\\[~$]|\]\([^)\s]*\)")
_RAW_PAIR: Final = re.compile(
    r"(?<!~)(~~?)(?=[^\s~])[^~|\n]*(?<=[^\s~])\1(?!~)|(?<![\w$])\$(?=[^\s$])[^$|\n]*(?<=[^\s$])\$(?![\w$])"
)


def _find_raw_pair(inner: str) -> str:
    """Return the first text that GitHub strikes out or shows as a formula, or "". Figures escape such signs."""
    found = _RAW_PAIR.search(_NO_MARKUP.sub(".", inner)) if "~" in inner or "$" in inner else None
    return found[0] if found else ""


def _place_figure(
    page: Page, comment: Comment, spec: Spec, lines: Sequence[str], context: MarkdownContext
) -> PlacedFigure:
    """Return where a figure goes: a block into lines under its comment, a value behind its comment."""
    is_block = place_of(comment.keyword) == "block"
    # Python-Markdown needs a blank line above a table.
    shown = "\n".join(["", *lines, ""]) if is_block else lines[0]
    begin, end_marker = markers(shown, comment.marks)
    newline = newline_of(page.text)
    written = prefix_lines([begin, "", *lines, "", end_marker], comment.prefix, newline)
    text = written if is_block else f"{begin}{shown}{end_marker}"
    if region := comment.region:
        state = _state(comment, region, shown, spec, context)
        return PlacedFigure(spec, region.start, region.end, text, shown, state)
    end = end_of_line(page.text, comment.end) if is_block else comment.end
    text = newline + comment.prefix + text if is_block else text
    return PlacedFigure(spec, end, end, text, shown, "not there")


def _state(comment: Comment, region: Region, shown: str, spec: Spec, context: MarkdownContext) -> FigureState:
    """Compare a region with the current figure by the words that readers see."""
    if was_edited(region) or region.marks != comment.marks or _find_raw_pair(region.inner):
        return "another"
    if region.inner == shown or read_generated(region.inner) == read_generated(shown):
        return "the same"
    from mongo_tables.site.drift import is_near  # most figures are the same

    return "near" if is_near(region.inner, shown, spec, context) else "another"


def _mark_due(parts: Sequence[PlacedFigure]) -> list[PlacedFigure]:
    """Mark the figures to write: missing and outdated ones, and all figures of the same table that are ``near``."""
    moved = {_group(part) for part in parts if part.state in ("not there", "another")}
    return [
        part._replace(is_due=part.state != "the same" and (part.state != "near" or _group(part) in moved))
        for part in parts
    ]


def _group(part: PlacedFigure) -> str | int:
    """Return the id of the table that a part shows or quotes, or a unique number."""
    own = part.spec.id if isinstance(part.spec, TableSpec) else None
    return own or next((one.table for one in part.spec.quotes), id(part.spec))


def region_findings(page: Page) -> list[Finding]:
    """Return the findings about comments that have no place for their figure, and about figures edited by hand."""
    found = [_find_no_place(page, comment) or _find_edit(page, comment) for comment in page.comments]
    return [one for one in found if one is not None]


def stale_findings(composed: InPlace, faulty: Collection[int] = ()) -> list[Finding]:
    """Return MT166 for each outdated figure in the page, or MT164 if the figure was edited by hand.

    ``faulty`` has the ids of specs with errors. Their figures, and the values of their tables, are not reported.
    """
    page, parts = composed.page, {id(part.spec): part for part in composed.parts}
    sound = [part for part in composed.parts if not _comes_of(part.spec, faulty, page)]
    moved = {_group(part) for part in sound if part.state == "another"}
    told = {
        id(part.spec) for part in sound if part.is_due and (part.state != "near" or _group(part) in moved)
    }
    unwritten = [id(part.spec) for part in sound if part.state == "not there"]
    told.difference_update(unwritten[1:])  # The command in the first hint writes all of them.
    found = []
    for comment, spec in zip(page.comments, page.specs, strict=True):
        if place_of(comment.keyword) != "block" and (shown := _find_no_place(page, comment)):
            found.append(shown)
        elif spec is not None and id(spec) in told:
            part = parts[id(spec)]
            more = len(unwritten) - 1 if id(spec) in unwritten else 0
            found.append(_find_edit(page, comment) or _stale(page, comment, part, more))
    return found


def _comes_of(spec: Spec, faulty: Collection[int], page: Page) -> bool:
    """Return whether a spec, or the table of the page that it quotes, is one of the ``faulty`` specs."""
    if not faulty or id(spec) in faulty:
        return bool(faulty)
    quoted = {one.table for one in spec.quotes}
    return any(id(table) in faulty for table in page.tables if table.id in quoted)


def _stale(page: Page, comment: Comment, part: PlacedFigure, more: int) -> Finding:
    """Return MT166 for a comment. ``more`` is the number of further figures that are not in the page."""
    hint = f"run `mongo-tables render --in-place {page.file}`"
    what = f"and {more} more are not in the page" if more else "is not in the page"
    if comment.region is not None:
        from mongo_tables.site.drift import (  # most written tables are up to date
            describe_change,
            describe_difference,
        )

        standing, today = comment.region.inner, part.shown
        if place_of(comment.keyword) == "block":
            how = describe_difference(standing.strip("\n").split("\n"), today.strip("\n").split("\n"))
        else:
            how = describe_change(standing, today)
        what = f"differs from the current rows{': ' if how else ''}{how}"
        if not how and (pair := _find_raw_pair(standing)):
            what = f"has `{pair}` without escapes, which GitHub strikes out or shows as a formula"
            hint += ", and exclude the page from your formatter"
    return finding("MT166", page.file, (comment.line, comment.column), f"{_name(comment)} {what}", hint)


def _name(comment: Comment) -> str:
    is_block = place_of(comment.keyword) == "block"
    return "the figure under this comment" if is_block else "the value behind this comment"


def _find_edit(page: Page, comment: Comment) -> Finding | None:
    """Return MT164 if a figure was edited by hand."""
    if comment.region is None or not was_edited(comment.region):
        return None
    message = f"{_name(comment)} was edited by hand"
    hint = f"undo the edit, or overwrite it with `mongo-tables render --in-place --force {page.file}`"
    return finding("MT164", page.file, (comment.line, comment.column), message, hint)


def _find_no_place(page: Page, comment: Comment) -> Finding | None:
    """Return why nothing can be written after a comment, or why readers would see the comment."""
    at = (comment.line, comment.column)
    if place_of(comment.keyword) == "block":
        if stands_alone(page.text, comment) and not comment.inline:
            return None
        message = "no table can be written under a comment within a line of text"
        return finding(
            "MT165", page.file, at, message, "put the comment on separate lines, below a blank line"
        )

    shown = find_why_shown(page.text, comment)
    return finding("MT167", page.file, at, *shown) if shown else None


_LINE_END: Final = re.compile(r"[\r\n]")
_BLANK_LINE: Final = re.compile(r"(?:\r\n|\r|\n)[> \t]*[\r\n]")
_TABLE, _HEADING = "a table", "a heading"
_AFTER_WORD: Final = (
    "put a word before it, joined by `&nbsp;`, so that no formatter breaks the line between them"
)


def find_why_shown(text: str, comment: Comment) -> tuple[str, str] | None:
    """Return why GitHub would show a comment in a sentence, or read its line as HTML, with a hint, or else None.

    For MDX, return why the comment would stop the build. ``text`` is the page.
    """
    if place_of(comment.keyword) == "either" and not comment.inline:
        return None  # A statement on separate lines is in no sentence.
    marks = comment.marks
    written = text[comment.start + len(marks.open) : comment.end - len(marks.close)]
    host = "GitHub" if marks == HTML else "MDX"
    if "--" in written and marks == HTML:
        reason = "GitHub shows a comment in a sentence if it contains `--`"
        return reason, r"write -\u002d in a string of JSON"
    if _BLANK_LINE.search(written) or (comment.holder in (_TABLE, _HEADING) and _LINE_END.search(written)):
        return (
            f"{host} ends {comment.holder or 'the paragraph'} within this comment",
            "write the comment on one line",
        )
    if comment.holder == _TABLE and "|" in written:
        reason = f"{host} ends the cell of a table at a `|`, also within a comment"
        return reason, r"write \u007c in a string of JSON"
    is_first = marks == HTML and comment.holder != RAW_HTML and leads_its_line(text, comment)
    if is_first and place_of(comment.keyword) == "sentence":
        return "GitHub reads a line that begins with a comment as HTML, without Markdown", _AFTER_WORD
    return None


# -- drawings --

_SVG: Final = ".svg"


class DrawnFile(NamedTuple):
    """The drawing of a chart: path and content of its file, its text alternative, and the Markdown that shows it."""

    spec: PipelineSpec
    path: Path
    text: str
    words: str
    markdown: str


def draw_files(
    page: Page, file: Path, answers: AnswersByKey, tables: Tables, address_of: Callable[[Path], str]
) -> list[DrawnFile]:
    """Return the drawings of the page's charts that have rows, in order. ``file`` is the path of the page."""
    if not any(map(may_be_drawn, page.specs)):
        return []
    from mongo_tables.render.charts.drawing import draw_chart  # few pages have charts

    found = []
    for spec, anchored in zip(page.specs, with_anchors(page.specs), strict=True):
        rows = answers.get(spec.key) if isinstance(spec, PipelineSpec) else None
        if not isinstance(spec, PipelineSpec) or not isinstance(anchored, PipelineSpec):
            continue
        if not isinstance(rows, list) or not rows:
            continue
        titled = with_sentence(spec, tables, answers)
        if (plot := plot_of(with_few_digits(titled, rows))) is None:
            continue
        path, drawing = file.with_name(f"{file.stem}.{anchored.id}{_SVG}"), draw_chart(plot, rows)
        words = _say_in_words(titled, drawing)
        found.append(DrawnFile(spec, path, chart_file(drawing), words, image(words, address_of(path))))
    return found


def _say_in_words(spec: PipelineSpec, drawing: Drawing) -> str:
    """Return the text alternative of a drawing: its name, and its content unless a table below it has the content."""
    if isinstance(spec, TableSpec):
        return drawing.name
    titled = spec.title or spec.caption
    return f"{drawing.name.rstrip('.')}. {drawing.description}" if titled else drawing.description


Files = Mapping[Path, WrittenFile]
"""The files in the folders of pages, by path."""


def judge_file(one: DrawnFile, file: str, files: Files) -> Finding | None:
    """Return the finding about the file of a drawing, or None if the file is current.

    MT168 reports a file of another program in its place, MT164 an edited drawing, MT166 a missing or outdated drawing.
    ``file`` is the name of the page in findings.
    """
    name, at = one.path.name, (one.spec.comment.line, one.spec.comment.column)
    found = files.get(one.path, WrittenFile(None))
    if found.obstacle:
        message = f"the drawing of this chart belongs in `{name}`, which {found.obstacle}"
        return finding("MT168", file, at, message, "move it away, or give the chart another `id`")
    if found.text is not None and not is_as_written(found.text):
        message = f"the drawing of this chart, `{name}`, was edited by hand"
        return finding(
            "MT164",
            file,
            at,
            message,
            "undo the edit, or overwrite it with `mongo-tables render --in-place --force`",
        )
    if found.text != one.text:
        is_what = "does not exist" if found.text is None else "differs from the current rows"
        message = f"the drawing of this chart, `{name}`, {is_what}"
        return finding("MT166", file, at, message, f"run `mongo-tables render --in-place {file}`")
    return None


def read_drawings(page: Path) -> dict[Path, WrittenFile]:
    """Return the files in a page's folder that are named like its drawings."""
    try:
        names = sorted(entry.name for entry in os.scandir(page.parent))
    except OSError:
        return {}  # Reading the page reports the error.
    own = (name for name in names if name.startswith(f"{page.stem}.") and name.endswith(_SVG))
    return {page.with_name(name): _read(page.with_name(name)) for name in own}


def _read(path: Path) -> WrittenFile:
    """Return our drawing at a path, or the reason why the file is not ours."""
    try:
        if path.is_symlink():
            return WrittenFile(None, "is a link")
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        return WrittenFile(None, f"cannot be read: {error.strerror}")
    return WrittenFile(with_plain_ends(text)) if is_marked(text) else WrittenFile(None, "is another file")
