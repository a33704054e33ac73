"""Which programs show our figures when they build a site: by the plugin, by the Markdown extension, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.findings.usage import UsageError
from mongo_tables.results.limits import OPTIONS
from mongo_tables.results.opening import is_uri
from mongo_tables.results.source_text import has_magic, split_parts
from mongo_tables.site.site_config import (
    NAME,
    OWN_FILE,
    Site,
    find_files,
    from_here,
    options_among,
    read_settings,
    read_site,
)

Listing = Literal["plugins", "markdown_extensions"]
"""The settings of a site that list plugins and Markdown extensions."""


class Program(NamedTuple):
    """A program that builds sites: the files that it looks for and the lists that it goes by, best first."""

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
"""Where the extension looks for shared pipelines when it is not told."""


class Door(NamedTuple):
    """What in a site's file makes a program show our figures.

    ``by`` is the list that has our entry, None where none has that the program goes by; ``entry`` are the options that
    it has, or should have. ``drops``: the program passes over an entry without a word. ``is_first``: the file has no
    list yet where the best entry would stand. ``unwatched`` are paths that its preview does not follow.
    ``loses_own``: the file is for Zensical alone, and its list takes the place of all extensions of Zensical's own.
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
        """Whether the program reads the file only when it is told its name."""
        return self.file.name not in self.program.files


def list_doors(named: Path | None) -> list[Door]:
    """The doors of the site around the working folder, or of the one whose file is ``named``, program by program.

    Raises UsageError where there is no file of a site, and for one that cannot be read.
    """
    files = [named] if named else [file for file in find_files(Path()) if file.name != OWN_FILE]
    if not files:
        hint = "the file of a site is mkdocs.yml, properdocs.yml or zensical.toml"
        raise UsageError("no site is described here, nor in a folder above", hint)
    return [_look(program, file) for program, file in _pairs(files)]


def _pairs(files: Sequence[Path]) -> Iterator[tuple[Program, Path]]:
    """Each program with the file that it reads: the first that it looks for, else one in a form that it can read."""
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


def _entry_for(site: Site) -> Mapping[str, Any]:
    """The options of an entry that reads what the site's other entry reads, whichever list it stands in."""
    root = site.file.parent
    pipelines = site.pipelines
    elsewhere = pipelines != root / _PIPELINES
    shown = pipelines.relative_to(root) if pipelines.is_relative_to(root) else pipelines
    kept = {name: value for name, value in site.options.items() if name in ("server", "fail_on", *OPTIONS)}
    return {"results": site.results, **({"pipelines": shown.as_posix()} if elsewhere else {}), **kept}


def find_dropped_plugin(file: Path) -> list[Finding]:
    """The fault of a file that Zensical alone reads, and that lists the plugin and not the extension."""
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
    """The paths to add to ``watch``, relative to ``root``, the folder of the site's file, where they are below it.

    ``results`` names the results source as seen from there, ``pipelines`` is the folder of shared pipelines. What does
    not exist need not be watched, and a database cannot be.
    """
    followed = [_plain(root / each) for each in watch]
    needed = [*places_of_source(results, root), pipelines]
    missing = (
        path
        for path in map(_plain, needed)
        if path.exists() and not any(path.is_relative_to(each) for each in followed)
    )
    return list(dict.fromkeys(_as_seen(path, _plain(root)) for path in missing))


def places_of_source(results: str, root: Path) -> Iterator[Path]:
    """The files and folders of a results source, seen from ``root``; of a pattern the folder around all it may name."""
    if is_uri(results, root):
        return
    for part in split_parts(results, root):
        path = root / part.pattern
        fixed = Path(*takewhile(lambda name: not has_magic(name), path.parts))
        yield path if path.exists() else fixed


def _as_seen(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def _plain(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - a link is watched as the link that it is


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
"""A table of ``zensical.toml`` with all of them."""
_GROUP: Final = "pymdownx"


def read_own_extensions() -> dict[str, Any]:
    """The table as TOML has it: extension, or the first part of its name, → options."""
    import tomllib

    extensions: dict[str, Any] = tomllib.loads(OWN_EXTENSIONS)["project"]["markdown_extensions"]
    return extensions


def lists_none_of_them(listed: object) -> bool:
    """Whether a site has a list of extensions, and none of Zensical's own in it."""
    if listed is None:
        return False
    return all(options_among(listed, name) is None for name in _name_them(read_own_extensions()))


def _name_them(extensions: Mapping[str, Any]) -> Iterator[str]:
    yield from (name for name in extensions if name != _GROUP)
    yield from (f"{_GROUP}.{name}" for name in extensions[_GROUP])
