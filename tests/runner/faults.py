"""Kills at random, and what must hold after each: ``python -m tests.runner.faults --kills 30 --server-kills 10``.

A run is killed with ``kill -9`` at a random moment, or its servers or what holds them, and is gone on with by
``--resume`` until it is complete; then the next one begins. After every kill no window that was measured may be
missing, no row may be there twice, and nothing may be left running; at the end no database may be left behind. Prints the
counts, and fails when anything did not hold.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from pymongo import MongoClient

from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_set import LocalReplicaSet
from mongo_tables.runner.store import FileStore
from tests.runner.processes import (
    SLOW,
    VARIANTS,
    children_of,
    finish,
    kill,
    measured,
    servers_of,
    start,
    supervisors_of,
    wait_until,
)

DATABASE = "mongo_tables_tiny"
BLOCKS = 3
LONGEST_GOODBYE_SECONDS = 60.0
LATEST_KILL_SECONDS = 5.0
Windows = dict[tuple[str, float, int, bool], object]
"""What ``measured`` gives."""


@dataclass(slots=True)
class Counts:
    """What was done and what came of it; ``again`` are windows that were measured a second time."""

    kills: int = 0
    server_kills: int = 0
    supervisor_kills: int = 0
    runs: int = 0
    again: int = 0
    violations: list[str] = field(default_factory=list)

    def hold(self, promise: str, kept: bool) -> None:
        """Note a promise that was not kept."""
        if not kept:
            self.violations.append(promise)


def kill_runners(
    kills: int,
    chance: random.Random,
    folder: Path,
    uri: str,
    counts: Counts,
    *,
    targets: Sequence[str] = ("",),
) -> None:
    """Kill runs on the deployment ``uri`` at random moments, so many times, each time going on after it.

    ``targets`` are the names under which it is the target: several of them are measured side by side, in blocks.
    """
    wanted = counts.kills + kills
    named = [word for name in targets for word in ("--target", f"{name}={uri}" if name else uri)]
    blocks = ("--repeats", BLOCKS) if len(targets) > 1 else ()
    while counts.kills < wanted:
        arguments, seen = _begin(folder, *named, *blocks), {}
        complete = False
        while not complete:
            process = start(*arguments, "--resume")
            if counts.kills < wanted and not _ends_within(process, chance.uniform(0.5, LATEST_KILL_SECONDS)):
                counts.kills += 1
                _kill_runner(process, counts)
            else:
                complete = _came_to_its_end(process, counts)
            seen = _compare(seen, folder / "out", counts)
        _complete(seen, counts)
        with MongoClient(uri) as client:
            left = [name for name in client.list_database_names() if name.startswith(DATABASE)]
            counts.hold("no database is left behind", not left)


def kill_servers(kills: int, chance: random.Random, folder: Path, counts: Counts) -> None:
    """Kill one or all of the servers that a run started for itself, and go on with the run after it."""

    def some(process) -> list[psutil.Process]:
        servers = servers_of(process)
        return servers if chance.random() < 0.3 else servers[:1] if chance.random() < 0.5 else servers[1:2]

    counts.server_kills += _kill_below(kills, some, chance, folder, counts)


def kill_supervisors(kills: int, chance: random.Random, folder: Path, counts: Counts) -> None:
    """Kill the process that holds the servers of a run, and go on with the run after it."""
    counts.supervisor_kills += _kill_below(kills, supervisors_of, chance, folder, counts)


def _kill_below(
    kills: int,
    victims: Callable[[subprocess.Popen[str]], list[psutil.Process]],
    chance: random.Random,
    folder: Path,
    counts: Counts,
) -> int:
    """Kill what runs below a run at random moments, so many times; give how often there was something to kill."""
    killed = 0
    while killed < kills:
        arguments, seen = _begin(folder), {}
        complete = False
        while not complete:
            process = start(*arguments, "--resume")
            if killed < kills:
                wait_until(process, lambda running=process: len(servers_of(running)) == 3)
                children = children_of(process)
                _ends_within(process, chance.uniform(0.0, 3 * LATEST_KILL_SECONDS))
                found = victims(process)
                kill(found)
                killed += bool(found)
                complete = _came_to_its_end(process, counts)
                _all_gone(children, counts)
            else:
                complete = _came_to_its_end(process, counts)
            seen = _compare(seen, folder / "out", counts)
        _complete(seen, counts)
    return killed


def _begin(folder: Path, *given: object) -> tuple[object, ...]:
    """The arguments of a run whose rows are all to be measured anew."""
    experiment, out = folder / "tiny.toml", folder / "out"
    experiment.write_text(SLOW, encoding="utf-8")
    for path in sorted(out.glob("**/*.json*")):
        path.unlink()
    return (experiment, "--output", out, *given)


def _ends_within(process, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    return process.poll() is not None


def _kill_runner(process, counts: Counts) -> None:
    children = children_of(process)
    process.kill()
    finish(process)
    _all_gone(children, counts)


def _all_gone(children: list[psutil.Process], counts: Counts) -> None:
    _, alive = psutil.wait_procs(children, timeout=LONGEST_GOODBYE_SECONDS)
    counts.hold("nothing is left running", not alive)


def _came_to_its_end(process, counts: Counts) -> bool:
    code, _, err = finish(process)
    counts.hold(f"a run ends with 0 or 2, not {code}: {err[-300:]}", code in (0, 2))
    counts.hold("a failure is told in words", "Traceback" not in err)
    return code == 0


def _compare(seen: Windows, out: Path, counts: Counts) -> Windows:
    """Hold what is measured against what was measured before; give what it is now."""
    rows = FileStore(out).rows("tiny")
    sizes = Counter((row["_id"].get("target"), row["variant"]["docSizeKB"]) for row in rows)
    counts.hold("no row is there twice", all(count == 1 for count in sizes.values()))
    now = measured(out)
    counts.hold("no window is lost", seen.keys() <= now.keys())
    counts.again += sum(now.get(window) != when for window, when in seen.items())
    return now


def _complete(seen: Windows, counts: Counts) -> None:
    counts.runs += 1
    counts.hold("a run that is gone on with has every row", len({size for _, size, *_ in seen}) == VARIANTS)


def _left_behind() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("mongo-tables-run-*"))


def main() -> int:
    """Do as many kills as asked for and print the counts; 1 when a promise was not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30, help="of the runner (default: 30)")
    parser.add_argument("--server-kills", type=int, default=10, help="of servers under it (default: 10)")
    parser.add_argument(
        "--supervisor-kills", type=int, default=5, help="of the process that holds them (default: 5)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the moments (default: 1)")
    args = parser.parse_args()
    chance, counts, before = random.Random(args.seed), Counts(), _left_behind()
    with tempfile.TemporaryDirectory() as folder:
        deployment = LocalReplicaSet(LocalAddress(members=1))
        try:
            alone = args.kills // 2
            kill_runners(alone, chance, Path(folder), deployment.uri, counts)
            kill_runners(args.kills - alone, chance, Path(folder), deployment.uri, counts, targets=("a", "b"))
        finally:
            deployment.close()
        kill_servers(args.server_kills, chance, Path(folder), counts)
        kill_supervisors(args.supervisor_kills, chance, Path(folder), counts)
    print(
        f"{counts.kills} kills of the runner, {counts.server_kills} of servers, {counts.supervisor_kills} of "
        f"supervisors, {counts.runs} complete runs"
    )
    print(f"{counts.again} windows measured again, {len(_left_behind() - before)} folders of servers left")
    print(f"{len(counts.violations)} promises not kept", *counts.violations, sep="\n  ")
    return 1 if counts.violations else 0


if __name__ == "__main__":
    sys.exit(main())
