"""The same documents as files and on a server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pymongo

from tests.mongod import Mongod

KINDS = ("files", "server")
Collections = Mapping[str, Sequence[Mapping[str, Any]]]


def stored(kind: str, collections: Collections, folder: Path, server: Mongod) -> str:
    """Store documents in a folder or a database that has no others, and return it as a results source."""
    if kind == "files":
        for name, documents in collections.items():
            (folder / "results" / name).mkdir(parents=True)
            content = "".join(json.dumps(one) + "\n" for one in documents)
            (folder / "results" / name / "a.jsonl").write_text(content)
        return str(folder / "results")
    with pymongo.MongoClient[dict[str, Any]](server.uri()) as client:
        client.drop_database("explained")
        for name, documents in collections.items():
            client["explained"][name].insert_many([dict(one) for one in documents])
    return server.uri("explained")
