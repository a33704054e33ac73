"""Strings: `$concat`, `$split`, `$trim`, `$replaceOne`, `$toUpper`, `$strcasecmp` and their like.

Upper and lower case are those of ASCII only. Positions and lengths are in `substring`.
Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/#string-expression-operators
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    check_named_arguments,
    compile_expression,
    fold_constant,
    form,
    operator,
)
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path
from mongo_tables.aggregation.expressions.associative import associative
from mongo_tables.aggregation.expressions.texts import as_text
from mongo_tables.aggregation.meter import admit_text, check_text, count_array
from mongo_tables.aggregation.values import Document, is_nullish, is_string, type_name

# https://www.mongodb.com/docs/manual/reference/operator/aggregation/trim/#white-space-characters
_SPACE = "\0 \t\n\v\f\r\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
# From how many characters on a string may become too much; bytes of a short string in an array.
_LONG, _PIECE = 65_536, 64
# So many strings are joined first and measured then.
_FEW = 8
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


@associative("$concat", commutative=False)
def _concat(values: Iterable[Any]) -> str | None:
    parts: list[str] = []
    for value in values:
        if is_nullish(value):
            return None
        if not is_string(value):
            raise AggregationError(f"$concat joins strings only, not {type_name(value)}", code=16702)
        parts.append(value)
    if len(parts) > _FEW:
        check_text(sum(map(len, parts)))
    return admit_text("".join(parts))


@operator("$toUpper")
def _to_upper(value: Any) -> str:
    return as_text(value).translate(_UPPER)


@operator("$toLower")
def _to_lower(value: Any) -> str:
    return as_text(value).translate(_LOWER)


@operator("$strcasecmp")
def _compare_caseless(left: Any, right: Any) -> int:
    first, second = as_text(left).translate(_UPPER), as_text(right).translate(_UPPER)
    return (first > second) - (first < second)


@operator("$split")
def _split(value: Any, separator: Any) -> list[str] | None:
    if is_nullish(value) or is_nullish(separator):
        return None
    if not is_string(value):
        raise AggregationError(f"$split takes a string, not {type_name(value)}", code=40085)
    if not is_string(separator):
        raise AggregationError(f"$split takes a string as separator, not {type_name(separator)}", code=40086)
    if not separator:
        raise AggregationError("$split takes a separator that is not empty", code=40087)
    if len(value) > _LONG:
        count_array(value.count(separator) + 1, _PIECE)
    parts: list[str] = value.split(separator)
    return parts


def _trim(name: str, strip: Callable[[str, str], str], argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(name, argument, path)
    nodes = {key: compile_expression(value, scope, where) for key, (value, where) in given.items()}
    read = nodes["input"].run
    read_characters = nodes["chars"].run if "chars" in nodes else None

    def run(document: Document) -> Any:
        value = read(document)
        if is_nullish(value):
            return None
        if not is_string(value):
            raise AggregationError(f"{name} takes a string, not {type_name(value)}", path, 50699)
        if read_characters is None:
            return strip(value, _SPACE)
        characters = read_characters(document)
        if is_nullish(characters):
            return None
        if not is_string(characters):
            raise AggregationError(
                f"{name} takes 'chars' as a string, not {type_name(characters)}", path, 50700
            )
        # Python takes away white space when it is told to take away nothing.
        return strip(value, characters) if characters else value

    return fold_constant(Node(run, constant=all(node.constant for node in nodes.values())), path)


for _name, _strip in {"$trim": str.strip, "$ltrim": str.lstrip, "$rtrim": str.rstrip}.items():
    form(_name)(functools.partial(_trim, _name, _strip))


def _replace(name: str, count: int, argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(name, argument, path)
    keys = ("input", "find", "replacement")
    runs = [compile_expression(given[key][0], scope, given[key][1]).run for key in keys]

    def run(document: Document) -> Any:
        values = [run(document) for run in runs]
        for key, value in zip(keys, values, strict=True):
            if not is_nullish(value) and not is_string(value):
                raise AggregationError(
                    f"{name} takes '{key}' as a string, not {type_name(value)}", path, 51746
                )
        if any(is_nullish(value) for value in values):
            return None
        text, find, replacement = values
        if not find and count < 0 and not text.isascii():
            raise NotOffline(f"{name} of an empty string within characters of several bytes", path)
        if len(text) * len(replacement) > _LONG:
            _check_replaced(text, find, replacement, count, path)
        return admit_text(text.replace(find, replacement, count))

    # The server does not compute this beforehand, even when all arguments are constants.
    return Node(run)


def _check_replaced(text: str, find: str, replacement: str, count: int, path: Path) -> None:
    """Raises LimitReached before a string is made that is too long."""
    times = text.count(find) if count < 0 else 1
    try:
        check_text(_size(text) + times * (_size(replacement) - _size(find)))
    except AggregationError as error:
        raise error.at(path) from None


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


for _name, _count in {"$replaceOne": 1, "$replaceAll": -1}.items():
    form(_name)(functools.partial(_replace, _name, _count))
