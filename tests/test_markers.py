"""Whoever leaves out what needs a server or a build is asked for neither."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.runner.local_set import LocalReplicaSet
from tests import mongod as servers
from tests.commands.test_commands import mongo_tables
from tests.hostile.doors import enter
from tests.hosts.builds import build
from tests.hosts.inprocess import built
from tests.markers import FEWER, examples_of, needs_of, try_fewer_examples


def by_way_of_a_helper() -> None:
    with servers.running():
        pass


def calls_a_helper() -> None:
    by_way_of_a_helper()


def starts_a_replica_set() -> None:
    LocalReplicaSet()


def builds_inside() -> list[object]:
    return [partial(one) for one in (build,)]


def builds_in_process() -> None:
    built("here")


def runs_a_program() -> list[str]:
    return ["-m", "zensical", "build"]


def imports_late() -> None:
    from mkdocs.commands.build import build as late  # noqa: F401


def enters_a_door() -> None:
    enter(["build"], Path())


def asks_the_program() -> None:
    mongo_tables("check", cwd=Path())


@settings(max_examples=7)
@given(st.integers())
def few(number: int) -> None:
    by_way_of_a_helper()


def test_a_test_that_starts_a_server_is_told_by_its_code() -> None:
    assert [needs_of(one) for one in (calls_a_helper, starts_a_replica_set, few)] == [{"server"}] * 3


def test_a_test_that_builds_a_site_is_told_by_its_code() -> None:
    building = (builds_inside, builds_in_process, runs_a_program, imports_late, enters_a_door)
    assert [needs_of(one) for one in building] == [{"build"}] * 5


def test_a_test_that_needs_neither_is_told_to_need_nothing() -> None:
    assert needs_of(examples_of) == needs_of(asks_the_program) == set()


def test_a_property_is_told_by_the_number_of_its_examples() -> None:
    assert (examples_of(few), examples_of(calls_a_helper)) == (7, 0)


def test_a_property_with_many_examples_is_tried_with_a_part_of_them_and_still_told_by_all() -> None:
    tried = []

    @settings(max_examples=100, database=None)
    @given(st.integers())
    def many(number: int) -> None:
        tried.append(number)

    for _ in range(2):
        try_fewer_examples(many)
    many()
    assert (len(tried), examples_of(many)) == (100 // FEWER, 100)
