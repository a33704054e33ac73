"""What a site's file, or our own, has to say so that pages find their results."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mongo_tables.commands.init.yamltext import add_item, write_items
from mongo_tables.site.markdown import newline_of
from mongo_tables.site.settings_files import load_yaml, toml_settings, yaml_settings
from mongo_tables.site.site_doors import OWN_EXTENSIONS, read_own_extensions

_NAME: Final = "mongo-tables"
_TABLE: Final = f"[project.markdown_extensions.{_NAME}]"
_WHY_LISTED: Final = "# What Zensical has without a list, and this list takes the place of."


def own_text(results: str, pages: Sequence[str]) -> str:
    """The text of ``mongo-tables.toml``."""
    return (
        "# Where the tables of these pages come from; `mongo-tables check` and its hook read it.\n"
        f"results = {_toml(results)}\n"
        f"pages = [{', '.join(map(_toml, pages))}]\n"
    )


def add_to_site(file: Path, text: str, results: str) -> str | None:
    """The text of a site's file with an entry for us; None where nothing can be added safely."""
    return _add_to_toml(text, results) if file.suffix == ".toml" else _add_to_yaml(text, results)


def lists_pages(file: Path) -> bool:
    """Whether a site's file lists its pages (``nav``); without, a site shows all there are."""
    settings = toml_settings(file).get("project", {}) if file.suffix == ".toml" else yaml_settings(file)
    return settings.get("nav") is not None


def entry_for(file: Path, results: str) -> str:
    """What to add to a site's file by hand."""
    if file.suffix == ".toml" and isinstance(_listed_extensions(file), list):
        return f"to `markdown_extensions`: {{ {_NAME} = {{ results = {_toml(results)} }} }}"
    if file.suffix == ".toml":
        return f"{_TABLE}\nresults = {_toml(results)}"
    return "plugins:\n" + "\n".join(write_items([_plugin(results)], "  "))


def _listed_extensions(file: Path) -> object:
    project = toml_settings(file).get("project")
    return project.get("markdown_extensions") if isinstance(project, dict) else None


def _plugin(results: str) -> dict[str, Any]:
    return {_NAME: {"results": results}}


def _add_to_yaml(text: str, results: str) -> str | None:
    settings = load_yaml(text)
    if isinstance(settings, dict) and "INHERIT" in settings and "plugins" not in settings:
        return None  # A list here would take the place of the one that is inherited.
    # Without a list MkDocs has its search, with one only what the list names:
    # https://www.mkdocs.org/user-guide/configuration/#plugins
    return add_item(text, "plugins", _plugin(results), first="search")


def _add_to_toml(text: str, results: str) -> str | None:
    """The text with a table at its end, where the site lists extensions as tables, or none.

    Without any list Zensical has extensions of its own, which one entry would take the place of: they are listed too.
    """
    after = tomllib.loads(text)
    project = after.get("project")
    if not isinstance(project, dict):
        return None
    lines = [_TABLE, f"results = {_toml(results)}"]
    if "markdown_extensions" not in project:
        project["markdown_extensions"] = read_own_extensions()
        lines = [_WHY_LISTED, *OWN_EXTENSIONS.splitlines(), "", *lines]
    if not isinstance(project["markdown_extensions"], dict):
        return None
    project["markdown_extensions"][_NAME] = {"results": results}
    newline = newline_of(text)
    above = text if text.endswith(newline) else text + newline
    added = above + newline.join(["", *lines, ""])
    try:
        return added if tomllib.loads(added) == after else None
    except tomllib.TOMLDecodeError:
        return None


def _toml(text: str) -> str:
    """A text as TOML has it, which takes the escapes of JSON: https://toml.io/en/v1.0.0#string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
