"""A server that is too old for an operator: the finding says since when there is one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pymongo
import pytest

from preprocessor.lint.versions import since_hint
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
    command = [sys.executable, "-m", "preprocessor.cli", "check", "page.md", "--format", "json"]
    done = subprocess.run(
        [*command, "--results", mongod.uri("versions")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    (one,) = json.loads(done.stdout)["findings"]
    assert one["rule"] == "MT301"
    assert one["hint"] == "`$median` came with MongoDB 7.0; this server is older"
