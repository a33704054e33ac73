"""What a pipeline on files may cost: time, memory, size of a document, steps of a regular expression."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymongo
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mongo_tables.aggregation import LimitReached, PipelineLimits, aggregate, check
from mongo_tables.aggregation import limits as meter
from mongo_tables.aggregation.limits import memory_of, spelt, subtract_size
from tests.aggregation.hostile import CASES
from tests.mongod import Mongod
from tests.signals import heed_signals

ROOT = Path(__file__).parents[2]
STAGE_BYTES = 32 * 2**20


def _confined() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1_000 * 2**20,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (100, 100))


@pytest.mark.parametrize("name", CASES)
def test_a_costly_pipeline_ends_with_an_error_that_names_stage_and_limit(name: str) -> None:
    case = CASES[name]
    # How fast the machine is decides nothing: time is short only for what would go on for ever.
    limits = {"seconds": 0.5 if case.ends == "seconds" else 90, "stage_bytes": STAGE_BYTES}
    command = [sys.executable, "-m", "tests.aggregation.hostile", name, json.dumps(limits)]
    done = subprocess.run(command, cwd=ROOT, preexec_fn=_confined, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]
    found = json.loads(done.stdout.removeprefix("begun\n"))
    assert found["ends"] == case.ends, found
    if isinstance(case.ends, str) and found["ends"] != "seconds":
        assert str(found["path"][1]).startswith("$"), found


@pytest.mark.parametrize(
    "name",
    [
        "$unwind and $group",
        "matches without end",
        *(
            pytest.param(name, marks=pytest.mark.thorough)
            for name in ("$graphLookup", "sums in $map", "a $lookup for each pair")
        ),
    ],
)
def test_an_interrupt_is_obeyed_in_the_middle_of_it(name: str) -> None:
    _, said = interrupted(name)
    assert b"KeyboardInterrupt" in said


def interrupted(name: str) -> tuple[float, bytes]:
    """How long a pipeline that would go on for ever goes on after Ctrl-C, and what it says."""
    limits = json.dumps({"stage_bytes": 2**31, "seconds": 1e6})
    command = [sys.executable, "-m", "tests.aggregation.hostile", name, limits]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_signals
    ) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == b"begun\n"
            time.sleep(0.5)  # a moment later it is in the middle, whichever moment that is
            began = time.monotonic()
            running.send_signal(signal.SIGINT)
            _, said = running.communicate()
            return time.monotonic() - began, said
        finally:
            running.kill()


class Clock:
    """Processor time of this thread, and the time on the wall: all that a pipeline asks for."""

    def __init__(self) -> None:
        self.used = self.wall = 0.0

    def thread_time(self) -> float:
        return self.used

    def monotonic(self) -> float:
        return self.wall


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(meter, "time", made)
    return made


LOOKUP = [
    {"$lookup": {"from": "slow", "localField": "_id", "foreignField": "_id", "as": "found"}},
    {"$group": {"_id": "$_id"}},
    {"$sort": {"_id": 1}},
]


class Slow(dict[str, list[dict[str, Any]]]):
    """A collection; what happens while it is read is given."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self._happens = happens

    def get(self, name: str, default: Any = None) -> Any:
        self._happens()
        return [{"_id": 1}]


def test_time_is_the_pipelines_own_and_not_that_of_reading_files(clock: Clock) -> None:
    def work() -> None:
        clock.wall += 100
        clock.used += 100

    def read() -> None:
        with meter.pause_clock():
            work()

    given = {"documents": [{"_id": 1}], "pipeline": LOOKUP, "limits": PipelineLimits(seconds=10)}
    assert aggregate(collections=Slow(read), **given) == [{"_id": 1}]
    with pytest.raises(LimitReached):
        aggregate(collections=Slow(work), **given)


def test_waiting_and_what_other_threads_do_do_not_count_as_processor_time(clock: Clock) -> None:
    def wait() -> None:
        clock.wall += 100

    limits = PipelineLimits(seconds=10)
    assert aggregate([{"_id": 1}], LOOKUP, collections=Slow(wait), limits=limits) == [{"_id": 1}]


def test_a_constant_is_limited_when_it_is_only_checked() -> None:
    with pytest.raises(LimitReached, match="more than 1 GiB"):
        check([{"$set": {"n": {"$setUnion": [{"$range": [0, 6_000_000]}, {"$range": [0, 6_000_000]}]}}}])


def test_a_limit_reached_is_not_kept_for_the_next_pipeline() -> None:
    for _ in range(2):
        with pytest.raises(LimitReached):
            aggregate([{"_id": 1}], CASES["$unwind and $group"].pipeline, limits=PipelineLimits(seconds=0.05))
    assert aggregate([{"_id": 1}], [{"$unwind": "$_id"}]) == [{"_id": 1}]


@pytest.mark.parametrize(("times", "answered"), [(13, True), (14, True), (15, False), (40, False)])
def test_a_string_is_as_long_as_on_the_server_and_no_longer(
    times: int, answered: bool, mongod: Mongod
) -> None:
    double = {"$concat": ["$$value", "$$value"]}
    made = {"$reduce": {"input": {"$range": [0, times]}, "initialValue": "$s", "in": double}}
    pipeline = [{"$project": {"n": {"$strLenCP": made}}}]
    documents = [{"_id": 1, "s": "x" * 1000}]
    with pymongo.MongoClient[dict[str, Any]](mongod.uri()) as client:
        found = client["limits"]["strings"]
        found.drop()
        found.insert_many(documents)
        if answered:
            assert aggregate(documents, pipeline) == list(found.aggregate(pipeline))
            return
        with pytest.raises(pymongo.errors.OperationFailure) as of_server:
            list(found.aggregate(pipeline))
    with pytest.raises(LimitReached) as here:
        aggregate(documents, pipeline)
    assert here.value.code == of_server.value.code == 16493


def test_long_arrays_are_held_for_one_document_at_a_time() -> None:
    documents = [{"_id": place} for place in range(60)]
    pipeline = [{"$project": {"n": {"$size": {"$range": [0, {"$add": [600_000, "$_id"]}]}}}}]
    rows = aggregate(documents, pipeline, limits=PipelineLimits(stage_bytes=128 * 2**20))
    assert rows[-1] == {"_id": 59, "n": 600_059}


def test_a_dense_graph_is_walked_without_asking_for_a_value_twice() -> None:
    nodes = [{"_id": node, "e": [(node * 7 + edge * 13) % 500 for edge in range(40)]} for node in range(500)]
    reach = {"from": "t", "startWith": "$e", "connectFromField": "e", "connectToField": "_id", "as": "r"}
    pipeline = [{"$graphLookup": reach}, {"$group": {"_id": {"$size": "$r"}, "n": {"$sum": 1}}}]
    rows = aggregate(nodes, pipeline, collections={"t": nodes}, limits=PipelineLimits(seconds=100))
    assert rows == [{"_id": 500, "n": 500}]


def test_the_memory_of_a_server_can_be_asked_for(mongod: Mongod) -> None:
    pushed = [
        {"$set": {"b": {"$range": [0, {"$add": [200_000, "$_id"]}]}}},
        {"$unwind": "$b"},
        {"$group": {"_id": None, "x": {"$push": "$s"}}},
        {"$project": {"n": {"$size": "$x"}}},
    ]
    documents = [{"_id": 1, "s": "x" * 1000}]
    with pytest.raises(LimitReached, match="more than 100 MiB") as reached:
        aggregate(documents, pushed, limits=PipelineLimits(stage_bytes=100 * 2**20))
    assert reached.value.path is not None and reached.value.path[:2] == (2, "$group")
    with pymongo.MongoClient[dict[str, Any]](mongod.uri()) as client:
        client["limits"]["memory"].drop()
        client["limits"]["memory"].insert_many(documents)
        with pytest.raises(pymongo.errors.OperationFailure) as of_server:
            list(client["limits"]["memory"].aggregate(pushed))
    assert reached.value.code == of_server.value.code == 146


_NESTED = {"$reduce": {"input": {"$range": [0, 40]}, "initialValue": ["$_id"], "in": ["$$value", "$$value"]}}


@pytest.mark.parametrize(
    "stage",
    [
        {"$group": {"_id": {"key": _NESTED}}},
        {"$group": {"_id": _NESTED}},
        {"$sortByCount": _NESTED},
        {"$group": {"_id": None, "all": {"$addToSet": _NESTED}}},
        {"$set": {"same": {"$eq": [_NESTED, [1]]}}},
        {
            "$lookup": {
                "from": "t",
                "let": {"x": _NESTED},
                "pipeline": [{"$match": {"_id": 2}}],
                "as": "found",
            }
        },
    ],
)
def test_a_value_nested_without_end_is_refused_while_it_is_written_out_as_a_key(
    stage: dict[str, Any],
) -> None:
    limits = PipelineLimits(
        seconds=100, document_bytes=2**20
    )  # a sixteenth of the usual size, which takes less time
    with pytest.raises(LimitReached, match="more than 1 MiB") as reached:
        aggregate([{"_id": 1}], [stage], collections={"t": [{"_id": 1}]}, limits=limits)
    assert reached.value.path is None or reached.value.path[:2] == (0, *stage)


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31 - 1)
    | st.floats()
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc", min_size=1), inner),
    max_leaves=40,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text("abc", min_size=1), _VALUES), st.integers(-20, 20))
def test_what_a_document_takes_as_bson_is_known_to_a_few_bytes(document: dict[str, Any], off: int) -> None:
    import bson

    size = len(bson.encode(document))
    # Names of an array's places, and ends, are counted roughly.
    slack = 12 + size // 8
    assert subtract_size(document, size + slack) >= 0
    assert subtract_size(document, size - slack) < 0 or size < 2 * slack
    assert memory_of(document) > 0


def test_sizes_are_written_as_people_write_them() -> None:
    assert [spelt(size) for size in (2**30, 16 * 2**20, 3 * 2**10, 100_000)] == [
        "1 GiB",
        "16 MiB",
        "3 KiB",
        "100,000 bytes",
    ]


def test_the_clock_of_processor_time_is_left_alone_while_the_time_cannot_be_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[float] = []
    clock = time.thread_time
    monkeypatch.setattr(time, "thread_time", lambda: asked.append(0) or clock())
    documents = [{"_id": place, "a": place % 7} for place in range(5_000)]
    pipeline = [
        {"$match": {"a": {"$gt": 1}}},
        {"$group": {"_id": "$a", "n": {"$sum": 1}}},
        {"$sort": {"_id": 1}},
    ]
    assert len(aggregate(documents, pipeline)) == 5
    assert len(asked) < 3
