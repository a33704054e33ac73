"""Regular expressions: `$regexFind`, `$regexFindAll`, `$regexMatch`. Their language is in `patterns`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    as_written,
    compile_named_arguments,
    form,
    placed,
)
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.limits import hold
from mongo_tables.aggregation.patterns import Found, Pattern, compile_pattern
from mongo_tables.aggregation.values import (
    Document,
    is_nullish,
    is_string,
    mistyped,
    regex_parts,
    type_name,
)

# Bytes of one match; number of matches between two counts.
_MATCH, _MANY = 500, 1_024


def _compile_regex(name: str, regex: Any, options: Any) -> Pattern | None:
    """Return the compiled expression, or None if it is null."""
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
        # At the end of the text the server looks for no empty match, unless the text is empty.
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
"""The result of each operator, and its result without a text or an expression."""


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
