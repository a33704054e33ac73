"""What evaluating pipelines costs: `python -m benchmarks.aggregation_speed [PAGE …]`.

Runs the pipelines of all tables of the pages (default: those of ``tests/acceptance/pages``) over 130 result
documents of about 150 KB, in one process and in turns: on the evaluator with the documents loaded, on a real server
over loopback, and on mongomock where it gives any result. Printed are the least CPU times of the rounds (against the
server the mean, and its process counts with the client's), the ratios, what the evaluator needs for three and ten
times the documents, and what it costs to load them from fixture files.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.documents import heavy_documents
from preprocessor.aggregation import aggregate
from preprocessor.pages.asking import queries
from preprocessor.pages.files import read_pages
from preprocessor.results.model import Query

DOCUMENTS = 130
Run = Callable[[Query], Any]


def _evaluator(documents: list[dict[str, Any]]) -> Run:
    return lambda query: aggregate(documents, query.pipeline, variables=query.let)


def _least(rounds: int, clock: Callable[[], float], run: Run, asked: Sequence[Query]) -> float:
    """The least time of all queries by ``clock``: the sum of the least of each."""
    return sum(min(_times(rounds, clock, run, query)) for query in asked)


def _times(rounds: int, clock: Callable[[], float], run: Run, query: Query) -> list[float]:
    found = []
    for _ in range(rounds):
        began = clock()
        run(query)
        found.append(clock() - began)
    return found


def _print(label: str, seconds: float, note: str = "") -> None:
    print(f"{label:<58}{seconds * 1000:10.1f} ms  {note}")


def _against_server(documents: list[dict[str, Any]], asked: Sequence[Query], rounds: int) -> None:
    import psutil
    import pymongo

    from tests.mongod import running

    with running() as server:
        client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(server.uri())
        collection = client.bench.results
        collection.insert_many(documents)
        process = psutil.Process(server.pid)

        def both() -> float:
            there = process.cpu_times()
            return time.process_time() + float(there.user + there.system)

        def ask(query: Query) -> Any:
            return list(collection.aggregate(list(query.pipeline), let=dict(query.let)))

        own = _evaluator(documents)
        _least(1, time.perf_counter, ask, asked)
        theirs, ours, wall = 0.0, 0.0, [float("inf")] * len(asked)
        for _ in range(rounds):
            # The kernel counts another process's time in hundredths of a second: rounds are added up, not compared.
            began = both()
            for index, query in enumerate(asked):
                wall[index] = min(wall[index], *_times(1, time.perf_counter, ask, query))
            between = both()
            for query in asked:
                own(query)
            theirs, ours = theirs + between - began, ours + both() - between
        _print("real server over loopback, least wall clock", sum(wall))
        _print("real server over loopback, CPU of server and client", theirs / rounds)
        _print(
            "evaluator, CPU in the same rounds",
            ours / rounds,
            f"server takes {theirs / ours:.1f} times as long",
        )


def _against_mongomock(documents: list[dict[str, Any]], asked: Sequence[Query], rounds: int) -> None:
    import mongomock

    collection: Any = mongomock.MongoClient().bench.results
    collection.insert_many(documents)

    def ask(query: Query) -> Any:
        return list(collection.aggregate(list(query.pipeline)))

    able = [query for query in asked if _able(ask, query)]
    if not able:
        print("mongomock runs none of them")
        return
    theirs = _least(1, time.process_time, ask, able)
    ours = _least(rounds, time.process_time, _evaluator(documents), able)
    _print(f"mongomock, the {len(able)} of {len(asked)} that it runs", theirs)
    _print("evaluator, the same ones", ours, f"mongomock takes {theirs / ours:.0f} times as long")


def _able(ask: Run, query: Query) -> bool:
    try:
        return ask(query) is not None
    except Exception:  # whatever mongomock raises, it cannot do this pipeline
        return False


def _growth(documents: list[dict[str, Any]], asked: Sequence[Query], rounds: int) -> None:
    runs = {1: _evaluator(documents)}
    runs |= {factor: _evaluator(heavy_documents(DOCUMENTS * factor)) for factor in (3, 10)}
    least = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for factor, run in runs.items():
            least[factor] = min(least[factor], _least(1, time.process_time, run, asked))
    _print("evaluator", least[1])
    for factor in (3, 10):
        _print(
            f"evaluator, {factor} times the documents",
            least[factor],
            f"{least[factor] / least[1]:.1f} times the time",
        )


def _loading(documents: list[dict[str, Any]], asked: Sequence[Query]) -> None:
    from bson import json_util

    from preprocessor.results.fixtures import FixtureSource

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "fixtures"
        (folder / "results").mkdir(parents=True)
        os.environ["MONGO_TABLES_CACHE"] = str(Path(temporary) / "cache")
        lines = [json_util.dumps(one, json_options=json_util.RELAXED_JSON_OPTIONS) for one in documents]
        (folder / "results" / "all.jsonl").write_text("\n".join(lines), encoding="utf-8")
        size = sum(len(line) for line in lines) / 2**20
        for label in ("no cache yet", "from the cache"):
            source = FixtureSource(folder)
            began = time.process_time()
            for query in asked:
                source.aggregate(query)
            _print(f"all pipelines from {size:.0f} MiB of fixtures, {label}", time.process_time() - began)


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("pages", nargs="*", default=["tests/acceptance/pages"], metavar="PAGE")
    options.add_argument("-n", "--rounds", type=int, default=5)
    given = options.parse_args()
    asked = queries(read_pages(given.pages, "docs/pipelines"))
    documents = heavy_documents(DOCUMENTS)
    print(f"{len(asked)} pipelines, {DOCUMENTS} documents")
    _growth(documents, asked, given.rounds)
    _against_server(documents, asked, given.rounds)
    _against_mongomock(documents, asked, given.rounds)
    _loading(documents, asked)


if __name__ == "__main__":
    main()
