"""What people met in their first ten minutes: each message names the fault where it is, and what to write."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.results.mongodb import explain_failure
from tests.commands.test_commands import mongo_tables

ROWS = [
    {"threads": 1, "n": 5, "version": 1.9, "day": "2026-01-31", "ok": True},
    {"threads": 2, "n": 6, "version": 2.1, "day": "2026-02-28", "ok": True},
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "bench.json").write_text(json.dumps(ROWS))
    (tmp_path / "mongo-tables.toml").write_text('results = "bench.json"\npages = ["README.md"]\n')
    return tmp_path


def table(**more: Any) -> str:
    body = {
        "id": "speed",
        "collection": "bench",
        "columns": ["threads", "n", "version", "day"],
        "sort": "threads",
    }
    return f"<!-- RESULT_TABLE: {json.dumps({**body, **more})} -->\n"


def checked(project: Path, text: str) -> str:
    (project / "README.md").write_text(text)
    return mongo_tables("check", cwd=project, expect=None).stdout


def test_columns_of_a_chart_are_explained(project: Path) -> None:
    told = checked(project, table().replace("RESULT_TABLE", "RESULT_CHART"))
    assert "a RESULT_CHART comment has no key `columns`" in told and "`x`, `y` and `series`" in told
    chart = {"mark": "line", "x": "threads", "y": "n", "columns": ["threads"]}
    assert "`chart` has no key `columns`" in checked(project, table(chart=chart))


def test_a_table_that_only_the_build_may_know_is_told_with_the_nearest(project: Path) -> None:
    value = 'It is <!-- RESULT_VALUE: {"table": "speeed", "column": "n", "where": {"threads": 1}} -->.'
    told = checked(project, f"{table()}\n{{{{ macro }}}}\n\n{value}\n")
    assert "MT175" in told and "hint: the build checks it; did you mean `speed`?" in told


@pytest.mark.parametrize(
    "where",
    [{"version": "1.9"}, {"n": {"$eq": "5"}}, {"n": "8"}],
)
def test_a_text_for_a_number_is_told_by_the_check(project: Path, where: dict[str, Any]) -> None:
    told = checked(project, table(where=where))
    assert "its values are never strings" in told and "without quotes" in told
    value = f'{table()}\nIt is <!-- RESULT_VALUE: {{"table": "speed", "column": "n", "where": {json.dumps(where)}}} -->.\n'
    told = checked(project, value)
    assert "MT320" in told and "its values are never strings" in told and "without quotes" in told


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        (
            {"n": {"$ne": "5"}},
            'MT329 `n` of table `speed` is always a number, and "5" is a string: this is always true',
        ),
        ({"n": {"$gt": "3"}}, 'is always a number, and "3" is a string: this is never true'),
        ({"n": {"$nin": ["5", "7"]}}, "this is always true"),
        ({"$or": [{"n": "5"}, {"threads": {"$gt": 0}}]}, "this is never true"),
        (
            {"day": {"$ne": 5}},
            "`day` of table `speed` is always a string, and 5 is a number: this is always true",
        ),
        ({"n": {"$not": {"$type": "string"}}}, ""),
        ({"n": {"$ne": 7}}, ""),
        ({"n": {"$ne": None}}, ""),
        ({"day": {"$ne": "2026-03-31"}}, ""),
    ],
)
def test_a_statement_that_types_decide_is_no_statement(
    project: Path, expect: dict[str, Any], told: str
) -> None:
    found = checked(
        project, f"{table()}\n<!-- RESULT_CHECK: {json.dumps({'table': 'speed', 'expect': expect})} -->\n"
    )
    assert ("MT329" in found) == bool(told) and told in found


def test_a_sort_is_proposed_that_tells_the_rows_apart(project: Path) -> None:
    unsorted = table().replace(', "sort": "threads"', "")
    assert 'for example "sort": "threads"' in checked(project, unsorted)
    (project / "bench.json").write_text(json.dumps([{**ROWS[0], "threads": 1}, {**ROWS[1], "threads": 1}]))
    assert 'for example "sort": ["threads", "n"]' in checked(project, unsorted)
    (project / "bench.json").write_text(json.dumps([ROWS[0], ROWS[0]]))
    told = checked(project, unsorted)
    assert (
        "MT417" in told
        and "no column shown does" in told
        and "for example" not in told.split("MT417")[1].split("\n")[3]
    )


def test_an_id_of_another_page_is_taken_when_one_page_is_checked(project: Path) -> None:
    (project / "mongo-tables.toml").write_text('results = "bench.json"\npages = ["README.md", "B.md"]\n')
    (project / "README.md").write_text(table())
    (project / "B.md").write_text(table(title="Another"))
    assert "README.md:1:27: error MT138" in mongo_tables("check", "README.md", cwd=project, expect=1).stdout


def git(project: Path, *arguments: str) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *own, *arguments], cwd=project, check=True, capture_output=True)


def test_revisions_are_compared_by_their_names(project: Path) -> None:
    (project / "README.md").write_text(table())
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "one")
    (project / "bench.json").write_text(json.dumps(ROWS).replace('"n": 6', '"n": 7'))
    git(project, "commit", "-qam", "two")
    change = "2, N: 6 → 7"
    for sides in (
        ["HEAD~1", "HEAD"],
        ["HEAD~1", "."],
        ["HEAD~1", "bench.json"],
        ["HEAD~1:bench.json", "HEAD"],
    ):
        assert change in mongo_tables("diff", *sides, cwd=project, expect=1).stdout
    assert "HEAD~9" in mongo_tables("diff", "HEAD~9", "HEAD", cwd=project, expect=2).stderr


def test_an_import_of_a_large_file_ends_with_what_to_change(project: Path) -> None:
    (project / "fixtures/bench").mkdir(parents=True)
    (project / "README.md").write_text("# A\n")
    told = mongo_tables("init", cwd=project, expect=None).stdout
    assert "mongo-tables.toml: already names results: bench.json" in told
    assert 'fixtures: also has collections; results = "fixtures" would show them' in told


@pytest.mark.parametrize(
    ("uri", "is_escaped"),
    [
        ("mongodb://reader:p@ss/w:rd@db.example.org/x", False),
        ("mongodb://reader:pa/ss@db.example.org", False),
        ("mongodb://reader:p:ss@db.example.org", False),
        ("mongodb://reader:p%40ss@db.example.org/x", True),
        ("mongodb://db.example.org/x?authSource=admin", True),
    ],
)
def test_a_password_that_is_not_escaped_is_the_likely_cause(uri: str, is_escaped: bool) -> None:
    from pymongo.errors import ServerSelectionTimeoutError

    told = explain_failure(
        ServerSelectionTimeoutError("ss: Name or service not known"), uri, 2000, 10_000, None
    )
    assert ("percent-encode" in told.hint) != is_escaped
    assert "ss/w" not in f"{told.message}{told.hint}"


def test_a_database_that_the_address_does_not_name_is_explained() -> None:
    from pymongo.errors import OperationFailure

    refused = OperationFailure("not authorized", 13)
    told = explain_failure(refused, "mongodb://u:p@db.example.org", 2000, 10_000, None)
    assert "may not read the database 'performance', the default for a URI without a database" in told.message
    named = explain_failure(refused, "mongodb://u:p@db.example.org/mine", 2000, 10_000, None)
    assert named.message.endswith("may not read the database 'mine'") and "another" not in named.hint


def test_boxes_of_faults_show_names_as_code(project: Path) -> None:
    from mongo_tables.findings.rules import finding
    from mongo_tables.site.figures import fault_box

    box = fault_box([finding("MT302", "a.md", (1, 1), "no row has `a<b`", "did you mean `c`?")])
    assert "<code>a&lt;b</code>" in box and "<code>c</code>" in box and "`" not in box


def test_a_check_where_nothing_is_set_up_says_what_it_looked_for(tmp_path: Path) -> None:
    assert mongo_tables("check", cwd=tmp_path, expect=2).stderr == (
        "mongo-tables: no page is given, and there is neither mongo-tables.toml nor a folder docs here\n"
        "  hint: name a page, or let `mongo-tables init` write a first set-up\n"
    )
