"""``init --numbers`` says what could be held to what, and writes nothing."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands.init.test_init import files
from tests.commands.test_commands import mongo_tables

ROWS = [{"tool": "rtk", "median_ms": 194.2}, {"tool": "ctx", "median_ms": 350.6}]


def test_each_text_is_listed_with_the_results_that_have_its_numbers(tmp_path: Path) -> None:
    (tmp_path / "bench.json").write_text(json.dumps(ROWS))
    (tmp_path / "sizes.csv").write_text("part,size_kb\ncore,1204\ncli,318\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(
        "With rtk 181 ms.\n\nWith ctx 351 ms; core has 1,204 KB.\n\nWaits 77 ms.\n"
    )
    (tmp_path / "docs/size.rst").write_text("cli has 318 KB.\n")
    (tmp_path / "docs/other.md").write_text("Waits 77 ms.\n")
    (tmp_path / "docs/none.md").write_text("# Nothing\n")
    before = files(tmp_path)
    done = mongo_tables("init", "--numbers", cwd=tmp_path)
    assert files(tmp_path) == before
    assert done.stdout == (
        "README.md: 4 numbers, 1 in bench.json, and 1 with another value there; 1 in sizes.csv\n"
        "docs/other.md: 1 number, none of them in the results\n"
        "docs/size.rst: 1 number, 1 in sizes.csv\n"
        "next: `mongo-tables check --numbers README.md --results bench.json --report` lists the numbers that are open or "
        "stale\n"
        "next: `mongo-tables check --numbers README.md --results bench.json --open-is-error --baseline numbers.json "
        "--write-baseline` accepts today's open numbers\n"
        "next: `mongo-tables check --numbers docs/size.rst --results sizes.csv --report` lists the numbers that are open or "
        "stale\n"
        "next: `mongo-tables check --numbers docs/size.rst --results sizes.csv --open-is-error --baseline numbers.json "
        "--write-baseline` accepts today's open numbers\n"
    )


def test_a_document_of_counts_is_results_and_its_nouns_are_units(tmp_path: Path) -> None:
    (tmp_path / "counts.json").write_text('{"theorems": 431, "tests": 1204}')
    (tmp_path / "settings.json").write_text('{"indent": 4}')
    (tmp_path / "README.md").write_text("431 theorems and 1,204 tests, in 5 s.\n")
    (tmp_path / "site").mkdir()
    (tmp_path / "site/index.html").write_text('<p>theorems: <b data-count="431">0</b></p>\n')
    said = mongo_tables("init", "--numbers", cwd=tmp_path).stdout.splitlines()
    assert said[:2] == [
        "README.md: 3 numbers, 2 in counts.json",
        "site/index.html: 1 number, 1 in counts.json",
    ]
    (tmp_path / "site/sitemap.xml").write_text("<urlset/>")  # MkDocs has written it
    assert "site/" not in mongo_tables("init", "--numbers", cwd=tmp_path).stdout
    assert "fewer than two documents" in mongo_tables("init", cwd=tmp_path, expect=2).stderr


def test_pages_with_comments_and_repositories_without_results_are_told(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(
        '<!-- RESULT_TABLE: {"collection": "bench", "columns": ["tool"]} -->\n'
    )
    assert "no file of results" in mongo_tables("init", "--numbers", cwd=tmp_path, expect=2).stderr
    (tmp_path / "bench.json").write_text(json.dumps(ROWS))
    said = mongo_tables("init", "--numbers", cwd=tmp_path).stdout
    assert said.startswith("README.md: has comments; `mongo-tables check --numbers README.md` checks it\n")
    assert "are for a set-up" in mongo_tables("init", "--numbers", "--table", cwd=tmp_path, expect=2).stderr


def test_results_that_the_repository_names_already_are_those_that_texts_are_held_to(tmp_path: Path) -> None:
    (tmp_path / "bench.json").write_text(json.dumps(ROWS))
    (tmp_path / "speed").mkdir()
    (tmp_path / "speed/today.json").write_text(json.dumps(ROWS))
    (tmp_path / "README.md").write_text("With rtk 194 ms.\n")
    exempt = '[[numbers.exempt]]\ntext = "1 s"\nreason = "a limit"\n'
    (tmp_path / "mongo-tables.toml").write_text(exempt)
    assert (
        "1 in bench.json; 1 in speed/today.json\n" in mongo_tables("init", "--numbers", cwd=tmp_path).stdout
    )
    (tmp_path / "mongo-tables.toml").write_text(f'results = "speed/today.json"\n{exempt}')
    said = mongo_tables("init", "--numbers", cwd=tmp_path).stdout
    assert said.startswith("README.md: 1 number, 1 in speed/today.json\nnext: ")
