"""Queries of `$match`, parsed once into predicates of documents.

Source: https://www.mongodb.com/docs/manual/reference/operator/query/
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.compiler import Scope, compile_expression, find_form
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path
from mongo_tables.aggregation.numbers import integral, to_double
from mongo_tables.aggregation.query.conditions import (
    ALWAYS,
    FORMS,
    REFERENCE,
    REGEXES,
    FieldCondition,
    Predicate,
    both,
    equality,
    is_operators,
    leaf,
    regex_test,
)
from mongo_tables.aggregation.values import is_nan, is_number, is_string, regex_parts, truthy


def compile_query(query: Any, scope: Scope, path: Path, *, nested: bool = False) -> Predicate:
    """Compile a query into a predicate of documents.

    ``nested``: the query tests elements of an array, not documents of the collection.

    Raises:
        AggregationError: With the culprit's path, if the server refuses the query.
        NotOffline: If the query is not supported.
    """
    if not isinstance(query, Mapping):
        raise AggregationError("a query must be a document of conditions", path, 2)
    tests = []
    for name, value in query.items():
        if name in REFERENCE:
            tests.append(leaf(equality(value)).at((name,)))
        elif name.startswith("$"):
            tests.append(_top(name, value, scope, (*path, name), nested))
        else:
            where = (*path, name)
            if isinstance(value, Mapping) and is_operators(value):
                found = operators(value, scope, where)
            elif isinstance(value, REGEXES):
                found = [leaf(regex_test(value, path=where))]
            else:
                found = [leaf(equality(value))]
            parts = tuple(name.split("."))
            for condition in found:
                tests.append(condition.at(parts))
    return both(tests)


def operators(query: Mapping[str, Any], scope: Scope, path: Path) -> list[FieldCondition]:
    """Return the conditions of a document of operators."""
    found = []
    for name, value in query.items():
        if name == "$options":
            if "$regex" not in query:
                raise AggregationError("$options requires $regex", (*path, name), 2)
        elif name == "$regex":
            found.append(_regex(query, path))
        else:
            entry, where = catalogue.find("query", name), (*path, name)
            if entry and not entry.family and not entry.refused:
                message = f"{name} cannot be applied to a field: it must be at the top level of a query"
                raise AggregationError(message, where, 2)
            found.append(find_form("query", name, FORMS, where, 2, "query operator")(value, scope, where))
    return found or [ALWAYS]


def _regex(query: Mapping[str, Any], path: Path) -> FieldCondition:
    pattern, options = query["$regex"], query.get("$options")
    where = (*path, "$regex")
    if not is_string(pattern) and not isinstance(pattern, REGEXES):
        raise AggregationError("$regex requires a string or a regular expression", where, 2)
    if "$options" in query and not is_string(options):
        raise AggregationError("$options requires a string of letters", (*path, "$options"), 2)
    # The server ignores empty options that come before ``$regex``.
    names = list(query)
    if options == "" and names.index("$options") < names.index("$regex"):
        options = None
    if options is not None and isinstance(pattern, REGEXES) and regex_parts(pattern)[1]:
        message = "options must be either in the regular expression or in $options"
        raise AggregationError(message, where, 51075)
    return leaf(regex_test(pattern, options, path=where))


# The operators at the top level of a query, next to fields.


def _top(name: str, value: Any, scope: Scope, path: Path, nested: bool) -> Predicate:
    if nested and name in ("$expr", "$sampleRate"):
        raise AggregationError(f"{name} applies to whole documents and cannot be inside $elemMatch", path, 2)
    if name in ("$and", "$or", "$nor"):
        return _logical(name, value, scope, path, nested)
    if name == "$expr":
        run = compile_expression(value, scope, path).run
        return lambda document: truthy(run(document))
    if name == "$comment":
        return lambda _: True
    if name in ("$alwaysTrue", "$alwaysFalse"):
        if not is_number(value) or integral(value) != 1:
            raise AggregationError(f"{name} requires 1", path, 9)
        return lambda _: name == "$alwaysTrue"
    if name == "$jsonSchema":
        from mongo_tables.aggregation.query.schema import compile_schema

        return compile_schema(value, path)
    if name == "$sampleRate":
        if not is_number(value) or is_nan(value) or not 0 <= to_double(value) <= 1:
            raise AggregationError("$sampleRate requires a number from 0 to 1", path, 2)
        rate, source = to_double(value), Random(scope.context.seed)
        return lambda _: source.random() < rate
    entry = catalogue.find("query", name)
    if entry is not None and entry.refused:
        raise NotOffline(entry.why_not_offline, path)
    known = ["$and", "$or", "$nor", "$expr", "$jsonSchema", "$comment"]
    message = f"'{name}' cannot be at the top level of a query"
    raise AggregationError(message, path, 2, unknown=name, known=known)


def _logical(name: str, value: Any, scope: Scope, path: Path, nested: bool) -> Predicate:
    if not isinstance(value, list | tuple) or not value:
        raise AggregationError(f"{name} requires a list of at least one query", path, 2)
    tests = []
    for index, item in enumerate(value):
        if not isinstance(item, Mapping):
            raise AggregationError(f"{name} requires query documents", (*path, index), 2)
        tests.append(compile_query(item, scope, (*path, index), nested=nested))
    if name == "$and":
        return both(tests)
    if name == "$or":
        return lambda document: any(test(document) for test in tests)
    return lambda document: not any(test(document) for test in tests)
