"""Snapshots of files: the pages that paths name, the other pages of their site, and the files that they include."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mongo_tables.directives.keywords import RST, may_have_comment
from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.files.folders import bad_byte, may_be_file, plain_path, walk
from mongo_tables.files.process import today
from mongo_tables.findings.rules import finding
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.guards import Limits
from mongo_tables.site.generated import without_code
from mongo_tables.site.includes import inclusions, may_include
from mongo_tables.site.site_config import (
    NAME,
    OWN_FILE,
    SiteConfig,
    find_files,
    find_site,
    from_here,
    options_among,
    read_settings,
    values_of,
)
from mongo_tables.site.snapshot import Needs, PageText, Snapshot, Versions, WrittenFile

if TYPE_CHECKING:
    from mongo_tables.aggregation.limits import PipelineLimits
    from mongo_tables.findings.finding import Finding

MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".mdx", ".qmd")
"""The suffixes of Markdown in MkDocs (https://www.mkdocs.org/user-guide/writing-your-docs/), MDX and Quarto."""
PAGE_SUFFIXES = (*MARKDOWN_SUFFIXES, RST)
"""The suffixes of pages."""


@dataclass(frozen=True, slots=True)
class Request:
    """The site of the pages, and the options of a command.

    ``pipelines`` is the folder of shared pipelines, ``results`` names the results source. ``texts`` has texts that
    replace the content of files, by absolute path: the unsaved text of an editor, or text that is about to be written.
    """

    site: SiteConfig
    pipelines: str
    results: str
    limits: Limits = field(default_factory=Limits)
    server: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)


class ReadSnapshots(NamedTuple):
    """The snapshots of the pages that paths name: first the pages of sites, then pages that a build excludes.

    ``faults`` has a line for each path that names no page.
    """

    snapshots: Sequence[Snapshot]
    faults: Sequence[str]

    @property
    def files(self) -> list[Path]:
        """Return all files that were read, and the missing files that pages include."""
        seen: dict[Path, None] = {}
        for snapshot in self.snapshots:
            for one in snapshot.pages:
                seen[one.path] = None
                seen |= dict.fromkeys(one.inclusions.missing if one.inclusions else ())
            seen |= dict.fromkeys([*snapshot.shared.files, *snapshot.drawings])
            seen |= dict.fromkeys(one.path for one in snapshot.versions.values() if one.path)
        return list(seen)


def read_snapshots(paths: Iterable[str], request: Request, needs: Needs = "rows") -> ReadSnapshots:
    """Read the pages that ``paths`` name, and all other pages of their sites.

    A folder names all pages in it.
    """
    faults: list[str] = []
    texts = _texts_below(request) if request.texts else {}
    files = _Files(request, SharedPipelines(Path(request.pipelines), texts, values_of(request.site)))
    where = Whereabouts(request.site)
    asked = _read_asked(paths, files, faults)
    main, apart = list[PageText](), list[PageText]()
    for one in asked.values():
        page = plain_path(Path(one.file))
        built = where.of(page)
        is_left_out = built is not None and built.leaves_out(page)
        (apart if is_left_out else main).append(one)
    snapshots = []
    if main or not apart:
        taken = _with_inclusions(main, _read_others(main, where, files, asked), files)
        if apart:  # An excluded page that another page includes is checked with that page.
            included = {one.path for one in taken if one.asked}
            apart = [one for one in apart if one.path not in included]
        snapshots.append(_snapshot(taken, where, files, needs))
    if apart:
        others = _read_others(apart, where, files, asked, all_pages=True)
        snapshots.append(_snapshot(_with_inclusions(apart, others, files), where, files, needs))
    return ReadSnapshots(snapshots, faults)


def snapshot_of(
    texts: Mapping[str, str], needs: Needs = "rows", pipelines: Path | None = None, server: str = ""
) -> Snapshot:
    """Return a snapshot of pages in memory. ``texts`` has the text of each page, by the name that findings use.

    ``pipelines`` is the folder of shared pipelines, ``server`` the version of MongoDB that the pipelines must run on.
    """
    pages = tuple(PageText(file, text, Path(file)) for file, text in texts.items())
    return Snapshot(pages, SharedPipelines(pipelines or Path("no folder")), today(), needs, server)


def _snapshot(pages: Sequence[PageText], where: Whereabouts, files: _Files, needs: Needs) -> Snapshot:
    request, site = files.request, files.request.site
    in_place: set[str] = set()
    drawings: dict[Path, WrittenFile] = {}
    has_comments = False
    for one in pages:
        if not one.asked or not may_have_comment(one.text):
            continue
        has_comments = True
        if where.is_read_as_it_is(one.file):
            in_place.add(one.file)
        if one.file in in_place or "mongo-tables: begin" in one.text:
            from mongo_tables.site.in_place import read_drawings

            drawings |= read_drawings(one.path)
    is_zensical = site.file.suffix == ".toml" and site.file.name != OWN_FILE
    return Snapshot(
        tuple(pages),
        files.shared,
        today(),
        needs,
        request.server,
        request.limits.files,
        request.results,
        frozenset(in_place),
        drawings,
        site.address_of,
        _find_dropped_plugin(site.file) if is_zensical and has_comments else (),
        versions=_read_versions(pages),
    )


def _read_versions(pages: Sequence[PageText]) -> Versions:
    for one in pages:
        if "measured_of" in one.text:
            from mongo_tables.site.versions import read_versions  # few pages ask for one

            return read_versions(pages)
    return {}


def _texts_below(request: Request) -> dict[str, str]:
    """Return the unsaved texts of shared pipelines, by the names that findings use."""
    folder = Path(request.pipelines)
    return {
        (folder / Path(file).name).as_posix(): text
        for file, text in request.texts.items()
        if Path(file).parent == folder.absolute() and file.endswith(".json")
    }


def _find_dropped_plugin(file: Path) -> tuple[Finding, ...]:
    """Return a finding if the file of a Zensical site lists the plugin, but not the Markdown extension."""
    settings = read_settings(file) if file.is_file() else {}
    if not _is_listed(settings, "plugins") or _is_listed(settings, "markdown_extensions"):
        return ()
    message = f"Zensical ignores the plugin `{NAME}` without a message, so pages have no figures"
    hint = f"list the Markdown extension instead, with the same options: [project.markdown_extensions.{NAME}]"
    return (finding("MT172", from_here(file), (0, 0), message, hint),)


def _is_listed(settings: Mapping[str, Any], key: str) -> bool:
    options = options_among(settings.get(key), NAME)
    return options is not None and options.get("enabled") is not False


def _read_asked(paths: Iterable[str], files: _Files, faults: list[str]) -> dict[Path, PageText]:
    """Return the pages that ``paths`` name, by the real paths of their files."""
    read, seen = dict[Path, PageText](), set[Path]()
    for name in dict.fromkeys(paths):
        is_open = os.path.abspath(name) in files.request.texts  # noqa: PTH100 - it need not be on disk
        for file in [Path(name)] if is_open else list_pages(name, faults):
            path = Path(os.path.realpath(file))
            if path in seen:
                continue
            seen.add(path)
            try:
                content = files.read(file, path)
                read[path] = PageText(file.as_posix(), content.decode(), path)
            except OSError as error:
                faults.append(_describe_error(error, name))
            except UnicodeDecodeError:
                text = content.decode(errors="replace")
                read[path] = PageText(file.as_posix(), text, path, bad=bad_byte(content))
    return read


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of the snapshots, each of which is read once."""

    request: Request
    shared: SharedPipelines
    contents: dict[Path, bytes] = field(default_factory=dict)

    def read(self, file: Path, path: Path) -> bytes:
        """Return the content of a file, whose real path is ``path``. Raises ``OSError``."""
        if path not in self.contents:
            text = self.request.texts.get(os.path.abspath(file)) if self.request.texts else None  # noqa: PTH100
            self.contents[path] = file.read_bytes() if text is None else text.encode("utf-8", "surrogatepass")
        return self.contents[path]

    def read_included(self, file: Path) -> str:
        """Return the text of an included file, or "" if it cannot be read."""
        try:
            path = Path(os.path.realpath(file))
            return self.read(file, path).decode("utf-8-sig") if may_be_file(file) else ""
        except (OSError, ValueError):
            return ""


def _read_others(
    pages: Sequence[PageText],
    where: Whereabouts,
    files: _Files,
    known: Mapping[Path, PageText],
    *,
    all_pages: bool = False,
) -> list[PageText]:
    """Return the other pages of the sites of ``pages``, or nothing if none of ``pages`` has comments.

    With ``all_pages``, pages that the build excludes are returned, too, because a preview may show them.
    """
    own, has_comments = set[Path](), False
    for one in pages:
        own.add(one.path)
        has_comments = has_comments or may_have_comment(one.text)
    sites: dict[int, SiteConfig] = {}
    for one in pages if has_comments else ():
        if site := where.of(plain_path(Path(one.file))):
            sites[id(site)] = site
    folders, others = set[str](), list[PageText]()
    for site in sites.values():
        folders.update(page_folders(site))
    for folder in sorted(folders):
        for file in pages_under(Path(folder)):
            page = plain_path(file)
            path = Path(os.path.realpath(file)) if file.is_symlink() else page
            if path in own:
                continue
            if not all_pages:
                built = where.of(page)
                if path in known or (built and built.leaves_out(page)):
                    continue
            with suppress(OSError):  # The build of the site reports unreadable pages.
                text = files.read(file, path).decode("utf-8-sig", "replace")
                others.append(PageText(file.as_posix(), text, path, asked=False))
    return others


def _with_inclusions(pages: Sequence[PageText], others: Sequence[PageText], files: _Files) -> list[PageText]:
    """Return the pages in the order of their names, and then the files that they include."""
    folders = cache(find_folders)
    found: dict[Path, PageText] = {}
    including: list[PageText] = []
    for one in sorted([*pages, *others], key=lambda one: one.file.split("/")):
        found[one.path] = one
        if may_include(one.text):
            page = Path(one.file)
            places = [*folders(page.absolute().parent), Path.cwd()]
            names = inclusions(page, without_code(one.text), places, files.read_included)
            found[one.path] = replace(one, inclusions=names)
            including.append(found[one.path])
    for asked in (True, False) if including else ():
        for one in [each for each in including if found[each.path].asked is asked]:
            for file in one.inclusions.files if one.inclusions else ():
                path = Path(os.path.realpath(file))
                before = found.get(path)
                if before is None:
                    text = files.read_included(file)
                    found[path] = PageText(from_here(file), text, path, asked=asked, included=True)
                elif asked and not before.asked:
                    found[path] = replace(before, asked=True)
    for one in including:
        if one.inclusions:  # The pages of the snapshot have real paths, too.
            real = tuple(Path(os.path.realpath(file)) for file in one.inclusions.files)
            found[one.path] = replace(found[one.path], inclusions=one.inclusions._replace(files=real))
    return list(found.values())


def find_folders(start: Path) -> tuple[Path, ...]:
    """Return the folders in which plugins search for included files, in addition to the folder of the page."""
    site = find_site(start)
    return (*site.snippets, site.docs, site.file.parent) if site else ()


def read_folder(
    root: Path,
    pages: Path | None,
    left_out: Callable[[Path], bool] | None,
    *,
    pipelines: Path,
    server: str,
    limits: PipelineLimits,
    results: str,
    values: Mapping[str, Any],
) -> Snapshot:
    """Return a snapshot of the pages below ``root``, for a host that reads pages itself, one by one.

    ``left_out`` tells whether the host excludes a page. If ``pages`` is None, the snapshot has no pages.
    """
    found = []
    for file in pages_under(root / pages) if pages is not None else ():
        if left_out is None or not left_out(file):
            with suppress(OSError):
                text = file.read_bytes().decode("utf-8-sig", "replace")
                found.append(PageText(file.relative_to(root).as_posix(), text, Path(os.path.realpath(file))))
    return Snapshot(
        tuple(found),
        SharedPipelines(pipelines, values=values),
        today(),
        "figures",
        server,
        limits,
        results,
        versions=_read_versions(found),
    )


def list_pages(written: str, faults: list[str]) -> list[Path]:
    """Return the pages that a path names. Add a line to ``faults`` if it names no page or cannot be read."""
    path = Path(written)
    try:
        if not written:
            faults.append("an empty path names no page")
        elif path.is_dir():
            return pages_under(path, lambda error: faults.append(_describe_error(error, written)))
        elif not path.exists():
            faults.append(f"{path}: no such file or folder")
        elif path.is_file() and path.suffix.lower() not in PAGE_SUFFIXES:
            faults.append(f"{path}: not a page; the name of a page ends in {' or '.join(PAGE_SUFFIXES)}")
        else:
            return [path]
    except OSError as error:
        faults.append(_describe_error(error, written))
    return []


def _describe_error(error: OSError, path: str) -> str:
    return f"{error.filename or path}: {error.strerror or error}"


def pages_under(folder: Path, failed: Callable[[OSError], None] | None = None) -> list[Path]:
    """Return the pages below a folder, or the page itself. Call ``failed`` for each unreadable folder.

    Links to folders are followed, as in MkDocs.
    """
    if folder.is_file():
        return [folder]
    found: list[Path] = []
    for place, names in walk(folder, failed):
        for name in names:
            if name.endswith(PAGE_SUFFIXES) and may_be_file(file := Path(place, name)):
                found.append(file)
    return sorted(found)


def require_pages(read: ReadSnapshots) -> ReadSnapshots:
    """Return ``read``. Raises CommandError if a path names no page."""
    if read.faults:
        raise CommandError("; ".join(read.faults))
    return read


def read_text(file: Path) -> str:
    """Return the text of a file without changing its newlines. Raises CommandError if it is not UTF-8."""
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(f"{file}: not UTF-8 (byte {error.start})", "save the page as UTF-8") from None


# -- the pages of a site --


def page_folders(site: SiteConfig) -> list[str]:
    """Return the folders of all pages of a site, as paths from the working folder."""
    return list(map(from_here, site.folders))


class Whereabouts:
    """Finds the site of a page: the site of the command if it has the page, or else the nearest site above the page."""

    def __init__(self, asked: SiteConfig) -> None:
        self._asked = asked if asked.file.is_file() else None
        self._nearest: dict[Path, SiteConfig | None] = {}

    def of(self, page: Path) -> SiteConfig | None:
        """Return the site of a page, or None if no site has it. ``page`` is a path that ``plain_path`` returned."""
        if self._asked and self._asked.has(page):
            return self._asked
        nearest = self._find_nearest(page.parent)
        return nearest if nearest and nearest.has(page) else None

    def is_read_as_it_is(self, file: str) -> bool:
        """Return whether readers see a page as it is, on a code host, because the page belongs to no site.

        These are the pages that ``mongo-tables.toml`` lists or, without a list, the README of the repository. Pages in
        a listed folder do not count, because other pages may be rendered from them. Pages in reStructuredText do not
        count either, because only Sphinx shows their figures.
        """
        page = plain_path(Path(file))
        if page.suffix == RST:
            return False
        nearest = self.of(page) or self._find_nearest(page.parent)
        if nearest is None:
            return _is_shown_first(page)
        if nearest.file.name != OWN_FILE:
            return False
        return page in nearest.folders if nearest.pages else _is_shown_first(page)

    def _find_nearest(self, folder: Path) -> SiteConfig | None:
        if folder not in self._nearest:
            # The file is not read again, which takes as long as checking a page.
            is_asked = self._asked and self._asked.file in find_files(folder)
            self._nearest[folder] = self._asked if is_asked else find_site(folder)
        return self._nearest[folder]


def _is_shown_first(page: Path) -> bool:
    """Return whether a page is the README of its repository or, outside a repository, of its folder.

    https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-readmes
    """
    root = next((folder for folder in page.parents if (folder / ".git").exists()), page.parent)
    return page.stem.lower() == "readme" and page.parent in (root, root / ".github")
