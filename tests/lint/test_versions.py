"""A server that is too old for an operator: the finding says since when there is one, and before it is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pymongo
import pytest

from mongo_tables.lint.versions import is_newer, since_hint
from mongo_tables.results.answers import Answers
from mongo_tables.site.pages import read_page
from tests.judged import report_on
from tests.lint.specs import comment_of
from tests.mongod import Mongod


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        (
            "Invalid $project: Unknown expression $median",
            "`$median` came with MongoDB 7.0; this server is older",
        ),
        (
            "unknown group operator '$percentile'",
            "`$percentile` came with MongoDB 7.0; this server is older",
        ),
        ("Unrecognized pipeline stage name: '$nonsense'", ""),
        ("Field path '$median' is wrong", ""),
        ("", ""),
    ],
)
def test_a_hint_is_given_for_an_operator_that_newer_servers_know(message: str, hint: str) -> None:
    assert since_hint(message) == hint


def test_the_finding_about_an_old_server_names_the_version(mongod: Mongod, tmp_path: Path) -> None:
    with pymongo.MongoClient(mongod.uri()) as client:
        client.versions.case.drop()
        client.versions.case.insert_one({"a": [1, 2, 3]})
    median = {"$median": {"input": "$a", "method": "approximate"}}
    (tmp_path / "page.md").write_text(comment_of([{"$project": {"_id": 0, "m": median}}], ["m"]))
    command = [sys.executable, "-m", "mongo_tables.cli", "check", "page.md", "--format", "json"]
    done = subprocess.run(
        [*command, "--results", mongod.uri("versions")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    failed, newer = json.loads(done.stdout)["findings"]
    assert failed["rule"] == "MT301"
    assert failed["hint"] == "`$median` came with MongoDB 7.0; this server is older"
    assert newer["rule"] == "MT314"
    assert newer["message"] == "`$median` came with MongoDB 7.0, but the server is 6.0.5"
    assert (newer["line"], newer["column"]) == (2, 49)


def test_what_a_server_has_run_is_not_too_new_for_it(mongod: Mongod, tmp_path: Path) -> None:
    with pymongo.MongoClient(mongod.uri()) as client:
        client.versions.case.drop()
        client.versions.case.insert_one({"a": [1, 2, 3]})
    filtered = {"$filter": {"input": "$a", "cond": True, "limit": 1}}
    (tmp_path / "page.md").write_text(comment_of([{"$project": {"_id": 0, "m": filtered}}], ["m"]))
    asked = Answers(mongod.uri("versions"))
    build = report_on(asked, read_page((tmp_path / "page.md").read_text(), "page.md", lambda _: None))
    assert [one.rule for one in build.findings if one.rule.startswith("MT3")] == []
    asked.close()


@pytest.mark.parametrize(
    ("since", "server", "newer"),
    [
        ("8.0", "7.0", True),
        ("8.0", "8.0", False),
        ("6.0.3", "6.0", False),  # without a patch it is the last one
        ("6.0.3", "6.0.2", True),
        ("6.0.3", "6.0.5", False),
        ("8.1", "8.0.17", True),
        ("10.0", "9.2", True),
        ("", "4.4", False),
        ("8.0", "", False),
    ],
)
def test_versions_are_compared_by_their_numbers(since: str, server: str, newer: bool) -> None:
    assert is_newer(since, server) is newer


def told(stage: Any, server: str = "") -> list[tuple[str, str]]:
    """Rule and message of what a check without a run says of a stage, beyond its order."""
    page = read_page(comment_of([stage, {"$sort": {"_id": 1}}], ["_id"]), "page.md", lambda _: None)
    build = report_on(Answers("nowhere"), page, needs="nothing", server=server)
    found = build.findings
    return [(one.rule, one.message) for one in found if one.rule < "MT4"]


def test_a_name_is_new_as_what_it_is_used_as() -> None:
    joined = {"$set": {"a": {"$concatArrays": ["$a", "$b"]}}}
    assert told(joined, "8.0") == []
    grouped = {"$group": {"_id": "$a", "b": {"$concatArrays": "$b"}}}
    assert told(grouped, "8.0") == [("MT314", "`$concatArrays` came with MongoDB 8.1, but the server is 8.0")]
    assert told(grouped, "8.1") == []


def test_an_argument_may_be_newer_than_its_operator() -> None:
    converted = {"$set": {"a": {"$convert": {"input": "$a", "to": "int", "base": 16}}}}
    assert told(converted, "8.2") == [
        ("MT314", "`base` of `$convert` came with MongoDB 8.3, but the server is 8.2")
    ]


@pytest.mark.parametrize(
    ("expression", "told_of"),
    [
        ({"$dateToString": {"date": "$d", "format": "%d %b"}}, "`%b` of `$dateToString` came with MongoDB 7.0"),
        ({"$dateToString": {"date": "$d", "format": "%d %%b"}}, ""),
        ({"$dateFromString": {"dateString": "$d", "format": "%j %Y"}}, "`%j` of `$dateFromString` came with MongoDB 7.0"),
        ({"$dateToString": {"date": "$d", "format": "%j %Y"}}, ""),
        ({"$getField": {"$concat": ["d", "e"]}}, "a computed `field` came with MongoDB 7.2"),
        ({"$getField": {"field": {"$literal": "$d"}, "input": "$e"}}, ""),
        ({"$getField": "d"}, ""),
    ],
)  # fmt: skip
def test_a_value_may_be_newer_than_its_argument(expression: Any, told_of: str) -> None:
    said = [message for rule, message in told({"$set": {"a": expression}}, "6.0") if rule == "MT314"]
    assert said == ([f"{told_of}, but the server is 6.0"] if told_of else [])


def test_what_mongodb_has_and_files_have_not_is_never_unknown() -> None:
    ranked = {"$rerank": {"model": "m", "query": {"text": "x"}, "path": "a", "numDocsToRerank": 9}}
    source = {"collection": "case", "pipeline": [ranked], "columns": ["_id"], "headers": ["Id"]}
    page = read_page(f"<!-- MONGO_TABLE: {json.dumps(source)} -->", "page.md", lambda _: None)
    (needed,) = page.server_only
    assert page.findings == () and needed is not None
    assert needed.message.startswith("$rerank (since MongoDB 8.3) does not run offline: ")
    indexed = {"$set": {"a": {"$map": {"input": "$b", "in": "$$at", "arrayIndexAs": "at"}}}}
    (needed,) = read_page(comment_of([indexed], ["a"]), "page.md", lambda _: None).server_only
    assert needed is not None
    assert needed.message.startswith("`arrayIndexAs` of $map (since MongoDB 8.3) does not run offline")
