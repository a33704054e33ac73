"""The meaning of a rule, a comment or a key, from the table of rules, examples and the JSON Schemas."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mongo_tables.directives.keywords import KEYWORDS
from mongo_tables.directives.schemas import COMMENTS, load
from mongo_tables.findings.finding import did_you_mean
from mongo_tables.findings.rules import RULES, Rule
from mongo_tables.lint.linter import may_be_ignored

_PACKAGE: Final = Path(__file__).parents[2]
_EXAMPLES: Final = (_PACKAGE / "lint" / "examples", _PACKAGE.parents[1] / "tests" / "lint" / "pages")
"""The folders that may have examples of rules: in the installed package, and in a clone."""

Schema = Mapping[str, Any]


def explain_word(word: str, width: int) -> list[str] | None:
    """Return lines about a rule, a comment or a key, or None for any other word.

    A key may be a path, such as ``format.decimals``.
    """
    if rule := RULES.get(word.upper()):
        return list(_explain_rule(rule, width))
    if kind := KEYWORDS.get(word.upper()):
        return list(_list_keys(kind, width))
    found: dict[tuple[str, ...], list[str]] = {}
    for kind in COMMENTS:
        for path, about, required in _keys(load(kind)):
            if path == word or path.endswith(f".{word}"):
                of = f"RESULT_{kind.upper()}{', required' if required else ''}"
                found.setdefault((path, *_explain_key(path, about, width)), []).append(of)
    lines: list[str] = []
    for (path, *text), where in found.items():
        lines += [*([""] if lines else []), f"{path} ({'; '.join(where)})", *text]
    return lines or None


def suggest_word(word: str) -> str:
    """Return a hint with a similar rule, comment or key, or "" if none is similar."""
    keys = {path.rpartition(".")[2] for kind in COMMENTS for path, _, _ in _keys(load(kind))}
    return did_you_mean(word, [*RULES, *KEYWORDS, *keys])


def _explain_rule(rule: Rule, width: int) -> Iterator[str]:
    yield f"{rule.id} {rule.name} ({rule.severity})"
    yield from _wrap(rule.summary, width)
    folder = next((place / rule.id for place in _EXAMPLES if (place / rule.id).is_dir()), None)
    for sort in ("bad", "good") if folder else ():
        for page in sorted(folder.glob(f"{sort}-*.md"))[:1] if folder else ():
            title, _, text = page.read_text("utf-8").partition("\n")
            comments = re.split(r"^Found: .*$", text, maxsplit=1, flags=re.MULTILINE)[-1].strip()
            yield from ("", f"{sort}: {title.removeprefix('# ')}", "", *comments.splitlines())
    if may_be_ignored(rule.id, rule.severity):
        yield from ("", f'to ignore it in a comment: "ignore": {{"{rule.id}": "why this is correct here"}}')


def _list_keys(kind: str, width: int) -> Iterator[str]:
    schema = load(kind)
    yield f"RESULT_{kind.upper()}, or MONGO_{kind.upper()}"
    yield from _wrap(schema["description"], width)
    yield from _list_properties(schema, "KEY")


def _list_properties(schema: Schema, named: str) -> Iterator[str]:
    yield ""
    longest = max(map(len, schema["properties"]))
    for key, about in schema["properties"].items():
        required = ", required" if key in schema.get("required", ()) else ""
        yield f"  {key:<{longest}}  {about.get('title', '')}{required}"
    yield from ("", f"`mongo-tables explain {named}` explains a key")


def _keys(schema: Schema, above: str = "") -> Iterator[tuple[str, Schema, bool]]:
    """Yield each key of a schema with its dotted path, its own schema, and whether it is required."""
    for key, about in schema.get("properties", {}).items():
        path = f"{above}.{key}" if above else key
        yield path, about, key in schema.get("required", ())
        yield from _keys(about, path)
    for below in ("additionalProperties", "items"):
        if isinstance(schema.get(below), dict):
            yield from _keys(schema[below], above)


def _explain_key(path: str, about: Schema, width: int) -> Iterator[str]:
    key = path.rpartition(".")[2]
    title = about.get("title", "")
    yield from _wrap(f"{title}." if title else "", width)
    yield from _wrap(str(about.get("description", "")), width)
    if "enum" in about:
        yield from _wrap(f"possible: {', '.join(map(str, about['enum']))}", width)
    yield from (f"  {json.dumps({key: one}, ensure_ascii=False)[1:-1]}" for one in about.get("examples", ()))
    if about.get("properties"):
        yield from _list_properties(about, f"{path}.KEY")


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, min(width, 100), initial_indent="  ", subsequent_indent="  ")
