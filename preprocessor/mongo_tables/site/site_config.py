"""Reads a site's configuration file: where its pages and results are, and the options of this package.

Commands and hooks take their defaults from it, so that what they check is what the site publishes. Programs that build
a site read the same file by their own means, and hand over their options themselves.

A repository from which no site is built has ``mongo-tables.toml``, whose other keys are the options of the plugin:

```toml
results = "bench.json"
pages = ["README.md"]
```
"""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.files.environment import results_named
from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.findings.reporters import SEVERITIES
from mongo_tables.findings.usage import UsageError
from mongo_tables.results.limits import OPTIONS, Limits, limits_of, parse_limits
from mongo_tables.results.opening import is_uri, move_source

if TYPE_CHECKING:
    from pathspec.gitignore import GitIgnoreSpec


OWN_FILE: Final = "mongo-tables.toml"
"""The name of the file."""

_KEYS: Final = ("results", "pages", "pipelines", "server", "fail_on", *OPTIONS)

FILES: Final = ("mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "properdocs.yaml", "zensical.toml", OWN_FILE)
"""The names of such files, in the order in which they are looked for."""

NAME: Final = "mongo-tables"
"""What a site's file calls the plugin and the extension."""
_SNIPPETS: Final = "pymdownx.snippets"
_WORDS: Final = ("docs_dir", "exclude_docs", "draft_docs", "!include ", "*include ", NAME, _SNIPPETS)
"""A file with none of these says nothing that is asked for."""


_ALWAYS: Final = (".*", "/templates/")
"""What MkDocs leaves out of every site, unless a pattern takes it back."""
_PLAIN: Final = re.compile(r"[\w./-]+")
"""A pattern without any sign of the pattern language."""


class LeftOut(NamedTuple):
    """The patterns of one site, a line each, as ``.gitignore`` has them."""

    exclude: str = ""
    drafts: str = ""

    def has(self, page: Path, folder: Path, within: str = "") -> bool:
        """Whether a build leaves out a page below ``folder``, which the build has under the name ``within``.

        Raises ValueError for an invalid pattern.
        """
        if self._is_excluded(page, folder, within):
            return True
        if page.stem != "README":
            return False
        # MkDocs makes one file of the two: https://www.mkdocs.org/user-guide/writing-your-docs/#index-pages
        indexes = (page.with_name(f"index{end}") for end in (".md", page.suffix))
        return any(index.is_file() and not self._is_excluded(index, folder, within) for index in indexes)

    def _is_excluded(self, page: Path, folder: Path, within: str) -> bool:
        name = os.path.join(within, os.path.relpath(page, folder)).replace(os.sep, "/")  # noqa: PTH118
        parts = name.split("/")
        if not any(_may_name(line, parts) for text in self for line in text.splitlines()):
            return _always(parts)
        drafts = self.drafts.strip() and _patterns(tuple(self.drafts.splitlines())).match_file(name)
        return bool(drafts) or _patterns((*_ALWAYS, *self.exclude.splitlines())).match_file(name)


def _may_name(line: str, parts: Sequence[str]) -> bool:
    """Whether a line of patterns may name a page: a plain one names none whose path does not have its last part.

    Most sites have plain patterns or none, and to import the reader of patterns takes as long as to read a page.
    """
    if not line.strip() or line.startswith("#"):
        return False
    return not _PLAIN.fullmatch(line) or line.rstrip("/").rpartition("/")[2] in parts


def _always(parts: Sequence[str]) -> bool:
    """Whether ``_ALWAYS`` names a page."""
    return any(part.startswith(".") for part in parts) or (len(parts) > 1 and parts[0] == "templates")


@cache
def _patterns(lines: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec.gitignore import GitIgnoreSpec  # As MkDocs reads them.

    return GitIgnoreSpec.from_lines(lines)


class Site(NamedTuple):
    """One site as its file describes it; ``docs`` and ``pipelines`` are absolute.

    ``results`` is a URI, or names files relative to the folder of ``file``. ``options`` are those of the plugin, else
    those of the Markdown extension, as they stand in the file. ``snippets`` are the folders from which
    ``pymdownx.snippets`` takes files into pages. ``left_out`` says which pages a build leaves out, and ``includes`` are
    the files of the sites that its ``nav`` includes. ``pages`` are those, and folders of them, that there are in the
    place of ``docs``; a file of a repository that is no site names them. ``names_us``: the file lists the plugin or the
    extension, or is our own.
    """

    file: Path
    docs: Path
    pipelines: Path
    results: str
    options: Mapping[str, Any] = {}
    snippets: tuple[Path, ...] = ()
    left_out: LeftOut = LeftOut()
    includes: tuple[Path, ...] = ()
    pages: tuple[Path, ...] = ()
    names_us: bool = False


def has_site_file(folder: Path) -> bool:
    """Whether a folder has a file that describes a site."""
    return any((folder / name).is_file() for name in FILES)


def find_site(start: Path) -> Site | None:
    """The site that ``start``, or the nearest folder above it, describes; None where none does.

    Folders above the one of a repository are not looked into. Raises UsageError for a file that cannot be read, and for
    two files in one folder that do not agree.
    """
    files = find_files(start)
    return _require_agreement([read_site(file) for file in files]) if files else None


def find_files(start: Path) -> list[Path]:
    """The files that describe the site of ``start``, or of the nearest folder above it: none, one, or several."""
    return [place for place in list_places(start) if place.is_file()]


def list_places(start: Path) -> Iterator[Path]:
    """Where ``find_files`` looks, whether there is a file or not."""
    for folder in _upward(start.absolute()):
        yield from (folder / name for name in FILES)
        if has_site_file(folder):
            return


def _upward(start: Path) -> Iterator[Path]:
    for folder in (start, *start.parents):
        yield folder
        if (folder / ".git").exists():
            return


def _require_agreement(sites: list[Site]) -> Site:
    first = sites[0]
    for other in sites[1:]:
        if _places(other) != _places(first):
            raise UsageError(
                f"{first.file.name} and {other.file.name} name different pages or results",
                f"say which one is meant with --config-file {first.file.name} or --config-file {other.file.name}",
            )
    return first


def _places(site: Site) -> tuple[object, ...]:
    return site.docs, site.pages, site.pipelines, site.results


def read_site(file: Path) -> Site:
    """The site that a file describes. Raises UsageError with the place of what is not YAML or TOML in it."""
    file = file.absolute()
    is_own = file.name == OWN_FILE
    settings = read_settings(file, _WORDS)
    docs = file.parent / _text(file, settings, "docs_dir", "docs")
    named = settings if is_own else _own_options(file, settings)
    options = named or {}
    pipelines = _text(file, options, "pipelines", "")
    return Site(
        file=file,
        docs=docs,
        pipelines=file.parent / pipelines if pipelines else docs / "pipelines",
        results=_text(file, options, "results", "fixtures"),
        options=options,
        snippets=_snippet_folders(file, settings),
        left_out=LeftOut(_text(file, settings, "exclude_docs", ""), _text(file, settings, "draft_docs", "")),
        includes=_find_included_sites(file, settings),
        pages=own_pages(settings, file.parent) if is_own else (),
        names_us=named is not None,
    )


def read_settings(file: Path, words: Sequence[str] = ("",)) -> Mapping[str, Any]:
    """The settings of a site in its file; none where a YAML file has none of ``words``.

    Raises UsageError with the place of what is not YAML or TOML in it.
    """
    from mongo_tables.site.settings_files import toml_settings, yaml_settings  # many pages are of no site

    if file.suffix != ".toml":
        return yaml_settings(file, words)
    settings = toml_settings(file)
    if file.name == OWN_FILE:
        require_known_keys(settings)
        return settings
    project = settings.get("project", settings)  # Zensical takes a file without that table as a whole.
    return project if isinstance(project, dict) else {}


def require_known_keys(settings: Mapping[str, Any]) -> None:
    """Raise UsageError for a key that means nothing in the file: what it should say would not be done."""
    for key in settings:
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS) or f"it may have {', '.join(_KEYS)}"
            raise UsageError(f"{OWN_FILE}: there is no key `{key}`", hint)


def own_pages(settings: Mapping[str, Any], folder: Path) -> tuple[Path, ...]:
    """The pages, and the folders of pages, that the file in ``folder`` names; none where it names none.

    Raises UsageError for what is no list of names.
    """
    named = settings.get("pages", [])
    if not isinstance(named, list) or not all(isinstance(each, str) and each for each in named):
        raise UsageError(
            f"{OWN_FILE}: `pages` is not a list of names", 'write pages = ["README.md"], for example'
        )
    return tuple(folder / each for each in named)


def list_site_files(site: Site) -> list[Path]:
    """The files that say what a site is: its own, those of the sites that it includes, and all that these inherit."""
    from mongo_tables.site.settings_files import list_inherited  # a check has read them already

    named = [site.file, *site.includes]
    return [*named, *(file for each in named if each.suffix != ".toml" for file in list_inherited(each))]


def _find_included_sites(file: Path, settings: Mapping[str, Any]) -> tuple[Path, ...]:
    if all(options_among(settings.get("plugins"), name) is None for name in PLUGINS):
        return ()
    return tuple(find_included_sites(settings.get("nav"), file.parent))


def _snippet_folders(file: Path, settings: Mapping[str, Any]) -> tuple[Path, ...]:
    """https://facelessuser.github.io/pymdown-extensions/extensions/snippets/#options"""
    options = options_among(settings.get("markdown_extensions"), _SNIPPETS) or {}
    named = options.get("base_path")
    listed = named if isinstance(named, list) else [named]
    return tuple(file.parent / each for each in listed if isinstance(each, str))


def _text(file: Path, settings: Mapping[str, Any], key: str, default: str) -> str:
    value = settings.get(key)
    if value is None or value == "":
        return default
    if not isinstance(value, str):
        raise UsageError(
            f"{file.name}: `{key}` is not a text", f"write {key}: {default or 'FOLDER'}, for example"
        )
    return value


def _own_options(file: Path, settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The options of the plugin; where the site has none, those of the extension; None where it lists neither.

    In a file that Zensical alone reads, which runs no plugins, those of the extension come first.
    """
    keys = ("plugins", "markdown_extensions")
    for key in keys[::-1] if file.suffix == ".toml" else keys:
        options = options_among(settings.get(key), NAME)
        if options is not None:
            return options
    return None


def options_among(listed: object, name: str) -> Mapping[str, Any] | None:
    """The options of ``name``; {} when it has none, None when it is not listed.

    ``listed`` is a list of names and of {name: options}, or one mapping of both: MkDocs and Zensical take either.
    """
    if isinstance(listed, Mapping):
        listed = [listed]
    for entry in listed if isinstance(listed, list) else ():
        if entry == name:
            return {}
        if isinstance(entry, Mapping) and (found := _find_options(entry, name)) is not None:
            return found if isinstance(found, Mapping) else {}
    return None


def _find_options(entry: Mapping[str, Any], name: str) -> object:
    """The options of ``name``: {} when it has none, None when it is not listed. TOML may write a dot as a table."""
    if name in entry:
        return entry[name] or {}
    group, _, rest = name.partition(".")
    inner = entry.get(group)
    return _find_options(inner, rest) if rest and isinstance(inner, Mapping) else None


def fill_in(arguments: Namespace) -> None:
    """Set what the command line leaves open: ``site``, ``server``, ``pipelines``, ``limits``, ``fail_on``, ``results``.

    The results source is that of ``--results``, else of the environment, else of the site. The site is the one around
    the page on standard input, where that has a name. Raises UsageError for a file that says none of it, and for
    ``--pipelines`` that is no folder.
    """
    named = arguments.config_file
    site = arguments.site = _read_existing_site(Path(named)) if named else _find_nearest(arguments)
    given = getattr(arguments, "pipelines", None)
    if given is not None and not Path(given).is_dir():
        raise UsageError(f"{given}: no such folder", "--pipelines names the folder of shared pipelines")
    arguments.pipelines = given or from_here(site.pipelines)
    arguments.server = server_of(site)
    arguments.limits = _limits(site, getattr(arguments, "limit", None) or [])
    if getattr(arguments, "fail_on", "") is None:
        arguments.fail_on = _fail_on(site)
    if getattr(arguments, "results", "") is None:
        arguments.results = results_named() or results_of(site)


def server_of(site: Site) -> str:
    """The version of MongoDB that a site's pipelines are for, such as 8.0; "" where it names none.

    Raises UsageError for what is no version.
    """
    written = site.options.get("server") or ""
    if written and not is_version(written):
        raise UsageError(f"{site.file.name}: {not_a_version(written)}")
    return str(written)


def _find_nearest(arguments: Namespace) -> Site:
    """The site of the page on standard input, else the one here, else what holds without a file."""
    page = getattr(arguments, "stdin_filename", None)
    beside = find_site(Path(page).parent) if page else None
    return beside or find_site(Path()) or _without_file()


def _fail_on(site: Site) -> str:
    """The default for ``--fail-on``: the site's own ``fail_on``, else a warning."""
    written = site.options.get("fail_on") or "warning"
    if written not in SEVERITIES:
        raise UsageError(f"{site.file.name}: fail_on is one of {', '.join(SEVERITIES)}, not {written}")
    return str(written)


def _limits(site: Site, given: Sequence[str]) -> Limits:
    """The limits of the site, and those of ``--limit``, which come before."""
    try:
        limits = limits_of(site.options)
    except ValueError as error:
        raise UsageError(f"{site.file.name}: {error}") from None
    try:
        return limits_of(parse_limits(given), limits)
    except ValueError as error:
        raise UsageError(f"--limit: {error}") from None


def results_of(site: Site) -> str:
    """The results source that a site names: a URI, or files as one would write their paths from here."""
    return move_source(site.results.strip(), site.file.parent, from_here)


def _read_existing_site(file: Path) -> Site:
    if not file.is_file():
        raise UsageError(
            f"{file}: no such file",
            f"--config-file names {', '.join((*FILES[::2], OWN_FILE))} or one like it",
        )
    return read_site(file)


def _without_file() -> Site:
    here = Path.cwd()
    return Site(here / FILES[0], here / "docs", here / "docs" / "pipelines", "fixtures")


def from_here(path: Path) -> str:
    """A path as one would write it where one is: relative as far as that is shorter than the whole."""
    return min(os.path.relpath(path), str(path), key=len)


def is_version(written: object) -> bool:
    """Whether an option is a version as MongoDB writes it: 8.0, or 8.0.4."""
    return isinstance(written, str) and re.fullmatch(r"\d+\.\d+(\.\d+)?", written) is not None


def not_a_version(written: object) -> str:
    """What to say of an option that is none. A number loses its last zero: 8.10 would be 8.1."""
    return f'`server` is a version of MongoDB in quotes, such as "8.0", not {written}'


PLUGINS: Final = ("monorepo", "techdocs-core")
"""The plugin, and one that brings it along."""

_ONE: Final = "!include "
_SEVERAL: Final = "*include "


def find_included_sites(nav: object, folder: Path) -> Iterator[Path]:
    """The files of the sites that a ``nav`` includes, in order; its paths are relative to ``folder``.

    An include has a title in front of it: the plugin passes over others without a word.
    """
    for entry in nav if isinstance(nav, list) else ():
        value = next(iter(entry.values()), None) if isinstance(entry, dict) else None
        if isinstance(value, list):
            yield from find_included_sites(value, folder)
        elif isinstance(value, str) and value.startswith(_ONE):
            yield folder / value.removeprefix(_ONE)
        elif isinstance(value, str) and value.startswith(_SEVERAL):
            with suppress(OSError, ValueError, NotImplementedError):  # The plugin ends at such a pattern.
                yield from sorted(folder.glob(value.removeprefix(_SEVERAL)))


def folder_in_site(name: str) -> str:
    """The folder in which the pages of a site with this name are among those of the whole."""
    if re.fullmatch(r"[a-zA-Z0-9_.\-/]+", name):
        return name
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def results_source(option: str, folder: Path) -> str:
    """The results source to use: what the environment says, otherwise the option.

    The environment comes first so that one configuration serves the author's laptop (fixtures) and a build
    that reads a database. Paths are relative to ``folder``, the one of the configuration file.
    """
    return move_source(results_named() or option.strip(), folder, str)


def find_watched_path(where: str) -> str | None:
    """The file or folder to watch for changes; None for a database, and for a path that does not exist."""
    return where if not is_uri(where) and Path(where).exists() else None
