"""What a site's file, or our own, has to say so that pages find their results."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from preprocessor.commands.init.yamltext import add_item, write_items
from preprocessor.pages.markdown import newline_of
from preprocessor.pages.settingsfiles import toml_settings, yaml_settings
from preprocessor.pages.siteyaml import load

_NAME: Final = "mongo-tables"
_TABLE: Final = f"[project.markdown_extensions.{_NAME}]"


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
    if file.suffix == ".toml":
        return f"{_TABLE}\nresults = {_toml(results)}"
    return "plugins:\n" + "\n".join(write_items([_plugin(results)], "  "))


def _plugin(results: str) -> dict[str, Any]:
    return {_NAME: {"results": results}}


def _add_to_yaml(text: str, results: str) -> str | None:
    settings = load(text)
    if isinstance(settings, dict) and "INHERIT" in settings and "plugins" not in settings:
        return None  # A list here would take the place of the one that is inherited.
    # Without a list MkDocs has its search, with one only what the list names:
    # https://www.mkdocs.org/user-guide/configuration/#plugins
    return add_item(text, "plugins", _plugin(results), first="search")


def _add_to_toml(text: str, results: str) -> str | None:
    """The text with a table at its end, where the site lists extensions as tables.

    Without any list Zensical has extensions of its own choice, which one entry would take the place of.
    """
    before = tomllib.loads(text)
    extensions = before.get("project", {}).get("markdown_extensions")
    if not isinstance(extensions, dict):
        return None
    newline = newline_of(text)
    above = text if text.endswith(newline) else text + newline
    lines = ["", _TABLE, f"results = {_toml(results)}", ""]
    added = above + newline.join(lines)
    extensions[_NAME] = {"results": results}
    try:
        return added if tomllib.loads(added) == before else None
    except tomllib.TOMLDecodeError:
        return None


def _toml(text: str) -> str:
    """A text as TOML has it, which takes the escapes of JSON: https://toml.io/en/v1.0.0#string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
