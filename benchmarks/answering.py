"""Answers pipelines by one library: `python answering.py LIBRARY < CASES > ANSWERS`, a JSON object a line.

It imports nothing of this project at its top, because it runs where nothing but the library is installed. The first
line that it writes has the versions, each other one the answer to a case: `rows`, the BSON of each, or `error`.
"""

from __future__ import annotations

import base64
import json
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import bson
from bson import json_util
from bson.codec_options import CodecOptions, DatetimeConversion
from pymongo.errors import PyMongoError

SECONDS: Final = 20
"""A pipeline that takes longer is one that cannot be answered."""
SERVER: Final = "STAND_INS_SERVER"
"""Environment variable with the URI of the server that is asked."""

JSON_OPTIONS: Final = json_util.JSONOptions(
    json_mode=json_util.JSONMode.CANONICAL,
    tz_aware=False,
    datetime_conversion=DatetimeConversion.DATETIME_AUTO,
)
_FOLDERS: Final = tempfile.TemporaryDirectory()
"""Fixture folders are there as long as they are asked."""
Case = Mapping[str, Any]
Database = Any


class Library(NamedTuple):
    """What answers: the name of its distribution, and a function that gives a database with collections."""

    distribution: str
    fill: Callable[[Mapping[str, Any]], Database]


def main() -> None:
    """Answer every case of standard input, in order."""
    library = LIBRARIES[sys.argv[1]]
    versions = {"version": version(library.distribution), "pymongo": version("pymongo")}
    print(json.dumps({**versions, "python": platform.python_version()}))
    signal.signal(signal.SIGALRM, _give_up)
    for line in sys.stdin:
        case = json.loads(
            line, object_pairs_hook=lambda pairs: json_util.object_pairs_hook(pairs, JSON_OPTIONS)
        )
        print(json.dumps(answer(case, library)), flush=True)


def answer(case: Case, library: Library) -> dict[str, Any]:
    """The answer to a case: its rows, or the class of the error, and whether a driver raises it too."""
    signal.alarm(SECONDS)
    try:
        database = library.fill(case["collections"])
        variables = {"let": case["let"]} if case.get("let") else {}
        rows = [encode(row) for row in database[case["collection"]].aggregate(case["pipeline"], **variables)]
    except PyMongoError as error:
        return {"error": type(error).__name__, "by_driver": True}
    except Exception as error:  # whatever a library raises, it is no answer
        return {"error": type(error).__name__, "by_driver": False}
    finally:
        signal.alarm(0)
    return {"rows": rows}


def _give_up(*_: object) -> None:
    raise TimeoutError


def encode(row: Any) -> str:
    """A row as BSON, within another document: PyMongo would move the `_id` of an outer one."""
    return base64.b64encode(bson.encode({"": row})).decode()


def _fill_server(collections: Mapping[str, Any]) -> Database:
    import pymongo
    from bson.raw_bson import RawBSONDocument

    client: Any = pymongo.MongoClient(
        os.environ[SERVER], datetime_conversion="DATETIME_AUTO", unicode_decode_error_handler="replace"
    )
    database = client["cases"]
    for name in database.list_collection_names():
        database[name].drop()
    for name, documents in collections.items():
        if documents:
            database[name].insert_many([RawBSONDocument(bson.encode(one)) for one in documents])
    return database.with_options(codec_options=CodecOptions(document_class=RawBSONDocument))


def _fill_ours(collections: Mapping[str, Any]) -> Database:
    """A fixture folder, as a test of an application reads it."""
    from mongo_tables.results.extended_json import write_line
    from mongo_tables.results.file_source import open_fixtures
    from mongo_tables.results.mock_database import FixtureDatabase

    folder = Path(tempfile.mkdtemp(dir=_FOLDERS.name))
    for name, documents in collections.items():
        (folder / name).mkdir()
        lines = [write_line(bson.encode(one)) for one in documents]
        (folder / name / "all.jsonl").write_text("\n".join(lines), "utf-8")
    return FixtureDatabase(open_fixtures(folder))


def _filling(module: str) -> Callable[[Mapping[str, Any]], Database]:
    """By a library that has a client as PyMongo has."""

    def fill(collections: Mapping[str, Any]) -> Database:
        database = import_module(module).MongoClient()["cases"]
        for name, documents in collections.items():
            if documents:
                database[name].insert_many(documents)
        return database

    return fill


LIBRARIES: Final = {
    "server": Library("pymongo", _fill_server),
    "mongo-tables": Library("mongo-tables", _fill_ours),
    "mongomock": Library("mongomock", _filling("mongomock")),
    "mongomock-ng": Library("mongomock-ng", _filling("mongomock_ng")),
    "mongoeco": Library("mongoeco", _filling("mongoeco")),
}

if __name__ == "__main__":
    main()
