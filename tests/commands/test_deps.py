"""`mongo-tables deps`: whatever changes a figure of a page is among the files of that page."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_commands import mongo_tables

TABLE = """\
<!-- MONGO_TABLE: {"id": "speed", "collection": "runs", "pipeline": ["outer", {"$sort": {"n": 1}}],
  "columns": ["n"], "headers": ["Run"]} -->
"""
JOINED = """\
<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [{"$facet": {"all": [{"$lookup":
  {"from": "machines", "localField": "m", "foreignField": "_id", "as": "on"}}]}}], "columns": ["all"]} -->
"""
VALUE = '<!-- MONGO_VALUE: {"table": "speed", "column": "n", "where": {"n": 1}} -->'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for folder in ("docs/pipelines", "parts", "fixtures/runs", "fixtures/machines", "fixtures/others"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "mkdocs.yml").write_text("site_name: S\nplugins: [mongo-tables]\n")
    (tmp_path / "docs/table.md").write_text(TABLE)
    (tmp_path / "docs/joined.md").write_text(JOINED)
    (tmp_path / "docs/prose.md").write_text(f"It is {VALUE}.\n")
    (tmp_path / "docs/taking.md").write_text('--8<-- "parts/part.md"\n')
    (tmp_path / "docs/plain.md").write_text("# Nothing\n")
    (tmp_path / "parts/part.md").write_text(TABLE.replace("speed", "taken-in"))
    (tmp_path / "docs/pipelines/outer.json").write_text('["inner"]')
    (tmp_path / "docs/pipelines/inner.json").write_text('[{"$match": {"n": {"$gt": 0}}}]')
    for file in ("runs/a", "runs/b", "machines/m", "others/o"):
        (tmp_path / f"fixtures/{file}.jsonl").write_text(f'{{"_id": "{file}", "n": 1}}\n')
    return tmp_path


RUNS = ["fixtures/runs/a.jsonl", "fixtures/runs/b.jsonl"]
SHARED = ["docs/pipelines/inner.json", "docs/pipelines/outer.json"]


def deps(site: Path, *arguments: str, **environment: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        mongo_tables("deps", "--json", *arguments, cwd=site, **environment).stdout
    )
    return found


def pages_in(found: dict[str, Any]) -> dict[str, Any]:
    return {page["page"]: page for page in found["pages"]}


@pytest.mark.parametrize(
    ("page", "files"),
    [
        ("docs/table.md", [*SHARED, "docs/table.md", *RUNS, "mkdocs.yml"]),
        ("docs/joined.md", ["docs/joined.md", "fixtures/machines/m.jsonl", *RUNS, "mkdocs.yml"]),
        ("docs/prose.md", [*SHARED, "docs/prose.md", "docs/table.md", *RUNS, "mkdocs.yml"]),
        ("docs/taking.md", [*SHARED, "docs/taking.md", *RUNS, "mkdocs.yml", "parts/part.md"]),
        ("docs/plain.md", ["docs/plain.md"]),
    ],
)
def test_a_page_has_all_files_that_it_is_made_from_and_no_other(
    page: str, files: list[str], site: Path
) -> None:
    assert pages_in(deps(site))[page]["files"] == files
    assert pages_in(deps(site, page))[page]["files"] == files


def test_a_figure_says_where_it_stands_and_what_it_reads(site: Path) -> None:
    (figure,) = pages_in(deps(site))["docs/prose.md"]["figures"]
    assert (figure["file"], figure["line"], figure["column"]) == ("docs/prose.md", 1, 7)
    assert (figure["kind"], figure["id"], figure["table"]) == ("value", None, "speed")
    assert figure["collections"] == ["runs"]
    assert figure["files"] == [*SHARED, "docs/table.md", *RUNS]


def test_digests_are_those_of_the_files(site: Path) -> None:
    found = deps(site)["files"]
    assert found.keys() == {file for page in deps(site)["pages"] for file in page["files"]}
    for file, digest in found.items():
        assert digest == hashlib.sha256((site / file).read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("fixtures/runs/b.jsonl", {"table", "joined", "prose", "taking"}),
        ("fixtures/machines/m.jsonl", {"joined"}),
        ("fixtures/others/o.jsonl", set()),
        ("docs/pipelines/inner.json", {"table", "prose", "taking"}),
        ("docs/table.md", {"table", "prose"}),
        ("parts/part.md", {"taking"}),
        ("docs/plain.md", {"plain"}),
    ],
)
def test_the_digest_of_a_page_changes_with_what_it_is_made_from_alone(
    file: str, changed: set[str], site: Path
) -> None:
    before = pages_in(deps(site))
    (site / file).write_text((site / file).read_text() + "\n")
    after = pages_in(deps(site))
    assert {Path(page).stem for page in before if before[page]["digest"] != after[page]["digest"]} == changed


def test_files_that_the_site_inherits_are_among_those_of_a_page_with_figures(site: Path) -> None:
    (site / "mkdocs.yml").write_text("site_name: S\nINHERIT: shared/base.yml\n")
    (site / "shared").mkdir()
    (site / "shared/base.yml").write_text("INHERIT: ../root.yml\n")
    (site / "root.yml").write_text('plugins: [mongo-tables: {server: "8.0"}]\n')
    before = pages_in(deps(site))
    assert before["docs/joined.md"]["files"][-3:] == ["mkdocs.yml", "root.yml", "shared/base.yml"]
    assert before["docs/plain.md"]["files"] == ["docs/plain.md"]
    (site / "root.yml").write_text('plugins: [mongo-tables: {server: "4.4"}]\n')
    assert pages_in(deps(site))["docs/joined.md"]["digest"] != before["docs/joined.md"]["digest"]


def test_a_new_file_of_a_collection_is_a_change(site: Path) -> None:
    before = pages_in(deps(site))["docs/table.md"]["digest"]
    (site / "fixtures/runs/c.jsonl").write_text('{"_id": 3, "n": 3}\n')
    assert pages_in(deps(site))["docs/table.md"]["digest"] != before


@pytest.mark.parametrize("stage", ['{"$sample": {"size": 1}}', '{"$set": {"at": "$$NOW"}}'])
def test_a_page_whose_figures_change_by_themselves_has_no_digest(stage: str, site: Path) -> None:
    (site / "docs/table.md").write_text(TABLE.replace('{"$sort": {"n": 1}}', stage))
    found = pages_in(deps(site))
    assert [found[f"docs/{name}.md"]["digest"] for name in ("table", "prose")] == [None, None]
    assert found["docs/joined.md"]["digest"]


def test_of_a_database_no_page_with_figures_has_a_digest_and_no_password_is_told(site: Path) -> None:
    done = mongo_tables("deps", "--json", "--results", "mongodb://me:hidden@127.0.0.1:9/bench", cwd=site)
    found = pages_in(json.loads(done.stdout))
    assert found["docs/table.md"]["digest"] is None
    assert found["docs/plain.md"]["digest"]
    assert "so no file shows whether they changed" in done.stderr
    assert "hidden" not in done.stdout + done.stderr


def test_plain_files_are_files_of_their_collection(site: Path) -> None:
    (site / "runs.csv").write_text("n\n1\n")
    found = pages_in(deps(site, "--results", "runs.csv"))
    assert found["docs/table.md"]["files"] == [*SHARED, "docs/table.md", "mkdocs.yml", "runs.csv"]


def test_a_page_with_a_fault_is_told_and_the_others_are_listed(site: Path) -> None:
    (site / "docs/plain.md").write_text(TABLE.replace("columns", "colums"))
    done = mongo_tables("deps", "--json", cwd=site, expect=1)
    assert "docs/plain.md:2:3: error MT130" in done.stderr
    assert pages_in(json.loads(done.stdout))["docs/joined.md"]["digest"]


def test_without_a_form_it_is_a_list_to_read(site: Path) -> None:
    done = mongo_tables("deps", "docs/prose.md", cwd=site)
    assert done.stdout.splitlines()[:2] == ["docs/prose.md", "  docs/pipelines/inner.json"]
