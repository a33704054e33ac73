"""The same page, rendered from fixture files and from a real server, is the same bytes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from bson import json_util
from pymongo import MongoClient

from tests.acceptance.collections import COLLECTIONS
from tests.hosts.inprocess import CONFIG, built, html, write
from tests.mongod import Mongod

PAGES = Path(__file__).parent / "pages"


def render(page: Path, source: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "mongo_tables.cli", "render", str(page), "--results", source]
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


def test_a_report_of_thirty_two_tables_has_rows_in_each(fixtures: str) -> None:
    done = render(PAGES / "report.md", fixtures)
    assert done.returncode == 0, done.stderr.decode()
    rows = [line for line in done.stdout.decode().splitlines() if "|" in line]
    below = [rows[at + 1] for at, line in enumerate(rows) if re.fullmatch(r"[> ]*[|: -]+", line)]
    assert len(below) == 32
    assert [row for row in below if not re.search(r"\w", row)] == []


def test_a_site_shows_all_tables_of_the_report(fixtures: str, tmp_path: Path) -> None:
    config = f"{CONFIG}markdown_extensions: [tables, admonition]\nplugins: [{{mongo-tables: {{results: '{fixtures}'}}}}]\n"
    write(tmp_path, {"mkdocs.yml": config, "docs/index.md": (PAGES / "report.md").read_text("utf-8")})
    # The linter finds errors in two of the published pipelines, which end a build.
    done = built(tmp_path, preview=True)
    assert done.done, done.log
    assert html(tmp_path, "index.html").count('<figure class="mongo-table"') == 32
