"""Validation of parsed JSON against our schemas, with faults in plain words.

``NAME.schema.json`` is the one source of the rules. Comments and shared pipelines are validated here: importing
``jsonschema`` takes more than a third of the processor time of a check of a README with one table. A test compares the
two on mutated comments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import NoneType
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.catalogue import names as operators
from mongo_tables.directives.schemas import load
from mongo_tables.findings.finding import Complaint, Finding, did_you_mean
from mongo_tables.jsontext import Path
from mongo_tables.jsontext.document import Document
from mongo_tables.jsontext.extended import kind_of

Schema = Mapping[str, Any]


def schema_findings(document: Document, schema: str, subject: str) -> list[Finding]:
    """Return a finding for every fault against ``schema``. Messages call the value ``subject``."""
    errors = list(_find_errors(load(schema), document.parsed.value, ()))
    if not errors:
        return []
    told = [(one, _explain(one, subject)) for one in errors]
    # The hint on a misspelt key already names the missing one.
    meant = {(one.path, complaint.hint) for one, complaint in told if one.keyword == "additionalProperties"}
    return [
        document.locate(complaint)
        for one, complaint in told
        if one.keyword != "required" or (one.path, f"did you mean `{one.key}`?") not in meant
    ]


@cache
def validator(name: str) -> Any:
    """Return the validator of ``NAME.schema.json``, for schemas with keywords that comments do not need."""
    from jsonschema import Draft7Validator

    return Draft7Validator(load(name))


_TYPES: Final[Mapping[type, frozenset[str]]] = {
    dict: frozenset({"object"}),
    list: frozenset({"array"}),
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    NoneType: frozenset({"null"}),
}
_BOUNDS: Final[Mapping[type, tuple[str, str]]] = {
    dict: ("minProperties", "maxProperties"),
    list: ("minItems", "maxItems"),
    str: ("minLength", "maxLength"),
    int: ("minimum", "maximum"),
    float: ("minimum", "maximum"),
}


class _Error(NamedTuple):
    """A value that one keyword of its schema (``rules``) refuses. ``key``: the key that is missing or not allowed."""

    keyword: str
    rules: Schema
    value: Any
    path: Path
    key: str = ""


def _find_errors(rules: Schema, value: Any, path: Path) -> Iterator[_Error]:
    """Yield the errors of a value and of its parts. A value of the wrong type has only this error."""
    kind = type(value)
    types, names = rules.get("type", ()), _TYPES[int if kind is float and value.is_integer() else kind]
    if types and names.isdisjoint([types] if isinstance(types, str) else types):
        yield _Error("type", rules, value, path)
        return
    if "enum" in rules and value not in rules["enum"]:
        yield _Error("enum", rules, value, path)
    least, most = _BOUNDS.get(kind, ("", ""))
    if least in rules or most in rules:
        size = value if kind in (int, float) else len(value)
        if size < rules.get(least, size):
            yield _Error(least, rules, value, path)
        if size > rules.get(most, size):
            yield _Error(most, rules, value, path)
    if kind is str and "pattern" in rules and not re.search(rules["pattern"], value):
        yield _Error("pattern", rules, value, path)
    if kind is list and "items" in rules:
        for index, item in enumerate(value):
            yield from _find_errors(rules["items"], item, (*path, index))
    if kind is dict:
        yield from _find_errors_in_object(rules, value, path)


def _find_errors_in_object(rules: Schema, value: Mapping[str, Any], path: Path) -> Iterator[_Error]:
    for key in rules.get("required", ()):
        if key not in value:
            yield _Error("required", rules, value, path, key)
    properties, others = rules.get("properties", {}), rules.get("additionalProperties", True)
    for key, item in value.items():
        for error in _find_errors(rules.get("propertyNames", {}), key, path):
            yield error._replace(keyword="propertyNames", key=key)
        inner = properties.get(key, others)
        if inner is False:
            yield _Error("additionalProperties", rules, value, path, key)
        elif inner is not True:
            yield from _find_errors(inner, item, (*path, key))


# -- plain words --

_OF_TABLE = ("columns", "headers")
"""The keys that remain when the comment of a table becomes one of a chart."""


def _explain(error: _Error, subject: str) -> Complaint[Path]:
    """Return the fault in our own words."""
    keyword, rules, value, path, key = error
    name = path_name(path) or subject
    if keyword == "additionalProperties":
        known = list(rules["properties"])
        hint = did_you_mean(key, known) or "possible keys: " + ", ".join(f"`{each}`" for each in known)
        if key in _OF_TABLE and "y" in known:
            hint = f"a chart shows the columns that `x`, `y` and `series` name: leave `{key}` out"
        return Complaint(f"{name} has no key `{key}`", hint, (*path, key), "MT130", on_key=True)
    if keyword == "required":
        return Complaint(
            f"{name} needs the key `{key}`", _example(rules["properties"][key], key), path, "MT131"
        )
    if keyword == "propertyNames":
        rule = rules.get("x-rule", "MT133")
        meant = did_you_mean(f"${key}", operators("stage")) if rule == "MT134" else ""
        hint = meant or rules.get("patternErrorMessage", "")
        return Complaint(f"`{key}` is not possible as a key of {name}", hint, (*path, key), rule, on_key=True)
    if keyword == "type":
        title = rules.get("title", "of another type")
        message = f"{name} must be {title[:1].lower()}{title[1:]}, not {kind_of(value)}"
        hint = _example(rules)
        if path == ("pipeline",) and isinstance(value, str):
            hint = f'a shared pipeline goes into the list: ["{value}"]'
        return Complaint(message, hint, path, rules.get("x-rule", "MT132"))
    if keyword == "maxProperties":
        keys = ", ".join(f"`{key}`" for key in value)
        message = f"{name} has {len(value)} keys ({keys}); a stage has exactly one"
        hint = "write each stage in braces of its own"
        return Complaint(message, hint, (*path, list(value)[1]), "MT134", on_key=True)
    hint = _example(rules)
    if keyword == "enum":
        hint = did_you_mean(value, rules["enum"]) if isinstance(value, str) else ""
    elif keyword == "pattern":
        hint = rules.get("patternErrorMessage", "")
    return Complaint(_wrong_value(error, name), hint, path, rules.get("x-rule", "MT133"))


def _wrong_value(error: _Error, name: str) -> str:
    keyword, value = error.keyword, error.value
    limit, shown = error.rules[keyword], _format_value(value)
    if keyword == "enum":
        return f"{name} must be {', '.join(f'`{each}`' for each in limit[:-1])} or `{limit[-1]}`, not {shown}"
    if keyword == "pattern":
        return f"{shown} is not possible as {name}"
    side = "least" if keyword.startswith("min") else "most"
    if keyword in ("minimum", "maximum"):
        return f"{name} must be at {side} {limit}, not {shown}"
    if side == "least" and limit == 1:
        return f"{name} must not be empty"
    what = "elements" if isinstance(value, list) else f"character{'s' if limit > 1 else ''}"
    return f"{name} must have at {side} {limit} {what}, not {len(value)}"


def path_name(path: Path) -> str:
    """Return a path as an author would write it, such as `` `columns[2]` ``, or "" for the root."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in path]
    return f"`{''.join(parts).removeprefix('.')}`" if parts else ""


def _example(rules: Schema, key: str = "") -> str:
    examples = rules.get("examples")
    if not examples:
        return ""
    shown = json.dumps(examples[0], ensure_ascii=False)
    return f'for example: "{key}": {shown}' if key else f"for example: {shown}"


def _format_value(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return kind_of(value)
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}…`"
