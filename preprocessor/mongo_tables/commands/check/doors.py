"""``check --site``: which programs show the figures of a site, and what to add to its file for the others."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.results.opening import is_uri
from mongo_tables.site.site_config import NAME, from_here
from mongo_tables.site.site_doors import OWN_EXTENSIONS, Door, Listing, list_doors

_CALLED: Final[Mapping[Listing, str]] = {
    "plugins": "the plugin",
    "markdown_extensions": "the Markdown extension",
}

_OF_ITSELF: Final[Mapping[Listing, str]] = {
    "plugins": "without a list there is `search`: with one, list it too",
    "markdown_extensions": "without a list Zensical has extensions of its own choice: with one, list what pages use",
}


def show_doors(arguments: Namespace) -> int:
    """Print a line for each program, and what to add. Return 1 if a file of the site enables none of them.

    Raises CommandError without a site file, and for one that cannot be read.
    """
    doors = list_doors(Path(arguments.config_file) if arguments.config_file else None)
    for door in doors:
        print("\n".join(map(escape_control_chars, _describe(door))))
    closed = {door.file for door in doors} - {door.file for door in doors if door.by is not None}
    return 1 if closed else 0


def _describe(door: Door) -> Iterator[str]:
    program = door.program.name + (f" -f {door.file.name}" if door.is_named else "")
    figures = "no figures" if door.by is None else f"figures, by {_CALLED[door.by]}"
    dropped = f"; it passes over the plugin `{NAME}` without a word" if door.drops else ""
    yield f"{from_here(door.file)}: {program} shows {figures}{dropped}"
    is_toml = door.file.suffix == ".toml"
    best = door.program.lists[0]
    if door.by != best:
        aim = "for search, downloads and less time" if door.by else "for figures"
        yield f"  {aim}, add:" if is_toml else f"  {aim}, add to `{best}`:"
        yield from _indent(_write_entry(door, best))
        if door.is_first and is_toml:
            yield "  and Zensical's own extensions, which this list replaces:"
            yield from _indent(OWN_EXTENSIONS.splitlines())
        elif door.is_first:
            yield f"  {_OF_ITSELF[best]}"
    if door.loses_own:
        yield "  its list replaces Zensical's own extensions, so `!!! note` is plain text; add those that pages use:"
        yield from _indent(OWN_EXTENSIONS.splitlines())
    if door.unwatched:
        at = "" if is_toml else " at the top"
        yield f"  and for its preview to follow saved results and shared pipelines{at}:"
        if is_toml:
            yield from _indent(["[project]", f"watch = {_toml(list(door.unwatched))}"])
        else:
            yield from _indent(["watch:", *(f"  - {_yaml(path)}" for path in door.unwatched)])


def _indent(lines: Sequence[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


def _write_entry(door: Door, listing: Listing) -> list[str]:
    """Return the lines of an entry, without values that may contain a password."""
    entry = dict(door.entry)
    if is_uri(str(entry["results"]), door.file.parent):
        entry["results"] = "…"
    if door.file.suffix == ".toml":
        return [f"[project.{listing}.{NAME}]", *(f"{name} = {_toml(value)}" for name, value in entry.items())]
    return [f"- {NAME}:", *(f"    {name}: {_yaml(value)}" for name, value in entry.items())]


def _toml(value: Any) -> str:
    """Return a value as TOML, which writes texts and numbers as JSON does."""
    return json.dumps(value, ensure_ascii=False)


def _yaml(value: Any) -> str:
    from yaml import safe_dump

    text: str = safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000)
    return text.removesuffix("\n").removesuffix("\n...")
