"""Programs that build a site, and how they show our figures: by plugin, Markdown extension, or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.files.folders import plain_path
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.guards import OPTIONS
from mongo_tables.results.opening import is_uri
from mongo_tables.results.source_text import has_magic, split_parts
from mongo_tables.site.site_config import (
    NAME,
    OWN_FILE,
    SiteConfig,
    find_files,
    from_here,
    options_among,
    read_settings,
    read_site,
)

Listing = Literal["plugins", "markdown_extensions"]
"""The settings of a site that list plugins and Markdown extensions."""


class Program(NamedTuple):
    """A program that builds sites: the files that it looks for and the lists that it reads, best first."""

    name: str
    files: tuple[str, ...]
    lists: tuple[Listing, ...]


PROGRAMS: Final = (
    Program("MkDocs", ("mkdocs.yml", "mkdocs.yaml"), ("plugins", "markdown_extensions")),
    Program(
        "ProperDocs",
        ("properdocs.yml", "properdocs.yaml", "mkdocs.yml", "mkdocs.yaml"),
        ("plugins", "markdown_extensions"),
    ),
    Program("Zensical", ("zensical.toml", "mkdocs.yml", "mkdocs.yaml"), ("markdown_extensions",)),
)
_ZENSICAL: Final = PROGRAMS[-1]
_PIPELINES: Final = "docs/pipelines"
"""The extension's default folder of shared pipelines."""


class Door(NamedTuple):
    """The setting in a site's file that makes a program show our figures.

    Attributes:
        by: The list that has our entry, None if no list that the program reads has it.
        entry: The options that our entry has, or should have.
        drops: Whether the program silently ignores an entry.
        is_first: Whether the file does not have the list for the best entry yet.
        unwatched: Paths that the program's preview does not watch.
        loses_own: Whether the file is for Zensical only, and its list replaces all of Zensical's own
            extensions.
    """

    program: Program
    file: Path
    by: Listing | None
    entry: Mapping[str, Any]
    drops: bool
    is_first: bool
    unwatched: Sequence[str]
    loses_own: bool = False

    @property
    def is_named(self) -> bool:
        """Return whether the program reads the file only if it is given by name."""
        return self.file.name not in self.program.files


def list_doors(named: Path | None) -> list[Door]:
    """Return the doors of the site around the working folder, or of the site file ``named``, by program.

    Raises:
        CommandError: If there is no site file, or if one cannot be read.
    """
    files = [named] if named else [file for file in find_files(Path()) if file.name != OWN_FILE]
    if not files:
        hint = "the file of a site is mkdocs.yml, properdocs.yml or zensical.toml"
        raise CommandError("no site is described here, nor in a folder above", hint)
    return [_look(program, file) for program, file in _pairs(files)]


def _pairs(files: Sequence[Path]) -> Iterator[tuple[Program, Path]]:
    """Yield each program with its file: the first that it looks for, else one that it can read."""
    by_name = {file.name: file for file in files}
    for program in PROGRAMS:
        usual = (by_name[name] for name in program.files if name in by_name)
        others = (file for file in files if file.suffix != ".toml" or program is _ZENSICAL)
        if (file := next(usual, None) or next(others, None)) is not None:
            yield program, file


def _look(program: Program, file: Path) -> Door:
    settings, site = read_settings(file), read_site(file)
    watch = settings.get("watch")
    followed = [each for each in watch if isinstance(each, str)] if isinstance(watch, list) else []
    root = site.file.parent
    return Door(
        program,
        file,
        by=next((key for key in program.lists if _is_listed(settings, key)), None),
        entry=_entry_for(site),
        drops="plugins" not in program.lists and _is_listed(settings, "plugins"),
        is_first=settings.get(program.lists[0]) is None,
        unwatched=list_unwatched(followed, root, site.results, site.pipelines)
        if program is _ZENSICAL
        else (),
        loses_own=file.suffix == ".toml" and lists_none_of_them(settings.get("markdown_extensions")),
    )


def _is_listed(settings: Mapping[str, Any], key: Listing) -> bool:
    options = options_among(settings.get(key), NAME)
    return options is not None and options.get("enabled") is not False


def _entry_for(site: SiteConfig) -> Mapping[str, Any]:
    """Return the options of an entry, in whichever list, that reads the same data as the existing one."""
    root = site.file.parent
    pipelines = site.pipelines
    elsewhere = pipelines != root / _PIPELINES
    shown = pipelines.relative_to(root) if pipelines.is_relative_to(root) else pipelines
    kept = {name: value for name, value in site.options.items() if name in ("server", "fail_on", *OPTIONS)}
    return {"results": site.results, **({"pipelines": shown.as_posix()} if elsewhere else {}), **kept}


def find_dropped_plugin(file: Path) -> list[Finding]:
    """Return the fault of a file that only Zensical reads and that lists the plugin but not the extension."""
    if file.suffix != ".toml" or file.name == OWN_FILE or not file.is_file():
        return []
    settings = read_settings(file)
    if not _is_listed(settings, "plugins") or _is_listed(settings, "markdown_extensions"):
        return []
    message = f"Zensical passes over the plugin `{NAME}` without a word: pages would have no figures"
    hint = "list the Markdown extension; `mongo-tables check --site` says how"
    return [finding("MT172", from_here(file), _place_of_entry(file), message, hint)]


def _place_of_entry(file: Path) -> tuple[int, int]:
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    places = ((number, line.find(NAME) + 1) for number, line in enumerate(lines, 1))
    return next((place for place in places if place[1]), (0, 0))


def list_unwatched(watch: Sequence[str], root: Path, results: str, pipelines: Path) -> list[str]:
    """Return the paths to add to ``watch``, relative to ``root``, the folder of the site's file, if below it.

    ``results`` names the results source relative to ``root``, ``pipelines`` is the folder of shared
    pipelines. Missing paths are left out, and so is a database.
    """
    followed = [plain_path(root / each) for each in watch]
    needed = [*places_of_source(results, root), pipelines]
    missing = (
        path
        for path in map(plain_path, needed)
        if path.exists() and not any(path.is_relative_to(each) for each in followed)
    )
    return list(dict.fromkeys(_as_seen(path, plain_path(root)) for path in missing))


def places_of_source(results: str, root: Path) -> Iterator[Path]:
    """Yield the files and folders of a results source at ``root``; for a pattern its fixed parent folder."""
    if is_uri(results, root):
        return
    for part in split_parts(results, root):
        path = root / part.pattern
        fixed = Path(*takewhile(lambda name: not has_magic(name), path.parts))
        yield path if path.exists() else fixed


def _as_seen(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


OWN_EXTENSIONS: Final = """\
[project.markdown_extensions]
abbr = {}
admonition = {}
attr_list = {}
def_list = {}
footnotes = {}
md_in_html = {}
toc.permalink = true
pymdownx.arithmatex.generic = true
pymdownx.betterem = {}
pymdownx.caret = {}
pymdownx.details = {}
pymdownx.emoji.emoji_generator = "zensical.extensions.emoji.to_svg"
pymdownx.emoji.emoji_index = "zensical.extensions.emoji.twemoji"
pymdownx.highlight.anchor_linenums = true
pymdownx.highlight.line_spans = "__span"
pymdownx.highlight.pygments_lang_class = true
pymdownx.inlinehilite = {}
pymdownx.keys = {}
pymdownx.magiclink = {}
pymdownx.mark = {}
pymdownx.smartsymbols = {}
pymdownx.superfences.custom_fences = [{ name = "mermaid", class = "mermaid" }]
pymdownx.tabbed.alternate_style = true
pymdownx.tabbed.combine_header_slug = true
pymdownx.tasklist.custom_checkbox = true
pymdownx.tilde = {}
"""
"""A table of ``zensical.toml`` with all of Zensical's own extensions."""
_GROUP: Final = "pymdownx"


def read_own_extensions() -> dict[str, Any]:
    """Return the table as TOML has it: extension, or the first part of its name, → options."""
    import tomllib

    extensions: dict[str, Any] = tomllib.loads(OWN_EXTENSIONS)["project"]["markdown_extensions"]
    return extensions


def lists_none_of_them(listed: object) -> bool:
    """Return whether a site has a list of extensions without any of Zensical's own."""
    own = read_own_extensions()
    names = (*own, *(f"{_GROUP}.{name}" for name in own[_GROUP]))
    return listed is not None and all(options_among(listed, name) is None for name in names)
