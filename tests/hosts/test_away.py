"""A results source that cannot be used is told once, at its place: in the log, and in a preview on the page."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pymongo
import pytest

from tests.hosts.inprocess import CONFIG, ROWS, built, seen, table, value, write
from tests.hosts.test_serve import Preview
from tests.mongod import Mongod

BROKEN = f'{ROWS}{{"_id": 3, "a": }}\n{{"a": "z"}}\n'
FAULTS = ["fixtures/r/r.jsonl:3:17: MT310 a value is missing", "fixtures/r/r.jsonl:4:1: MT310 "]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {
        "mkdocs.yml": f"{CONFIG}plugins: [mongo-tables]\n",
        "docs/index.md": f"# Home\n\n{table('one')}\n\n{table('two', least=4)}\n",
        "docs/other.md": f"# Other\n\nThere are {value('one')}.\n\n{table('three')}\n",
        "docs/words.md": "# Words\n\n<!-- no table here -->\n",
        "fixtures/r/r.jsonl": BROKEN,
    }
    return write(tmp_path, files)


def test_a_broken_line_of_a_fixture_is_one_line_of_the_log_at_its_place(site: Path) -> None:
    outcome = built(site)
    assert not outcome.done
    faults = [line for line in outcome.errors if "MT" in line]
    assert len(faults) == len(FAULTS)
    for line, begin in zip(faults, FAULTS, strict=True):
        assert line.startswith(begin)
        assert str(site) not in line
        assert "\\n" not in line


def test_a_broken_line_of_a_fixture_is_one_box_of_a_previewed_page(site: Path) -> None:
    assert built(site, preview=True).done
    (box,) = seen(site, "index.html").faults
    lines = box.strip().split("\n")
    assert [
        line.startswith(begin.replace(": MT310", " MT310")) for line, begin in zip(lines, FAULTS, strict=True)
    ] == [
        True,
        True,
    ]
    first, in_sentence = seen(site, "other/index.html").faults
    assert first == box
    assert in_sentence == "no value: table one has a fault"
    assert seen(site, "words/index.html").faults == []


def test_an_edit_of_a_shared_pipeline_builds_a_previewed_site_once(site: Path) -> None:
    def shared(factor: int) -> str:
        return json.dumps([{"$sort": {"_id": 1}}, {"$set": {"n": {"$multiply": ["$n", factor]}}}])

    write(site, {"fixtures/r/r.jsonl": ROWS, "docs/pipelines/shared.json": shared(1)})
    (site / "docs" / "other.md").unlink()
    page = table("one", pipeline='["shared"]')
    write(site, {"docs/index.md": f"# Home\n\n{page}\n"})
    with Preview(site) as preview:
        preview.wait("", ">3<")
        for factor in (10, 100, 1000):
            write(site, {"docs/pipelines/shared.json": shared(factor)})
            preview.wait("", f">{3 * factor}<")
        time.sleep(2)  # A second build of the last edit would come within a second.
        assert preview.log().count("Documentation built in") <= 4


def test_new_documents_of_a_database_show_in_a_preview_without_a_save(tmp_path: Path, mongod: Mongod) -> None:
    page = f"# Home\n\n{table('one')}\n"
    write(tmp_path, {"mkdocs.yml": f"{CONFIG}plugins: [mongo-tables]\n", "docs/index.md": page})
    with pymongo.MongoClient(mongod.uri()) as client:
        rows = client["previewed"]["r"]
        rows.insert_many([{"_id": 1, "a": "x", "n": 3}, {"_id": 2, "a": "y", "n": 5}])
        client["previewed"].create_collection("seen", viewOn="r", pipeline=[])
        try:
            with Preview(tmp_path, MONGO_TABLES_RESULTS=mongod.uri("previewed")) as preview:
                preview.wait("", ">5<")
                rows.update_one({"_id": 2}, {"$set": {"n": 77}})
                preview.wait("", ">77<")
                rows.insert_one({"_id": 3, "a": "z", "n": 99})
                preview.wait("", ">99<")
                time.sleep(4)
                builds = preview.log().count("Documentation built in")
                time.sleep(5)
                assert preview.log().count("Documentation built in") == builds
        finally:
            client.drop_database("previewed")
