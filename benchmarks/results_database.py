"""What an index spares a results database: `python -m benchmarks.results_database [--write fixtures]`.

Puts result documents into a replica set of one member and asks it, for the pipelines of the tables of
`tests/acceptance/pages`, how many documents it reads: without an index, and with one on `_id.testname`. That depends on
the documents alone, not on the machine. `--write FOLDER` keeps the figures there, in the collection
`results_database`, which `docs/authors/database.md` shows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

import bson
import pymongo
from bson.raw_bson import RawBSONDocument
from pymongo.collection import Collection

from benchmarks.page_queries import queries_of
from mongo_tables.results.extended_json import write_line
from mongo_tables.results.model import Query
from tests.mongod import running
from tests.resultdocuments import result_documents

HERE: Final = Path(__file__).parents[1]
DOCUMENTS: Final = (1_000, 10_000, 200_000)
INDEX: Final = "_id.testname"
COLLECTION: Final = "results"
_TOGETHER: Final = 1_000
_BRIEF: Final = ("start_time", "duration", "variant", "test_config", "bench_config")
"""What is kept of a document beside its `_id`: a server may have to read it, whatever its size."""


def make_documents() -> Iterator[dict[str, Any]]:
    """Result documents without end, those of all experiments, round after round, without their status and series."""
    for number in count(1):
        for document in result_documents(number):
            brief: dict[str, Any] = {name: document[name] for name in _BRIEF if name in document}
            yield {**brief, "_id": {**document["_id"], "round": number}}


def fill(collection: Collection[Any], number: int) -> None:
    """Put documents into a collection until it has so many."""
    more = islice(make_documents(), collection.estimated_document_count(), number)
    while some := list(islice(more, _TOGETHER)):
        collection.insert_many([RawBSONDocument(bson.encode(one)) for one in some])


def count_read(collection: Collection[Any], asked: Sequence[Query]) -> int:
    """How many documents of the collection a server reads for all pipelines."""
    return sum(_examined(_explain(collection, query)) for query in asked)


def _explain(collection: Collection[Any], query: Query) -> Mapping[str, Any]:
    """The plan of a pipeline's `$match`, if it begins with one: by it a server finds the documents, or reads all."""
    leading = [stage for stage in query.pipeline[:1] if "$match" in stage]
    aggregate = {"aggregate": collection.name, "pipeline": leading, "let": dict(query.let), "cursor": {}}
    found: Mapping[str, Any] = collection.database.command("explain", aggregate, verbosity="executionStats")
    return found


def _examined(plan: Any) -> int:
    """The documents that were read by a plan."""
    if isinstance(plan, Mapping):
        if "totalDocsExamined" in plan:
            return int(plan["totalDocsExamined"])
        return sum(map(_examined, plan.values()))
    return sum(map(_examined, plan)) if isinstance(plan, list) else 0


def measure(collection: Collection[Any], number: int, asked: Sequence[Query]) -> dict[str, Any]:
    """The document of so many documents."""
    fill(collection, number)
    without = count_read(collection, asked)
    collection.create_index(INDEX)
    with_it = count_read(collection, asked)
    collection.drop_index(f"{INDEX}_1")
    return {"_id": number, "documents": number, "tables": len(asked), "without": without, "with": with_it}


def list_queries() -> list[Query]:
    """The pipelines of the tables that read result documents."""
    pages = [str(HERE / "tests" / "acceptance" / "pages")]
    return [
        query for query in queries_of(pages, HERE / "docs" / "pipelines") if query.collection == COLLECTION
    ]


def main() -> None:
    """Measure, print, and keep the figures if they are wanted."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--documents", type=int, nargs="+", default=DOCUMENTS)
    options.add_argument("--write", type=Path, metavar="FOLDER", help="keep the figures in a fixture folder")
    arguments = options.parse_args()
    found = []
    with running() as server, pymongo.MongoClient[dict[str, Any]](server.uri()) as client:
        version = client.server_info()["version"]
        for number in sorted(arguments.documents):
            figures = measure(client["results"][COLLECTION], number, list_queries())
            found.append({**figures, "server": version})
            print(found[-1], flush=True)
    if arguments.write:
        place = arguments.write / "results_database"
        place.mkdir(parents=True, exist_ok=True)
        lines = [f"{write_line(bson.encode(one))}\n" for one in found]
        (place / "results_database.jsonl").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
