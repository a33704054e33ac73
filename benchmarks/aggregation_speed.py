"""What evaluating pipelines costs as documents grow: `python -m benchmarks.aggregation_speed [PAGE …]`.

Runs the pipelines of all tables of the pages (default: those of ``tests/acceptance/pages``) in turns on this package
and on a real server over loopback, and prints what each takes in processor time, the server's with its client's, and
the ratio; of one run, each number of documents in a process of its own, so that none pays for the memory of another:

* 130, 650 and 1,300 result documents of 170 KB (``--loaded``), of fixtures that a source has read before, as the server
  has them in its cache; and by the evaluator alone, on whole documents in memory;
* 13,000 of about 40 KB (``--from-files``) from a fixture file, which is read anew in each round, by means of the copy
  that was kept when it was first read: the load counts;
* the load of 23 MiB of fixtures without any copy against ``json.loads`` of the same lines.

``--mongomock`` adds what mongomock takes for the pipelines that it runs.

Where the limit is. On two cores of an AMD EPYC that had other work as well, with Python 3.11 and mongod 6.0.5 on
2026-11-27, this package was 1.2, 1.0 and 1.1 times as fast as the server on the loaded documents, the evaluator alone
1.5, 1.2 and 1.0 times, and 0.3 times as fast from files; the load without a copy took 2.0 times as long as
``json.loads``. What is left is spent on points of series:

* Each point is an object of its own. Of sixty that an unwound array has, with a mean and a maximum to be taken, each
  costs about half a microsecond: the look-up of its value, and a handful of steps in C for each value. Without the
  collector, and with names that all documents share, it took as long.
* From files, decoding BSON into such objects takes more than half of the time of a pipeline over series; the digest of
  the file, by which its copies are found, takes a tenth of the whole.
* The load without a copy calls Python for each object of the text, so that a key that is given twice is refused;
  writing BSON takes a third of what ``json.loads`` takes.

To go further, a series would have to stay a column: an array of doubles in the kept copy, of which sums, extremes and
filters take the values without an object for each point; and that in compiled code, as in Python each column would
have to become objects again for any other operator. JSON would have to be read by a compiled reader that tells keys
given twice.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import bson

from benchmarks.documents import HEAVY, LIGHT, Weight, make_documents
from benchmarks.page_queries import queries_of
from mongo_tables.aggregation import aggregate
from mongo_tables.aggregation.join_index import IndexedCollection
from mongo_tables.files.process import seldom_collected
from mongo_tables.results.extended_json import write_line
from mongo_tables.results.file_source import FileSource, open_fixtures
from mongo_tables.results.model import Query
from tests.acceptance.collections import COLLECTIONS

LOADED = (130, 650, 1_300)
FROM_FILES = (13_000,)
_BATCH = 200
_CACHE_GB = "4"
"""Of the server: all documents fit, as into that of a machine with as much memory as this one needs for them."""
_ENOUGH = 2_600
"""Rounds go on until so many documents were asked: the system counts a server's time in hundredths of a second."""

Run = Callable[[Query], object]


def _against_server(
    documents: Iterable[dict[str, Any]],
    asked: Sequence[Query],
    begins: Mapping[str, Callable[[], Run]],
    rounds: int,
) -> None:
    """Print what the server and others take. Each of these begins a round by making what runs its queries."""
    import psutil
    import pymongo

    from tests.mongod import running

    with running(cache_gb=_CACHE_GB) as server:
        client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(server.uri())
        for name, held in {**COLLECTIONS, "results": documents}.items():
            for batch in _in_batches(held):
                client.bench[name].insert_many(batch)
        process = psutil.Process(server.pid)

        def now() -> float:
            there = process.cpu_times()
            return time.process_time() + float(there.user + there.system)

        def ask(query: Query) -> object:
            return list(client.bench[query.collection].aggregate(list(query.pipeline), let=dict(query.let)))

        # Rounds are added up, not compared: the kernel counts another process's time in hundredths of a second.
        taken = dict.fromkeys(("server and its client", *begins), 0.0)
        for number in range(rounds + 1):
            for name, begin in {"server and its client": lambda: ask, **begins}.items():
                began = now()
                run = begin()
                for query in asked:
                    run(query)
                taken[name] += now() - began if number else 0.0
        theirs = taken.pop("server and its client")
        _print("  server and its client", theirs / rounds)
        for name, seconds in taken.items():
            _print(f"  {name}", seconds / rounds, f"{theirs / seconds:.2f} times faster")


def _in_batches(documents: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    iterator = iter(documents)
    while batch := list(islice(iterator, _BATCH)):
        yield batch


def _print(label: str, seconds: float, note: str = "") -> None:
    print(f"{label:<40}{seconds * 1000:10.1f} ms  {note}", flush=True)


def _compare_loaded(number: int, asked: Sequence[Query], rounds: int) -> None:
    print(f"{number:,} documents of {_size_of(HEAVY):,.0f} KB, loaded")
    documents = list(make_documents(number, HEAVY))
    evaluator = _evaluator(documents)
    with tempfile.TemporaryDirectory() as temporary:
        source = _first_read(Path(temporary), documents, asked)
        ways = {
            "this package": lambda: source.aggregate,
            "its evaluator on whole documents": lambda: evaluator,
        }
        _against_server(documents, asked, ways, max(rounds, _ENOUGH // number))


def _evaluator(documents: Iterable[dict[str, Any]]) -> Run:
    held = {name: IndexedCollection(others) for name, others in COLLECTIONS.items()}
    held["results"] = IndexedCollection(documents)
    return lambda query: aggregate(
        held[query.collection], query.pipeline, collections=held, variables=query.let
    )


def _compare_from_files(number: int, asked: Sequence[Query], rounds: int) -> None:
    print(f"{number:,} documents of {_size_of(LIGHT):,.0f} KB, from a file with a kept copy")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _first_read(folder, make_documents(number, LIGHT), asked)
        ways = {"this package": lambda: open_fixtures(folder / "fixtures").aggregate}
        _against_server(make_documents(number, LIGHT), asked, ways, rounds)


def _first_read(folder: Path, documents: Iterable[dict[str, Any]], asked: Sequence[Query]) -> FileSource:
    """A source of fixtures with the documents, which has run all queries once, and kept copies in the folder."""
    for name, held in {**COLLECTIONS, "results": documents}.items():
        (folder / "fixtures" / name).mkdir(parents=True)
        with (folder / "fixtures" / name / "all.jsonl").open("w", encoding="utf-8") as lines:
            lines.writelines(f"{write_line(bson.encode(one))}\n" for one in held)
    source = open_fixtures(folder / "fixtures")
    for query in asked:
        source.aggregate(query)
    return source


def _size_of(weight: Weight) -> float:
    some = [len(bson.encode(one)) for one in make_documents(47, weight)]
    return sum(some) / len(some) / 1000


def _against_mongomock(number: int, asked: Sequence[Query], rounds: int) -> None:
    import mongomock

    documents = list(make_documents(number, HEAVY))
    client: Any = mongomock.MongoClient()
    for name, held in {**COLLECTIONS, "results": documents}.items():
        client.bench[name].insert_many(held)

    def ask(query: Query) -> Any:
        return list(client.bench[query.collection].aggregate(list(query.pipeline)))

    able = [query for query in asked if _able(ask, query)]
    print(f"{number:,} documents, the {len(able)} of {len(asked)} pipelines that mongomock runs")
    if able:
        theirs, ours = _least(1, ask, able), _least(rounds, _evaluator(documents), able)
        _print("  mongomock", theirs)
        _print("  this package", ours, f"{theirs / ours:.0f} times faster")


def _able(ask: Run, query: Query) -> bool:
    try:
        return ask(query) is not None
    except Exception:  # whatever mongomock raises, it cannot do this pipeline
        return False


def _least(rounds: int, run: Run, asked: Sequence[Query]) -> float:
    """The least processor time of all queries: the sum of the least of each."""
    return sum(min(_times(rounds, run, query)) for query in asked)


def _times(rounds: int, run: Run, query: Query) -> Iterator[float]:
    for _ in range(rounds):
        began = time.process_time()
        run(query)
        yield time.process_time() - began


def _run_apart(given: argparse.Namespace, part: str, number: int) -> None:
    """One comparison in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.aggregation_speed",
        *given.pages,
        "--only",
        part,
        str(number),
    ]
    subprocess.run([*command, "--rounds", str(given.rounds)], check=True)


_PARTS = {"loaded": _compare_loaded, "from-files": _compare_from_files, "mongomock": _against_mongomock}


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("pages", nargs="*", default=["tests/acceptance/pages"], metavar="PAGE")
    options.add_argument("-n", "--rounds", type=int, default=3)
    options.add_argument("--loaded", type=int, nargs="*", default=LOADED, metavar="DOCUMENTS")
    options.add_argument("--from-files", type=int, nargs="*", default=FROM_FILES, metavar="DOCUMENTS")
    options.add_argument("--mongomock", type=int, nargs="*", default=(), metavar="DOCUMENTS")
    options.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.only:
        part, number = given.only
        asked = queries_of(given.pages, Path("docs/pipelines"))
        with seldom_collected():  # as every build does
            _PARTS[part](int(number), asked, given.rounds)
        return
    for part, numbers in (
        ("loaded", given.loaded),
        ("from-files", given.from_files),
        ("mongomock", given.mongomock),
    ):
        for number in numbers:
            _run_apart(given, part, number)
    subprocess.run([sys.executable, "-m", "benchmarks.loading_speed"], check=True)


if __name__ == "__main__":
    main()
