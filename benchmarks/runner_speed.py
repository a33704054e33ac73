"""What the load generator costs, beside what others cost: same server, same work, in turn.

    python -m benchmarks.runner_speed [--seconds 3] [--rounds 3]

Prints for each kind of work and number of connections the median over the rounds of operations per second and
of the processor time of client and server for 1,000 operations. Below, the ratios of these times: to the same client
without sessions and retryable writes, which is what those cost, and, when ``go-ycsb`` is on PATH, to go-ycsb. Each
ratio is the median over those of the rounds. The processor time is what to compare: it hardly depends on what else the
machine does, operations per second do. At the end the same work is sent to a server that
only acknowledges: the generator's own ceiling.

go-ycsb works on documents of its own shape (ten fields of 100 bytes, keys that are strings) and reads one field
of them where ours read none; its MongoDB binding has no bulk insert, so none is shown. Its processor time
includes its start, some hundredths of a second. To have it (it needs Go; version 1.0.1 cannot be installed with
``go install``, because its list of versions is not served): a go.mod that requires
``github.com/pingcap/go-ycsb v1.0.1``, then ``go build -mod=mod github.com/pingcap/go-ycsb/cmd/go-ycsb``.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import psutil
from pymongo import MongoClient

from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_set import LocalReplicaSet
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import workload

DATABASE = "runner_speed"
DOCUMENTS = 20_000
ENDLESS = 10**9
LOADED: Mapping[str, Any] = {
    "collection": "things",
    "totalDocsToInsert": DOCUMENTS,
    "docSizeKB": 1.0,
    "writeBatchSize": 1000,
    "idType": "SEQUENCE",
    "writeConcern": {"w": 1},
}
LONGEST_SECONDS = 120
OURS: Mapping[str, Mapping[str, Any]] = {"wire": {}, "wire without sessions": {"session": False}}
"""Our client by what is asked of it."""
COUNTED = re.compile(r"^(?:READ|UPDATE)\s+- Takes\(s\): ([\d.]+), Count: (\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of work; ``reads`` is the percent of it that go-ycsb would read, None when it has no such work."""

    title: str
    workload: str
    connections: int
    config: Mapping[str, Any]
    reads: int | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Operations per second, and the processor time of client and server in milliseconds for 1,000 of them."""

    speed: float
    milliseconds: float
    server: float = 0.0


def cases() -> list[Case]:
    """Bulk insert of 1 KB documents, point reads, and reads and updates in halves, over many documents."""
    insert = {**LOADED, "collection": "inserted", "idType": None, "totalDocsToInsert": ENDLESS}
    read = {**LOADED, "query": {"_id": f"RANDINT(1,{DOCUMENTS})"}, "limit": 1}
    mixed = {
        **LOADED, "initialDocsToInsert": DOCUMENTS, "documentRange": DOCUMENTS, "updateFunction": "UpdateOne",
        "percentReads": 50,
    }  # fmt: skip
    found = [Case(f"insert of 1 KB, batches of 1,000, {n} conn.", "insert", n, insert, None) for n in (1, 4)]
    found += [Case(f"point reads, {n} conn.", "query", n, read, 100) for n in (1, 32, 100)]
    return found + [Case(f"50:50, {n} conn.", "update", n, mixed, 50) for n in (1, 32, 100)]


def ours(
    crew: WorkerPool, uri: str, case: Case, peer: str, seconds: float, turn: int, pids: Sequence[int] = ()
) -> Cost:
    """Do the work of a case for some seconds with one of our clients, on a server of these processes."""
    load = Load(
        uri,
        DATABASE,
        case.workload,
        {**case.config, **OURS[peer]},
        f"{turn}",
        case.connections,
        seconds=seconds,
    )
    before = processor_seconds(pids)
    outcome = crew.perform(load)
    server = (processor_seconds(pids) - before) * 1e6 / outcome.operations
    cpu = sum(outcome.process_cpu_seconds)
    return Cost(outcome.inside.operations / outcome.seconds, cpu * 1e6 / outcome.inside.operations, server)


def processor_seconds(pids: Sequence[int]) -> float:
    """Processor time that these processes have used so far."""
    times = [psutil.Process(pid).cpu_times() for pid in pids]
    return float(sum(one.user + one.system for one in times))


def go_ycsb(uri: str, case: Case, operations: int) -> Cost:
    """Do so many operations with go-ycsb, over documents that it loaded."""
    reads = (case.reads or 0) / 100
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = _go_ycsb(
        "run", uri, f"threadcount={case.connections}", f"operationcount={operations}", f"readproportion={reads}",
        f"updateproportion={1 - reads}",
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = COUNTED.findall(out)
    count = sum(int(number) for _, number in found)
    return Cost(count / max(float(taken) for taken, _ in found), cpu * 1e6 / count)


def _go_ycsb(action: str, uri: str, *properties: str) -> str:
    always = (
        f"mongodb.url={uri.replace('/?', f'/{DATABASE}?')}&w=1", f"recordcount={DOCUMENTS}", "workload=core",
        "requestdistribution=uniform", "fieldcount=10", "fieldlength=100", "readallfields=false",
    )  # fmt: skip
    given = [part for text in (*always, *properties) for part in ("-p", text)]
    done = subprocess.run(
        ["go-ycsb", action, "mongodb", *given],
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    return done.stdout.split("Run finished")[-1]


@contextmanager
def acknowledging() -> Iterator[str]:
    """The connection string of a server that only acknowledges, in a process of its own."""
    with socket.socket() as held:
        held.bind(("localhost", 0))
        port = held.getsockname()[1]
    command = [sys.executable, "-m", "benchmarks.acknowledging", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        server.stdout.readline()
        yield f"mongodb://localhost:{port}/?directConnection=true"
    finally:
        server.kill()
        server.wait()


def main() -> None:
    """Run all cases and print tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with WorkerPool(1) as crew:
        _compare(crew, args)
        _ceiling(crew, args)


def _compare(crew: WorkerPool, args: argparse.Namespace) -> None:
    peers = [*OURS] + (["go-ycsb"] if shutil.which("go-ycsb") else [])
    server = LocalReplicaSet(LocalAddress(members=1))
    try:
        crew.perform(Load(server.uri, DATABASE, "insert", LOADED, "load", 4))
        if "go-ycsb" in peers:
            _go_ycsb("load", server.uri, "threadcount=8", f"operationcount={DOCUMENTS}")
        heads = [f"{peer}, ops/s | client ms/1k | server ms/1k" for peer in peers]
        print("| work |", " | ".join(heads), "|\n|---|" + "--:|" * (3 * len(peers)))
        found = {}
        for case in cases():
            costs = found[case.title] = _measure(crew, server, case, peers, args)
            print(f"| {case.title} | {' | '.join(_cells(costs[peer]) for peer in peers)} |", flush=True)
        _print_ratios(found, peers[1:])
    finally:
        server.close()


def _measure(
    crew: WorkerPool, server: LocalReplicaSet, case: Case, peers: list[str], args: argparse.Namespace
) -> dict[str, list[Cost]]:
    costs: dict[str, list[Cost]] = {peer: [] for peer in peers}
    for turn in range(args.rounds):
        for peer in list(OURS)[:: 1 if turn % 2 else -1]:
            if case.workload == "insert":
                with MongoClient[dict[str, Any]](server.uri) as admin:
                    workload("insert").create(admin[DATABASE], case.config)
            costs[peer].append(ours(crew, server.uri, case, peer, args.seconds, turn, server.pids))
        if "go-ycsb" in peers and case.reads is not None:
            # As many as half of ours, since its own limit of time is not kept.
            operations = round(costs["wire"][-1].speed / 2 * args.seconds)
            costs["go-ycsb"].append(go_ycsb(server.uri, case, operations))
    return costs


def _cells(costs: list[Cost]) -> str:
    if not costs:
        return " | | "
    middle = _median(costs)
    return f"{middle.speed:,.0f} | {middle.milliseconds:.1f} | {middle.server:.1f}"


def _print_ratios(found: Mapping[str, Mapping[str, list[Cost]]], others: list[str]) -> None:
    """Processor time of the wire client and of its server, divided by those of the others."""
    heads = [f"client, wire / {peer} | server, wire / {peer}" for peer in others]
    print("\n| work |", " | ".join(heads), "|\n|---|" + "--:|" * (2 * len(others)))
    for title, costs in found.items():
        cells = [_ratios(costs["wire"], costs[peer]) for peer in others]
        print(f"| {title} | {' | '.join(cells)} |", flush=True)


def _ratios(costs: list[Cost], others: list[Cost]) -> str:
    pairs = list(zip(costs, others, strict=False))
    if not pairs:
        return " | "
    client = median(one.milliseconds / other.milliseconds for one, other in pairs)
    servers = [one.server / other.server for one, other in pairs if other.server]
    return f"{client:.2f} | " + (f"{median(servers):.2f}" if servers else "")


def _median(costs: list[Cost]) -> Cost:
    return Cost(
        median(cost.speed for cost in costs),
        median(cost.milliseconds for cost in costs),
        median(cost.server for cost in costs),
    )


def _ceiling(crew: WorkerPool, args: argparse.Namespace) -> None:
    print("\n| against a server that only acknowledges | ops/s | ms/1k |\n|---|--:|--:|")
    with acknowledging() as uri:
        for case in cases():
            cost = _median([ours(crew, uri, case, "wire", args.seconds, turn) for turn in range(args.rounds)])
            print(f"| {case.title} | {cost.speed:,.0f} | {cost.milliseconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
