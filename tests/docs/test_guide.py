"""The guide begins with ``init`` and the commands of each day; what it shows works as it stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mongo_tables.cli import GROUPS
from tests.commands.test_commands import mongo_tables
from tests.docs.test_benchmarks_page import Reader

AUTHORS = Path(__file__).parents[2] / "docs" / "authors"
GUIDE = (AUTHORS / "guide.md").read_text("utf-8")
SOURCES = (AUTHORS / "sources.md").read_text("utf-8")


def fenced(text: str, language: str, holding: str) -> str:
    (found,) = (one for one in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if holding in one)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "mongo-tables.toml").write_text('results = "bench.json"\npages = ["page.md"]\n')
    return tmp_path


def rendered(project: Path, page: str) -> str:
    (project / "page.md").write_text(page)
    mongo_tables("render", "--in-place", "page.md", cwd=project)
    assert "no fault" in mongo_tables("check", cwd=project).stderr
    return mongo_tables("render", "page.md", cwd=project).stdout


def test_the_way_to_a_committed_readme_is_read_in_three_minutes() -> None:
    way = GUIDE[: GUIDE.index("## Everyday commands")]
    assert len(way.split()) <= 650
    assert way.index("mongo-tables init") < way.index("git commit")


def test_the_commands_of_each_day_are_there() -> None:
    named = set(re.findall(r"`mongo-tables (\w+)", GUIDE[: GUIDE.index("## 1. Install")]))
    assert (
        {"check", "render", "explain", "diff", "init"}
        <= named
        <= {one for group in GROUPS.values() for one in group.commands}
    )


def test_the_way_ends_in_a_commit_of_what_it_shows(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    (tmp_path / "bench.csv").write_text(fenced(GUIDE, "csv", "python,ms"))
    reader.readme.write_text("# Program\n")
    reader.run("mongo-tables init")
    written = reader.readme.read_text("utf-8")
    shown = fenced(GUIDE, "markdown", '"per_second"')
    assert (
        re.sub(r"<!-- mongo-tables: begin (?s:.*?)<!-- mongo-tables: end -->", "", written)
        .strip()
        .endswith(shown.strip().replace("--> ms.", "--> ms."))
    )
    reader.run("mongo-tables explain baseline")
    reader.readme.write_text(
        written.replace('"compute": {"per_second": "1000 / ms"}', '"baseline": {"row": {"python": "3.9"}, "column": "ms"}')
        .replace(', "per_second"]', "]").replace(', "Per second"]', "]")
    )  # fmt: skip
    for line in fenced(GUIDE, "sh", "git commit").splitlines():
        reader.run(line)
    assert reader.run("git status --short") == ""
    assert "-54 %" in reader.readme.read_text("utf-8").replace("−", "-")
    (tmp_path / "bench.csv").write_text(fenced(GUIDE, "csv", "python,ms").replace("9.80", "8.60"))
    assert "files were modified by this hook" in reader.run("git commit -qam faster", expect=1)
    reader.run("git commit -qam faster")
    assert "-60 %" in reader.readme.read_text("utf-8").replace("−", "-")


def test_a_computed_column_works(project: Path) -> None:
    rows = [{"threads": 1, "ops": 4200, "ms": 1000}, {"threads": 8, "ops": 30100, "ms": 1000}]
    (project / "results.json").write_text(json.dumps(rows))
    (project / "mongo-tables.toml").write_text('results = "results.json"\npages = ["page.md"]\n')
    assert "| 30100 |" in rendered(project, fenced(GUIDE, "markdown", '"compute": {"rate"')).replace(
        "30,100", "30100"
    )


def test_a_named_value_works(project: Path) -> None:
    (project / "bench.json").write_text('{"result": {"saved_pct": 0.8125}}')
    settings = project / "mongo-tables.toml"
    settings.write_text(f"{settings.read_text()}\n{fenced(GUIDE, 'toml', '[values.')}")
    assert rendered(project, fenced(GUIDE, "markdown", "RESULT: saved")) == "It saves 81.3 % of all tokens.\n"


def test_the_rows_of_a_map_work(project: Path) -> None:
    (project / "bench.json").write_text(fenced(SOURCES, "json", "by_class"))
    assert "| git |  12 |  81.2 |" in rendered(project, fenced(SOURCES, "markdown", '"result.by_class.*"'))


def test_the_list_in_each_row_works(project: Path) -> None:
    (project / "bench.json").write_text(fenced(SOURCES, "json", "datasets"))
    page = rendered(project, fenced(SOURCES, "markdown", '"datasets.*"'))
    assert "| large    |     310.8 |       90.5 |          3.4 |" in page
    assert "With large data it is 3.4 × as fast." in page


def test_the_guide_says_where_an_id_is_known() -> None:
    assert "unique in the site, so a value or a check on any page can name the table" in " ".join(
        GUIDE.split()
    )
