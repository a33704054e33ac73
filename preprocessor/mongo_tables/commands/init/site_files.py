"""Entries for mongo-tables in existing files of a site or of pre-commit. All other bytes stay unchanged.

The changed text must parse to the old content plus the entry. Otherwise, for example if a list is an alias, the result
is None, and the user has to add the entry.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from mongo_tables.site.markdown import newline_of
from mongo_tables.site.settings_files import load_yaml, toml_settings, yaml_settings

_NAME: Final = "mongo-tables"
_TABLE: Final = f"[project.markdown_extensions.{_NAME}]"
_WHY_LISTED: Final = "# Zensical's own extensions, which this list replaces."
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
"""A table of ``zensical.toml`` with Zensical's default extensions."""
_OUR_HOOKS: Final = ("mongo-tables-", "mongo-tables ")
"""The beginnings of the ids and the commands of mongo-tables hooks."""
_DEEPER: Final = "  "
_WIDEST: Final = 10_000


def own_text(results: str, pages: Sequence[str]) -> str:
    """Return the text of ``mongo-tables.toml``."""
    return (
        "# The results for the tables on these pages, for `mongo-tables` and its commit hooks.\n"
        f"results = {_toml(results)}\n"
        f"pages = [{', '.join(map(_toml, pages))}]\n"
    )


# -- the file of a site --


def lists_pages(file: Path) -> bool:
    """Return whether a site's file lists its pages (``nav``). Otherwise, the site has all pages of its folder."""
    settings = toml_settings(file).get("project", {}) if file.suffix == ".toml" else yaml_settings(file)
    return settings.get("nav") is not None


def entry_for(file: Path, results: str) -> str:
    """Return the entry for the user to add to a site's file."""
    if file.suffix != ".toml":
        return "plugins:\n" + "\n".join(_write_items([_plugin(results)], _DEEPER))
    project = toml_settings(file).get("project")
    if isinstance(project, dict) and isinstance(project.get("markdown_extensions"), list):
        return f"to `markdown_extensions`: {{ {_NAME} = {{ results = {_toml(results)} }} }}"
    return f"{_TABLE}\nresults = {_toml(results)}"


def add_to_site(file: Path, text: str, results: str) -> str | None:
    """Return the text of a site's file with an entry for mongo-tables, or None if it cannot be added safely."""
    if file.suffix == ".toml":
        return _add_to_toml(text, results)
    settings = load_yaml(text)
    if isinstance(settings, dict) and "INHERIT" in settings and "plugins" not in settings:
        return None  # a list in this file would replace the inherited list
    # Without a list of plugins, MkDocs uses its search plugin; with a list, only its entries:
    # https://www.mkdocs.org/user-guide/configuration/#plugins
    return add_item(text, "plugins", _plugin(results), first="search")


def _plugin(results: str) -> dict[str, Any]:
    return {_NAME: {"results": results}}


def _add_to_toml(text: str, results: str) -> str | None:
    """Add a table at the end. Return None if this is not safe, for example if the site's extensions are not tables.

    If extensions are not listed, Zensical uses its default extensions. A single entry would replace them, so all of
    them are added.
    """
    after = tomllib.loads(text)
    project = after.get("project")
    if not isinstance(project, dict):
        return None
    lines = [_TABLE, f"results = {_toml(results)}"]
    if "markdown_extensions" not in project:
        project["markdown_extensions"] = tomllib.loads(OWN_EXTENSIONS)["project"]["markdown_extensions"]
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
    """Return a string of TOML, which has the escapes of JSON: https://toml.io/en/v1.0.0#string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# -- the commit hook: https://pre-commit.com/#new-hooks --


def has_hook(text: str, config: str) -> bool:
    """Return whether a pre-commit configuration already runs the hook for the site's file ``config``."""
    try:
        settings = load_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return False
    repos = settings.get("repos") if isinstance(settings, dict) else None
    for hook in (hook for repo in _dicts(repos) for hook in _dicts(repo.get("hooks"))):
        if any(str(hook.get(key, "")).startswith(_OUR_HOOKS) for key in ("id", "entry")):
            command = f"{hook.get('entry', '')} {hook.get('args', '')}"
            if config in command if config else "--config-file" not in command:
                return True
    return False


def _dicts(listed: Any) -> Iterator[dict[str, Any]]:
    return (each for each in listed if isinstance(each, dict)) if isinstance(listed, list) else iter(())


def add_hooks(text: str, config: str) -> str | None:
    """Add the hooks to a pre-commit configuration. Return None if they cannot be added safely.

    ``config`` is the site's file, relative to the root of the repository, or "" for a file in the root.
    """
    return add_item(text, "repos", _hooks(config))


def hooks_by_hand(config: str) -> str:
    """Return the entry of the hooks as YAML, for the user to add."""
    return "\n".join(["repos:", *_write_items([_hooks(config)], _DEEPER)])


def _hooks(config: str) -> dict[str, Any]:
    """Return an entry with two hooks: the first one writes figures in place, the second one checks.

    The hooks run the installed program, so they can use the libraries of its environment. They run on every commit,
    because pre-commit would skip a hook with ``files`` if these files were deleted.
    """
    options = f" --config-file {shlex.quote(config)}" if config else ""
    commands = {"write": "render --in-place --written", "check": "check --numbers"}
    hooks = [
        {
            "id": f"mongo-tables-{name}",
            "name": f"mongo-tables {command.partition(' ')[0]}",
            "description": "runs the mongo-tables that is on the PATH, in the active environment",
            "entry": f"mongo-tables {command}{options}",
            "language": "system",
            "pass_filenames": False,
            "always_run": True,
        }
        for name, command in commands.items()
    ]
    return {"repo": "local", "hooks": hooks}


# -- YAML --


def add_item(text: str, key: str, item: Mapping[str, Any] | str, *, first: str = "") -> str | None:
    """Add ``item`` at the end of the list under the top-level ``key``. Return None if this is not safe.

    If the text lacks the key, add it at the end, with ``first`` as the first item of the list.
    """
    try:
        before = load_yaml(text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    before = {} if before is None else before  # the text is empty, or has only comments
    if not isinstance(before, dict):
        return None
    if key not in before:
        items = [*([first] if first else []), item]
        newline = newline_of(text)
        above = text if not text or text.endswith(newline) else text + newline
        added = above + newline.join([f"{key}:", *_write_items(items, _DEEPER)]) + newline
    elif isinstance(before[key], list):
        items = [*before[key], item]
        pairs = root.value if isinstance(root, yaml.MappingNode) else []
        node = next((value for name, value in pairs if name.value == key), None)
        if not isinstance(node, yaml.SequenceNode):
            return None
        added = _insert(text, node, item)
    else:
        return None
    try:
        return added if load_yaml(added) == {**before, key: items} else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _insert(text: str, node: yaml.SequenceNode, item: Any) -> str:
    if node.flow_style:
        end = node.end_mark.index - 1
        between = ", " if node.value else ""
        written = _dump(item, in_line=True).splitlines()[0]
        return f"{text[:end].rstrip(' ')}{between}{written}{text[end:]}"
    newline = newline_of(text)
    end = text.find("\n", _last_index(text, node))
    end = len(text) if end < 0 else end - 1 if text[end - 1] == "\r" else end
    lines = _write_items([item], " " * node.start_mark.column)
    return text[:end] + newline + newline.join(lines) + text[end:]


def _last_index(text: str, node: yaml.Node) -> int:
    """Return the index of the last character of a node, without comments after it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last_index(text, last[1] if isinstance(last, tuple) else last)
    index = int(node.end_mark.index)
    # The end of a block is at the beginning of the next line.
    return len(text[:index].rstrip()) if node.end_mark.column == 0 else index


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types.
    """A dumper that indents lists within mappings, as is usual in files written by hand."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent by one step, also for a list."""
        del indentless
        super().increase_indent(flow, False)


def _dump(value: Any, *, in_line: bool) -> str:
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDEST,
        default_flow_style=in_line,
    )
    return text


def _write_items(items: list[Any], indent: str) -> list[str]:
    """Return the lines of a YAML list with an indentation."""
    return [f"{indent}{line}" for line in _dump(items, in_line=False).splitlines()]
