"""Whether the client gives way to servers, and the same client for all targets that are compared."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mongo_tables.commands.run.targets import choose_client
from mongo_tables.runner.named_targets import NamedTarget
from mongo_tables.runner.worker import scheduling_of

WAITING = "from mongo_tables.runner.worker import give_way; give_way(); print('ready', flush=True); input()"


def test_processes_that_all_give_way_are_told_from_others():
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "ready\n"
        found = scheduling_of([child.pid]), scheduling_of([child.pid, os.getpid()])
        child.communicate("go\n")
    # Other systems have no such class.
    assert found == ("batch" if hasattr(os, "SCHED_BATCH") else "normal", "normal")


@pytest.mark.parametrize(
    ("places", "asked", "expected"),
    [
        (["local"], None, (4, True)),
        (["mongodb://h"], None, (8, False)),
        (["local", "mongodb://h"], None, (4, True)),
        (["mongodb://h", "local?members=1"], 3, (3, True)),
        (["mongodb://h", "mongodb://i"], None, (8, False)),
    ],
)
def test_all_targets_of_a_run_have_the_same_client(places, asked, expected):
    targets = [NamedTarget(str(number), where) for number, where in enumerate(places)]
    assert choose_client(targets, asked, 8) == expected


def test_one_processor_is_enough_for_a_client():
    assert choose_client([NamedTarget("", "local")], None, 1)[0] == 1
