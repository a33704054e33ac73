"""A build is spared the work of the garbage collector, and leaves the process as it found it."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from mongo_tables.files.gcpause import nothing_collected
from tests.site.builds import environment, sample

BUILT_WITHIN = """
import gc, sys
from mkdocs.commands.build import build
from mkdocs.config import load_config

def state():
    return gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()

before = state()
config = load_config("mkdocs.yml")
config.plugins.on_startup(command=sys.argv[1], dirty=False)
build(config)
within = state()
config.plugins.on_shutdown()
after = state()
assert after[:2] == before[:2], (before, after)
assert after[2] <= before[2], (before, after)  # Python 3.12 begins with some.
assert within[1][0] > before[1][0], within
print(within[2] - before[2])
"""


def passed_over(site: Path, command: str) -> int:
    """How many objects the collector passes over at the end of a build, in a process that goes on."""
    script = [sys.executable, "-c", BUILT_WITHIN, command]
    done = subprocess.run(script, cwd=site, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_what_a_build_has_read_is_not_looked_through_for_garbage(tmp_path: Path) -> None:
    assert passed_over(sample(tmp_path), "build") > 0


def test_what_a_preview_has_read_can_become_garbage(tmp_path: Path) -> None:
    assert passed_over(sample(tmp_path), "serve") == 0


@pytest.mark.parametrize("at_work", [True, False])
def test_the_collector_is_at_work_afterwards_as_before(at_work: bool) -> None:
    were = gc.isenabled()
    try:
        (gc.enable if at_work else gc.disable)()
        with pytest.raises(KeyError), nothing_collected():
            assert not gc.isenabled()
            raise KeyError
        assert gc.isenabled() is at_work
    finally:
        (gc.enable if were else gc.disable)()
