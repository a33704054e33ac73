"""``check --numbers`` of texts without markup: what is open, stale and exempt, and the gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_commands import mongo_tables

RTK = [
    {"tool": "rtk", "median_ms": 194.2, "memory": {"value": 12, "unit": "MB"}},
    {"tool": "ctx", "median_ms": 350.6, "memory": {"value": 31, "unit": "MB"}},
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "bench.json").write_text(json.dumps(RTK))
    (tmp_path / "README.md").write_text("# Tool\n\nWith rtk it takes 181 ms.\n\nIt waits 500 ms.\n")
    return tmp_path


def check(project: Path, *arguments: str, expect: int = 0) -> str:
    command = ("check", "--numbers", *arguments, "--results", "bench.json")
    done = mongo_tables(*command, cwd=project, expect=expect)
    return str(done.stdout + done.stderr)


def test_a_stale_number_is_told_with_its_value_of_today_and_its_copies(project: Path) -> None:
    (project / "README.de.md").write_text("# Werkzeug\n\nEs dauert 181 ms.\n")
    assert check(project, "README.md", "README.de.md", expect=1) == (
        "README.md:3:19: warning MT326 `181 ms`: row `rtk`, column `median_ms` is 194.2 now\n"
        "    With rtk it takes 181 ms.\n"
        "                      ^\n"
        "  in README.de.md:3:11\n"
        "  hint: write `194 ms`, or give the reason in mongo-tables.toml: [[numbers.exempt]]\n"
        "1 warning in 1 file\n"
    )


def test_a_text_without_stale_numbers_passes_and_says_how_many_are_open(project: Path) -> None:
    (project / "README.md").write_text("With rtk it takes 194 ms, and 12 MB. It waits 500 ms.\n")
    assert check(project, "README.md") == "3 numbers in 1 file: none stale, 1 open\n"


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("With rtk it takes 181 ms.", ["194 ms"]),
        ("With rtk it takes 0.181 s.", ["0.194 s"]),
        ("With ctx the median is 2 s.", ["0.35 s"]),
        ("With rtk it takes 181 ± 3 ms.", ["194"]),
        ("The memory of rtk is 14 MB.", ["12 MB"]),
        ("The memory of rtk is 14 MB and the median 181 ms.", ["12 MB", "194 ms"]),
        # Two rows, two numbers for one cell, a cell that the sentence states, no row, another kind, far away.
        ("With rtk it takes 181 ms, with ctx 370 ms.", []),
        ("With rtk it takes 181 ms; with ctx 351 ms.", ["194 ms"]),
        ("With rtk it takes 181 ms, not 240 ms.", []),
        ("With rtk it takes 194 ms, at most 240 ms.", []),
        ("It takes 181 ms.", []),
        ("With rtk it is 12 % faster.", []),
        ("With rtk it takes 5 s.", []),
        ("The package of rtk is 3 MB.", []),
        ("With rtk the median fell by 12 ms.", []),
        ("With rtks it takes 181 ms.", []),
    ],
)
def test_a_number_is_stale_where_its_sentence_names_one_cell(
    project: Path, sentence: str, told: list[str]
) -> None:
    (project / "README.md").write_text(f"{sentence}\n")
    done = check(project, "README.md", expect=1 if told else 0)
    assert [line.split("`")[1] for line in done.splitlines() if "hint:" in line] == told


def test_an_attribute_of_html_and_the_text_after_it_may_say_the_same(project: Path) -> None:
    (project / "index.html").write_text('<p>The median of rtk is <b data-count="181">181</b> ms.</p>\n')
    done = check(project, "index.html", expect=1)
    assert [line.split("`")[1] for line in done.splitlines() if "hint:" in line] == ["194", "194 ms"]


def test_a_ratio_is_that_of_the_column_that_its_sentence_names(project: Path) -> None:
    (project / "README.md").write_text(
        "ctx has 1.8 times the median of rtk. ctx has 1.8 times the memory of rtk.\n"
    )
    told = check(project, "README.md", expect=1)
    assert (
        "README.md:1:46: warning MT326 `1.8 times`: row `ctx, rtk`, column `memory.value` is 2.58× now"
        in told
    )
    assert "write `2.6 times`" in told and told.count("MT326") == 1


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("On cudf, hop has a speedup of 200× over pandas.", ["2×"]),
        ("Hop is 3.1× as fast with cudf as with pandas.", ["1.9×"]),
        ("Hop takes 0.3× the time with cudf that it takes with pandas.", ["0.5×"]),
        # It may be the ratio of anything else: of which rows is not said, or it is far away.
        ("cudf is 3.1× as fast as pandas.", []),
        ("Hop and layout have a speedup of 200×.", []),
        ("Hop is 40× as cheap with cudf as with pandas.", []),
    ],
)
def test_a_ratio_of_two_rows_that_a_sentence_names_is_stale(
    project: Path, sentence: str, told: list[str]
) -> None:
    pairs = (
        ("hop", "pandas", 412.6),
        ("hop", "cudf", 213.8),
        ("layout", "pandas", 900),
        ("layout", "cudf", 91),
    )
    rows = [{"task": task, "engine": engine, "median_ms": ms} for task, engine, ms in pairs]
    (project / "bench.json").write_text(json.dumps(rows))
    (project / "README.md").write_text(f"{sentence}\n")
    done = check(project, "README.md", expect=1 if told else 0)
    assert [line.split("`")[1] for line in done.splitlines() if "hint:" in line] == told


def test_a_column_without_a_unit_that_a_sentence_names_hides_no_stale_number(project: Path) -> None:
    rows = [{"tool": "rtk", "median_ms": 194.2, "score": 7}, {"tool": "ctx", "median_ms": 350.6, "score": 5}]
    (project / "bench.json").write_text(json.dumps(rows))
    (project / "README.md").write_text("The score of rtk is high, as it takes 181 ms.\n")
    assert "`181 ms`: row `rtk`, column `median_ms` is 194.2 now" in check(project, "README.md", expect=1)


def test_the_gate_fails_for_each_open_number_and_a_baseline_accepts_those_of_today(project: Path) -> None:
    said = check(project, "README.md", "--open-is-error", expect=1)
    assert "README.md:5:10: error MT324 no table has the number `500 ms`" in said
    baseline = ("--open-is-error", "--baseline", "numbers.json")
    check(project, "README.md", *baseline, "--write-baseline")
    check(project, "README.md", *baseline)
    (project / "README.md").write_text((project / "README.md").read_text() + "\nOr 600 ms.\n")
    assert "`600 ms`" in check(project, "README.md", *baseline, expect=1)
    assert "requires --numbers" in mongo_tables("check", "--open-is-error", cwd=project, expect=2).stderr


EXEMPT = '[[numbers.exempt]]\nfile = "README*.md"\ntext = "waits 500 ms"\nreason = "a limit of the API"\n'


def test_settings_may_have_no_exemption(project: Path) -> None:
    (project / "mongo-tables.toml").write_text("[numbers]\n")
    (project / "README.md").write_text("It waits.\n")
    check(project, "README.md")


def test_an_exemption_has_a_reason(project: Path) -> None:
    (project / "mongo-tables.toml").write_text(EXEMPT)
    (project / "README.md").write_text("It waits\n500 ms.\n")
    report = json.loads(check(project, "README.md", "--open-is-error", "--report", "--format", "json"))
    (number,) = report["numbers"]["all"]
    assert (number["class"], number["reason"]) == ("exempt", "a limit of the API")
    assert report["numbers"]["classes"]["exempt"] == {"count": 1, "share": 1.0}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (EXEMPT.replace("reason", "reasons"), "exemption 1 needs a `reason`"),
        (EXEMPT + EXEMPT.replace('"a limit of the API"', "5"), "exemption 2 needs a `reason`"),
        ('[[numbers.exempt]]\nreason = "x"\n', "and a `file` or a `text`, each a string"),
        ("numbers = 5\n", "`numbers` must have only the list"),
        ('[numbers]\nexmpt = "README.md"\n', "`numbers` must have only the list"),
    ],
)
def test_wrong_exemptions_are_told(project: Path, settings: str, told: str) -> None:
    (project / "mongo-tables.toml").write_text(settings)
    done = mongo_tables("check", "--numbers", "README.md", "--results", "bench.json", cwd=project, expect=2)
    assert done.stderr.startswith("mongo-tables: mongo-tables.toml: ") and told in done.stderr


def test_exemptions_stand_beside_the_file_of_a_site(project: Path) -> None:
    (project / "mkdocs.yml").write_text(
        "site_name: x\nplugins:\n  - mongo-tables:\n      results: bench.json\n"
    )
    (project / "docs").mkdir()
    (project / "docs/index.md").write_text("It waits 500 ms.\n")
    (project / "mongo-tables.toml").write_text(EXEMPT.replace("README*", "index"))
    done = mongo_tables("check", "--numbers", "--open-is-error", cwd=project)
    assert done.stderr == "1 number in 1 file: none stale, 0 open\n"


def test_a_page_below_a_folder_with_tables_is_held_to_results_where_it_is_named(project: Path) -> None:
    (project / "docs").mkdir()
    table = (
        '<!-- RESULT_TABLE: {"collection": "bench", "columns": ["tool", "median_ms"], "sort": "tool"} -->\n'
    )
    (project / "docs/speed.md").write_text(table)
    (project / "docs/intro.md").write_text("With rtk it takes 181 ms.\n")
    check(project, "docs")
    assert "docs/intro.md:1:19: warning MT326" in check(project, "docs", "docs/intro.md", expect=1)


def test_a_stale_number_in_a_section_with_a_table_is_told_by_its_header(project: Path) -> None:
    body: dict[str, Any] = {
        "collection": "bench",
        "columns": ["tool", "median_ms"],
        "headers": ["Tool", "Median (ms)"],
        "format": {"median_ms": {"decimals": 0}},
        "sort": "tool",
    }
    table = f"<!-- RESULT_TABLE: {json.dumps(body)} -->"
    (project / "page.md").write_text(f"# Speed\n\nWith rtk it takes 181 ms.\n\n{table}\n")
    assert "`181 ms`: row `rtk`, column `Median (ms)` is 194 now" in check(project, "page.md", expect=1)


def test_texts_that_cannot_be_read_and_results_that_are_not_there_are_told(project: Path) -> None:
    (project / "notes.txt").write_bytes(b"\xff 5 ms")
    assert "notes.txt: not UTF-8 (byte 0)" in check(project, "notes.txt", expect=2)
    command = ("check", "--numbers", "README.md", "--results", "gone.json")
    assert "gone.json" in mongo_tables(*command, cwd=project, expect=2).stderr
    assert "the name of a page ends in" in mongo_tables("check", "notes.txt", cwd=project, expect=2).stderr


def test_a_pattern_names_texts_at_any_depth(project: Path) -> None:
    (project / "src/deep").mkdir(parents=True)
    (project / "src/a.py").write_text("# With rtk it takes 181 ms.\n")
    (project / "src/deep/b.py").write_text("x = 1  # With rtk it takes 180 ms.\n")
    told = check(project, "src/**/*.py", expect=1)
    assert "src/a.py:1:21: warning MT326" in told and "src/deep/b.py:1:28: warning MT326" in told
    assert "src/*.rs: no such file or folder" in check(project, "src/*.rs", expect=2)


def test_the_shares_are_printed_as_text(project: Path) -> None:
    said = check(project, "README.md", "--report", expect=1).splitlines()
    assert said[-4:-1] == [
        "README.md:3:19: open `181 ms`",
        "README.md:5:10: open `500 ms`",
        "2 numbers: 0 bound, 0 found, 0 exempt, 2 open (100 %)",
    ]


HYPERFINE = {
    "results": [
        {"command": "rg foo", "mean": 0.1942, "stddev": 0.003, "median": 0.195, "user": 0.15, "system": 0.04, "min": 0.18,
         "max": 0.21, "times": [0.18, 0.21]},
        {"command": "grep foo", "mean": 1.302, "stddev": 0.03, "median": 1.31, "user": 1.1, "system": 0.05, "min": 1.2,
         "max": 1.4, "times": [1.2, 1.4]},
    ]
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("With `rg foo` it takes 171 ms.", ["`171 ms`: row `rg foo`, column `time` is 0.1942 now"]),
        ("With `rg foo` the median is 171 ms.", ["`171 ms`: row `rg foo`, column `median` is 0.195 now"]),
        ("With `rg foo` it takes 194 ms, `grep foo` is 6.7× as slow.", []),
        ("| Tool | Time (ms) | Runs |\n| --- | --- | --- |\n| rg foo | 171 | 3 |\n| grep foo | **1302** | 3 |",
         ["`171`: row `rg foo`, column `time` is 0.1942 now"]),
        ("Tool | Time [s]\n--- | ---\n[rg foo](x) | 0.194\ngrep foo | 1.7 (of 3)",
         ["`1.7`: row `grep foo`, column `time` is 1.302 now"]),
    ],
)  # fmt: skip
def test_numbers_are_those_of_the_main_measure_of_benchmarks(
    project: Path, text: str, told: list[str]
) -> None:
    (project / "bench.json").write_text(json.dumps(HYPERFINE))
    (project / "README.md").write_text(f"# Speed\n\n{text}\n")
    done = check(project, "README.md", "--report", "--format", "json", expect=1 if told else 0)
    report = json.loads(done[: done.rindex("}") + 1])
    assert [one["message"] for one in report["findings"]] == told
    assert report["numbers"]["classes"]["open"]["count"] == len(told)


def test_a_page_of_mdx_has_numbers_of_its_tables_and_of_its_text(project: Path) -> None:
    body = '{"collection": "bench", "columns": ["tool", "median_ms"], "headers": ["Tool", "Median (ms)"], "sort": "tool"}'
    text = f"import x\n\n# Speed\n\nWith rtk it takes 194 ms, with ctx 370 ms.\n\n{{/* RESULT_TABLE: {body} */}}\n"
    (project / "page.mdx").write_text(text)
    assert "page.mdx:5:36: warning MT324" in check(project, "page.mdx", expect=1)
