"""Reads a site's configuration file: where its pages and results are, and the options of this package.

Commands and hooks take their defaults from it, so that what they check is what the site publishes. Programs that build
a site read the same file by their own means, and hand over their options themselves.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from preprocessor.files.environment import results_named
from preprocessor.findings.reporters import SEVERITIES
from preprocessor.findings.usage import UsageError
from preprocessor.pages.leftout import LeftOut
from preprocessor.pages.monorepo import PLUGINS, find_included_sites
from preprocessor.results.limitoptions import limits_of, parse_limits
from preprocessor.results.model import Limits
from preprocessor.results.opening import move_source

FILES: Final = ("mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "properdocs.yaml", "zensical.toml")
"""The names of such files, in the order in which they are looked for."""

_NAME: Final = "mongo-tables"
_SNIPPETS: Final = "pymdownx.snippets"
_WORDS: Final = (
    "docs_dir",
    "exclude_docs",
    "draft_docs",
    "INHERIT",
    "!include ",
    "*include ",
    _NAME,
    _SNIPPETS,
)
"""A file with none of these says nothing that is asked for."""

_MEND: Final = "mend it, or name another file with --config-file"


@dataclass(frozen=True, slots=True)
class Site:
    """One site as its file describes it; ``docs`` and ``pipelines`` are absolute.

    ``results`` is a URI, or names files relative to the folder of ``file``. ``options`` are those of the plugin, else
    those of the Markdown extension, as they stand in the file. ``snippets`` are the folders from which
    ``pymdownx.snippets`` takes files into pages. ``left_out`` says which pages a build leaves out, and ``includes`` are
    the files of the sites that its ``nav`` includes.
    """

    file: Path
    docs: Path
    pipelines: Path
    results: str
    options: Mapping[str, Any] = field(default_factory=dict)
    snippets: tuple[Path, ...] = ()
    left_out: LeftOut = field(default_factory=LeftOut)
    includes: tuple[Path, ...] = ()


def find_site(start: Path) -> Site | None:
    """The site that ``start``, or the nearest folder above it, describes; None where none does.

    Folders above the one of a repository are not looked into. Raises UsageError for a file that cannot be read, and for
    two files in one folder that do not agree.
    """
    files = find_files(start)
    return _require_agreement([read_site(file) for file in files]) if files else None


def find_files(start: Path) -> list[Path]:
    """The files that describe the site of ``start``, or of the nearest folder above it: none, one, or several."""
    for folder in _upward(start.absolute()):
        files = [folder / name for name in FILES if (folder / name).is_file()]
        if files:
            return files
    return []


def _upward(start: Path) -> Iterator[Path]:
    for folder in (start, *start.parents):
        yield folder
        if (folder / ".git").exists():
            return


def _require_agreement(sites: list[Site]) -> Site:
    first = sites[0]
    for other in sites[1:]:
        if (other.docs, other.pipelines, other.results) != (first.docs, first.pipelines, first.results):
            raise UsageError(
                f"{first.file.name} and {other.file.name} name different pages or results",
                f"say which one is meant with --config-file {first.file.name} or --config-file {other.file.name}",
            )
    return first


def read_site(file: Path) -> Site:
    """The site that a file describes. Raises UsageError with the place of what is not YAML or TOML in it."""
    file = file.absolute()
    settings = _toml(file) if file.suffix == ".toml" else _yaml(file)
    docs = file.parent / _text(file, settings, "docs_dir", "docs")
    options = _own_options(settings)
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
    )


def _find_included_sites(file: Path, settings: Mapping[str, Any]) -> tuple[Path, ...]:
    if all(_options_among(settings.get("plugins"), name) is None for name in PLUGINS):
        return ()
    return tuple(find_included_sites(settings.get("nav"), file.parent))


def _snippet_folders(file: Path, settings: Mapping[str, Any]) -> tuple[Path, ...]:
    """https://facelessuser.github.io/pymdown-extensions/extensions/snippets/#options"""
    options = _options_among(settings.get("markdown_extensions"), _SNIPPETS) or {}
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


def _own_options(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of the plugin; where the site has none, those of the extension."""
    for key in ("plugins", "markdown_extensions"):
        options = _options_among(settings.get(key), _NAME)
        if options is not None:
            return options
    return {}


def _options_among(listed: object, name: str) -> Mapping[str, Any] | None:
    """A list of names and of {name: options}, or one mapping of both: MkDocs and Zensical take either."""
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


def _toml(file: Path) -> Mapping[str, Any]:
    import tomllib

    try:
        settings = tomllib.loads(_read(file))
    except (
        ValueError,
        RecursionError,
    ) as error:  # Numbers of thousands of digits are a ValueError of Python's.
        raise UsageError(f"{file.name}: not TOML: {error}", _MEND) from None
    project = settings.get("project")
    return project if isinstance(project, dict) else {}


def _yaml(file: Path) -> Mapping[str, Any]:
    """The settings of a file; none where nothing that is asked for stands in it: parsing takes longer than to start."""
    text = _read(file)
    return _read_inherited(file, text) if any(word in text for word in _WORDS) else {}


def settings_of(file: Path) -> Mapping[str, Any]:
    """All settings of a YAML file. Raises UsageError with the place of what is not YAML in it."""
    return _read_inherited(file, _read(file))


def _read_inherited(file: Path, text: str, seen: tuple[Path, ...] = ()) -> Mapping[str, Any]:
    """The settings of a file over those of the file that it names as ``INHERIT``."""
    settings = _parse(file, text)
    parent = settings.get("INHERIT")
    if not isinstance(parent, str):
        return settings
    above = Path(os.path.normpath(file.parent / parent))
    if above in seen:
        raise UsageError(
            f"{file.name}: `INHERIT` leads back to {parent}", "remove `INHERIT` from one of the files"
        )
    return _merge(_read_inherited(above, _read(above), (*seen, Path(os.path.normpath(file)))), settings)


def _parse(file: Path, text: str) -> Mapping[str, Any]:
    from preprocessor.pages.siteyaml import YAMLError, load

    try:
        settings = load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise UsageError(f"{file.name}{place}: not YAML: {problem}", _MEND) from None
    except (ValueError, RecursionError) as error:  # Such as a date in month 13: the loader gives no place.
        raise UsageError(f"{file.name}: not YAML: {error}", _MEND) from None
    return settings if isinstance(settings, dict) else {}


def _merge(base: Mapping[str, Any], own: Mapping[str, Any]) -> Mapping[str, Any]:
    """``own`` over ``base``: mappings key by key, all else as a whole, as MkDocs does.

    https://www.mkdocs.org/user-guide/configuration/#configuration-inheritance
    """
    merged = dict(base)
    for key, value in own.items():
        known = merged.get(key)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            value = _merge(known, value)
        merged[key] = value
    return merged


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file.name}: not UTF-8 (byte {error.start})", "save the file as UTF-8") from None
    except (OSError, ValueError) as error:  # A path with a NUL in it is a ValueError.
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{file}: {reason}", "--config-file names the file of the site") from None


def fill_in(arguments: Namespace) -> None:
    """Set what the command line leaves open: ``site``, ``pipelines``, ``limits``, ``fail_on`` and ``results``.

    The results source is that of ``--results``, else of the environment, else of the site. Raises UsageError for a file
    that says none of it, and for ``--pipelines`` that is no folder.
    """
    named = arguments.config_file
    site = arguments.site = (
        _read_existing_site(Path(named)) if named else find_site(Path()) or _without_file()
    )
    given = getattr(arguments, "pipelines", None)
    if given is not None and not Path(given).is_dir():
        raise UsageError(f"{given}: no such folder", "--pipelines names the folder of shared pipelines")
    arguments.pipelines = given or from_here(site.pipelines)
    arguments.limits = _limits(site, getattr(arguments, "limit", None) or [])
    if getattr(arguments, "fail_on", "") is None:
        arguments.fail_on = _fail_on(site)
    if getattr(arguments, "results", "") is None:
        arguments.results = results_named() or results_of(site)


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
            f"{file}: no such file", f"--config-file names {', '.join(FILES[::2])} or one like it"
        )
    return read_site(file)


def _without_file() -> Site:
    here = Path.cwd()
    return Site(here / FILES[0], here / "docs", here / "docs" / "pipelines", "fixtures")


def from_here(path: Path) -> str:
    """A path as one would write it where one is: relative as far as that is shorter than the whole."""
    return min(os.path.relpath(path), str(path), key=len)
