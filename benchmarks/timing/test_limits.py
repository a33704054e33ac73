"""What costs too much ends soon, in little memory, and at Ctrl-C within a second."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.aggregation.hostile import CASES
from tests.aggregation.test_limits import ROOT, STAGE_BYTES, interrupted


@pytest.mark.parametrize("name", CASES)
def test_a_costly_pipeline_ends_soon_and_in_little_memory(name):
    # What has an answer needs time for it.
    limits = {"seconds": 1.5 if isinstance(CASES[name].ends, int) else 0.5, "stage_bytes": STAGE_BYTES}
    command = [sys.executable, "-m", "tests.aggregation.hostile", name, json.dumps(limits)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.removeprefix("begun\n"))
    assert found["seconds"] < 3
    assert found["mebibytes"] < 400


@pytest.mark.parametrize(
    "name",
    ["$unwind and $group", "matches without end", "$graphLookup", "sums in $map", "a $lookup for each pair"],
)
def test_an_interrupt_is_obeyed_within_a_second(name):
    seconds, _ = interrupted(name)
    assert seconds < 1
