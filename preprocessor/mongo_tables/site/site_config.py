"""The configuration file of a site: the places of its pages and results, and the options of this package.

Commands and hooks take their defaults from it, so that they check what the site publishes. The program that builds the
site reads the same file, and passes its options.

A repository without a site has ``mongo-tables.toml``, whose other keys are the options of the plugin:

    results = "bench.json"
    pages = ["README.md"]
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
from urllib.parse import quote

from mongo_tables.directives.addresses import safe_address
from mongo_tables.files.folders import plain_path
from mongo_tables.files.process import RESULTS_VARIABLE, read_variable
from mongo_tables.findings.finding import Severity, did_you_mean
from mongo_tables.findings.reporters import SEVERITIES
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.guards import OPTIONS, limits_of, parse_limits
from mongo_tables.results.opening import is_uri, move_source

if TYPE_CHECKING:
    from pathspec.gitignore import GitIgnoreSpec


_VALUE_NAME: Final = r"[a-z][a-z0-9_-]*"
OWN_FILE: Final = "mongo-tables.toml"
"""The configuration file of a repository without a site."""

_NUMBERS: Final = "numbers"
"""The key for exceptions of `check --numbers`. A file with only this key describes no site."""
_SHARED: Final = ("results", "pipelines", "values", "server", "fail_on", *OPTIONS)
_KEYS: Final = (*_SHARED, "pages", "drawings", _NUMBERS)
PLUGIN_KEYS: Final = (*_SHARED, "documents", "machine_readable", "workers", "enabled", "file")
"""The options of the plugin, and of the Markdown extension."""

FILES: Final = ("mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "properdocs.yaml", "zensical.toml", OWN_FILE)
"""The names of configuration files, in the order of the search."""

NAME: Final = "mongo-tables"
"""The name of the plugin and of the Markdown extension in the file of a site."""
_SNIPPETS: Final = "pymdownx.snippets"
_WORDS: Final = ("docs_dir", "exclude_docs", "draft_docs", "!include ", "*include ", NAME, _SNIPPETS)
"""A file with none of these words has no relevant settings."""


_ALWAYS: Final = (".*", "/templates/")
"""Patterns that MkDocs excludes from every site, unless another pattern includes them again."""


class ExclusionPatterns(NamedTuple):
    """The patterns of excluded pages and of drafts of a site, one a line, in the syntax of ``.gitignore``."""

    exclude: str = ""
    drafts: str = ""

    def has(self, page: Path, folder: Path) -> bool:
        """Return whether a build excludes a page below ``folder``.

        Raises:
            ValueError: If a pattern is invalid.
        """
        if self._is_excluded(page, folder):
            return True
        if page.stem != "README":
            return False
        # MkDocs builds the same file from README and index:
        # https://www.mkdocs.org/user-guide/writing-your-docs/#index-pages
        indexes = (page.with_name(f"index{end}") for end in (".md", page.suffix))
        return any(index.is_file() and not self._is_excluded(index, folder) for index in indexes)

    def _is_excluded(self, page: Path, folder: Path) -> bool:
        name = os.path.relpath(page, folder).replace(os.sep, "/")
        # Most sites only have ``_ALWAYS``, which this matches without importing pathspec.
        if not any(self):
            return "/." in f"/{name}" or name.startswith("templates/")
        drafts = self.drafts.strip() and _patterns(tuple(self.drafts.splitlines())).match_file(name)
        return bool(drafts) or _patterns((*_ALWAYS, *self.exclude.splitlines())).match_file(name)


@cache
def _patterns(lines: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec.gitignore import GitIgnoreSpec  # the parser that MkDocs uses

    return GitIgnoreSpec.from_lines(lines)


class SiteConfig(NamedTuple):
    """A site, as its file describes it. ``docs`` and ``pipelines`` are absolute paths without ``..``.

    Attributes:
        results: A URI, or names of files relative to the folder of ``file``.
        options: The options of the plugin, or else those of the Markdown extension.
        snippets: The folders from which ``pymdownx.snippets`` includes files.
        left_out: The patterns of pages that a build excludes.
        included: The folders of pages that mkdocs-monorepo-plugin adds.
        pages: For a repository without a site, the pages and folders of pages, in place of ``docs``.
        names_us: Whether the file lists the plugin or the extension, or is ``mongo-tables.toml``.
        drawings: The address of the folder of ``file`` on a host that shows its files, or "" for relative addresses.
            Pages on package registries need an address, because registries show only the page, not its folder.
    """

    file: Path
    docs: Path
    pipelines: Path
    results: str
    options: Mapping[str, Any] = {}
    snippets: tuple[Path, ...] = ()
    left_out: ExclusionPatterns = ExclusionPatterns()
    included: tuple[Path, ...] = ()
    pages: tuple[Path, ...] = ()
    names_us: bool = False
    drawings: str = ""

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return the folders of pages, and single pages."""
        return self.pages or (self.docs, *self.included)

    def has(self, page: Path) -> bool:
        """Return whether a page is in one of the folders."""
        return any(map(page.is_relative_to, self.folders))

    def leaves_out(self, page: Path) -> bool:
        """Return whether the build excludes a page of the site.

        Raises CommandError for an invalid pattern.
        """
        try:
            for folder in self.folders:
                if page.is_relative_to(folder) and (page == folder or not self.left_out.has(page, folder)):
                    return False
            return True
        except ValueError as error:
            raise CommandError(
                f"{self.file.name}: `exclude_docs` or `draft_docs`: {error}",
                "write patterns in the syntax of .gitignore, one in each line",
            ) from None

    def address_of(self, path: Path) -> str:
        """Return the address of a drawing in a page. It begins with ``drawings`` if that is set."""
        if not self.drawings or not path.is_relative_to(self.file.parent):
            return quote(path.name)
        return self.drawings + quote(path.relative_to(self.file.parent).as_posix())


def has_site_file(folder: Path) -> bool:
    """Return whether a folder has a file that describes a site."""
    return any((folder / name).is_file() for name in FILES)


def find_site(start: Path) -> SiteConfig | None:
    """Return the site of the nearest folder above ``start`` that has a configuration file, or None.

    The search begins in ``start`` and ends at the root of a repository.

    Raises:
        CommandError: If a file cannot be read, or if two files in one folder disagree.
    """
    sites: list[SiteConfig] = []
    for place in list_places(start):
        if place.is_file():
            sites.append(read_site(place))
    if len(sites) > 1:
        sites = [one for one in sites if set(one.options) != {_NUMBERS}] or sites
        first = sites[0]
        for other in sites[1:]:
            if _places(other) != _places(first):
                raise CommandError(
                    f"{first.file.name} and {other.file.name} name different pages or results",
                    f"choose one with --config-file {first.file.name} or --config-file {other.file.name}",
                )
    return sites[0] if sites else None


def find_files(start: Path) -> list[Path]:
    """Return the configuration files in the nearest folder that has any."""
    return list(filter(Path.is_file, list_places(start)))


def list_places(start: Path) -> Iterator[Path]:
    """Yield the paths at which ``find_files`` looks for a file."""
    start = start.absolute()
    for folder in (start, *start.parents):
        is_last = (folder / ".git").exists()
        for name in FILES:
            yield (place := folder / name)
            is_last = is_last or place.is_file()
        if is_last:
            return


def _places(site: SiteConfig) -> tuple[object, ...]:
    return site.docs, site.pages, site.pipelines, site.results


def read_site(file: Path) -> SiteConfig:
    """Return the site that a file describes.

    Raises CommandError with the place of a syntax error.
    """
    file = file.absolute()
    is_own = file.name == OWN_FILE
    settings = read_settings(file, _WORDS)
    docs = plain_path(file.parent / _text(file, settings, "docs_dir", "docs"))
    named: Mapping[str, Any] | None = settings if is_own else None
    if not is_own:
        # Only Zensical reads TOML, and it runs no plugins. So the extension comes first.
        keys = ("plugins", "markdown_extensions")
        for key in keys[::-1] if file.suffix == ".toml" else keys:
            if (named := options_among(settings.get(key), NAME)) is not None:
                require_known_keys(named, PLUGIN_KEYS, f"{file.name}: unknown option of {NAME}")
                break
    options = named or {}
    pipelines = _text(file, options, "pipelines", "")
    return SiteConfig(
        file=file,
        docs=docs,
        pipelines=file.parent / pipelines if pipelines else docs / "pipelines",
        results=_text(file, options, "results", "fixtures"),
        options=options,
        snippets=_snippet_folders(file, settings) if "markdown_extensions" in settings else (),
        left_out=ExclusionPatterns(
            _text(file, settings, "exclude_docs", ""), _text(file, settings, "draft_docs", "")
        ),
        included=_included_folders(file, settings) if "nav" in settings else (),
        pages=own_pages(settings, file.parent) if is_own else (),
        names_us=named is not None and set(named) != {_NUMBERS},
        drawings=_address_of_drawings(file, settings) if is_own else "",
    )


def read_settings(file: Path, words: Sequence[str] = ("",)) -> Mapping[str, Any]:
    """Return the settings of a site's file. A YAML file without any of ``words`` has none.

    Raises:
        CommandError: With the place of a syntax error.
    """
    from mongo_tables.site.settings_files import toml_settings, yaml_settings  # many pages belong to no site

    if file.suffix != ".toml":
        return yaml_settings(file, words)
    settings = toml_settings(file)
    if file.name == OWN_FILE:
        require_known_keys(settings)
        return settings
    project = settings.get("project", settings)  # Zensical also accepts a file without this table.
    return project if isinstance(project, dict) else {}


def require_known_keys(
    settings: Mapping[str, Any], known: Sequence[str] = _KEYS, told: str = f"{OWN_FILE}: unknown key"
) -> None:
    """Raise CommandError for an unknown key, which would have no effect."""
    for key in settings:
        if key not in known:
            hint = did_you_mean(str(key), known) or f"the known keys are {', '.join(known)}"
            raise CommandError(f"{told} `{key}`", hint)


def own_pages(settings: Mapping[str, Any], folder: Path) -> tuple[Path, ...]:
    """Return the pages and folders that a file in ``folder`` names, or nothing.

    Raises:
        CommandError: If the value is not a list of names.
    """
    named = settings.get("pages", [])
    if not isinstance(named, list) or not all(isinstance(each, str) and each for each in named):
        raise CommandError(
            f"{OWN_FILE}: `pages` is not a list of names", 'write pages = ["README.md"], for example'
        )
    return tuple(plain_path(folder / each) for each in named)


def _included_folders(file: Path, settings: Mapping[str, Any]) -> tuple[Path, ...]:
    """Return the folders of pages of the sites that ``nav`` includes.

    https://github.com/backstage/mkdocs-monorepo-plugin
    """
    plugins = settings.get("plugins")
    if options_among(plugins, "monorepo") is options_among(plugins, "techdocs-core") is None:
        return ()
    files: list[Path] = []
    for name in re.findall(r"""["'][!*]include ([^"']+)["']""", repr(settings.get("nav"))):
        with suppress(ValueError, NotImplementedError):  # The plugin reports such a name.
            files += sorted(file.parent.glob(name))
    return tuple(plain_path(one.parent / _text(one, read_settings(one), "docs_dir", "docs")) for one in files)


def _snippet_folders(file: Path, settings: Mapping[str, Any]) -> tuple[Path, ...]:
    """Return the folders that the option ``base_path`` of snippets names.

    https://facelessuser.github.io/pymdown-extensions/extensions/snippets/#options
    """
    options = options_among(settings.get("markdown_extensions"), _SNIPPETS) or {}
    named = options.get("base_path")
    listed = named if isinstance(named, list) else [named]
    return tuple(file.parent / each for each in listed if isinstance(each, str))


def _text(file: Path, settings: Mapping[str, Any], key: str, default: str) -> str:
    value = settings.get(key)
    if value is None or value == "":
        return default
    if not isinstance(value, str):
        raise CommandError(
            f"{file.name}: `{key}` is not a string", f"write {key}: {default or 'FOLDER'}, for example"
        )
    return value


def _address_of_drawings(file: Path, settings: Mapping[str, Any]) -> str:
    address = _text(file, settings, "drawings", "")
    if address and not (address.startswith(("https://", "http://")) and safe_address(address)):
        raise CommandError(
            f"{file.name}: `drawings` is not an address",
            'write drawings = "https://raw.githubusercontent.com/OWNER/REPOSITORY/HEAD/", for example',
        )
    return safe_address(f"{address.rstrip('/')}/") if address else ""


def options_among(listed: object, name: str) -> Mapping[str, Any] | None:
    """Return the options of ``name``: {} if it is listed without options, None if it is not listed.

    ``listed`` is a list of names and of {name: options}, or one mapping of both. MkDocs and Zensical accept either.

    Example:
        >>> options_among(["search", {"mongo-tables": {"results": "bench.json"}}], "mongo-tables")
        {'results': 'bench.json'}
    """
    if isinstance(listed, Mapping):
        listed = [listed]
    for entry in listed if isinstance(listed, list) else ():
        if entry == name:
            return {}
        inner, rest = entry, name
        while rest and isinstance(inner, Mapping):
            if rest in inner:
                return inner[rest] if isinstance(inner[rest], Mapping) else {}
            group, _, rest = rest.partition(".")  # TOML may nest a dotted name.
            inner = inner.get(group)
    return None


def fill_in(arguments: Namespace) -> None:
    """Set missing arguments: ``site``, ``server``, ``pipelines``, ``limits``, ``fail_on`` and ``results``.

    ``--results`` names the results source or, without it, the environment or the file of the site. If it is the file,
    ``named_by`` describes the setting.

    Raises:
        CommandError: If the file of the site is invalid, or if ``--pipelines`` names no folder.
    """
    here = Path.cwd()
    if arguments.config_file:
        file = Path(arguments.config_file)
        if not file.is_file():
            example = ", ".join((*FILES[::2], OWN_FILE))
            raise CommandError(f"{file}: no such file", f"--config-file must name a file such as {example}")
        site = read_site(file)
    else:
        default = SiteConfig(here / FILES[0], here / "docs", here / "docs" / "pipelines", "fixtures")
        site = find_site(here) or default
    arguments.site = site
    given = getattr(arguments, "pipelines", None)
    if given is not None and not Path(given).is_dir():
        raise CommandError(f"{given}: no such folder", "--pipelines must name the folder of shared pipelines")
    arguments.pipelines = given or from_here(site.pipelines)
    arguments.server = server_of(site)
    try:
        arguments.limits = limits_of(site.options)
    except ValueError as error:
        raise CommandError(f"{site.file.name}: {error}") from None
    if limits := getattr(arguments, "limit", None):
        try:
            arguments.limits = limits_of(parse_limits(limits), arguments.limits)
        except ValueError as error:
            raise CommandError(f"--limit: {error}") from None
    if getattr(arguments, "fail_on", "") is None:
        arguments.fail_on = fail_on_of(site)
    if getattr(arguments, "results", "") is None:
        named = read_variable(RESULTS_VARIABLE)
        arguments.results = named or results_of(site)
        if not named and site.options.get("results"):
            arguments.named_by = f"`results` of {site.file.name}"


def values_of(site: SiteConfig) -> Mapping[str, Any]:
    """Return the named values that a site's file defines: for each name, the body of a comment.

    Raises:
        CommandError: If they are not a table of names.
    """
    written = site.options.get("values")
    return named_values(written, site.file.name)


def named_values(written: object, where: str) -> Mapping[str, Any]:
    """Return the named values of a setting in the file ``where``. Raises CommandError if it is not a table of names."""
    if not written:
        return {}
    if not isinstance(written, Mapping) or not all(re.fullmatch(_VALUE_NAME, str(name)) for name in written):
        raise CommandError(
            f"{where}: `values` is not a table of names, which consist of lower-case letters, digits, - and _",
            'write, for example, [values.saved] with collection = "bench" and field = "result.saved_pct"',
        )
    return written


def server_of(site: SiteConfig) -> str:
    """Return the version of MongoDB that a site's pipelines must run on, such as 8.0, or "".

    Raises:
        CommandError: If the value is not a version.
    """
    written = site.options.get("server") or ""
    if written and not is_version(written):
        raise CommandError(f"{site.file.name}: {not_a_version(written)}")
    return str(written)


def fail_on_of(site: SiteConfig) -> Severity:
    """Return the lowest severity with which a check fails: ``fail_on`` of the site, or "warning"."""
    written: Severity = site.options.get("fail_on") or "warning"
    if written not in SEVERITIES:
        raise CommandError(f"{site.file.name}: fail_on must be one of {', '.join(SEVERITIES)}, not {written}")
    return written


def results_of(site: SiteConfig) -> str:
    """Return the results source of a site: a URI, or paths relative to the working folder."""
    return move_source(site.results.strip(), site.file.parent, from_here)


def from_here(path: Path) -> str:
    """Return a path relative to the working folder, or the absolute path if that is shorter."""
    return min(os.path.relpath(path), str(path), key=len)


def is_version(written: object) -> bool:
    """Return whether an option is a version of MongoDB, such as 8.0 or 8.0.4."""
    return isinstance(written, str) and re.fullmatch(r"\d+\.\d+(\.\d+)?", written) is not None


def not_a_version(written: object) -> str:
    """Return the message about an invalid version. A version must be a string: the number 8.10 would be 8.1."""
    return f'`server` must be a version of MongoDB in quotes, such as "8.0", not {written}'


def results_source(option: str, folder: Path) -> str:
    """Return the results source from the environment, or else from the option.

    So an author can use files and a build can read a database, with the same configuration. Paths are relative to
    ``folder``, which has the configuration file.
    """
    return move_source(read_variable(RESULTS_VARIABLE) or option.strip(), folder, str)


def find_watched_path(where: str) -> str | None:
    """Return the file or folder to watch for changes, or None for a database or a missing path."""
    return where if not is_uri(where) and Path(where).exists() else None
