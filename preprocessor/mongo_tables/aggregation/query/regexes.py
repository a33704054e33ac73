"""`$regex` with `$options`, and regular expressions written as values."""

from __future__ import annotations

import re
from typing import Any

from bson.regex import Regex

from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.query.walking import Predicate
from mongo_tables.aggregation.values import regex_parts


def is_regex(value: Any) -> bool:
    """Whether the value is a regular expression, as ``bson`` or as Python writes them."""
    return isinstance(value, Regex | re.Pattern)


def regex_test(value: Any, options: str | None = None, *, path: Path) -> Predicate:
    """Whether a string matches, or a stored regular expression is the same one.

    ``value``: a pattern or a regular expression. Raises AggregationError for what the server refuses.
    """
    from mongo_tables.aggregation.patterns import compile_pattern  # most pipelines have no regular expression

    pattern, flags = regex_parts(value) if is_regex(value) else (value, "")
    if options is not None:
        flags = options
    try:
        matches = compile_pattern(pattern, flags).matches
    except AggregationError as error:
        raise error.at(path) from None
    same = pattern, "".join(sorted(set(flags)))

    def test(value: Any) -> bool:
        if type(value) is str:
            try:
                return matches(value)
            except AggregationError as error:
                raise error.at(path) from None
        return is_regex(value) and regex_parts(value) == same

    return test
