"""The Sphinx extension: figures in MyST Markdown and in reStructuredText.

    extensions = ["myst_parser", "mongo_tables.hosts.sphinx_extension"]

As soon as Sphinx has found its pages, the extension reads, queries and checks the whole site. Each build reports all
findings as warnings, and parses all pages with figures again. Before Sphinx parses a page, the extension replaces its
comments, and our directives and roles, with internal directives and roles that contain the number of the figure on the
page. Internal directives and roles put docutils nodes into the page, so that all builders show figures. Cells are text
nodes, which neither Markdown, reStructuredText nor smart quotes change.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from docutils import nodes
from sphinx.errors import ConfigError
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.logging import getLogger

from mongo_tables import __version__
from mongo_tables.aggregation.values import is_number
from mongo_tables.build import Report, build
from mongo_tables.directives import comments, rst_directives
from mongo_tables.directives.columns import Piece, has_link
from mongo_tables.directives.html_comments import NEWLINE
from mongo_tables.directives.keywords import may_have_comment, place_of
from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.directives.specs import PipelineSpec, TableSpec, ValueSpec
from mongo_tables.files.folders import shorten_path
from mongo_tables.files.process import today
from mongo_tables.findings.reporters import failing
from mongo_tables.findings.rules import finding
from mongo_tables.findings.usage import CommandError
from mongo_tables.render.columns import with_few_digits
from mongo_tables.render.markup import NO_ROWS, display_width, text_html, typeset, with_anchors
from mongo_tables.render.provenance import provenance_parts
from mongo_tables.render.table_layout import TableLayout, lay_out
from mongo_tables.render.values import visible
from mongo_tables.results.answers import Answers
from mongo_tables.results.guards import limits_of
from mongo_tables.results.model import ResultsError
from mongo_tables.site.disk import MARKDOWN_SUFFIXES, PAGE_SUFFIXES
from mongo_tables.site.figures import line_of, report_left_over
from mongo_tables.site.in_place import DrawnFile, draw_files
from mongo_tables.site.markdown import standing_alone
from mongo_tables.site.pages import Page, by_comment, read_page
from mongo_tables.site.placeholders import take_out_live_comments
from mongo_tables.site.site_config import (
    OWN_FILE,
    SiteConfig,
    fail_on_of,
    find_site,
    results_source,
    server_of,
    values_of,
)
from mongo_tables.site.snapshot import PageText, Snapshot
from mongo_tables.site.statements import ShownValue, shown_value, with_sentence
from mongo_tables.site.versions import read_versions

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata

    from mongo_tables.directives.comments import Comment
    from mongo_tables.findings.finding import Finding, Severity
    from mongo_tables.render.column import Column

_NARROWEST: Final = 8
_MARKS: Final = {"strong": nodes.strong, "em": nodes.emphasis, "del": nodes.inline}


@dataclass(frozen=True)
class SphinxPage:
    """The figures of one page. Drawings become files next to the path ``drawings``, and are named after it."""

    page: Page
    report: Report
    drawings: Path

    def block(self, number: int, folder: Path) -> list[nodes.Element]:
        """Return the nodes of a table or a chart with its notes, or of its faults, and no nodes for a statement.

        Addresses of drawings are relative to ``folder``.
        """
        written, spec = self.page.specs[number], with_anchors(self.page.specs)[number]
        if faults := self._faults[number]:
            return [nodes.error("", *(_paragraph(nodes.Text(fault)) for fault in faults))]
        if not isinstance(written, PipelineSpec) or not isinstance(spec, PipelineSpec):
            return []
        judge = self.report.figures.judge.within(self.page)
        rows = judge.answers[spec.key]
        if isinstance(rows, ResultsError):
            return [nodes.error("", _paragraph(nodes.Text(f"{self.page.file}: {rows.message}")))]
        spec = with_few_digits(with_sentence(spec, judge.tables, judge.answers), rows)
        drawn = self._drawn.get(id(written))
        made = [_figure(spec, drawn, folder)] if drawn else []
        notes: list[str] = []
        if isinstance(spec, TableSpec) and rows:
            layout = lay_out(spec, rows)
            made.append(_table(spec, layout, titled=not drawn))
            notes += layout.notes
        elif not drawn:
            made.append(_paragraph(*_heading(spec), nodes.emphasis("", spec.empty or NO_ROWS)))
        source = judge.provenance(spec) if rows and spec.provenance is not False else None
        if source:
            notes.append(" · ".join(provenance_parts(source, source.due(spec.max_age))))
        # Sphinx chooses the anchor, because a heading may have the same.
        made[-1]["names"] += [written.id] if written.id else []
        return [*made, *(_paragraph(nodes.emphasis("", visible(note))) for note in notes if note)]

    def sentence(self, number: int) -> list[nodes.Node]:
        """Return the nodes of a value in a sentence, or of its faults."""
        found = self._value(number)
        if found is None:
            said = self._faults[number] or [f"{self.page.file}: this value has no row"]
            return [nodes.problematic("", text) for text in said]
        text = typeset(found.text) if found.conclusion or is_number(found.value) else found.text
        shown = _words(found.pieces, text)
        if found.picture:
            shown = [nodes.image(uri=found.picture, alt=found.text)]
        linked = (
            nodes.reference("", "", *shown, refuri=found.to) if found.to else nodes.inline("", "", *shown)
        )
        return [nodes.inline("", "", linked, classes=["mongo-value"], support_smartquotes=False)]

    def text(self, number: int) -> str:
        """Return a value as plain text, or "" if it has a fault."""
        found = self._value(number)
        return found.text if found else ""

    def _value(self, number: int) -> ShownValue | None:
        spec, judge = self.page.specs[number], self.report.figures.judge.within(self.page)
        if not isinstance(spec, ValueSpec) or self._faults[number]:
            return None
        return shown_value(spec, judge.tables, judge.answers)

    @cached_property
    def _faults(self) -> list[list[str]]:
        errors = [one for one in self.report.faults if (one.file, one.severity) == (self.page.file, "error")]
        return [list(map(line_of, found)) for found in by_comment(self.page.comments, errors)]

    @cached_property
    def _drawn(self) -> dict[int, DrawnFile]:
        """The drawings of the page, by the ``id`` of their specs. Changed drawings are written."""
        judge = self.report.figures.judge.within(self.page)
        drawn = draw_files(self.page, self.drawings, judge.answers, judge.tables, lambda path: path.name)
        for one in drawn:
            one.path.parent.mkdir(parents=True, exist_ok=True)
            if not one.path.is_file() or one.path.read_text("utf-8") != one.text:
                one.path.write_text(one.text, "utf-8")
        return {id(one.spec): one for one in drawn}


def _figure(spec: PipelineSpec, drawn: DrawnFile, folder: Path) -> nodes.Element:
    image = nodes.image(uri=Path(os.path.relpath(drawn.path, folder)).as_posix(), alt=drawn.words)
    heading = _heading(spec)
    caption = [nodes.caption("", "", *heading, translatable=False)] if heading else []
    return nodes.figure("", image, *caption)


def _table(spec: TableSpec, layout: TableLayout, *, titled: bool) -> nodes.Element:
    heading = _heading(spec) if titled else []
    title = [nodes.title("", "", *heading, translatable=False)] if heading else []
    # Builders of plain text wrap cells at these widths.
    widths = [max(map(display_width, (column.shown_header, *column.texts))) for column in layout.columns]
    columns = [nodes.colspec(colwidth=max(width, _NARROWEST)) for width in widths]
    spans = [_entry([nodes.Text(visible(text))], span=span) for text, span in layout.headings]
    headers = [_entry(_header(column), column.align) for column in layout.columns]
    head = nodes.thead("", *([nodes.row("", *spans)] if spans else []), nodes.row("", *headers))
    body = nodes.tbody("", *_rows(layout))
    group = nodes.tgroup("", *columns, head, body, cols=len(columns))
    return nodes.table("", *title, group, classes=["colwidths-auto"], support_smartquotes=False)


def _rows(layout: TableLayout) -> Iterator[nodes.Element]:
    cells = list(zip(*map(_cells, layout.columns), strict=True))
    for group in layout.groups:
        if group.heading is not None:
            yield nodes.row("", _entry([nodes.strong("", visible(group.heading))], span=len(layout.columns)))
        yield from (nodes.row("", *cells[number]) for number in group.rows)
    for total in layout.totals:
        known = [total.cells.get(column.name) for column in layout.columns]
        texts = [total.label, *(one.text if one else "" for one in known[1:])]
        shown = [[nodes.strong("", typeset(text))] if text else [] for text in texts]
        aligns = [column.align for column in layout.columns]
        yield nodes.row("", *map(_entry, shown, aligns))


def _header(column: Column) -> list[nodes.Node]:
    unit = [nodes.Text(f" ({visible(column.unit)})")] if column.unit else []
    return [*_words(column.pieces, column.header), *unit]


def _cells(column: Column) -> Iterator[nodes.Element]:
    links = column.links or ("",) * len(column.texts)
    for value, text, pieces, to in zip(
        column.values, column.texts, column.pieces_of_cells, links, strict=True
    ):
        # As on other sites, numbers and comparisons get minus signs, but no other texts.
        signed = typeset(text) if is_number(value) or isinstance(value, Mapping) else text
        shown = _words(pieces, signed)
        linked = [nodes.reference("", "", *shown, refuri=to)] if to and not has_link(pieces) else shown
        yield _entry(linked, column.align)


def _entry(shown: Sequence[nodes.Node], align: str = "left", span: int = 1) -> nodes.Element:
    """Return a cell. Its classes set its alignment in docutils and in MyST."""
    classes = [f"text-{align}", f"align-{align}"] if align != "left" else []
    more = {"morecols": span - 1} if span > 1 else {}
    return nodes.entry("", *([_paragraph(*shown)] if shown else []), classes=classes, **more)


def _heading(spec: PipelineSpec) -> list[nodes.Node]:
    parts: list[nodes.Node] = []
    if spec.title:
        parts.append(nodes.strong("", "", *_words(spec.pieces.get(("title",), ()), spec.title)))
    if spec.caption:
        parts += [
            *([nodes.Text(" ")] if parts else []),
            *_words(spec.pieces.get(("caption",), ()), spec.caption),
        ]
    return parts


def _paragraph(*shown: nodes.Node) -> nodes.Element:
    """Return a paragraph that is not offered for translation."""
    return nodes.paragraph("", "", *shown, translatable=False, support_smartquotes=False)


def _words(pieces: Sequence[Piece], text: str) -> list[nodes.Node]:
    """Return a text, or its inline Markdown ``pieces`` if there are any, as nodes."""
    return [node for one in pieces or (Piece("text", text),) for node in _piece(one)]


def _piece(one: Piece) -> Iterator[nodes.Node]:
    if one.kind == "code":
        yield nodes.literal("", visible(one.text))
    elif one.kind == "link":
        yield nodes.reference("", "", *_words(one.inside, ""), refuri=one.to)
    elif one.kind in _MARKS:
        yield _MARKS[one.kind]("", "", *_words(one.inside, ""))
    else:
        first, *others = visible(one.text if one.kind == "text" else "\n").split("\n")
        yield nodes.Text(first)
        for line in others:
            yield from (nodes.raw("", "<br>", format="html"), nodes.Text(f" {line}"))


_LOG: Final = getLogger(__name__)
_TOKEN: Final = "mtf"
"""The name of the internal directive and role. Their text is the figure's number on the page, such as ``3``.

Numbers of figures in included files are ``3.1`` and so on. Roles are part of texts to translate, so their text must not
change from build to build.
"""

_AS_CODE: Final = re.compile(rf"```\{{{_TOKEN}\}} (?P<block>[\d.]+)\n```|\{{{_TOKEN}\}}`(?P<role>[\d.]+)`")


class SphinxSite:
    """The site that a Sphinx application builds."""

    _answers: Answers
    _snapshot: Snapshot
    _fail_on: Severity

    def __init__(self) -> None:
        self._known: dict[Path, SphinxPage] = {}
        self._shown: dict[tuple[str, str], SphinxPage] = {}

    def judge(self, app: Sphinx, env: BuildEnvironment, *_: object) -> list[str]:
        """Read, query and check the site, and report its findings. Return [], because no more pages must be read."""
        try:
            self._read(app, env)
        except (CommandError, ValueError) as error:
            hint = f"; {error.hint}" if isinstance(error, CommandError) and error.hint else ""
            raise ConfigError(f"mongo-tables: {error}{hint}") from None
        report = build(self._snapshot, self._answers)
        self._report(report.findings)
        names = {shorten_path(Path(env.doc2path(docname))): docname for docname in env.found_docs}
        paths = report.site.paths()
        for page in report.site.named:
            drawings = Path(app.doctreedir, "mongo-tables", f"{names[page.file]}.md")
            self._known[paths[page.file]] = SphinxPage(page, report, drawings)
        return []

    def _read(self, app: Sphinx, env: BuildEnvironment) -> None:
        root, docs = Path(app.confdir), Path(app.srcdir)
        site = find_site(root) or SiteConfig(root / OWN_FILE, docs, docs / "pipelines", "fixtures")
        self._fail_on = fail_on_of(site)
        limits, server = limits_of(site.options), server_of(site)
        self._answers = Answers(results_source(site.results, site.file.parent), limits, server=server)
        files = (Path(env.doc2path(docname)) for docname in sorted(env.found_docs))
        read = (_read_page(file) for file in files if file.suffix in PAGE_SUFFIXES)
        pages = tuple(page for page in read if may_have_comment(page.text))
        self._snapshot = Snapshot(
            pages,
            SharedPipelines(site.pipelines, values=values_of(site)),
            today(),
            "figures",
            server,
            limits.files,
            shorten_path(site.file if site.file.exists() else root / "conf.py"),
            built=True,
            versions=read_versions(pages),
        )

    def _report(self, findings: Sequence[Finding]) -> None:
        refused = set(failing(findings, self._fail_on))
        for one in findings:
            log = _LOG.warning if one in refused else _LOG.verbose
            place, _, said = line_of(one).partition(": ")
            # Sphinx would interpret a place without a line as the name of a page.
            at, text = (place, said) if one.line else (None, f"{place}: {said}")
            log(text, location=at, type="mongo_tables", subtype=one.rule.lower())

    def read_source(self, app: Sphinx, docname: str, content: list[str]) -> None:
        """Put tokens into the text of a page."""
        content[0] = self._with_tokens(app, Path(app.env.doc2path(docname)), content[0])

    def read_included(self, app: Sphinx, path: Path, docname: str, content: list[str]) -> None:
        """Put tokens into the text of a file that a page includes."""
        content[0] = self._with_tokens(app, Path(app.srcdir, path), content[0])

    def _with_tokens(self, app: Sphinx, file: Path, text: str) -> str:
        if not may_have_comment(text):
            return text
        app.env.note_reread()  # The next build reads the page again, because results may change.
        known, is_markdown = self._known.get(file), file.suffix in MARKDOWN_SUFFIXES
        if known is None or known.page.text != text:
            name = shorten_path(file)
            find = None if is_markdown else rst_directives.find
            page = read_page(text, name, self._snapshot.shared, find=find)
            others = (replace(one, asked=False) for one in self._snapshot.pages if one.path != file)
            pages = (*others, PageText(name, text, file, page=page))
            report = build(replace(self._snapshot, pages=pages), self._answers)
            self._report(report.findings)
            known = SphinxPage(
                page, report, Path(app.doctreedir, "mongo-tables", f"{app.env.docname}.{file.name}")
            )
        docname = app.env.docname
        is_page = file == Path(app.env.doc2path(docname))
        included = "" if is_page else f".{1 + sum(one == docname for one, _ in self._shown)}"
        self._shown[docname, included] = known
        write = _token_of_markdown if is_markdown else _token_of_rst
        numbers = range(len(known.page.comments))
        edits = [write(known, number, f"{number}{included}") for number in numbers]
        places, texts = [place for place, _ in edits], [token for _, token in edits]
        return comments.replace(text, places, texts)

    def find_figure(self, docname: str, token: str) -> tuple[SphinxPage, int]:
        """Return the page and the number of the figure for a token in a document."""
        number, dot, included = token.partition(".")
        return self._shown[docname, dot + included], int(number)

    def take_out_comments(self, app: Sphinx, doctree: nodes.document) -> None:
        """Remove comments that were added while a page was parsed, and report them."""
        for raw in list(doctree.findall(nodes.raw)):
            html, left = take_out_live_comments(raw.astext())
            if left:
                raw.replace_self(nodes.raw("", html, format=raw["format"]))
                file = shorten_path(Path(app.env.doc2path(app.env.docname)))
                hint = "write it in the page itself, outside of fences"
                self._report(report_left_over(file, left, (raw.line or 0, 1), hint))

    def report_code(self, app: Sphinx, doctree: nodes.document) -> None:
        """Report figures in code, such as the text below ``!!! note`` for MyST, and show their comments instead."""
        for literal in [*doctree.findall(nodes.literal_block), *doctree.findall(nodes.literal)]:
            text = literal.astext()
            for token in _AS_CODE.finditer(text):
                figures, number = self.find_figure(app.env.docname, token["block"] or token["role"])
                comment = figures.page.comments[number]
                message = f"{comment.keyword} is in text that is code for MyST, so readers see the comment"
                hint = "write an admonition as :::{note}, and its text without indentation"
                self._report(
                    [finding("MT112", figures.page.file, (comment.line, comment.column), message, hint)]
                )
                text = text.replace(token[0], figures.page.text[comment.start : comment.end])
            if text != literal.astext():
                literal.replace_self(type(literal)(text, text, **literal.attributes))

    def close(self, *_: object) -> None:
        """Close the results source."""
        if hasattr(self, "_answers"):
            self._answers.close()


def _read_page(file: Path) -> PageText:
    """Return a page as Sphinx reads it."""
    text = file.read_bytes().decode("utf-8-sig", "replace")
    return PageText(shorten_path(file), "\n".join(NEWLINE.split(text)), file)


def _token_of_markdown(figures: SphinxPage, number: int, token: str) -> tuple[Comment, str]:
    """Return the comment to replace in a Markdown page, perhaps extended to the start of its line, and its token."""
    comment = figures.page.comments[number]
    place = place_of(comment.keyword)
    if place == "sentence" and comment.holder == comments.RAW_HTML:
        return comment, text_html(figures.text(number))
    if place != "block":
        return comment, f"{{{_TOKEN}}}`{token}`" if place == "sentence" else ""
    end = comment.region.end if comment.region else comment.end
    lines = [f"```{{{_TOKEN}}} {token}", "```"]
    start, text = standing_alone(figures.page.text, comment.start, end, comment.prefix, lines)
    return comment._replace(start=start), text


def _token_of_rst(figures: SphinxPage, number: int, token: str) -> tuple[Comment, str]:
    """Return a directive or a role, and its token, which has as many lines and, in a table, the same width."""
    comment, text = figures.page.comments[number], figures.page.text
    if not comment.inline:
        return comment, f".. {_TOKEN}:: {token}" + "\n" * text.count("\n", comment.start, comment.end)
    line = text[text.rfind("\n", 0, comment.start) + 1 :].partition("\n")[0].strip()
    width = comment.end - comment.start - len(f":{_TOKEN}:``") if "|" in line or "  " in line else 0
    return comment, f":{_TOKEN}:`{token.zfill(width)}`"


class _Directive(SphinxDirective):
    has_content = True
    site: ClassVar[SphinxSite]

    def run(self) -> list[nodes.Node]:
        """Return the nodes of a figure."""
        figures, number = self.site.find_figure(self.env.docname, self.content[0])
        made = figures.block(number, Path(self.env.doc2path(self.env.docname)).parent)
        for node in made:
            self.set_source_info(node)
            if node["names"]:
                self.state.document.note_explicit_target(node, node)
        return [*made]


class _Role(SphinxRole):
    def __init__(self, site: SphinxSite) -> None:
        self._site = site

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the nodes of a value."""
        figures, number = self._site.find_figure(self.env.docname, self.text)
        return figures.sentence(number), []


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension. Sphinx calls this function."""
    site = SphinxSite()
    app.add_directive(_TOKEN, type("FigureDirective", (_Directive,), {"site": site}))
    app.add_role(_TOKEN, _Role(site))
    app.connect("env-get-outdated", site.judge)
    app.connect("source-read", site.read_source, priority=900)
    app.connect("include-read", site.read_included, priority=900)
    app.connect("doctree-read", site.take_out_comments)
    app.connect("doctree-read", site.report_code)
    app.connect("build-finished", site.close)
    # The site is checked before Sphinx starts other processes.
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
