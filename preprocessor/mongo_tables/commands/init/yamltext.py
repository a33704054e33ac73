"""One more item in a list of a YAML text, of which every other byte stays: comments, order, line ends.

A text is added to only where what is read of it afterwards is what was read before, and the item. Where that cannot be
had (a list that is an alias, several documents in one file), nobody is told a lie: there is no text then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import yaml
from yaml import YAMLError

from mongo_tables.site.markdown import newline_of
from mongo_tables.site.settings_files import load_yaml

_DEEPER: Final = "  "
_WIDEST: Final = 10_000


def add_item(text: str, key: str, item: Mapping[str, Any] | str, *, first: str = "") -> str | None:
    """The text with ``item`` at the end of the list under the top-level ``key``; None where that cannot be done safely.

    Where the key is not there, the text gets it at its end, with ``first``, if given, as the list's first item.
    """
    try:
        before = load_yaml(text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (YAMLError, ValueError, RecursionError):
        return None
    before = {} if before is None else before  # There are comments alone, if anything.
    if not isinstance(before, dict):
        return None
    if key in before:
        added = _insert(text, _find(root, key), item)
        wanted = {**before, key: [*before[key], item]} if isinstance(before[key], list) else None
    else:
        items = [*([first] if first else []), item]
        added = _append_key(text, key, items)
        wanted = {**before, key: items}
    return added if added is not None and _reads_as(added, wanted) else None


def _reads_as(text: str, wanted: Any) -> bool:
    try:
        return wanted is not None and load_yaml(text) == wanted
    except (YAMLError, ValueError, RecursionError):
        return False


def _find(root: yaml.Node | None, key: str) -> yaml.Node | None:
    """The node under a key of the outermost mapping."""
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


def _insert(text: str, node: yaml.Node | None, item: Any) -> str | None:
    if not isinstance(node, yaml.SequenceNode):
        return None
    if node.flow_style:
        end = node.end_mark.index - 1
        between = ", " if node.value else ""
        return f"{text[:end].rstrip(' ')}{between}{_in_line(item)}{text[end:]}"
    newline = newline_of(text)
    end = _end_of_line(text, _last_index(text, node))
    lines = write_items([item], " " * node.start_mark.column)
    return text[:end] + newline + newline.join(lines) + text[end:]


def _last_index(text: str, node: yaml.Node) -> int:
    """The index of the last sign that belongs to a node, which is not a comment."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last_index(text, last[1] if isinstance(last, tuple) else last)
    index = int(node.end_mark.index)
    # A block of text ends where another line begins.
    return len(text[:index].rstrip()) if node.end_mark.column == 0 else index


def _end_of_line(text: str, index: int) -> int:
    end = text.find("\n", index)
    return len(text) if end < 0 else end - 1 if text[end - 1] == "\r" else end


def _append_key(text: str, key: str, items: list[Any]) -> str:
    newline = newline_of(text)
    above = text if not text or text.endswith(newline) else text + newline
    lines = [f"{key}:", *write_items(items, _DEEPER)]
    return above + newline.join(lines) + newline


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types.
    """Writes lists within mappings deeper than their keys, as people do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """One step to the right, for a list too."""
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


def write_items(items: list[Any], indent: str) -> list[str]:
    """The lines of items of a list, each behind a hyphen at ``indent``."""
    return [f"{indent}{line}" for line in _dump(items, in_line=False).splitlines()]


def _in_line(item: Any) -> str:
    return _dump(item, in_line=True).splitlines()[0]
