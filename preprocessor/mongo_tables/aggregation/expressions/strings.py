"""Strings, and positions in strings by bytes of UTF-8 and by code points.

`$concat`, `$split`, `$trim`, `$replaceOne`, `$toUpper`, `$strcasecmp` and similar; `$substrBytes`,
`$substrCP`, `$indexOfBytes`, `$strLenCP` and similar. Upper and lower case apply to ASCII only.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/#string-expression-operators

Regular expressions: `$regexFind`, `$regexFindAll`, `$regexMatch`. The module `patterns` compiles and runs them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from bson.code import Code
from bson.decimal128 import Decimal128
from bson.timestamp import Timestamp

from mongo_tables.aggregation.compiler import (
    Node,
    Runs,
    Scope,
    as_written,
    associative,
    compile_named_arguments,
    form,
    lazy,
    named,
    operator,
    placed,
)
from mongo_tables.aggregation.date_formats import ISO_UTC, MONTHS, date_text
from mongo_tables.aggregation.dates import UTC
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path
from mongo_tables.aggregation.limits import admit_text, check_text, count_array, hold
from mongo_tables.aggregation.numbers import decimal_to_long, int32, position, rank
from mongo_tables.aggregation.patterns import Found, Pattern, compile_pattern
from mongo_tables.aggregation.values import (
    INT64_MAX,
    INT64_MIN,
    Document,
    Evaluate,
    is_date,
    is_nullish,
    is_number,
    is_string,
    millis,
    mistyped,
    regex_parts,
    type_name,
)

# https://www.mongodb.com/docs/manual/reference/operator/aggregation/trim/#white-space-characters
_SPACE = "\0 \t\n\v\f\r\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
# Shorter strings are never too long for a document; the bytes of a short string in an array.
_LONG, _PIECE = 65_536, 64
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _as_text(value: Any) -> str:
    """Return the text of a value for ``$toUpper``, ``$substr`` and similar. Null becomes ""; doubles have six digits.

    Raises:
        AggregationError: With code 16007, for booleans, arrays, documents and other types without a text.
    """
    if type(value) is str:
        return value
    if is_nullish(value):
        return ""
    if is_number(value):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if is_date(value):
        return date_text(millis(value), UTC, ISO_UTC)
    if isinstance(value, Timestamp):
        moment = datetime(1970, 1, 1) + timedelta(seconds=value.time)
        return f"{MONTHS[moment.month - 1][:3]} {moment.day:2} {moment:%H:%M:%S}:{value.inc}"
    if isinstance(value, str) and not (isinstance(value, Code) and value.scope is not None):
        return str(value)
    raise AggregationError(f"{type_name(value)} cannot be converted to a string", code=16007)


def _string(saying: str, value: Any, code: int) -> str:
    if not is_string(value):
        raise mistyped(saying, value, code)
    return value  # type: ignore[no-any-return]


@associative("$concat", commutative=False)
def _concat(values: Iterable[Any]) -> str | None:
    parts: list[str] = []
    for value in values:
        if type(value) is not str:
            if is_nullish(value):
                return None
            if not is_string(value):
                raise mistyped("$concat requires strings, not", value, 16702)
        parts.append(value)
    check_text(sum(map(len, parts)))
    return admit_text("".join(parts))


@operator("$toUpper")
def _to_upper(value: Any) -> str:
    return _as_text(value).translate(_UPPER)


@operator("$toLower")
def _to_lower(value: Any) -> str:
    return _as_text(value).translate(_LOWER)


@operator("$strcasecmp")
def _compare_caseless(left: Any, right: Any) -> int:
    first, second = _as_text(left).translate(_UPPER), _as_text(right).translate(_UPPER)
    return (first > second) - (first < second)


@operator("$split")
def _split(value: Any, separator: Any) -> list[str]:
    text = _string("$split requires a string, not", value, 40085)
    if not _string("the separator of $split must be a string, not", separator, 40086):
        raise AggregationError("the separator of $split must not be empty", code=40087)
    count_array(text.count(separator) + 1, _PIECE)
    return text.split(separator)


_TRIMS: dict[str, Callable[[str, str], str]] = {
    "$trim": str.strip,
    "$ltrim": str.lstrip,
    "$rtrim": str.rstrip,
}


@named(*_TRIMS)
def _trim(name: str, document: Document, runs: Runs) -> str | None:
    value = runs["input"](document)
    if is_nullish(value):
        return None
    text = _string(f"{name} requires a string, not", value, 50699)
    characters = runs["chars"](document) if "chars" in runs else _SPACE
    if is_nullish(characters):
        return None
    _string(f"'chars' of {name} must be a string, not", characters, 50700)
    # Python strips white space if the set of characters is empty.
    return _TRIMS[name](text, characters) if characters else text


@named("$replaceOne", "$replaceAll", folds=False)
def _replace(name: str, document: Document, runs: Runs) -> str | None:
    values = [(key, runs[key](document)) for key in ("input", "find", "replacement")]
    for key, value in values:
        if not is_nullish(value):
            _string(f"'{key}' of {name} must be a string, not", value, 51746)
    text, find, replacement = (value for _, value in values)
    if is_nullish(text) or is_nullish(find) or is_nullish(replacement):
        return None
    count = 1 if name == "$replaceOne" else -1
    if not find and count < 0 and not text.isascii():
        raise NotOffline(f"{name} of an empty string in a string beyond ASCII is not available offline")
    if len(text) * len(replacement) > _LONG:  # checked before a string that is too long is made
        times = text.count(find) if count < 0 else 1
        check_text(_size(text) + times * (_size(replacement) - _size(find)))
    return admit_text(text.replace(find, replacement, count))


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


# Positions.


@operator("$strLenBytes")
def _bytes(value: Any) -> int:
    return len(_string("$strLenBytes requires a string, not", value, 34473).encode())


@operator("$strLenCP")
def _code_points(value: Any) -> int:
    return len(_string("$strLenCP requires a string, not", value, 34471))


def _long(value: Any, what: str, code: int) -> int:
    """Convert a number to int64 as the server does: a double is truncated, a Decimal128 is rounded.

    A double that does not fit is an error; a Decimal128 that does not fit becomes the smallest int64.
    """
    if not rank(value):
        raise mistyped(f"the {what} of $substr must be a number, not", value, code)
    if isinstance(value, Decimal128):
        return decimal_to_long(value)
    if not math.isfinite(value) or not INT64_MIN <= (number := int(value)) <= INT64_MAX:
        raise AggregationError(f"the {what} does not fit an int64", code=31109)
    return number


@operator("$substrBytes", "$substr")
def _substring_of_bytes(value: Any, start: Any, length: Any) -> str:
    data = _as_text(value).encode()
    first, count = _long(start, "start", 16034), _long(length, "length", 16035)
    if first < 0:
        raise AggregationError("the start of $substr must not be negative", code=50752)
    end = len(data) if count < 0 else min(first + count, len(data))
    if _continues(data, first):
        raise AggregationError(f"$substr starts at byte {first}, within a character", code=28656)
    if count >= 0 and _continues(data, end):
        raise AggregationError(f"$substr ends at byte {end}, within a character", code=28657)
    return data[first:end].decode()


def _continues(data: bytes, index: int) -> bool:
    """Return whether the byte at ``index`` belongs to a UTF-8 character but is not its first."""
    return index < len(data) and data[index] & 0xC0 == 0x80


@operator("$substrCP")
def _substring_of_code_points(value: Any, start: Any, length: Any) -> str:
    text = _as_text(value)
    first = int32("the start of $substrCP", start, 34450, 34451)
    count = int32("the length of $substrCP", length, 34452, 34453)
    if count < 0:
        raise AggregationError("the length of $substrCP must not be negative", code=34454)
    if first < 0:
        raise AggregationError("the start of $substrCP must not be negative", code=34455)
    return text[first : first + count]


def _index_of(name: str, code: int, document: Document, *runs: Evaluate) -> int | None:
    text = runs[0](document)
    if is_nullish(text):
        return None  # the other arguments are not read
    _string(f"the first argument of {name} must be a string, not", text, code)
    find = _string(f"the second argument of {name} must be a string, not", runs[1](document), code + 1)
    start = position(f"the start of {name}", runs[2](document)) if len(runs) > 2 else 0
    end = position(f"the end of {name}", runs[3](document)) if len(runs) > 3 else None
    if name == "$indexOfBytes":
        data: bytes = text.encode()
        return data.find(find.encode(), start, len(data) if end is None else min(end, len(data)))
    if not text and not find and start == 0:
        return 0
    # Only the start of the match is compared with the end argument, not its end.
    found: int = text.find(find, start)
    return found if found < (len(text) if end is None else min(end, len(text))) else -1


lazy("$indexOfBytes")(functools.partial(_index_of, "$indexOfBytes", 40091))
lazy("$indexOfCP")(functools.partial(_index_of, "$indexOfCP", 40093))


# The bytes of one match, and the number of matches between two checks of the memory.
_MATCH, _MANY = 500, 1_024


def _compile_regex(name: str, regex: Any, options: Any) -> Pattern | None:
    """Return the compiled regular expression, or None if ``regex`` is null."""
    if not is_nullish(options) and not is_string(options):
        raise mistyped(f"'options' of {name} must be a string, not", options, 51106)
    letters = "" if is_nullish(options) else options
    if is_nullish(regex):
        return None
    if is_string(regex):
        return compile_pattern(regex, letters)
    if type_name(regex) != "regex":
        raise mistyped(f"'regex' of {name} must be a string or a regex, not", regex, 51105)
    pattern, own = regex_parts(regex)
    if own and not is_nullish(options):
        raise AggregationError(f"{name} has options in 'regex' and in 'options': use one", code=51107)
    return compile_pattern(pattern, own or letters)


def _find(text: str, pattern: Pattern) -> Any:
    found = pattern.search(text)
    return None if found is None else _document(text, found)


def _find_all(text: str, pattern: Pattern) -> list[Any]:
    results: list[Any] = []
    start = 0
    while found := pattern.search(text, start):
        results.append(_document(text, found))
        if len(results) % _MANY == 0:
            hold(0, _MATCH * len(results))
        start = max(found.end, found.start + 1)
        # The server does not look for an empty match at the end of the text, unless the text is empty.
        if start >= len(text):
            break
    return results


def _document(text: str, found: Found) -> Document:
    return {"match": text[found.start : found.end], "idx": found.start, "captures": list(found.captures)}


_ANSWERS: dict[str, tuple[Callable[[str, Pattern], Any], Callable[[], Any]]] = {
    "$regexMatch": (lambda text, pattern: pattern.matches(text), bool),
    "$regexFind": (_find, lambda: None),
    "$regexFindAll": (_find_all, list),
}
"""For each operator, the function of text and pattern, and a function that returns the result if text or pattern is
null.
"""


@form(*_ANSWERS)
def _regex(argument: Any, scope: Scope, path: Path) -> Node:
    name = str(path[-1])
    answer, nothing = _ANSWERS[name]
    nodes = compile_named_arguments(argument, scope, path)
    read, regex, options = nodes["input"].run, nodes["regex"], nodes.get("options")

    def compile_regex(document: Document) -> Pattern | None:
        return _compile_regex(name, regex.run(document), options.run(document) if options else None)

    # The server compiles the expression beforehand, but searches only when it reads a document.
    fixed = regex.constant and (options is None or options.constant) and not as_written()
    once = placed(compile_regex, path)({}) if fixed else None

    def run(document: Document) -> Any:
        text = read(document)
        if not is_nullish(text) and not is_string(text):
            raise mistyped(f"'input' of {name} must be a string, not", text, 51104)
        pattern = once if fixed else compile_regex(document)
        return nothing() if pattern is None or is_nullish(text) else answer(text, pattern)

    return Node(placed(run, path))
