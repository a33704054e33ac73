"""The contract itself is held to be strict: what it does not have is found."""

from __future__ import annotations

from contextlib import closing
from math import inf

import pytest

from mongo_tables.runner.atlas.costs import read_prices
from mongo_tables.runner.atlas.target import AtlasTarget, begin_run
from tests.runner.atlas.contract import specification, violations
from tests.runner.atlas.test_lifecycle import FASTER, M50, M60, PRICES, RUN, WHERE

OPERATIONS = {
    "createCluster", "createDatabaseUser", "deleteCluster", "deleteDatabaseUser", "getCluster", "getDatabaseUser",
}  # fmt: skip
"""All that a run asks for, by the names of the specification."""


def work(folder):
    """A run in small."""
    (folder / "prices.toml").write_text(PRICES, encoding="utf-8")
    run = begin_run(read_prices(folder / "prices.toml"), inf, RUN)
    with closing(AtlasTarget(WHERE, run, lambda text: None)) as target:
        for machine in (M50, M60, FASTER):
            target.prepare({"instance": machine}, 1.0)


def test_all_calls_that_the_program_knows_are_in_the_contract(usable, tmp_path):
    work(tmp_path)
    known = {
        operation["operationId"]: (method.upper(), path)
        for path, operations in specification()["paths"].items()
        for method, operation in operations.items()
    }
    asked = {(one.method, one.path) for one in usable.seen}
    found = {
        name
        for name, (method, path) in known.items()
        if any(method == way and like(path, place) for way, place in asked)
    }
    assert found == OPERATIONS
    assert [fault for one in usable.seen for fault in violations(one)] == []


def like(path, place):
    """Whether a path of the specification is that of a request."""
    parts, others = path.split("/"), place.split("/")
    return len(parts) == len(others) and all(
        one == other or one.startswith("{") for one, other in zip(parts, others, strict=True)
    )


@pytest.mark.parametrize(
    ("asked", "change", "said"),
    [
        (
            "POST clusters",
            lambda one: one._replace(body={**one.body, "diskSizeGB": 10}),
            "'diskSizeGB' was unexpected",
        ),
        (
            "POST clusters",
            lambda one: one._replace(body={**one.body, "backupEnabled": "no"}),
            "is not of type 'boolean'",
        ),
        ("POST clusters", lambda one: one._replace(body={**one.body, "name": "-"}), "does not match"),
        (
            "POST clusters",
            lambda one: one._replace(body={**one.body, "stateName": "IDLE"}),
            "'stateName' was unexpected",
        ),
        ("POST clusters", lambda one: one._replace(status=200), "status 200 is none of 201"),
        (
            "POST clusters",
            lambda one: one._replace(media_type="application/vnd.atlas.2023-01-01+json"),
            "the answer is application/vnd.atlas.2023-01-01+json",
        ),
        (
            "POST databaseUsers",
            lambda one: one._replace(answer={**one.answer, "password": "x"}),
            "'password' was unexpected",
        ),
        ("POST databaseUsers", lambda one: one._replace(body={}), "is a required property"),
        ("POST clusters", lambda one: one._replace(query={"size": ["3"]}), "no parameter size"),
        ("POST clusters", lambda one: one._replace(path=one.path + "s"), "there is no POST"),
        ("POST clusters", lambda one: one._replace(answer={"name": 1}), "is not of type 'string'"),
    ],
)
def test_what_the_contract_does_not_have_is_found(usable, tmp_path, asked, change, said):
    work(tmp_path)
    one = next(one for one in usable.seen if f"{one.method} {one.path.rpartition('/')[2]}" == asked)
    assert list(violations(one)) == []
    assert any(said in fault for fault in violations(change(one))), list(violations(change(one)))
