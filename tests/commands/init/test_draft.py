"""``mongo-tables init --table`` writes a comment that is sound, whatever the documents are."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from bson import ObjectId, json_util
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mongo_tables.cli import main
from mongo_tables.commands.init.columns import (
    choose_formats,
    find_candidates,
    format_comment,
    make_body,
    propose_headers,
    suggest_columns,
)
from mongo_tables.directives.columns import field_words
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.reader import read
from mongo_tables.directives.specs import TableSpec
from tests.commands.test_commands import mongo_tables

ROWS: list[dict[str, Any]] = [
    {
        "_id": {"testname": test, "threads": threads},
        "threads": threads,
        "ops": 4200 * threads + len(test),
        "host": "localhost",
        "points": [1, 2],
        "server": {f"counter{number}": threads * number for number in range(30)},
        **({} if threads == 8 else {"ms": 1000 + threads}),
    }
    for test in ("insert", "update  ")
    for threads in (1, 8)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def test_the_only_collection_needs_no_name_and_the_comment_is_sound(folder: Path) -> None:
    text = mongo_tables("init", "--table", cwd=folder).stdout
    (folder / "page.md").write_text(text)
    assert mongo_tables("check", "page.md", cwd=folder).stdout == ""
    body = json.loads(text.removeprefix("<!-- RESULT_TABLE: ").removesuffix(" -->\n"))
    assert body == {
        "id": "runs",
        "collection": "runs",
        "columns": ["_id.testname", "_id.threads", "ops", "ms"],
        "headers": ["Testname", "Threads", "Ops", "ms"],
        "sort": ["_id.testname", "_id.threads"],
        "format": {"ops": {"thousands": True}, "ms": {"missing": "not measured"}},
    }
    rendered = mongo_tables("render", "page.md", cwd=folder).stdout
    assert [cell.strip() for cell in rendered.splitlines()[0].strip("|").split("|")] == [
        "Testname",
        "Threads",
        "Ops",
        "ms",
    ]


def test_a_column_with_an_empty_cell_is_shown_and_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "bench.csv").write_text("python,ms,mem,notes\n3.9,21.50,12,x\n3.10,14.90,,\n")
    done = mongo_tables("init", cwd=tmp_path)
    assert "2 comments on 1 page: no fault" in done.stderr
    assert "| 3.10   | 14.90 | not measured | –     |      67.11 |" in (tmp_path / "README.md").read_text(
        "utf-8"
    )


def test_a_column_that_is_left_out_is_named(tmp_path: Path) -> None:
    (tmp_path / "bench.csv").write_text("python,ms,mem,machine\n3.9,2,12,a\n3.10,1,,a\n3.11,3,,a\n")
    assert "README.md: left out: mem, machine\n" in mongo_tables("init", cwd=tmp_path).stdout


def test_a_note_on_a_cell_of_the_results_is_not_ignored_by_the_draft(tmp_path: Path) -> None:
    (tmp_path / "bench.tsv").write_text("name\tms\tn\na\t21,50\t1\nb\t14,9\t2\n")
    assert "bench.tsv:2:3: note MT338" in mongo_tables("init", cwd=tmp_path).stdout
    assert "ignore" not in (tmp_path / "README.md").read_text("utf-8")


def test_a_page_with_comments_gets_one_with_the_word_that_they_begin_with(folder: Path) -> None:
    page = folder / "page.md"
    for word in ("MONGO", "RESULT"):
        first = '{"collection": "runs", "columns": ["threads"], "sort": "ops", "limit": 1}'
        page.write_text(f"<!-- {word}_TABLE: {first} -->\n")
        mongo_tables("init", "--table", "--append", "page.md", cwd=folder)
        assert page.read_text().count(f"<!-- {word}_TABLE: ") == 2


def test_a_page_keeps_what_it_has_and_its_line_ends(folder: Path) -> None:
    page = folder / "page.md"
    page.write_bytes(b"# Runs\r\n\r\nText without an end")
    mongo_tables("init", "--table", "--append", "page.md", cwd=folder)
    content = page.read_bytes()
    assert content.startswith(b"# Runs\r\n\r\nText without an end\r\n\r\n<!-- RESULT_TABLE: {\r\n")
    assert b"\n" not in content.replace(b"\r\n", b"")
    assert mongo_tables("check", "page.md", cwd=folder).stdout == ""


def test_an_appended_table_has_an_id_that_no_table_of_the_site_and_no_heading_has(folder: Path) -> None:
    (folder / "docs").mkdir()
    for page, name in (("docs/a.md", "runs"), ("docs/b.md", "runs-table"), ("docs/b.md", "runs-table-2")):
        mongo_tables("init", "--table", "--append", page, cwd=folder)
        assert f'"id": "{name}"' in (folder / page).read_text()
    mongo_tables("check", "docs", cwd=folder)


def test_the_comment_is_utf_8_whatever_the_terminal_speaks(folder: Path) -> None:
    (folder / "fixtures/東京").mkdir()
    (folder / "fixtures/東京/a.jsonl").write_text('{"_id": 1, "a": 1}\n{"_id": 2, "a": 2}\n')
    command = [sys.executable, "-m", "mongo_tables.cli", "init", "--table", "東京"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    for arguments in ([*command, "--append", "page.md"], command):
        done = subprocess.run(
            arguments,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=True,
        )
    assert done.stdout == (folder / "page.md").read_bytes()
    assert '"collection": "東京"' in done.stdout.decode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "did you mean `runs`?"),
        (["--results", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_can(folder: Path, arguments: list[str], said: str) -> None:
    done = mongo_tables("init", "--table", *arguments, cwd=folder, expect=2)
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--append", "page.md"], "--append requires --table"),
        (["--config-file", "mkdocs.yml"], "--config-file requires --table"),
        (["fixtures", "--table", "runs"], "FOLDER, --dry-run and --numbers are for a set-up"),
        (["runs"], "--table names a collection"),
    ],
)
def test_options_of_a_comment_and_of_a_set_up_do_not_mix(
    folder: Path, arguments: list[str], said: str
) -> None:
    assert said in mongo_tables("init", *arguments, cwd=folder, expect=2).stderr
    assert [one.name for one in folder.iterdir()] == ["fixtures"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docSizeKB", "Doc size KB"),
        ("operations_per_second", "Operations per second"),
        ("p99.9", "P99.9"),
        ("IOPS", "IOPS"),
        ("ms", "Ms"),
        ("Größe", "Größe"),
        ("_", "_"),
    ],
)
def test_a_field_name_becomes_a_header_in_words(name: str, text: str) -> None:
    assert field_words(name) == text


def test_result_documents_have_the_titles_and_units_of_their_schema() -> None:
    from mongo_tables.directives.schemas import load

    required = dict.fromkeys(load("result")["required"], 1)
    assert propose_headers(["duration", "_id.testname"], [required]) == [
        "Duration (milliseconds)",
        "Experiment",
    ]
    assert propose_headers(["duration"], [{"duration": 3}]) == ["Duration"]


keys = st.one_of(st.sampled_from(["a", "b", "a_b", "$x", "", "a.b", "-->", "<!--"]), st.text(max_size=3))
values = st.one_of(
    st.none(), st.integers(-3, 3), st.floats(allow_nan=False), st.text(max_size=3), st.booleans()
)
documents = st.lists(
    st.dictionaries(keys, st.one_of(values, st.dictionaries(keys, values, max_size=3)), max_size=4),
    max_size=4,
)


@settings(max_examples=200)
@given(documents, st.one_of(st.sampled_from(["A --> B", "<!-- x"]), st.text(max_size=4)))
def test_whatever_the_documents_hold_the_comment_is_one_and_valid(
    rows: list[dict[str, Any]], value: str
) -> None:
    fields = find_candidates(rows)
    paths = suggest_columns(fields, rows)
    if not paths:
        return
    headers, formats = propose_headers(paths, rows), choose_formats(paths, fields, {})
    sort = paths[:1]
    text = format_comment("RESULT_TABLE", make_body("runs", {"a": value}, paths, headers, formats, sort))
    (found,) = find(text, "page.md").comments
    assert (found.start, found.end) == (0, len(text))
    reading = read(found, "page.md", lambda name: None)
    spec, findings = reading.spec, reading.findings
    assert findings == []
    assert isinstance(spec, TableSpec)
    assert spec.pipeline[0] == {"$match": {"a": value}}
    assert len(spec.columns) == len(paths)


def test_dates_are_shown_and_what_is_left_out_is_named(tmp_path: Path) -> None:
    rows = [
        {
            "_id": ObjectId(f"65a00000000000000000000{number}"),
            "train": f"P{number}",
            "departs": datetime(2024, 1, number),
            "line": "north",
            "stops": [1],
            **({"delay": 3} if number == 1 else {}),
        }
        for number in (1, 2, 3)
    ]
    (tmp_path / "fixtures" / "trains").mkdir(parents=True)
    (tmp_path / "fixtures" / "trains" / "a.jsonl").write_text(
        "".join(json_util.dumps(row) + "\n" for row in rows)
    )
    done = mongo_tables("init", "--table", "--append", "page.md", cwd=tmp_path)
    assert '"columns": ["train", "departs"]' in (tmp_path / "page.md").read_text()
    assert "left out: line, delay, _id, stops\n" in done.stderr
    assert mongo_tables("check", "--fail-on", "note", "page.md", cwd=tmp_path).stdout == ""


def test_rows_that_no_field_tells_apart_are_shown_with_their_id(tmp_path: Path) -> None:
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    rows = "".join(json.dumps({"_id": number, "team": team}) + "\n" for number, team in enumerate("aab"))
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text(rows)
    mongo_tables("init", "--table", "--append", "page.md", cwd=tmp_path)
    assert mongo_tables("check", "--fail-on", "note", "page.md", cwd=tmp_path).stdout == ""


stored = st.one_of(
    st.none(),
    st.integers(-3, 3),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.booleans(),
    st.datetimes(datetime(1, 1, 2), datetime(9999, 1, 1)).map(lambda one: one.replace(microsecond=0)),
    st.sampled_from(["P4", "P10", "P9", "x 1", "x 10"]),
    st.lists(st.integers(0, 2), max_size=2),
)
names = st.sampled_from(
    ["a", "b", "a_b", "sizeKB", "fooBar", "_", "__x", "Ärger", "tookMs", "n 1", "0", "duration"]
)
stored_documents = st.lists(
    st.dictionaries(names, st.one_of(stored, st.dictionaries(names, stored, max_size=3)), max_size=5),
    min_size=1,
    max_size=6,
)
ids = st.sampled_from(
    [lambda n: n, lambda n: f"P{n * 9}", lambda n: {"a": n, "b": 1}, lambda n: ObjectId(f"{n:024x}")]
)


@settings(max_examples=150 if "CI" not in os.environ else 40, deadline=None)
@given(stored_documents, ids)
def test_what_is_written_is_clean_whatever_the_documents_hold(rows: list[dict[str, Any]], name: Any) -> None:
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("fixtures/runs").mkdir(parents=True)
        lines = (json_util.dumps({"_id": name(number), **row}) for number, row in enumerate(rows))
        Path("fixtures/runs/a.jsonl").write_text("".join(f"{line}\n" for line in lines))
        said, told = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            assume(main(["init", "--table", "--append", "page.md"]) == 0)
            status = main(["check", "--fail-on", "note", "page.md"])
        assert (status, said.getvalue()) == (0, ""), (Path("page.md").read_text(), told.getvalue())


@pytest.mark.parametrize(
    ("rows", "sort"),
    [
        ([{"mean": 1.5, "name": "b"}, {"mean": 1.25, "name": "a"}], '"name"'),
        ([{"mean": 1.5, "name": "fib 9"}, {"mean": 1.25, "name": "fib 10"}], '"_id"'),
        ([{"name": "fib 9", "mean": 1.5}, {"name": "fib 10", "mean": 1.25}], '"_id"'),
    ],
)
def test_rows_stand_in_an_order_that_measuring_again_does_not_change(
    tmp_path: Path, rows: list[dict[str, Any]], sort: str
) -> None:
    (tmp_path / "bench.json").write_text(json.dumps(rows))
    written = mongo_tables("init", "--table", "--results", "bench.json", cwd=tmp_path).stdout
    assert f'"sort": {sort}\n' in written


def test_no_reason_of_a_draft_has_a_figure_that_the_next_run_makes_old(tmp_path: Path) -> None:
    (tmp_path / "bench.json").write_text(
        '[{"name": "a", "mean": 0.123456789012345}, {"name": "b", "mean": 0.25}]'
    )
    written = mongo_tables("init", "--table", "--results", "bench.json", cwd=tmp_path).stdout
    assert "0.1234" not in written


@pytest.mark.parametrize("end", ["", "\n## License\n\nMIT\n", "## License\n"])
def test_an_empty_section_for_results_gets_the_table(tmp_path: Path, end: str) -> None:
    (tmp_path / "bench.csv").write_text("name,ms\na,1\nb,2\n")
    (tmp_path / "README.md").write_text(f"# Program\n\n## Results\n{end}")
    mongo_tables("init", cwd=tmp_path)
    page = (tmp_path / "README.md").read_text()
    assert page.count("## Results") == 1
    assert page.startswith("# Program\n\n## Results\n\n`a` takes <!-- RESULT_VALUE")
    rest = f"\n{end.lstrip()}" if end else ""
    assert page.endswith(f"<!-- mongo-tables: end -->\n{rest}")


def test_a_section_for_results_with_a_text_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "bench.csv").write_text("name,ms\na,1\nb,2\n")
    before = "# Program\n\n## Results\n\nNone yet.\n\n"
    (tmp_path / "README.md").write_text(f"{before}## License\n")
    mongo_tables("init", cwd=tmp_path)
    page = (tmp_path / "README.md").read_text()
    assert page.startswith(f"{before}## Results\n\n`a` takes <!-- RESULT_VALUE")
    assert page.endswith("\n\n## License\n")


def test_a_text_with_gaps_is_left_out_with_the_reason_and_what_shows_it(tmp_path: Path) -> None:
    rows = ["a,1.5,", "b,2.5,slow disk", "c,3.5,", "d,4.5,"]
    (tmp_path / "bench.csv").write_text("\n".join(["tool,ms,note", *rows, ""]))
    told = mongo_tables("init", cwd=tmp_path).stdout
    assert (
        'README.md: left out: note, empty in 3 of 4 rows; to show it, add it to "columns" and "headers", and '
        '"format": {"note": {"missing": "–"}}\n'
    ) in told
    page = tmp_path / "README.md"
    text = page.read_text("utf-8").replace('"per_second"]', '"per_second", "note"]')
    text = text.replace('"Per second"]', '"Per second", "Note"],\n  "format": {"note": {"missing": "–"}}')
    page.write_text(text, "utf-8")
    mongo_tables("render", "--in-place", "README.md", cwd=tmp_path)
    assert "| slow disk |" in page.read_text("utf-8")
