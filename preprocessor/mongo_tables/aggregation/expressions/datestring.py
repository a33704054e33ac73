"""Dates as text: `$dateToString` and `$dateFromString`.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateToString/ and …/dateFromString/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    check_named_arguments,
    compile_expression,
    fold_constant,
    form,
)
from mongo_tables.aggregation.dateformats import (
    ISO_LOCAL,
    ISO_UTC,
    check_format,
    check_reading_format,
    date_text,
    read_formatted,
)
from mongo_tables.aggregation.dates import UTC, Zone, date_millis, zone_of
from mongo_tables.aggregation.datetext import read_date
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.values import (
    MISSING,
    Document,
    Evaluate,
    date_from_millis,
    is_nullish,
    is_string,
    type_name,
)


def _runs(name: str, argument: Any, scope: Scope, path: Path) -> tuple[dict[str, Evaluate], bool]:
    """The arguments as functions of the document, and whether all of them are constants."""
    given = check_named_arguments(name, argument, path)
    nodes = {key: compile_expression(value, scope, where) for key, (value, where) in given.items()}
    return {key: node.run for key, node in nodes.items()}, all(node.constant for node in nodes.values())


def _zone(runs: dict[str, Evaluate], document: Document) -> Zone | None:
    """The zone, UTC when none is written, None when it is null."""
    if "timezone" not in runs:
        return UTC
    where = runs["timezone"](document)
    return None if is_nullish(where) else zone_of(where)


def _form(runs: Mapping[str, Evaluate], document: Document, check: Callable[[str], Any], code: int) -> Any:
    """The format, found sound by ``check``; null or missing where it is none."""
    found: Any = runs["format"](document) if "format" in runs else MISSING
    if is_nullish(found):
        return found
    if not is_string(found):
        raise AggregationError(f"a date's format is a string, not {type_name(found)}", code=code)
    check(found)
    return found


@form("$dateToString")
def _to_string(argument: Any, scope: Scope, path: Path) -> Node:
    runs, is_constant = _runs("$dateToString", argument, scope, path)
    read, on_null = runs["date"], runs.get("onNull")

    def run(document: Document) -> Any:
        try:
            value = read(document)
            form = _form(runs, document, check_format, 18533)
            place = _zone(runs, document)
            if is_nullish(value):
                return on_null(document) if on_null else None
            if place is None or ("format" in runs and is_nullish(form)):
                return None
            if "format" not in runs:
                form = ISO_LOCAL if place.rules or place.seconds else ISO_UTC
            return date_text(date_millis(value), place, form)
        except AggregationError as error:
            raise error.at(path) from None

    return fold_constant(Node(run, constant=is_constant), path)


@form("$dateFromString")
def _from_string(argument: Any, scope: Scope, path: Path) -> Node:
    runs, is_constant = _runs("$dateFromString", argument, scope, path)
    read, on_null, on_error = runs["dateString"], runs.get("onNull"), runs.get("onError")

    def run(document: Document) -> Any:
        try:
            value = read(document)
            form = _form(runs, document, check_reading_format, 40684)
            place = _zone(runs, document)
            if is_nullish(value):
                return on_null(document) if on_null else None
        except AggregationError as error:
            raise error.at(path) from None
        try:
            return _read(value, _format(runs, form), place)
        except AggregationError as error:
            if error.code == 241 and on_error:
                return on_error(document)
            raise error.at(path) from None

    return fold_constant(Node(run, constant=is_constant), path)


def _format(runs: dict[str, Evaluate], form: Any) -> Any:
    """The format, None when it is null, MISSING when none is written."""
    return None if "format" in runs and is_nullish(form) else form


def _read(value: Any, form: Any, place: Zone | None) -> Any:
    if not is_string(value):
        raise AggregationError(f"$dateFromString reads strings, not {type_name(value)}", code=241)
    if place is None or form is None:
        return None
    if form is MISSING:
        # The grammar of dates without a format is large; few pipelines need it.
        return date_from_millis(read_date(value, place))
    return date_from_millis(read_formatted(value, form, place))
