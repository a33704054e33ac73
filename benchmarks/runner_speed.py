"""What the load generator costs: prepared messages against PyMongo, same server, same work, in turn.

    python benchmarks/runner_speed.py [--seconds 3] [--rounds 3]

Prints, for each kind of work and number of connections, the median over the rounds of operations per second
and of the client's processor time for 1,000 operations. The second is what to compare: it hardly depends on
what else the machine does, operations per second do.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from pymongo import MongoClient

from preprocessor.runner.clients import Kind
from preprocessor.runner.load import Crew, Outcome
from preprocessor.runner.local import LocalReplicaSet, Settings
from preprocessor.runner.worker import Load
from preprocessor.runner.workloads import workload

DATABASE = "runner_speed"
DOCUMENTS = 20_000
LOADED: Mapping[str, Any] = {
    "collection": "things",
    "totalDocsToInsert": DOCUMENTS,
    "docSizeKB": 1.0,
    "writeBatchSize": 1000,
    "idType": "SEQUENCE",
    "writeConcern": {"w": 1},
}
CLIENTS: tuple[Kind, ...] = ("wire", "pymongo")


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of work."""

    title: str
    workload: str
    connections: int
    config: Mapping[str, Any]


def cases() -> list[Case]:
    """Bulk insert of 1 KB documents, point reads, and updates spread over many documents."""
    endless = 10**9
    insert = {**LOADED, "collection": "inserted", "idType": None, "totalDocsToInsert": endless}
    named = {**insert, "idType": "OBJECT_ID"}
    read = {**LOADED, "query": {"_id": f"RANDINT(1,{DOCUMENTS})"}, "limit": 1}
    update = {**LOADED, "nUpdates": endless, "nHotspots": DOCUMENTS}
    found = [Case(f"insert, batches of 1,000, {n} conn.", "insert", n, insert) for n in (1, 4)]
    found.append(Case("insert with ObjectIds, 1 conn.", "insert", 1, named))
    found += [Case(f"point reads, {n} conn.", "query", n, read) for n in (1, 32, 100)]
    found += [Case(f"updates, {n} conn.", "hot_update", n, update) for n in (1, 32, 100)]
    return found


def perform(
    crew: Crew, server: LocalReplicaSet, case: Case, client: Kind, seconds: float, turn: int
) -> Outcome:
    """Do the work of a case for some seconds."""
    with MongoClient[dict[str, Any]](server.uri) as admin:
        if case.workload == "insert":
            workload("insert").create(admin[DATABASE], case.config)
    load = Load(
        server.uri, DATABASE, case.workload, case.config, f"{turn}", case.connections, client, seconds=seconds
    )
    return crew.perform(load)


def milliseconds(outcome: Outcome) -> float:
    """Processor time of the client for 1,000 operations."""
    return sum(outcome.process_cpu_seconds) * 1e6 / outcome.operations


def main() -> None:
    """Run all cases and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    server = LocalReplicaSet(Settings(members=1))
    try:
        with Crew(1) as crew:
            crew.perform(Load(server.uri, DATABASE, "insert", LOADED, "load", 4, "wire"))
            print("| work | wire, ops/s | PyMongo, ops/s | wire, ms/1k | PyMongo, ms/1k | ratio |")
            print("|---|--:|--:|--:|--:|--:|")
            for case in cases():
                print(_line(crew, server, case, args), flush=True)
    finally:
        server.close()


def _line(crew: Crew, server: LocalReplicaSet, case: Case, args: argparse.Namespace) -> str:
    outcomes: dict[Kind, list[Outcome]] = {client: [] for client in CLIENTS}
    for turn in range(args.rounds):
        for client in CLIENTS:
            outcomes[client].append(perform(crew, server, case, client, args.seconds, turn))
    speed = {client: median(one.operations / one.seconds for one in outcomes[client]) for client in CLIENTS}
    cost = {client: median(map(milliseconds, outcomes[client])) for client in CLIENTS}
    ratio = cost["wire"] / cost["pymongo"]
    return (
        f"| {case.title} | {speed['wire']:,.0f} | {speed['pymongo']:,.0f} "
        f"| {cost['wire']:.1f} | {cost['pymongo']:.1f} | {ratio:.2f} |"
    )


if __name__ == "__main__":
    main()
