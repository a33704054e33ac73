"""Validation of parsed JSON against our schemas, with faults in plain words.

``NAME.schema.json`` is the one source of the rules, and ``jsonschema`` finds the faults. Importing it takes more than a
third of the processor time of a check of a README with one table (243 instead of 177 ms, medians of pairs), so
``surely_valid`` first tests whether the value is valid.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from mongo_tables.aggregation.catalogue import names as operators
from mongo_tables.directives.schemas import load
from mongo_tables.findings.finding import Complaint, Finding, did_you_mean
from mongo_tables.jsontext import Path
from mongo_tables.jsontext.document import Document
from mongo_tables.jsontext.extended import kind_of

Schema = Mapping[str, Any]


def schema_findings(document: Document, schema: str, subject: str) -> list[Finding]:
    """Return a finding for every fault against ``schema``. Messages call the value ``subject``."""
    value = document.parsed.value
    if surely_valid(load(schema), value):
        return []
    found = [fault for error in validator(schema).iter_errors(value) for fault in _explain(error, subject)]
    return [document.locate(one) for one in _without_echoes(found)]


@cache
def validator(name: str) -> Any:
    """Return the validator of ``NAME.schema.json``."""
    from jsonschema import Draft7Validator

    return Draft7Validator(load(name))


# -- quick validation --

_TYPES: Mapping[type, frozenset[str]] = {
    dict: frozenset({"object"}),
    list: frozenset({"array"}),
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    type(None): frozenset({"null"}),
}
_OF_TEXT = frozenset({"minLength", "maxLength", "pattern"})
_OF_OBJECT = frozenset(
    {"properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"}
)
_OF_LIST = frozenset({"items", "minItems", "maxItems"})
_OF_NUMBER = frozenset({"minimum", "maximum"})
_WORDS_ONLY = frozenset(
    {"$schema", "title", "description", "markdownDescription", "examples", "default"}
    | {"patternErrorMessage", "x-rule", "x-place"}
)
_UNDERSTOOD = _OF_TEXT | _OF_OBJECT | _OF_LIST | _OF_NUMBER | _WORDS_ONLY | {"type", "enum"}


def surely_valid(against: Schema, value: Any) -> bool:
    """Return whether ``value`` is certainly valid; False also for a keyword that is not supported here."""
    if not against:
        return True
    wanted, types = against.get("type", ()), _TYPES.get(type(value), frozenset())
    if wanted and (wanted not in types if isinstance(wanted, str) else types.isdisjoint(wanted)):
        return False
    if not _UNDERSTOOD.issuperset(against):
        return False
    if "enum" in against and not (isinstance(value, str) and value in against["enum"]):
        return False
    if isinstance(value, str):
        if not against.get("minLength", 0) <= len(value) <= against.get("maxLength", len(value)):
            return False
        return "pattern" not in against or re.search(against["pattern"], value) is not None
    if isinstance(value, dict):
        return _object_fits(against, value)
    if isinstance(value, list):
        if not against.get("minItems", 0) <= len(value) <= against.get("maxItems", len(value)):
            return False
        for item in value:
            if not surely_valid(against.get("items", {}), item):
                return False
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        return bool(against.get("minimum", value) <= value <= against.get("maximum", value))
    return True


def _object_fits(against: Schema, value: dict[str, Any]) -> bool:
    size, properties = len(value), against.get("properties", {})
    if not against.get("minProperties", 0) <= size <= against.get("maxProperties", size):
        return False
    for key in against.get("required", ()):
        if key not in value:
            return False
    others, names = against.get("additionalProperties", True), against.get("propertyNames", {})
    for key, item in value.items():
        rules = properties.get(key, others)
        if rules is False or (names and not surely_valid(names, key)):
            return False
        if rules is not True and not surely_valid(rules, item):
            return False
    return True


# -- plain words --


def _explain(error: Any, subject: str) -> Iterator[Complaint[Path]]:
    """Yield the faults, in our own words, of one error of jsonschema."""
    path, rules, value = tuple(error.absolute_path), error.schema, error.instance
    name = path_name(path) or subject
    keyword = error.validator
    if keyword == "additionalProperties":
        yield from _unknown_keys(rules, value, path, name)
    elif keyword == "required":
        missing = next(key for key in error.validator_value if error.message.startswith(repr(key)))
        example = _example(rules["properties"][missing], missing)
        yield Complaint(f"{name} needs the key `{missing}`", example, path, "MT131")
    elif "propertyNames" in error.absolute_schema_path:
        rule = rules.get("x-rule", "MT133")
        message = f"`{value}` is not possible as a key of {name}"
        meant = did_you_mean(f"${value}", operators("stage")) if rule == "MT134" else ""
        hint = meant or rules.get("patternErrorMessage", "")
        yield Complaint(message, hint, (*path, value), rule, on_key=True)
    elif keyword == "type":
        title = rules.get("title", "of another type")
        message = f"{name} must be {title[:1].lower()}{title[1:]}, not {kind_of(value)}"
        hint = _example(rules)
        if path == ("pipeline",) and isinstance(value, str):
            hint = f'a shared pipeline goes into the list: ["{value}"]'
        yield Complaint(message, hint, path, rules.get("x-rule", "MT132"))
    elif keyword == "maxProperties":
        keys = ", ".join(f"`{key}`" for key in value)
        message = f"{name} has {len(value)} keys ({keys}); a stage has exactly one"
        yield Complaint(
            message, "write each stage in braces of its own", (*path, list(value)[1]), "MT134", on_key=True
        )
    else:
        yield Complaint(_wrong_value(error, name), _value_hint(error), path, rules.get("x-rule", "MT133"))


_OF_TABLE = ("columns", "headers")
"""The keys that remain when the comment of a table becomes one of a chart."""


def _unknown_keys(rules: Schema, value: dict[str, Any], path: Path, name: str) -> Iterator[Complaint[Path]]:
    known = list(rules["properties"])
    for key in value:
        if key not in known:
            hint = did_you_mean(key, known) or "possible keys: " + ", ".join(f"`{each}`" for each in known)
            if key in _OF_TABLE and "y" in known:
                hint = f"a chart shows the columns that `x`, `y` and `series` name: leave `{key}` out"
            yield Complaint(f"{name} has no key `{key}`", hint, (*path, key), "MT130", on_key=True)


def _wrong_value(error: Any, name: str) -> str:
    limit, value = error.validator_value, error.instance
    if error.validator == "enum":
        choice = ", ".join(f"`{each}`" for each in limit[:-1]) + f" or `{limit[-1]}`"
        return f"{name} must be {choice}, not {_format_value(value)}"
    if error.validator in ("minItems", "maxItems") and limit > 1:
        side = "least" if error.validator == "minItems" else "most"
        return f"{name} must have at {side} {limit} elements, not {len(value)}"
    if error.validator in ("minItems", "minLength", "minProperties"):
        return f"{name} must not be empty"
    if error.validator in ("minimum", "maximum"):
        side = "least" if error.validator == "minimum" else "most"
        return f"{name} must be at {side} {limit}, not {_format_value(value)}"
    if error.validator == "maxLength":
        return f"{name} must have at most {limit} character{'s' if limit > 1 else ''}, not {len(value)}"
    return f"{_format_value(value)} is not possible as {name}"


def _value_hint(error: Any) -> str:
    if error.validator == "enum" and isinstance(error.instance, str):
        return did_you_mean(error.instance, error.validator_value)
    if error.validator == "pattern":
        return str(error.schema.get("patternErrorMessage", ""))
    return _example(error.schema)


def _without_echoes(found: list[Complaint[Path]]) -> list[Complaint[Path]]:
    """Return the faults without missing keys that are misspelt: the unknown key's hint already names them."""
    hints = {(fault.at[:-1], fault.hint) for fault in found if fault.rule == "MT130"}

    def echo(fault: Complaint[Path]) -> bool:
        if fault.rule != "MT131":
            return False
        key = fault.message.rsplit("`", 2)[1]
        return (fault.at, f"did you mean `{key}`?") in hints

    return [fault for fault in found if not echo(fault)]


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
