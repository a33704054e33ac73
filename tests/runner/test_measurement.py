"""All that a row has is of the interval that the row says: the steady part of its work, or all of it."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from mongo_tables.runner import measurement as measuring
from mongo_tables.runner import result_rows
from mongo_tables.runner.measurement import measure
from mongo_tables.runner.outcome import describe_lateness
from mongo_tables.runner.target import Machine
from mongo_tables.runner.worker import Load

LOAD = Load("", "a", "insert", {"collection": "things"}, "s", 1)


class Server:
    """A server that counts whatever a test says: ``count`` is the value of each of its counters."""

    def __init__(self):
        self.count = 0
        self.process = {"pid": os.getpid(), "uptimeMillis": 60_000}
        self.admin = self
        self.address = ("localhost", 1)
        self.topology_description = SimpleNamespace(topology_type_name="Single")

    def command(self, *_, **__):
        counters = {
            "pages requested from the cache": self.count,
            "pages read into cache": self.count,
            "bytes read into cache": self.count,
            "tracked dirty bytes in the cache": self.count,
        }
        return {
            **self.process,
            "wiredTiger": {"cache": counters, "block-manager": {"bytes read": self.count}},
        }

    def __getitem__(self, _):
        return self


class Crew:
    """Does no work, and tells of the moments of work by amount that begins at 10 and opens at 20."""

    def __init__(self, server, steady, after):
        self._server = server
        self._steady = steady
        self._after = after
        self.moments = {}

    def perform(self, load, *, before, opened, over, progress):
        for count, name, tell in ((10, "start", before), (20, "opening", before), (20, "open", opened)):
            self._pass(count, name)
            tell()
        self._server.process = {**self._server.process, **self._after}
        self._pass(50, "closing")
        over()
        self._pass(90, "last answer")
        return SimpleNamespace(steady=self._steady, opened_at=datetime.now(UTC), seconds=0.5)

    def _pass(self, count, name):
        self._server.count = count
        self.moments[name] = datetime.now(UTC)
        time.sleep(0.01)


@pytest.fixture
def measured(monkeypatch, tmp_path):
    server = Server()
    monkeypatch.setattr(measuring, "disk_bytes", lambda pid, pids: 1000 * server.count)

    def take(steady, after=None):
        crew = Crew(server, steady, after or {})
        found = measure(
            server, crew, LOAD, Machine({}, {}, data_directory=tmp_path, pids=(os.getpid(),)), print
        )
        return found, crew.moments

    return take


def grown(found, name):
    before, after = (state["wiredTiger"]["cache"][name] for state in (found.before, found.after))
    return after - before


def times(found):
    (used,) = [one for one in found.process_series if one["name"] == "CACHE_DIRTY_BYTES"]
    return [point["timestamp"] for point in used["dataPoints"]]


@pytest.mark.parametrize(
    ("steady", "counted", "first", "last"),
    [(True, 30, "opening", "closing"), (False, 80, "start", "last answer")],
    ids=["a steady part", "all of the work"],
)
def test_counters_reads_and_samples_are_of_one_interval(measured, steady, counted, first, last):
    found, moments = measured(steady)
    assert grown(found, "pages read into cache") == counted
    assert found.reads["pages_read"] == counted
    assert found.reads["bytes_read_from_files"] == counted
    assert found.reads["bytes_read_from_disk"] == 1000 * counted
    seen = times(found)
    names = list(moments)
    assert moments[first] <= seen[0] < moments[names[names.index(first) + 1]]
    assert moments[last] <= seen[-1]
    assert steady == (seen[-1] < moments["last answer"])


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"repl": {"me": "b:1"}}, "the primary changed from localhost:1 to b:1 in the window"),
        ({"pid": 4}, "localhost:1 was restarted during the window"),
        ({"uptimeMillis": 900}, "localhost:1 was restarted during the window"),
    ],
    ids=["another primary", "another process", "the same number of a process that began anew"],
)
def test_what_two_servers_counted_is_not_subtracted(measured, after, said):
    found, _ = measured(True, after)
    assert found.change == said
    assert set(found.reads.values()) == {None}
    assert result_rows._states(found) == {}


def test_what_one_server_counted_is_subtracted(measured):
    found, _ = measured(True)
    assert found.change is None
    assert result_rows._states(found) == {"before_status": found.before, "after_status": found.after}


@pytest.mark.parametrize(
    ("first_late", "connection", "process"),
    [(((0.001, 0.004), (0.003, 0.005), ()), 0.005, 0.003), (((0.002,),), 0.002, 0.002)],
    ids=["three processes, one without a request", "one connection"],
)
def test_a_row_says_how_late_its_latest_connection_and_its_latest_process_began(
    first_late, connection, process
):
    told = describe_lateness(first_late)
    assert told == {"latest_connection_seconds": connection, "latest_process_seconds": process}
