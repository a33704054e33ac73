"""The table of versions: written from definitions, and true to a real server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest
from pymongo.errors import OperationFailure

from mongo_tables.aggregation.catalogue import (
    Operator,
    find,
    find_arguments,
    operators,
    takes_named_arguments,
)
from mongo_tables.lint.versions import is_newer
from release.serverversions import TABLE, write_table
from tests.mongod import Mongod

SERVER = "6.0.5"
DEFINITION = """\
name: $soften
minVersion: '8.1'
type:
  - accumulator
  - window
encode: object
arguments:
  - name: input
    type:
      - resolvesToNumber
      - name: resolvesToArray
        generic: T
  - name: until
    type: [date]
    optional: true
    minVersion: 8.3.1
  - name: rest
    type: [expression]
    variadic: object
tests:
  - name: Example
    pipeline:
      - $match: {a: !bson_regex '^x'}
"""


def test_a_definition_is_a_line_for_each_kind_that_it_is(tmp_path: Path) -> None:
    for folder, text in (
        ("accumulator", DEFINITION),
        ("expression", "name: $case\nminVersion: '1.0'\nencode: object\ntype:\n  - name: switchBranch\n"),
        ("types", "name: other\nminVersion: '1.0'\nencode: single\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.yaml").write_text(text)
    source, *lines = map(json.loads, write_table(tmp_path).splitlines())
    assert "mql-specifications" in source["source"]
    assert lines == [
        {
            "kind": kind,
            "name": "$soften",
            "since": "8.1",
            "form": "object",
            "arguments": {
                "input": {"takes": ["array", "number"]},
                "until": {"takes": ["date"], "since": "8.3.1", "optional": True},
                "rest": {"takes": ["expression"], "variadic": "object"},
            },
        }
        for kind in ("accumulator", "window")
    ]


def listed() -> Iterator[dict[str, Any]]:
    yield from map(json.loads, TABLE.read_text("utf-8").splitlines()[1:])


def test_what_mongodb_has_is_in_the_catalogue() -> None:
    assert [(one["kind"], one["name"]) for one in listed() if find(one["kind"], one["name"]) is None] == []


def test_the_catalogue_says_a_version_itself_only_where_the_table_does_not() -> None:
    table = {(one["kind"], one["name"]): one for one in listed()}
    for line in map(json.loads, (TABLE.parent / "catalogue.jsonl").read_text("utf-8").splitlines()):
        known = table.get((line["kind"], line["name"]), {})
        assert line.get("since") is None or line["since"] != known.get("since")
        for name, since in line.get("since_of", {}).items():
            assert since != known["arguments"][name].get("since")


_UNKNOWN = r"(?i)un(?:known|recognized) (?:expression|pipeline stage name|group operator|window function)"
_STRANGE = r"(?i)un(?:known|recognized)[^.]*\b{}\b"


@pytest.fixture(scope="module")
def said(mongod: Mongod) -> Iterator[Callable[[str, str, Any], str]]:
    """What a server complains of where an operator is used with an argument; nothing where it does not."""
    with pymongo.MongoClient[dict[str, Any]](mongod.uri()) as client:

        def ask(kind: str, name: str, argument: Any) -> str:
            try:
                client.versions.asked.aggregate(one_use(kind, name, argument))
            except OperationFailure as error:
                return str(error)
            return ""

        yield ask


def one_use(kind: str, name: str, argument: Any) -> list[dict[str, Any]]:
    if kind == "stage":
        return [{name: argument}]
    if kind == "expression":
        return [{"$project": {"x": {name: argument}}}]
    if kind == "accumulator":
        return [{"$group": {"_id": 0, "x": {name: argument}}}]
    return [{"$setWindowFields": {"sortBy": {"a": 1}, "output": {"x": {name: argument}}}}]


def asked_operators() -> list[Operator]:
    """The operators that a server of one's own has, or has not yet: those of Atlas it never has."""
    return [
        one
        for one in operators()
        if one.kind != "query"
        and one.since
        and "search index" not in one.refused
        and one.name != "$changeStream"
    ]


def test_a_server_knows_the_operators_that_came_with_its_version_or_before(
    said: Callable[[str, str, Any], str],
) -> None:
    wrong = [
        (one.kind, one.name, one.since)
        for one in asked_operators()
        if bool(re.search(_UNKNOWN, said(one.kind, one.name, {"a": 1}))) != is_newer(one.since, SERVER)
    ]
    assert wrong == []


def test_a_server_knows_the_arguments_that_came_with_its_version_or_before(
    said: Callable[[str, str, Any], str],
) -> None:
    wrong, newer = [], 0
    for one in asked_operators():
        if one.refused or not takes_named_arguments(one.kind, one.name):
            continue
        for name, argument in find_arguments(one.kind, one.name).items():
            complaint = said(one.kind, one.name, {name: 1})
            expected = is_newer(argument.since, SERVER)
            newer += expected
            if not argument.variadic and bool(re.search(_STRANGE.format(name), complaint)) != expected:
                wrong.append((one.name, name, argument.since, complaint))
    assert wrong == []
    assert newer >= 6
