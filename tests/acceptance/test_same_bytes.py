"""The same page, rendered from fixture files and from a real server, is the same bytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from bson import json_util
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from pymongo import MongoClient

from tests.mongod import Mongod
from tests.resultdocuments import result_documents

PAGES = Path(__file__).parent / "pages"
SEED = Path(__file__).parents[2] / "../shared/seeds/mongodb-performance-tables.md"

MIXED = [
    1,
    2.5,
    Int64(3),
    Decimal128("4.50"),
    None,
    0.1,
    -0.0,
    2**31 - 1,
    Int64(2**62),
    1e21,
    2.675,
    Decimal128("1E+3"),
]
COLLECTIONS = {
    "results": result_documents(),
    "mixed": [{"_id": n, "v": value} for n, value in enumerate(MIXED)] + [{"_id": len(MIXED)}],
}


def render(page: Path, source: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "preprocessor.cli", "render", str(page), "--results", source]
    return subprocess.run(command, capture_output=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("fixtures")
    for name, documents in COLLECTIONS.items():
        (folder / name).mkdir()
        lines = [json_util.dumps(one, json_options=json_util.CANONICAL_JSON_OPTIONS) for one in documents]
        (folder / name / "all.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return str(folder)


@pytest.fixture(scope="module")
def database(mongod: Mongod) -> str:
    client: MongoClient[dict[str, object]] = MongoClient(mongod.uri())
    for name, documents in COLLECTIONS.items():
        client.acceptance[name].drop()
        client.acceptance[name].insert_many([dict(one) for one in documents])
    client.close()
    return mongod.uri("acceptance")


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_fixture_and_server_give_the_same_bytes(page: Path, fixtures: str, database: str) -> None:
    offline, online = render(page, fixtures), render(page, database)
    assert (offline.returncode, offline.stderr) == (0, b"")
    assert offline.stdout == online.stdout
    text = offline.stdout.decode()
    assert "MONGO_TABLE" not in text
    assert text.count("| ---") + text.count("| --:") + text.count("| :-") >= page.read_text().count(
        "MONGO_TABLE"
    )


def test_an_existing_document_of_32_tables_needs_no_change(fixtures: str, database: str) -> None:
    if not SEED.exists():
        # The document is not ours to ship; the pages beside this test use the same operators.
        return
    offline, online = render(SEED, fixtures), render(SEED, database)
    assert offline.returncode == 0, offline.stderr.decode()
    assert offline.stdout == online.stdout
    rows = [line for line in offline.stdout.decode().splitlines() if line.startswith("|")]
    separators = [index for index, line in enumerate(rows) if set(line) <= set("|-: ")]
    ours = separators[1:]  # the first table of the document is written by hand
    assert len(ours) == 32
    assert all(index + 1 < len(rows) and not set(rows[index + 1]) <= set("|-: ") for index in ours)
