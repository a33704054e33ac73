"""Snapshots of files: the pages that paths name, their site, and the files that they include."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from mongo_tables.site.snapshot import Needs, PageText, Snapshot, WrittenFile

if TYPE_CHECKING:
    from mongo_tables.aggregation.limits import PipelineLimits
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.snapshot import Versions

MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".mdx", ".qmd")
"""Suffixes of Markdown files, as in MkDocs (https://www.mkdocs.org/user-guide/writing-your-docs/), MDX and Quarto."""
PAGE_SUFFIXES = (*MARKDOWN_SUFFIXES, RST)
"""Suffixes of pages."""


@dataclass(frozen=True, slots=True)
class Request:
    """The site of pages, and how to read them.

    ``pipelines`` is the folder of shared pipelines, ``results`` names the results source. ``texts`` replaces
    the contents of files, by absolute path: unsaved text of an editor, or text that is about to be written.
    """

    site: SiteConfig
    pipelines: str
    results: str
    limits: Limits = field(default_factory=Limits)
    server: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadSnapshots:
    """Snapshots of the pages that paths name: the pages of a site, then those that its build excludes.

    ``faults`` has a line for each path that names no page, ``files`` all files that were read or looked for.
    """

    snapshots: Sequence[Snapshot]
    faults: Sequence[str]
    files: Sequence[Path]


def read_snapshots(paths: Iterable[str], request: Request, needs: Needs = "rows") -> ReadSnapshots:
    """Read the pages that ``paths`` name, and all other pages of their sites.

    A folder contributes all its Markdown files.
    """
    faults: list[str] = []
    files = _Files(request)
    asked = {one.path: one for one in _read_asked(paths, files, faults)}
    where = Whereabouts(request.site)
    apart = {path for path, one in asked.items() if where.leave_out(Path(one.file))}
    snapshots = []
    main = [one for path, one in asked.items() if path not in apart]
    if main or not apart:
        taken = _with_inclusions(main, _read_others(main, where, files, asked), files)
        # An excluded page that another page includes is checked with the pages of the site.
        apart -= {one.path for one in taken if one.asked}
        snapshots.append(_snapshot(taken, where, files, needs))
    if apart:
        pages = [asked[path] for path in asked if path in apart]
        others = _read_others(pages, where, files, asked, all_pages=True)
        snapshots.append(_snapshot(_with_inclusions(pages, others, files), where, files, needs))
    seen: dict[Path, None] = {}
    for snapshot in snapshots:
        for one in snapshot.pages:
            seen[one.path] = None
            seen |= dict.fromkeys(one.inclusions.missing if one.inclusions else ())
        seen |= dict.fromkeys([*snapshot.shared.files, *snapshot.drawings])
        seen |= dict.fromkeys(one.path for one in snapshot.versions.values() if one.path)
    return ReadSnapshots(snapshots, faults, list(seen))


def snapshot_of(
    texts: Mapping[str, str], needs: Needs = "rows", pipelines: Path | None = None, server: str = ""
) -> Snapshot:
    """Return a snapshot of in-memory pages. ``texts`` maps the names that findings use to page texts.

    ``pipelines`` is the folder of shared pipelines, ``server`` the version of MongoDB that pipelines are for.
    """
    pages = tuple(PageText(file, text, Path(file)) for file, text in texts.items())
    return Snapshot(pages, SharedPipelines(pipelines or Path("no folder")), today(), needs, server)


def _snapshot(pages: Sequence[PageText], where: Whereabouts, files: _Files, needs: Needs) -> Snapshot:
    request = files.request
    asked = [one for one in pages if one.asked and may_have_comment(one.text)]
    in_place = frozenset(one.file for one in asked if where.is_read_as_it_is(one.file))
    drawings: dict[Path, WrittenFile] = {}
    for one in asked:
        if one.file in in_place or "mongo-tables: begin" in one.text:
            from mongo_tables.site.in_place import read_drawings

            drawings |= read_drawings(one.path)
    return Snapshot(
        tuple(pages),
        files.shared,
        today(),
        needs,
        request.server,
        request.limits.files,
        request.results,
        in_place,
        drawings,
        request.site.address_of,
        tuple(_find_dropped_plugin(asked, request.site)),
        versions=_read_versions(pages),
    )


def _read_versions(pages: Sequence[PageText]) -> Versions:
    """Return the versions of the project that comments of pages ask for."""
    if not any("measured_of" in one.text for one in pages):
        return {}
    from mongo_tables.site.versions import read_versions  # few pages ask for one

    return read_versions(pages)


def _texts_below(request: Request) -> dict[str, str]:
    """Return the unsaved texts of shared pipelines, by the names that findings use."""
    folder = Path(request.pipelines)
    return {
        (folder / Path(file).name).as_posix(): text
        for file, text in request.texts.items()
        if Path(file).parent == folder.absolute() and file.endswith(".json")
    }


def _find_dropped_plugin(asked: Sequence[PageText], site: SiteConfig) -> Sequence[Finding]:
    """Return the fault of a file that only Zensical reads and that lists the plugin but not the extension."""
    file = site.file
    if file.suffix != ".toml" or file.name == OWN_FILE or not asked or not file.is_file():
        return ()
    settings = read_settings(file)
    if not _is_listed(settings, "plugins") or _is_listed(settings, "markdown_extensions"):
        return ()
    message = f"Zensical silently ignores the plugin `{NAME}`: pages would have no figures"
    hint = f"list the Markdown extension instead: [project.markdown_extensions.{NAME}], with the same options"
    return [finding("MT172", from_here(file), (0, 0), message, hint)]


def _is_listed(settings: Mapping[str, Any], key: str) -> bool:
    options = options_among(settings.get(key), NAME)
    return options is not None and options.get("enabled") is not False


def _read_asked(paths: Iterable[str], files: _Files, faults: list[str]) -> Iterator[PageText]:
    seen: set[Path] = set()
    for name in dict.fromkeys(paths):
        is_open = os.path.abspath(name) in files.request.texts  # noqa: PTH100 - it need not be on disk
        for file in [Path(name)] if is_open else list_pages(name, faults):
            path = _real(file)
            if path in seen:
                continue
            seen.add(path)
            try:
                yield _page(file.as_posix(), files.read(file, path), path)
            except OSError as error:
                faults.append(_describe_error(error, name))


def _real(file: Path | str) -> Path:
    return Path(os.path.realpath(file))


class _Files:
    """The files of snapshots, each read once."""

    def __init__(self, request: Request) -> None:
        self.request = request
        folder = Path(request.pipelines)
        texts = _texts_below(request) if request.texts else {}
        self.shared = SharedPipelines(folder, texts, values_of(request.site))
        self.contents: dict[Path, bytes] = {}

    def read(self, file: Path, path: Path) -> bytes:
        """Return the bytes of a file that ``path`` leads to. Raises ``OSError``."""
        if path not in self.contents:
            text = self.request.texts.get(os.path.abspath(file)) if self.request.texts else None  # noqa: PTH100
            self.contents[path] = file.read_bytes() if text is None else text.encode("utf-8", "surrogatepass")
        return self.contents[path]

    def read_included(self, file: Path) -> str:
        """Return the text of an included file, or "" if it cannot be read."""
        try:
            return self.read(file, _real(file)).decode("utf-8-sig") if may_be_file(file) else ""
        except (OSError, ValueError):
            return ""


def _page(name: str, content: bytes, path: Path) -> PageText:
    try:
        return PageText(name, content.decode(), path)
    except UnicodeDecodeError:
        return PageText(name, content.decode(errors="replace"), path, bad=bad_byte(content))


def _read_others(
    pages: Sequence[PageText],
    where: Whereabouts,
    files: _Files,
    known: Mapping[Path, PageText],
    *,
    all_pages: bool = False,
) -> list[PageText]:
    """Return the other pages of the builds of ``pages``.

    With ``all_pages`` no page is excluded, because a preview may show them all. Pages without comments do not
    depend on other pages, so the list is empty if no page has one.
    """
    if not any(may_have_comment(one.text) for one in pages):
        return []
    own, others = {one.path for one in pages}, list[PageText]()
    sites = {id(site): site for one in pages if (site := where.of(one.file))}
    folders = {from_here(folder) for site in sites.values() for folder in site.folders}
    for file in chain.from_iterable(map(pages_under, map(Path, sorted(folders)))):
        path = _real(file) if file.is_symlink() else plain_path(file)
        if path in own or not (all_pages or (path not in known and not where.leave_out(file))):
            continue
        with suppress(OSError):  # The build of the site reports it.
            text = files.read(file, path).decode("utf-8-sig", "replace")
            others.append(PageText(file.as_posix(), text, path, asked=False))
    return others


def _with_inclusions(pages: Sequence[PageText], others: Sequence[PageText], files: _Files) -> list[PageText]:
    """Return the pages in the order of their names, followed by the files that they include."""
    folders = cache(find_folders)
    listed = sorted([*pages, *others], key=lambda one: Path(one.file))
    found = {one.path: _look_for_inclusions(one, folders, files) for one in listed}
    for asked in (True, False):
        named = [one.inclusions for one in found.values() if one.asked is asked and one.inclusions]
        for file in dict.fromkeys(file for each in named for file in each.files):
            path = _real(file)
            before = found.get(path)
            if before is None:
                found[path] = PageText(
                    from_here(file), files.read_included(file), path, asked=asked, included=True
                )
            elif asked and not before.asked:
                found[path] = replace(before, asked=True)
    for path, one in found.items():
        if one.inclusions is not None:  # Real paths match the other pages of the snapshot.
            files_of_page = tuple(map(_real, one.inclusions.files))
            found[path] = replace(one, inclusions=one.inclusions._replace(files=files_of_page))
    return list(found.values())


def _look_for_inclusions(
    one: PageText, folders: Callable[[Path], tuple[Path, ...]], files: _Files
) -> PageText:
    if not may_include(one.text):
        return one
    page = Path(one.file)
    places = [*folders(page.absolute().parent), Path.cwd()]
    found = inclusions(page, without_code(one.text), places, files.read_included)
    return replace(one, inclusions=found)


def find_folders(start: Path) -> tuple[Path, ...]:
    """Return the folders in which plugins look for files of a site, besides the folder of the page."""
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
    """Return a snapshot of the pages below ``root``, for a host that hands over pages one by one.

    ``left_out`` returns whether the host excludes a page. If ``pages`` is None, the snapshot has no pages.
    """
    found = []
    for file in pages_under(root / pages) if pages is not None else ():
        if left_out is None or not left_out(file):
            with suppress(OSError):
                text = file.read_bytes().decode("utf-8-sig", "replace")
                found.append(PageText(file.relative_to(root).as_posix(), text, _real(file)))
    shared = SharedPipelines(pipelines, values=values)
    versions = _read_versions(found)
    return Snapshot(
        tuple(found),
        shared,
        today(),
        "figures",
        server,
        limits,
        results,
        versions=versions,
    )


def list_pages(written: str, faults: list[str]) -> list[Path]:
    """Return the pages that a path names. Report paths without pages and unreadable folders in ``faults``."""
    path = Path(written)
    try:
        if not written:
            faults.append("an empty path names no page")
        elif path.is_dir():
            return pages_under(path, lambda error: faults.append(_describe_error(error, written)))
        elif not path.exists():
            faults.append(f"{path}: no such file or folder")
        elif path.is_file() and path.suffix.lower() not in PAGE_SUFFIXES:
            faults.append(f"{path}: not a page: its name must end in {' or '.join(PAGE_SUFFIXES)}")
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
        files = (Path(place, name) for name in names if name.endswith(PAGE_SUFFIXES))
        found += filter(may_be_file, files)
    return sorted(found)


def require_pages(read: ReadSnapshots) -> ReadSnapshots:
    """Return ``read``. Raises CommandError with all paths that name no page, if there are any."""
    if read.faults:
        raise CommandError("; ".join(read.faults))
    return read


def read_text(file: Path) -> str:
    """Return the text of a file with its line ends as on disk. Raises CommandError if it is not UTF-8."""
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(f"{file}: not UTF-8 (byte {error.start})", "save the page as UTF-8") from None


# -- the pages of a site --


def page_folders(site: SiteConfig) -> list[str]:
    """Return the folders of all pages of a site, as paths from the working folder."""
    return list(map(from_here, site.folders))


class Whereabouts:
    """Finds the site of a page's build: the one that is asked about, else the nearest above the page."""

    def __init__(self, asked: SiteConfig) -> None:
        self._asked = asked if asked.file.is_file() else None
        self._nearest: dict[Path, SiteConfig | None] = {}

    def of(self, file: str) -> SiteConfig | None:
        """Return the site of a page, or None if no site is built from it."""
        page = plain_path(Path(file))
        nearest = self._find_around(page)
        return nearest if nearest and nearest.has(page) else None

    def is_read_as_it_is(self, file: str) -> bool:
        """Return whether code hosts show a page as it is: ``mongo-tables.toml`` lists it, without a site.

        Without such a list, this is the README that hosts show for a repository. Pages in a listed folder do
        not count, because other pages may be rendered from them, nor does reStructuredText, whose figures only
        Sphinx shows.
        """
        page = plain_path(Path(file))
        if page.suffix == RST:
            return False
        nearest = self._find_around(page)
        if nearest is None:
            return _is_shown_first(page)
        if nearest.file.name != OWN_FILE:
            return False
        return page in nearest.folders if nearest.pages else _is_shown_first(page)

    def _find_around(self, page: Path) -> SiteConfig | None:
        """Return the site that is asked about if it contains the page, else the nearest site above it."""
        if self._asked and self._asked.has(page):
            return self._asked
        if page.parent not in self._nearest:
            self._nearest[page.parent] = self._find_nearest(page.parent)
        return self._nearest[page.parent]

    def _find_nearest(self, folder: Path) -> SiteConfig | None:
        if self._asked and self._asked.file in find_files(folder):
            return self._asked  # Reading a configuration file takes as long as checking a page.
        return find_site(folder)

    def leave_out(self, page: Path) -> bool:
        """Return whether the build of a page's site excludes it."""
        built = self.of(str(page))
        return built is not None and built.leaves_out(plain_path(page))


def _is_shown_first(page: Path) -> bool:
    """Return whether a page is the README of its repository, or of its folder if there is no repository.

    https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-readmes
    """
    root = next((folder for folder in page.parents if (folder / ".git").exists()), page.parent)
    return page.stem.lower() == "readme" and page.parent in (root, root / ".github")
