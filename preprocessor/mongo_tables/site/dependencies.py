"""The dependencies of each page of a site: its figures, the collections that they read, and all files behind them.

Programs that build pages one by one, such as Make, Bazel or another site generator, use them to decide which pages to
rebuild. Dependencies that such a program adds itself, such as a theme, are not included.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables import __version__
from mongo_tables.directives.specs import PipelineSpec, Spec
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.results.guards import collections_read
from mongo_tables.results.revisions import run_git
from mongo_tables.site.pages import Page, is_lasting_figure
from mongo_tables.site.site_config import from_here
from mongo_tables.site.versions import TAG

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.model import ResultsSource
    from mongo_tables.site.site import Site


class Figure(NamedTuple):
    """A comment, and the inputs of its figure.

    Attributes:
        table: The id of the table that the comment quotes.
        files: The files of the collections and shared pipelines, and the page with the quoted table.
        lasts: Whether the figure changes only if one of these files changes.
    """

    file: str
    line: int
    column: int
    kind: str
    id: str | None
    table: str | None
    collections: tuple[str, ...]
    files: tuple[str, ...]
    lasts: bool


class PageNeeds(NamedTuple):
    """A page, its figures, and all files that it depends on, sorted. The files include the page itself."""

    page: str
    figures: tuple[Figure, ...]
    files: tuple[str, ...]

    @property
    def lasts(self) -> bool:
        """Return whether the figures change only if one of the files changes."""
        return all(figure.lasts for figure in self.figures)


def needs_of(page: Page, site: Site, local: FileSource | None, settings: Sequence[Path] = ()) -> PageNeeds:
    """Return the dependencies of a page. ``settings`` are the files of the site's configuration.

    Raises:
        ResultsError: If the results source cannot be read.
    """
    texts = {one.path: one for one in site.snapshot.pages}
    own = next(one for one in texts.values() if one.file == page.file)
    taken_in = own.inclusions.files if own.inclusions else ()
    by_file = {each.file: each for each in site.pages}
    names = [texts[path].file for path in taken_in if path in texts]
    brought = [by_file[name] for name in names if name in by_file]
    figures: list[Figure] = []
    for each in (page, *brought):
        for comment, spec in zip(each.comments, each.specs, strict=True):
            if spec is not None:
                figures.append(_figure(each, comment, spec, site, local))
    behind = (file for figure in figures for file in figure.files)
    files = {page.file, *map(from_here, (*taken_in, *(settings if figures else ()))), *behind}
    return PageNeeds(page.file, tuple(figures), tuple(sorted(files)))


def find_untracked(sites: Iterable[Site], local: FileSource | None) -> Iterator[Finding]:
    """Yield MT311 for results and drawings that Git neither tracks nor ignores: a fresh checkout would lack them."""
    listed = run_git("ls-files", "--others", "--exclude-standard", "-z").stdout.decode("utf-8", "replace")
    untracked = {os.path.realpath(name) for name in listed.split("\0") if name}
    needed: dict[str, str] = {}
    for site in sites if untracked else ():
        for page in site.named:
            path = Path(os.path.realpath(page.file))
            if str(path) not in untracked:
                drawings = (one for one in site.snapshot.drawings if one.name.startswith(f"{path.stem}."))
                needs = needs_of(page, site, local).files
                needed |= dict.fromkeys((*needs, *map(from_here, drawings)), page.file)
    for file, page_file in needed.items():
        if os.path.realpath(file) in untracked:
            message = f"Git does not track this file, which {page_file} needs: a fresh checkout lacks it"
            yield finding("MT311", file, (0, 0), message, f"git add {shlex.quote(file)}")


def _figure(page: Page, comment: Comment, spec: Spec, site: Site, local: FileSource | None) -> Figure:
    names, tables = [one.table for one in spec.quotes], site.tables
    quoted: list[PipelineSpec] = [tables[name] for name in names if name in tables]
    asked = [spec, *quoted] if isinstance(spec, PipelineSpec) else quoted
    read = [collections_read(one.query) for one in asked]
    files = [file for each in zip(asked, read, strict=True) for file in _files_behind(*each, site, local)]
    files += [Path(one.file) for one in quoted if one.file != page.file]
    # Such a figure may become outdated although no file changes.
    dated = [one.measured_of.file for one in asked if one.measured_of is not None]
    may_age = TAG in dated or any(one.max_age is not None for one in asked)
    return Figure(
        page.file,
        comment.line,
        comment.column,
        comment.kind,
        spec.id if isinstance(spec, PipelineSpec) else None,
        next((name for name in names if ":" not in name), None),
        tuple(dict.fromkeys(chain.from_iterable(read))),
        tuple(sorted(set(map(from_here, files)))),
        is_lasting_figure(spec, quoted) and not may_age,
    )


def _files_behind(
    spec: PipelineSpec, collections: Iterable[str], site: Site, local: FileSource | None
) -> Iterator[Path]:
    """Yield the files of the shared pipelines that a figure names, and of the documents that it reads."""
    written = spec.comment.parsed.value.get("pipeline", ())
    yield from site.snapshot.shared.files_of(stage for stage in written if isinstance(stage, str))
    version = spec.measured_of and site.snapshot.versions.get((spec.file, spec.measured_of.file))
    if version and version.path:
        yield version.path
    if local is not None:
        yield from chain.from_iterable(map(local.files, collections))


def digests_of_files(needs: Iterable[PageNeeds]) -> dict[str, str]:
    """Return the SHA-256 of each file that pages depend on, sorted by name. An unreadable file has ""."""
    found = {}
    for file in sorted({file for each in needs for file in each.files}):
        found[file] = ""
        with suppress(OSError), Path(file).open("rb") as opened:
            found[file] = hashlib.file_digest(opened, "sha256").hexdigest()
    return found


def digests_of_pages(
    needs: Sequence[PageNeeds], files: Mapping[str, str], source: ResultsSource
) -> list[str | None]:
    """Return the digest of each page's inputs, or None if a database or the time may change the page's figures.

    ``files`` has the digest of each file. The digest of a page includes the version of this program, and the name of
    the results source, because different sources may have the same files.
    """
    local = source.local is not None
    found: list[str | None] = []
    for page in needs:
        if not page.lasts or (not local and any(one.collections for one in page.figures)):
            found.append(None)
            continue
        total = hashlib.sha256(f"{__version__}\0{source.name}\n".encode())
        for file in page.files:
            total.update(f"{file}\0{files[file]}\n".encode(errors="surrogateescape"))
        found.append(total.hexdigest())
    return found
