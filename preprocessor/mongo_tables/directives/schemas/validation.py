"""Validation of parsed JSON against our schemas, with faults in plain words.

``NAME.schema.json`` has the rules, and ``jsonschema`` finds the faults. Importing ``jsonschema`` slows a check of a
README with one table by more than a third (from 177 to 243 ms, medians of pairs). So ``surely_valid`` first tests
whether the value is valid, and most values need no ``jsonschema``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType, NoneType
from typing import Any, NamedTuple

from mongo_tables.aggregation.catalogue import names as operators
from mongo_tables.directives.schemas import load
from mongo_tables.findings.finding import Complaint, Finding, did_you_mean
from mongo_tables.jsontext import Path
from mongo_tables.jsontext.extended import kind_of
from mongo_tables.jsontext.reader import Document

Schema = Mapping[str, Any]


def schema_findings(document: Document, schema: str, subject: str) -> list[Finding]:
    """Return a finding for each violation of ``schema``. ``subject`` is the name of the whole value in messages."""
    value = document.parsed.value
    if surely_valid(_rules(schema), value):
        return []
    found = [fault for error in validator(schema).iter_errors(value) for fault in _explain(error, subject)]
    return [document.locate(one) for one in _without_echoes(found)]


@cache
def _rules(name: str) -> Rules | None:
    return rules_of(load(name))


@cache
def validator(name: str) -> Any:
    """Return the validator of ``NAME.schema.json``."""
    from jsonschema import Draft7Validator

    return Draft7Validator(load(name))


# -- quick validation --

_CLASSES: Mapping[str, Sequence[type]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (NoneType,),
}
_BOUNDS: Mapping[type, tuple[str, str]] = {
    dict: ("minProperties", "maxProperties"),
    list: ("minItems", "maxItems"),
    str: ("minLength", "maxLength"),
    int: ("minimum", "maximum"),
    float: ("minimum", "maximum"),
}
_UNDERSTOOD = frozenset(
    {"type", "enum", "pattern", "items", "properties", "required", "additionalProperties", "propertyNames"}
    | {"$schema", "title", "description", "markdownDescription", "examples", "default"}
    | {"patternErrorMessage", "x-rule", "x-place"}
).union(*_BOUNDS.values())


class Rules(NamedTuple):
    """The rules of a schema. None in place of rules allows every value.

    ``bounds`` has the classes of valid values, each with a minimum and a maximum, which limit numbers and the length of
    other values. ``others`` are the rules for values of keys that are not in ``properties``, and ``names`` those for
    keys.
    """

    bounds: Mapping[type, tuple[float, float]]
    choice: Sequence[Any] | None = None
    pattern: str | None = None
    items: Rules | None = None
    properties: Mapping[str, Rules | None] = MappingProxyType({})
    others: Rules | None = None
    names: Rules | None = None
    required: Sequence[str] = ()


def rules_of(schema: Schema | bool) -> Rules | None:
    """Return the rules of a schema. If the schema has an unsupported keyword, the rules accept no value."""
    if schema is True or schema == {}:
        return None
    if schema is False or not _UNDERSTOOD.issuperset(schema):
        return Rules({})
    named, bounds = schema.get("type", list(_CLASSES)), dict[type, tuple[float, float]]()
    for name in [named] if isinstance(named, str) else named:
        for kind in _CLASSES[name]:
            least, most = _BOUNDS.get(kind, ("", ""))
            if "enum" not in schema or kind is str:
                bounds[kind] = schema.get(least, -math.inf), schema.get(most, math.inf)
    return Rules(
        bounds,
        schema.get("enum"),
        schema.get("pattern"),
        rules_of(schema.get("items", True)),
        {key: rules_of(inner) for key, inner in schema.get("properties", {}).items()},
        rules_of(schema.get("additionalProperties", True)),
        rules_of(schema.get("propertyNames", True)),
        schema.get("required", ()),
    )


def surely_valid(rules: Rules | None, value: Any) -> bool:
    """Return whether ``value`` is certainly valid. False means that it may be invalid."""
    if rules is None:
        return True
    kind = type(value)
    bounds = rules.bounds.get(kind)
    if bounds is None:
        return False
    if kind in _BOUNDS and not bounds[0] <= (value if kind in (int, float) else len(value)) <= bounds[1]:
        return False
    if kind is str:
        if rules.choice is not None and value not in rules.choice:
            return False
        return rules.pattern is None or re.search(rules.pattern, value) is not None
    if kind is list and rules.items is not None:
        for item in value:
            if not surely_valid(rules.items, item):
                return False
    if kind is dict:
        for key in rules.required:
            if key not in value:
                return False
        for key, item in value.items():
            if rules.names is not None and not surely_valid(rules.names, key):
                return False
            inner = rules.properties.get(key, rules.others)
            if inner is not None and not surely_valid(inner, item):
                return False
    return True


# -- plain words --


def _explain(error: Any, subject: str) -> Iterator[Complaint[Path]]:
    """Yield the faults behind one error of jsonschema, in plain words."""
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
            hint = f'write the name of a shared pipeline into a list: ["{value}"]'
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
"""Keys of tables that authors forget to remove when they turn a table into a chart."""


def _unknown_keys(rules: Schema, value: dict[str, Any], path: Path, name: str) -> Iterator[Complaint[Path]]:
    known = list(rules["properties"])
    for key in value:
        if key not in known:
            hint = did_you_mean(key, known) or "possible keys: " + ", ".join(f"`{each}`" for each in known)
            if key in _OF_TABLE and "y" in known:
                hint = f"remove `{key}`: a chart shows the columns in `x`, `y` and `series`"
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
    """Return the faults without missing keys that the hint about a misspelt key already names."""
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
