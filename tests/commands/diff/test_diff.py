"""``diff``: what changed between two results is listed, cell by cell, and nothing else is."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from bson import json_util
from pymongo import MongoClient

from tests.commands.test_commands import mongo_tables
from tests.mongod import Mongod

TABLE = json.dumps(
    {
        "id": "speed",
        "collection": "runs",
        "pipeline": [{"$sort": {"_id": 1}}, {"$project": {"threads": "$t", "disk": "$d", "ops": "$o"}}],
        "columns": ["threads", "disk", "ops"],
        "headers": ["Threads", "Disk", "Speed"],
        "format": {"ops": {"decimals": 0, "thousands": True, "unit": "ops/s"}},
    }
)
PAGE = f"# Runs\n\n<!-- MONGO_TABLE: {TABLE} -->\n"


def run(number: int, threads: int, ops: float, disk: str = "a", **more: object) -> dict[str, object]:
    return {"_id": number, "t": threads, "o": ops, "d": disk, **more}


def write(folder: Path, *documents: dict[str, object]) -> None:
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    lines = "".join(json_util.dumps(one) + "\n" for one in documents)
    (folder / "runs" / "a.jsonl").write_text(lines)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(PAGE)
    write(tmp_path / "old", run(1, 1, 4200), run(2, 8, 30100))
    return tmp_path


def lines(project: Path, *options: str, expect: int = 1) -> list[str]:
    return mongo_tables("diff", "old", "new", *options, cwd=project, expect=expect).stdout.splitlines()


def test_the_same_results_differ_in_nothing(project: Path) -> None:
    write(project / "new", run(2, 8, 30100), run(1, 1, 4200))
    assert lines(project, expect=0) == ["nothing changed"]


def test_values_of_plain_files_are_told_as_they_are_shown(project: Path) -> None:
    (project / "docs" / "page.md").write_text(PAGE.replace('"decimals": 0, ', ""))
    for name, speed in (("old", 4200.123456), ("new", 12.3456789)):
        (project / f"{name}.json").write_text(json.dumps([run(1, 1, speed)]))
    shown = mongo_tables("diff", "runs=old.json", "runs=new.json", cwd=project, expect=1).stdout
    assert "4,200 → 12.35" in shown


def test_a_changed_cell_is_told_with_page_line_row_column_both_values_and_ratio(project: Path) -> None:
    write(project / "new", run(1, 1, 4200), run(2, 8, 45150))
    assert lines(project) == [
        "docs/page.md:3: speed",
        "  8, Speed (ops/s): 30,100 → 45,150 (1.5 times)",
    ]


def test_a_change_that_a_format_hides_is_told_with_raw_values(project: Path) -> None:
    write(project / "new", run(1, 1, 4200), run(2, 8, 30100.25))
    assert lines(project)[1] == "  8, Speed (ops/s): 30100 → 30100.25 (1 times)"


def test_a_change_of_the_sign_has_no_ratio(project: Path) -> None:
    write(project / "old", run(1, 1, -21.9))
    write(project / "new", run(1, 1, 17.1))
    assert lines(project)[1:] == ["  1, Speed (ops/s): -22 → 17"]


def test_rows_that_came_and_went_are_told(project: Path) -> None:
    write(project / "new", run(1, 1, 4200), run(3, 16, 41000))
    assert lines(project)[1:] == ["  row came: 16", "  row went: 8"]


def test_rows_are_paired_by_what_tells_them_apart(project: Path) -> None:
    write(project / "old", run(1, 1, 10, "a"), run(2, 1, 20, "b"))
    write(project / "new", run(1, 1, 10, "a"), run(2, 1, 30, "b"), run(3, 1, 40, "c"))
    assert lines(project)[1:] == ["  row came: 1, c", "  1, b, Speed (ops/s): 20 → 30 (1.5 times)"]


def test_a_row_that_went_changes_no_other(project: Path) -> None:
    rows = [run(1, 1, 1, "a"), run(2, 1, 10, "b"), run(3, 1, 100, "c"), run(4, 8, 2, "a")]
    write(project / "old", *rows)
    write(project / "new", *rows[1:])
    assert lines(project)[1:] == ["  row went: 1, a"]


def test_a_point_of_a_chart_is_known_by_its_place_and_its_series(project: Path) -> None:
    chart = TABLE.replace(
        '"columns": ["threads", "disk", "ops"]', '"x": "threads", "y": "ops", "series": "disk"'
    )
    chart = chart.replace('"headers": ["Threads", "Disk", "Speed"]', '"mark": "dot"')
    (project / "docs" / "page.md").write_text(f"<!-- MONGO_CHART: {chart} -->\n")
    rows = [run(1, 1, 5, "a"), run(2, 1, 50, "b"), run(3, 8, 7, "a"), run(4, 8, 70, "b")]
    write(project / "old", *rows)
    write(project / "new", rows[1], run(3, 8, 14, "a"), rows[3])
    assert lines(project)[1:] == ["  row went: 1, a", "  8, a, ops (ops/s): 7 → 14 (2 times)"]


def test_rows_that_nothing_tells_apart_are_said_to_be_unclear(project: Path) -> None:
    write(project / "old", run(1, 1, 10), run(2, 1, 20))
    write(project / "new", run(1, 1, 10), run(2, 1, 30))
    found = lines(project)
    assert found[1:] == [
        "  row came: 1",
        "  row went: 1",
        "  several rows have the name 1, so only equal rows are paired",
    ]


def test_rows_that_nothing_tells_apart_and_one_of_which_went_are_not_paired_by_position(
    project: Path,
) -> None:
    write(project / "old", run(1, 1, 10), run(2, 1, 20), run(3, 1, 30))
    write(project / "new", run(2, 1, 20), run(3, 1, 30))
    found = lines(project)
    assert found[1] == "  row went: 1"
    assert found[2].startswith("  several rows have the name 1")
    assert len(found) == 3


def test_what_was_measured_otherwise_is_told(project: Path) -> None:
    old, new = {"versions": {"server": "6.0.5"}}, {"versions": {"server": "8.0.4"}}
    write(project / "old", run(1, 1, 10, **old), run(2, 8, 20, **old))
    write(project / "new", run(1, 1, 10, **old), run(2, 8, 20, **new))
    assert lines(project)[1:] == ["  measured differently: server 6.0.5 → 6.0.5, 8.0.4"]


def test_a_changed_experiment_is_never_compared_with_its_past(project: Path) -> None:
    old, new = {"experiment": {"digest": "aa"}}, {"experiment": {"digest": "bb"}}
    write(project / "old", run(1, 1, 10, **old))
    write(project / "new", run(1, 1, 20, **new))
    found = lines(project)
    assert found[1] == "  measured differently: experiment digest aa → bb"
    assert "the figures come from different tests" in found[2]
    assert found[3] == "  1, Speed (ops/s): 10 → 20"


def test_a_source_without_the_collection_has_lost_all_rows(project: Path) -> None:
    (project / "new" / "other").mkdir(parents=True)
    (project / "new" / "other" / "a.jsonl").write_text('{"_id": 1}\n')
    assert lines(project)[1:] == ["  row went: 1", "  row went: 8"]


def test_json_has_the_same_content(project: Path) -> None:
    write(project / "new", run(1, 1, 4200), run(2, 8, 45150))
    (table,) = json.loads("\n".join(lines(project, "--format", "json")))["tables"]
    assert (table["page"], table["line"], table["name"]) == ("docs/page.md", 3, "speed")
    (cell,) = table["cells"]
    assert cell == {"row": "8", "column": "Speed (ops/s)", "old": "30,100", "new": "45,150", "ratio": 1.5}


def test_markdown_escapes_values(project: Path) -> None:
    write(project / "new", run(1, 1, 4200, "<b>|*"), run(2, 8, 30100))
    found = lines(project, "--format", "markdown")
    assert found[0] == "### Numbers that change"
    assert "**1 number changed**, at new, compared with old." in found
    assert "| 1 | Disk | a | <code>&#60;b&#62;&#124;&#42;</code> |  |" in found


def test_markdown_to_print_has_all_changes(project: Path) -> None:
    write(project / "new", *(run(number, number, number) for number in range(1, 3000)))
    found = lines(project, "--format", "markdown")
    assert len([line for line in found if "**new row**" in line]) > 2900
    assert "**1 number" not in found[0] and "<details><summary>All changes</summary>" in found


def test_a_page_with_a_fault_in_a_pipeline_says_which_side_has_no_rows(project: Path) -> None:
    text = PAGE.replace('"ops": "$o"', '"ops": {"$divide": [8, "$o"]}')
    (project / "docs" / "page.md").write_text(text)
    write(project / "new", run(1, 1, 4200), run(2, 8, 0))
    assert any(line.startswith("  the new has no rows: ") for line in lines(project))


def test_a_revision_is_compared_with_the_files(project: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=project, check=True, capture_output=True)

    git("init", "-q")
    git("add", "old")
    git("commit", "-q", "-m", "results")
    write(project / "old", run(1, 1, 4200), run(2, 8, 60200))
    done = mongo_tables("diff", "HEAD:old", "old", cwd=project, expect=1)
    assert done.stdout.splitlines()[1] == "  8, Speed (ops/s): 30,100 → 60,200 (2 times)"
    assert "no-such" in mongo_tables("diff", "no-such:old", "old", cwd=project, expect=2).stderr
    # Its files would be those of the work tree, which differ in nothing from themselves.
    absolute = mongo_tables("diff", f"HEAD:{project / 'old'}", "old", cwd=project, expect=2)
    assert "the path of a revision must be relative" in absolute.stderr


def test_files_and_a_server_with_the_same_documents_differ_in_nothing(project: Path, mongod: Mongod) -> None:
    client: MongoClient[dict[str, object]] = MongoClient(mongod.uri())
    client.diffed.runs.drop()
    client.diffed.runs.insert_many([run(1, 1, 4200), run(2, 8, 30100)])
    mongo_tables("diff", "old", mongod.uri("diffed"), cwd=project, expect=0)
    client.drop_database("diffed")


@pytest.mark.parametrize(
    "source",
    [
        "me:swordfish@host/d",
        "mongodb//me:swordfish@host",
        "mongodb:/me:swordfish@host",
        "mongodb://me:swordfish@:x",
    ],
)
def test_a_mistyped_uri_keeps_its_password(source: str, project: Path) -> None:
    done = mongo_tables("diff", source, "old", cwd=project, expect=2)
    assert done.stderr and "swordfish" not in done.stderr + done.stdout


def test_a_long_uri_is_no_file(project: Path) -> None:
    hosts = ",".join(f"127.0.0.1:{port}" for port in range(1, 31))
    uri = f"mongodb://{hosts}/d?serverSelectionTimeoutMS=100"
    assert "no answer" in mongo_tables("diff", "old", uri, cwd=project, expect=2).stderr


def test_trouble_is_one_line(project: Path) -> None:
    assert "OLD or NEW is empty" in mongo_tables("diff", "", "old", cwd=project, expect=2).stderr
    assert "PAGE" not in mongo_tables("diff", "old", cwd=project, expect=2).stderr.splitlines()[-1]
    assert "nowhere" in mongo_tables("diff", "old", "nowhere", cwd=project, expect=2).stderr
    (project / "site").mkdir()
    (project / "site" / "mkdocs.yml").write_text("site_name: A site\n")
    assert "a checkout" in mongo_tables("diff", "old", "site", cwd=project, expect=2).stderr
