"""Processors that neither servers nor client used are told apart, where a server runs on this machine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mongo_tables.runner import sampling
from mongo_tables.runner.sampling import BusyProcessors, Sample

BEGIN = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.fixture
def asked(monkeypatch):
    """Two seconds lie between looks, in which 3 seconds of processors go by, 2.2 of them with what is asked for."""
    processes = []

    def look(pids):
        number = len(processes)
        processes.append(set(pids))
        cpu = {"user": 2.0 * number, "system": 1.0 * number, "idle": 1.0 * number}
        return Sample(BEGIN + timedelta(seconds=2 * number), cpu, {}, 2.2 * number, {})

    monkeypatch.setattr(sampling, "look_at_processors", look)
    return processes


def test_what_is_neither_the_servers_nor_the_clients_is_something_elses(asked):
    client = [[7], [8, 9]]  # processes that are started when there is work
    processors = BusyProcessors({1, 2}, lambda: client.pop(0))
    processors.look()
    processors.look()
    assert asked == [{1, 2, 7}, {1, 2, 8, 9}]
    assert processors.found() == {"busy": pytest.approx(1.5), "other": pytest.approx(0.4)}


def test_where_no_server_is_on_this_machine_nothing_is_known_of_theirs(asked):
    processors = BusyProcessors((), lambda: [7])
    processors.look()
    processors.look()
    assert (asked, processors.found()) == ([], None)
