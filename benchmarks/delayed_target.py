"""Whether two targets side by side are told apart when one is slower in truth, and not by a factor in the arithmetic.

    python -m benchmarks.delayed_target [--ratio 0.9] [--blocks 20] [--connections 1]

A replica set of one member has two proxies before it (``benchmarks.delaying``), of which one holds answers so long that
its speed is to be that part of the other's. ``mongo-tables run`` measures point reads through both, in blocks and with
``--slices 40``, once so and once with no answer held on either side.

Where n connections wait for each answer, a request takes n / speed. Where it takes d longer, the speed is n / speed
divided by n / speed + d of what it was: that is the ratio to expect. d is the difference of what both proxies recorded,
on average, and not what was asked for. It holds for as many connections as do not wait for a processor: one, by itself.

Fails where slices do not call the delayed target slower, where the ratio to expect lies farther than 2 percent from
their interval, and where equal targets are called different, by slices or by blocks. Blocks are coarser: whether they
call the delayed target slower is said, and no failure. It takes nine minutes. On a machine that is busy
otherwise, delays become whatever the machine makes of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks import sidebyside
from benchmarks.delaying import Delay, Held, delaying
from benchmarks.runner_speed import DATABASE, DOCUMENTS, LOADED, Case, ours
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_set import LocalReplicaSet
from mongo_tables.runner.worker import Load

NAME = "delayed_target"
EXPERIMENT = """\
name = "{name}"
title = "Point reads"
workload = "query"
warm = true

[parameters]
database = "mongo_tables_{name}"
collection = "things"
numberOfThreads = {connections}
initialDocsToInsert = {documents}
docSizeKB = 1.0
writeBatchSize = 1000
groupSize = 100
testTimeSecs = 1

[[variants]]
query = {{ _id = "RANDINT(1,{documents})" }}
limit = 1
"""
NEAR = 0.02
"""So far outside of an interval a ratio may be and still be near it: the round trip is known no better."""
LOOK_SECONDS = 3.0
ALIKE = ("no difference", "not known")
"""The verdicts that call nothing faster or slower."""
Promise = tuple[str, bool]
"""What is promised, and whether it holds."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says: the ratio that the delay is for, how many blocks, how many connections."""

    ratio: float
    blocks: int
    connections: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a run found: of requests to the first target, in microseconds, and of the second against the first."""

    request: float
    first: Held
    second: Held
    blocks: Mapping[str, Any]
    slices: Mapping[str, Any]
    itself: Mapping[str, Any]
    """Slices of the first target with itself."""

    @property
    def added(self) -> float:
        """How much longer answers of the second target were held."""
        return self.second.mean - self.first.mean

    @property
    def expected(self) -> float:
        """The ratio of speeds to expect."""
        return self.request / (self.request + self.added)


def choose_delay(server: LocalReplicaSet, asked: Asked) -> float:
    """Microseconds to ask a proxy for, so that the ratio is as wanted: less than it is to take, by what sleeps add."""
    port = urlsplit(server.uri).port or 0
    with WorkerPool(1, gives_way=False) as crew:
        crew.perform(Load(server.uri, DATABASE, "insert", LOADED, "load", 4))
        with delaying(port) as plain:
            request = request_microseconds(crew, through(plain, server), asked.connections)
        wanted = request / asked.ratio - request
        with delaying(port, wanted) as held:
            request_microseconds(crew, through(held, server), asked.connections)
            longer = held.held().median - wanted
    print(
        f"a request takes {request:.0f} us; held for {wanted:.0f} us, an answer is held {longer:.0f} us more"
    )
    return max(1.0, wanted - longer)


def request_microseconds(crew: WorkerPool, uri: str, connections: int) -> float:
    """How long a point read takes, by the speed of all connections."""
    read = {**LOADED, "query": {"_id": f"RANDINT(1,{DOCUMENTS})"}, "limit": 1}
    case = Case("point reads", "query", connections, read, None)
    return connections * 1e6 / ours(crew, uri, case, "wire", LOOK_SECONDS, 0).speed


def through(delay: Delay, server: LocalReplicaSet) -> str:
    """The connection string of the server, by way of the proxy alone."""
    user = urlsplit(server.uri).netloc.rpartition("@")[0]
    return f"mongodb://{user}@localhost:{delay.port}/?directConnection=true&authSource=admin"


def measure(server: LocalReplicaSet, microseconds: float, asked: Asked) -> Found:
    """Run the experiment on two targets, of which the second is asked to hold its answers for so long."""
    port = urlsplit(server.uri).port or 0
    with (
        tempfile.TemporaryDirectory() as folder,
        delaying(port) as first,
        delaying(port, microseconds) as second,
    ):
        targets = f"a={through(first, server)} b={through(second, server)}"
        one, other = run(Path(folder), targets, asked)
        return Found(
            asked.connections * 1e6 / one["speed"]["median"],
            first.held(),
            second.held(),
            other["targets"],
            other["slices"],
            one["slices"],
        )


def run(folder: Path, targets: str, asked: Asked) -> list[dict[str, Any]]:
    """The rows of a run; what it complains of ends the benchmark."""
    file = folder / f"{NAME}.toml"
    file.write_text(
        EXPERIMENT.format(name=NAME, connections=asked.connections, documents=DOCUMENTS),
        encoding="utf-8",
    )
    return sidebyside.run(file, folder, targets, asked.blocks)


def promises_of_delayed(found: Found) -> Iterator[Promise]:
    """What is to come out where one target is slower."""
    yield "slices call the delayed target slower", found.slices["verdict"] == "slower"
    least, most = found.slices["low"] * (1 - NEAR), found.slices["high"] * (1 + NEAR)
    yield f"their interval has {found.expected:.3f}, or nearly", least <= found.expected <= most


def promises_of_equal(found: Found) -> Iterator[Promise]:
    """What is to come out where both targets are the same."""
    for name, comparison in (("slices", found.slices), ("blocks", found.blocks)):
        yield f"{name} call equal targets neither faster nor slower", comparison["verdict"] in ALIKE


def print_found(found: Found) -> None:
    """Print what was recorded, what is expected, and what came out."""
    for name, held in (("first", found.first), ("second", found.second)):
        print(
            f"  the {name} held {held.answers:,} answers for {held.mean:.1f} us on average, "
            f"median {held.median:.1f}, 99th percentile {held.percentile_99:.1f}"
        )
    print(f"  a request takes {found.request:.0f} us: expected ratio {found.expected:.3f}")
    for name, comparison in (
        ("blocks", found.blocks),
        ("slices", found.slices),
        ("slices of the first with itself", found.itself),
    ):
        ratio, low, high = (comparison[key] for key in ("ratio", "low", "high"))
        print(f"  {name}: {ratio:.3f} ({low:.3f} to {high:.3f}), {comparison['verdict']}", flush=True)


def try_all(server: LocalReplicaSet, asked: Asked) -> int:
    """Measure with a delay and without, print what is promised of each; give how many promises do not hold."""
    broken = 0
    chosen = choose_delay(server, asked)
    for what, microseconds, promises in (
        (f"answers of the second target held, {chosen:.0f} us asked for", chosen, promises_of_delayed),
        ("no answer held", 0.0, promises_of_equal),
    ):
        print(what, flush=True)
        found = measure(server, microseconds, asked)
        print_found(found)
        for promise, holds in promises(found):
            broken += not holds
            print(f"  {promise}: {'holds' if holds else 'DOES NOT HOLD'}", flush=True)
    return broken


def main() -> int:
    """Print all promises; 1 when one does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--ratio", type=float, default=0.9)
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument("--connections", type=int, default=1)
    asked = Asked(**vars(parser.parse_args()))
    server = LocalReplicaSet(LocalAddress(members=1))
    try:
        return 1 if try_all(server, asked) else 0
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
