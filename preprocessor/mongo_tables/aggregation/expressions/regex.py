"""Regular expressions: `$regexFind`, `$regexFindAll`, `$regexMatch`. Their language is in `patterns`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    as_written,
    check_named_arguments,
    compile_expression,
    form,
)
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.meter import hold
from mongo_tables.aggregation.patterns import Found, Pattern, compile_pattern
from mongo_tables.aggregation.values import Document, is_nullish, is_string, regex_parts, type_name

# Bytes of one match; after how many of them they are counted.
_MATCH, _MANY = 500, 1_024
Answer = Callable[[str | None, Pattern | None], Any]


def _compile_regex(name: str, regex: Any, options: Any) -> Pattern | None:
    """The expression, None when it is null."""
    if not is_nullish(options) and not is_string(options):
        raise AggregationError(f"{name} takes 'options' as a string, not {type_name(options)}", code=51106)
    letters = "" if is_nullish(options) else options
    if is_nullish(regex):
        return None
    if is_string(regex):
        return compile_pattern(regex, letters)
    if type_name(regex) != "regex":
        raise AggregationError(
            f"{name} takes 'regex' as a string or regex, not {type_name(regex)}", code=51105
        )
    pattern, own = regex_parts(regex)
    if own and not is_nullish(options):
        raise AggregationError(f"{name} has options in 'regex' and in 'options': use one", code=51107)
    return compile_pattern(pattern, own or letters)


def _regex(name: str, answer: Answer, argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(name, argument, path)
    nodes = {key: compile_expression(value, scope, where) for key, (value, where) in given.items()}
    read, regex = nodes["input"].run, nodes["regex"]
    options = nodes.get("options")
    fixed = regex.constant and (options is None or options.constant) and not as_written()

    def pattern(document: Document) -> Pattern | None:
        return _compile_regex(name, regex.run(document), options.run(document) if options else None)

    def run(document: Document) -> Any:
        try:
            value = read(document)
            if not is_nullish(value) and not is_string(value):
                raise AggregationError(
                    f"{name} takes 'input' as a string, not {type_name(value)}", code=51104
                )
            return answer(None if is_nullish(value) else value, once if fixed else pattern(document))
        except AggregationError as error:
            raise error.at(path) from None

    try:
        once = pattern({}) if fixed else None
    except AggregationError as error:
        raise error.at(path) from None
    # The server compiles the expression beforehand, but searches only when it comes to a document.
    return Node(run)


def _match(text: str | None, pattern: Pattern | None) -> bool:
    return text is not None and pattern is not None and pattern.matches(text)


def _find(text: str | None, pattern: Pattern | None) -> Any:
    if text is None or pattern is None:
        return None
    found = pattern.search(text)
    return None if found is None else _document(text, found)


def _find_all(text: str | None, pattern: Pattern | None) -> list[Any]:
    results: list[Any] = []
    if text is None or pattern is None:
        return results
    start = 0
    while found := pattern.search(text, start):
        results.append(_document(text, found))
        if len(results) % _MANY == 0:
            hold(0, _MATCH * len(results))
        start = max(found.end, found.start + 1)
        # At the end of the text the server looks for no empty match, unless the text is empty.
        if start >= len(text):
            break
    return results


def _document(text: str, found: Found) -> Document:
    return {"match": text[found.start : found.end], "idx": found.start, "captures": list(found.captures)}


for _name, _answer in {"$regexMatch": _match, "$regexFind": _find, "$regexFindAll": _find_all}.items():
    form(_name)(functools.partial(_regex, _name, _answer))
