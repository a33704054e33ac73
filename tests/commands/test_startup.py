"""A check starts at once: held by what it imports, since times depend on the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mongo_tables.cli import COMMANDS

ROOT = Path(__file__).parents[2]
MODULES = {name: f"mongo_tables.{command.module}" for name, command in COMMANDS.items()}
PAGE = """\
# Speed

<!-- MONGO_TABLE: {
  "collection": "results",
  "pipeline": [
    {"$match": {"_id.testname": "speed", "duration": {"$gt": 0}}},
    {"$set": {"rate": {"$round": [{"$divide": ["$work", "$duration"]}, 1]}}},
    {"$project": {"_id": 0, "size": "$variant.size", "rate": 1}},
    {"$sort": {"size": 1}}
  ],
  "columns": ["size", "rate"],
  "headers": ["Size", "Rate"]
} -->
"""
ROWS = '{"_id": {"testname": "speed"}, "variant": {"size": 4}, "work": 100, "duration": 3}\n'
# What costs more than a tenth of a whole check, or belongs to another command.
HEAVY = (
    "asyncio",
    "concurrent.futures",
    "hdrh",
    "jsonschema",
    "markdown",
    "markdown_it",
    "mkdocs",
    "mongomock",
    "multiprocessing",
    "numpy",
    "pathspec",
    "psutil",
    "pymongo",
    "scipy",
    "yaml",
)
UNUSED = (
    "difflib",
    "fractions",
    "mongo_tables.aggregation.patterns",
    "mongo_tables.hosts",
    "mongo_tables.runner.runs",
    "mongo_tables.hosts",
)


def imported(arguments: list[str], folder: Path) -> set[str]:
    """The modules that one command has loaded at its end."""
    program = (
        "import atexit, sys; from mongo_tables.cli import main; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return set(done.stderr.split())


@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "fixtures" / "results").mkdir(parents=True)
    (tmp_path / "fixtures" / "results" / "speed.jsonl").write_text(ROWS)
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_a_static_check_of_a_sound_page_loads_nothing_that_it_does_not_use(
    page: Path, tmp_path: Path
) -> None:
    loaded = imported(["check", "--static", str(page)], tmp_path)
    assert "mongo_tables.aggregation.compiler" in loaded
    assert (
        loaded.intersection({*HEAVY, *UNUSED, "mongo_tables.site.row_faults", "mongo_tables.render.html"})
        == set()
    )


def test_a_check_against_fixtures_loads_no_server_driver_and_no_second_evaluator(
    page: Path, tmp_path: Path
) -> None:
    loaded = imported(["check", str(page), "--results", str(tmp_path / "fixtures")], tmp_path)
    assert "mongo_tables.results.file_source" in loaded
    assert loaded.intersection({*HEAVY}) == set()


def test_a_check_against_a_file_of_json_loads_of_mongodb_s_driver_bson_alone_and_no_other_format(
    page: Path, tmp_path: Path
) -> None:
    (tmp_path / "results.json").write_text(f"[{ROWS}]")
    loaded = imported(["check", str(page), "--results", "results.json"], tmp_path)
    assert "bson" in loaded
    others = {
        "csv",
        "gzip",
        "mongo_tables.render.charts.plot",
        "mongo_tables.results.formats.separated",
        "pyarrow",
    }
    assert loaded.intersection({*HEAVY, *UNUSED, *others, "gridfs"}) == set()


def test_a_page_whose_table_stands_in_it_as_it_is_to_be_loads_nothing_that_tells_differences(
    page: Path, tmp_path: Path
) -> None:
    imported(["render", "--in-place", str(page), "--results", str(tmp_path / "fixtures")], tmp_path)
    assert "mongo-tables: begin" in page.read_text()
    loaded = imported(["check", str(page), "--results", str(tmp_path / "fixtures")], tmp_path)
    differing = {
        "mongo_tables.site.drift",
        "mongo_tables.render.provenance",
    }
    assert "mongo_tables.site.in_place" in loaded
    assert loaded.intersection({*HEAVY, "difflib", "html.entities", *differing}) == set()


@pytest.mark.parametrize(
    ("arguments", "most"),
    [(["--static", "plain.md"], 58), (["--static", "page.md"], 125), (["page.md"], 133)],
)
def test_a_check_stays_within_its_budget_of_modules(
    arguments: list[str], most: int, page: Path, tmp_path: Path
) -> None:
    """Each module of ours costs a third of a millisecond; a heap of small ones is slow as a large library is."""
    (tmp_path / "plain.md").write_text("# Nothing to see\n")
    loaded = imported(["check", *arguments, "--results", str(tmp_path / "fixtures")], tmp_path)
    assert len([name for name in loaded if name.startswith("mongo_tables")]) <= most


def test_a_site_without_patterns_costs_no_reader_of_patterns(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: Site\n")
    (tmp_path / "docs/page.md").write_text(PAGE)
    assert imported(["check", "--static", "docs/page.md"], tmp_path).intersection(HEAVY) == set()


def test_an_explanation_loads_no_server_driver_and_nothing_that_it_does_not_use(
    page: Path, tmp_path: Path
) -> None:
    loaded = imported(["explain", str(page), "--results", str(tmp_path / "fixtures")], tmp_path)
    assert "mongo_tables.commands.explain" in loaded
    assert loaded.intersection({*HEAVY, *UNUSED}) == set()


def test_a_page_without_comments_of_ours_costs_no_bson(tmp_path: Path) -> None:
    path = tmp_path / "plain.md"
    path.write_text("# Nothing to see\n\n<!-- an ordinary comment -->\n")
    loaded = imported(["check", "--static", str(path)], tmp_path)
    unused = {
        *HEAVY,
        *UNUSED,
        "bson",
        "mongo_tables.lint",
        "mongo_tables.render",
        "tempfile",
        "mongo_tables.directives.reader",
        "mongo_tables.aggregation.compiler",
    }
    assert loaded.intersection(unused) == set()


def own_rooms(modules: set[str]) -> set[str]:
    return {name.split(".")[1] for name in modules if name.startswith("mongo_tables.")}


def test_the_help_of_the_program_imports_no_command(tmp_path: Path) -> None:
    loaded = imported(["--help"], tmp_path)
    assert loaded.intersection({*HEAVY, *UNUSED, *MODULES.values()}) == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_imports_nothing_that_does_the_work(name: str, tmp_path: Path) -> None:
    names_of_formats = {"mongo_tables.render", "mongo_tables.render.formats"}
    loaded = imported([name, "--help"], tmp_path) - names_of_formats
    assert "uuid" not in loaded  # and with it platform
    assert own_rooms(loaded - {"mongo_tables.lsp"}) <= {
        "aggregation",
        "cli",
        "commands",
        "files",
        "findings",
        "results",
        "directives",
    }
    assert loaded.intersection({*HEAVY, *UNUSED, *MODULES.values()}) == set()


def test_a_check_of_a_readme_with_a_table_from_a_file_of_json_loads_few_modules(
    page: Path, tmp_path: Path
) -> None:
    (tmp_path / "results.json").write_text(f"[{ROWS}]")
    imported(["render", "--in-place", str(page), "--results", "results.json"], tmp_path)
    loaded = imported(["check", str(page), "--results", "results.json"], tmp_path)
    assert "mongo_tables.site.in_place" in loaded
    assert loaded.intersection({*HEAVY, *UNUSED}) == set()
    assert len([name for name in loaded if name.startswith("mongo_tables")]) <= 145
