"""``mongo-tables init`` sets up what is there, says what it did, and leaves every line of its user as it was."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from mongo_tables.cli import main
from mongo_tables.files import atomic
from tests.commands.test_commands import mongo_tables
from tests.results.formats.test_recorded import RECORDED

BENCH = [
    {"name": "parse", "mean": 0.0012, "rounds": 50},
    {"name": "dump", "mean": 0.0031, "rounds": 40},
    {"name": "validate", "mean": 0.0007, "rounds": 60},
]
CHECKED = "2 comments on 1 page: no fault\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a README and a file of results."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "README.md").write_text("# Mine\n\nIt is fast.\n")
    (tmp_path / "bench.json").write_text(json.dumps(BENCH))
    (tmp_path / "package.json").write_text('{"name": "mine", "version": "1.0.0"}')
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def hooks_of(folder: Path) -> list[dict[str, Any]]:
    """The hooks that pre-commit runs in a repository."""
    settings = yaml.safe_load((folder / ".pre-commit-config.yaml").read_text())
    return [hook for repo in settings["repos"] for hook in repo["hooks"]]


def test_a_readme_gets_a_whole_section_a_file_says_where_results_are_and_the_hooks_are_on(
    project: Path,
) -> None:
    done = mongo_tables("init", cwd=project)
    assert done.stdout == (
        "bench.json: results, JSON\n"
        "mongo-tables.toml: written, results are bench.json\n"
        "README.md: changed, a sentence with a value, a table of `bench`, a computed column, a chart in line 9\n"
        "README.bench.svg: written, the drawing of the chart\n"
        ".pre-commit-config.yaml: written, a hook that updates figures, and one that checks them\n"
        "next: in README.md, delete the parts that you do not want, and edit the rest; `mongo-tables render --in-place README.md` "
        "shows the result\n"
        "next: run `pre-commit install` once, and commit in the environment where mongo-tables is installed\n"
    )
    assert done.stderr == CHECKED
    readme = (project / "README.md").read_text()
    assert readme.startswith("# Mine\n\nIt is fast.\n\n## Results\n\nMean of `dump`: <!-- RESULT_VALUE: {")
    assert "--><!-- mongo-tables: begin " in readme and "-->0.0031<!-- mongo-tables: end -->.\n" in readme
    assert '"id": "bench"' in readme
    assert '"pipeline"' not in readme
    assert "| dump     | 0.0031 |         baseline |     40 |" in readme
    assert "![Mean by Name](README.bench.svg)" in readme
    assert "<svg " in (project / "README.bench.svg").read_text()
    settings = tomllib.loads((project / "mongo-tables.toml").read_text())
    assert settings == {"results": "bench.json", "pages": ["README.md"]}
    assert [(hook["id"], hook["entry"]) for hook in hooks_of(project)] == [
        ("mongo-tables-write", "mongo-tables render --in-place --written"),
        ("mongo-tables-check", "mongo-tables check --numbers"),
    ]
    for hook in hooks_of(project):
        assert (hook["language"], hook["pass_filenames"], hook["always_run"]) == ("system", False, True)
        assert "in the active environment" in hook["description"]


def test_what_it_wrote_notices_results_that_changed_and_its_first_hook_renews_it(project: Path) -> None:
    mongo_tables("init", cwd=project)
    (project / "bench.json").write_text(json.dumps([{**one, "mean": one["mean"] * 2} for one in BENCH]))
    assert "MT166" in mongo_tables("check", cwd=project, expect=1).stdout
    mongo_tables(*hooks_of(project)[0]["entry"].split()[1:], cwd=project)
    assert mongo_tables("check", cwd=project).stderr == CHECKED
    assert "| dump     | 0.0062 |" in (project / "README.md").read_text()


def test_a_second_run_adds_nothing(project: Path) -> None:
    mongo_tables("init", cwd=project)
    once = files(project)
    done = mongo_tables("init", cwd=project)
    assert files(project) == once
    assert done.stdout == (
        "mongo-tables.toml: already names results: bench.json\n"
        "README.md: already has comments\n"
        ".pre-commit-config.yaml: already has the hook\n"
    )


def test_a_dry_run_shows_a_diff_that_git_applies_and_writes_nothing(project: Path, tmp_path_factory) -> None:
    before = files(project)
    done = mongo_tables("init", "--dry-run", cwd=project)
    assert files(project) == before
    assert "bench.json: results, JSON" in done.stderr
    subprocess.run(["git", "apply", "-p0", "-"], cwd=project, input=done.stdout, text=True, check=True)
    applied = files(project)
    for name in set(applied) - set(before) | {"README.md"}:
        (project / name).unlink() if name not in before else (project / name).write_bytes(before[name])
    mongo_tables("init", cwd=project)
    assert files(project) == applied


def test_another_folder_is_set_up_from_where_one_is(project: Path) -> None:
    (project / "lib").mkdir()
    for name in ("README.md", "bench.json"):
        (project / name).rename(project / "lib" / name)
    done = mongo_tables("init", "lib", cwd=project)
    assert "lib/README.md: changed" in done.stdout
    assert tomllib.loads((project / "lib/mongo-tables.toml").read_text())["results"] == "bench.json"
    assert "already has the hook" in mongo_tables("init", "lib", cwd=project).stdout
    writes, checks = (hook["entry"] for hook in hooks_of(project))
    assert checks == "mongo-tables check --numbers --config-file lib/mongo-tables.toml"
    (project / "lib/bench.json").write_text(json.dumps([{**one, "mean": one["mean"] * 2} for one in BENCH]))
    for entry in (writes, checks):
        told = mongo_tables(*entry.split()[1:], cwd=project).stderr
    assert told == CHECKED
    (project / "README.md").write_text("# All\n")
    (project / "bench.json").write_text(json.dumps(BENCH))
    mongo_tables("init", "--results", "bench.json", cwd=project)
    assert [hook["entry"] for hook in hooks_of(project)][1::2] == [checks, "mongo-tables check --numbers"]


ENGINES = {
    "alpha": {"parse": {"ms": 12000.5, "mb_s": 110.2}, "write": {"ms": 8.1, "mb_s": 210.0}},
    "beta": {"parse": {"ms": 24.5, "mb_s": 55.2}, "write": {"ms": 9.3, "mb_s": 180.0}},
    "third": {"parse": {"ms": 30.5, "mb_s": 45.2}, "write": None},
}


def test_what_was_not_measured_takes_no_column_away(project: Path) -> None:
    (project / "bench.json").write_text(json.dumps({"engines": ENGINES}))
    assert mongo_tables("init", cwd=project).stderr == CHECKED
    readme = (project / "README.md").read_text()
    assert '"columns": ["engines._key", "_key", "ms", "mb_s", "per_second"]' in readme
    assert '"headers": ["Engine", "Name", "ms", "MB/s", "Per second"]' in readme
    assert "| alpha  | parse |     12,000.5 |" in readme
    assert re.search(r"\| third +\| write +\| not measured \| not measured \| +– \|", readme)


def test_rows_of_a_list_stay_in_the_order_of_the_file(project: Path) -> None:
    data = [{"name": "small", "n": 1000, "mean_ms": 1.5}, {"name": "large", "n": 100_000, "mean_ms": 9.5}]
    (project / "bench.json").write_text(json.dumps({"datasets": data}))
    assert mongo_tables("init", cwd=project).stderr == CHECKED
    readme = (project / "README.md").read_text()
    assert '"headers": ["Name", "N", "Mean (ms)", "Per second"]' in readme and '"sort": "_key"' in readme
    assert readme.index("| small |   1,000 |") < readme.index("| large | 100,000 |")


def test_without_git_there_is_a_table_and_no_hook(project: Path) -> None:
    (project / ".git").rmdir()
    done = mongo_tables("init", cwd=project)
    assert "no commit hook, because this is no Git repository" in done.stdout
    assert not (project / ".pre-commit-config.yaml").exists()
    assert done.stderr == CHECKED


def test_names_of_lists_and_maps_head_the_columns_of_what_names_their_entries(project: Path) -> None:
    cases = {"parse": {"ms": 1.5}, "dump": {"ms": 2.5}}
    suites = [{"name": name, "cases": cases} for name in ("json", "yaml")]
    (project / "bench.json").write_text(json.dumps({"suites": suites}))
    mongo_tables("init", cwd=project)
    assert '"headers": ["Suite", "Case", "ms", "Per second"]' in (project / "README.md").read_text()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("perf.csv", "name,mean\nparse,0.5\ndump,1.5\n"),
        ("results/run.ndjson", '{"name": "a", "mean": 1}\n{"name": "b", "mean": 2}\n'),
        ("fixtures/runs/a.jsonl", '{"_id": 1, "name": "a", "mean": 1}\n{"_id": 2, "name": "b", "mean": 2}\n'),
    ],
)
def test_results_of_other_kinds_are_found(project: Path, name: str, text: str) -> None:
    (project / "bench.json").unlink()
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text(text)
    assert mongo_tables("init", cwd=project).stderr == CHECKED
    named = tomllib.loads((project / "mongo-tables.toml").read_text())["results"]
    assert named == ("fixtures" if name.startswith("fixtures") else name)


@pytest.mark.parametrize(
    ("name", "text", "rows", "line"),
    [
        (
            "bench.json",
            '{"at": "x", "result": {"commit": "a", "by_class": {"git": {"n": 3, "pct": 8.5}, "npm": {"n": 2, "pct": 6}}}}',
            "result.by_class.*",
            "| npm  |",
        ),
        (
            "bench.json",
            '{"version": "7", "measurements": [{"name": "b", "ms": 2.5}, {"name": "a", "ms": 1}]}',
            "measurements.*",
            "| a    |",
        ),
        (
            "bench.json",
            '{"throughput": [{"name": "x", "rps": 5}, {"name": "y", "rps": 9}], "scaling": [{"n": 1, "x": 1}]}',
            "throughput.*",
            "| y    |",
        ),
        (
            "bench.json",
            '{"suites": [{"name": "r", "results": [{"name": "a", "ms": 1}, {"name": "b", "ms": 2}]}, {"name": "w", "results": [{"name": "a", "ms": 3}]}]}',
            "suites.*.results.*",
            "| w     | a    |",
        ),
        ("bench.json", '{"git": {"n": 3}, "npm": {"n": 4}}', "*", "| npm  |"),
        (
            "bench.yaml",
            "host: m\nresults:\n  a: {ms: 1.5}\n  b: {ms: 2.5}\n",
            "results.*",
            "| b      | 2.5 |",
        ),
        ("bench.toml", '[[run]]\nname = "a"\nms = 1.5\n[[run]]\nname = "b"\nms = 2\n', "run.*", "| b    |"),
    ],
)
def test_a_list_or_a_map_inside_one_object_is_found(
    project: Path, name: str, text: str, rows: str, line: str
) -> None:
    (project / "bench.json").unlink()
    (project / name).write_text(text)
    done = mongo_tables("init", cwd=project)
    assert (done.returncode, done.stderr) == (0, CHECKED)
    readme = (project / "README.md").read_text()
    assert f'"rows": "{rows}"' in readme
    assert f"\n{line}" in readme


def test_other_lists_are_named_and_can_be_chosen(project: Path) -> None:
    data = {
        "throughput": [{"n": 1, "rps": 5}, {"n": 2, "rps": 9}],
        "scaling": [{"n": 1, "x": 1}, {"n": 2, "x": 1.9}],
    }
    (project / "bench.json").write_text(json.dumps(data))
    shown = 'README.md: the table shows the list `throughput.*`; other lists are `scaling.*`: `"rows": "scaling.*"` shows one\n'
    assert shown in mongo_tables("init", cwd=project).stdout
    written = mongo_tables("init", "--table", cwd=project).stdout
    (project / "page.md").write_text(written.replace("throughput.*", "scaling.*").replace("rps", "x"))
    assert mongo_tables("check", "page.md", cwd=project).stdout == ""


def test_settings_with_lists_are_no_results(project: Path) -> None:
    (project / "bench.json").unlink()
    (project / "docker-compose.yml").write_text("services: {a: {port: 1}, b: {port: 2}}\n")
    (project / "pyproject.toml").write_text("[tool.a]\nx = 1\n[tool.b]\nx = 2\n")
    (project / "data.json").write_text('{"list": [{"n": 1}, {"n": 2}]}')
    mongo_tables("init", cwd=project, expect=2)


def test_the_likeliest_file_is_taken_others_are_named_and_one_may_be_chosen(project: Path) -> None:
    (project / "people.csv").write_text("name,age\nA,1\nB,2\n")
    (project / "node_modules/x").mkdir(parents=True)
    (project / "node_modules/x/bench.json").write_text(json.dumps(BENCH))
    assert (
        "not used: people.csv; --results FILE chooses another file"
        in mongo_tables("init", "--dry-run", cwd=project).stderr
    )
    mongo_tables("init", "--results", "people.csv", cwd=project)
    assert '"collection": "people"' in (project / "README.md").read_text()


def test_a_pattern_of_files_is_written_as_seen_from_the_repository(project: Path) -> None:
    (project / "lib/runs").mkdir(parents=True)
    (project / "lib/runs/1.json").write_text(json.dumps(BENCH))
    (project / "lib/README.md").write_text("# Lib\n")
    mongo_tables("init", "lib", "--results", "all=lib/runs/*.json", cwd=project)
    assert mongo_tables("check", cwd=project / "lib").stderr == CHECKED
    assert '"collection": "all"' in (project / "lib/README.md").read_text()


def test_a_readme_keeps_its_line_ends_its_mark_and_its_last_line(project: Path) -> None:
    (project / "README.md").write_bytes("\ufeff# Mine\r\n\r\nno end".encode())
    mongo_tables("init", cwd=project)
    content = (project / "README.md").read_bytes()
    assert content.startswith("\ufeff# Mine\r\n\r\nno end\r\n\r\n## Results\r\n".encode())
    assert b"\n" not in content.replace(b"\r\n", b"")


@pytest.mark.parametrize("name", ["Results", "benchmarks", "Performance", "Speed", "Load test"])
def test_an_empty_section_for_results_is_filled(project: Path, name: str) -> None:
    (project / "README.md").write_text(f"# Mine\n\n## {name}\n\n## Use\n\nSo.\n")
    mongo_tables("init", cwd=project)
    page = (project / "README.md").read_text()
    assert page.startswith(f"# Mine\n\n## {name}\n\nMean of") and page.endswith("\n\n## Use\n\nSo.\n")
    assert "Results\n\nMean" not in page.replace(f"## {name}", "")


@pytest.mark.parametrize("last", ["## License\n\nMIT\n", "## Contributing\n\nDo.\n\n## Licence\n\nMIT\n"])
def test_a_new_section_comes_before_the_license_and_the_like(project: Path, last: str) -> None:
    above = "# Mine\n\n```sh\n# License\n## License\n```\n\n"
    (project / "README.md").write_text(above + last)
    mongo_tables("init", cwd=project)
    page = (project / "README.md").read_text()
    assert page.startswith(f"{above}## Results\n\nMean of") and page.endswith(f"end -->\n\n{last}")


def test_beside_a_readme_of_another_markup_a_page_of_its_own_is_made(project: Path) -> None:
    (project / "README.md").rename(project / "README.rst")
    mongo_tables("init", cwd=project)
    page = (project / "BENCHMARKS.md").read_text()
    assert page.startswith("# Results\n\nMean of") and "BENCHMARKS.bench.svg" in page


def test_a_page_of_benchmarks_comes_before_the_readme(project: Path) -> None:
    (project / "Benchmarks.md").write_text("# All\n")
    mongo_tables("init", cwd=project)
    assert "RESULT_TABLE" in (project / "Benchmarks.md").read_text()
    assert (project / "README.md").read_text() == "# Mine\n\nIt is fast.\n"


def test_a_readme_that_is_a_link_out_of_the_repository_is_left_alone(project: Path, tmp_path_factory) -> None:
    other = tmp_path_factory.mktemp("other") / "notes.md"
    other.write_text("# Theirs\n")
    (project / "README.md").unlink()
    (project / "README.md").symlink_to(other)
    before = files(project)
    done = mongo_tables("init", cwd=project, expect=2)
    assert "README.md: a link leads out of the repository, so no file was written" in done.stderr
    assert (files(project), other.read_text()) == (before, "# Theirs\n")


def test_a_readme_that_is_a_link_within_the_repository_is_written_through_it(project: Path) -> None:
    (project / "docs").mkdir()
    (project / "README.md").rename(project / "docs/home.md")
    (project / "README.md").symlink_to("docs/home.md")
    mongo_tables("init", cwd=project)
    assert "RESULT_TABLE" in (project / "docs/home.md").read_text()


def test_days_are_shown_as_days(project: Path) -> None:
    (project / "bench.json").unlink()
    (project / "bench.csv").write_text("day,mean\n2026-01-01,1.5\n2026-01-02,2.5\n")
    assert mongo_tables("init", cwd=project).stderr == CHECKED
    assert "| 2026-01-01 |" in (project / "README.md").read_text()


def test_a_page_with_code_that_is_not_closed_is_left_alone(project: Path) -> None:
    (project / "README.md").write_text("# Mine\n\n<pre>\nopen\n")
    before = files(project)
    done = mongo_tables("init", cwd=project, expect=2)
    assert "README.md: a comment added to it would be shown as text, so no file was written" in done.stderr
    assert files(project) == before


MKDOCS = """\
site_name: Mine   # ours
# pages
nav:
    - Home: index.md

theme:
    name: mkdocs
    icon: !!python/name:os.getcwd
plugins:
    - search:   # in two languages
        lang:
            - en
            - de

markdown_extensions: [admonition]
"""


@pytest.fixture
def site(project: Path) -> Path:
    (project / "docs").mkdir()
    (project / "docs/index.md").write_text("# Home\n")
    (project / "mkdocs.yml").write_text(MKDOCS)
    return project


def test_a_site_gets_a_page_and_an_entry_among_its_plugins(site: Path) -> None:
    done = mongo_tables("init", cwd=site)
    added = "    - mongo-tables:\n        results: bench.json\n"
    assert (site / "mkdocs.yml").read_text() == MKDOCS.replace(
        "            - de\n", f"            - de\n{added}"
    )
    assert (
        (site / "docs/results.md").read_text().startswith("# Results\n\nMean of `dump`: <!-- RESULT_VALUE: {")
    )
    assert "mongo-tables: begin" not in (site / "docs/results.md").read_text()
    assert "next: add the page to `nav` in mkdocs.yml: results.md" in done.stdout
    for hook in hooks_of(site):  # the one that writes finds nothing in place, which is no fault
        mongo_tables(*hook["entry"].split()[1:], cwd=site)
    assert not (site / "mongo-tables.toml").exists()
    assert (site / "README.md").read_text() == "# Mine\n\nIt is fast.\n"
    once = files(site)
    mongo_tables("init", cwd=site)
    assert files(site) == once


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            "site_name: A\n",
            "site_name: A\nplugins:\n  - search\n  - mongo-tables:\n      results: bench.json\n",
        ),
        ("plugins: [search]\n", "plugins: [search, {mongo-tables: {results: bench.json}}]\n"),
        (
            "plugins:\r\n- search\r\nsite_name: A\r\n",
            "plugins:\r\n- search\r\n- mongo-tables:\r\n    results: bench.json\r\nsite_name: A\r\n",
        ),
        ("plugins:\n  - search", "plugins:\n  - search\n  - mongo-tables:\n      results: bench.json"),
    ],
)
def test_an_entry_is_written_as_the_file_is(site: Path, text: str, after: str) -> None:
    (site / "mkdocs.yml").write_bytes(text.encode())
    mongo_tables("init", cwd=site)
    assert (site / "mkdocs.yml").read_bytes() == after.encode()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mkdocs.yml", "plugins: {search: {}}\n"),
        ("mkdocs.yml", "plugins:\n"),
        ("mkdocs.yml", "a: &p [search]\nplugins: *p\n"),
        ("mkdocs.yml", "INHERIT: base.yml\n"),
        ("zensical.toml", 'project = {site_name = "A"}\n'),
        ("zensical.toml", '[project]\nmarkdown_extensions = ["toc"]\n'),
    ],
)
def test_where_nothing_can_be_added_safely_it_is_said_what_to_add_and_nothing_is_written(
    site: Path, name: str, text: str
) -> None:
    (site / "mkdocs.yml").unlink()
    (site / "base.yml").write_text("plugins: [search]\n")
    (site / name).write_text(text)
    before = files(site)
    done = mongo_tables("init", cwd=site, expect=2)
    assert f"{name}: an entry cannot be added safely, so no file was written" in done.stderr
    assert "bench.json" in done.stderr
    assert files(site) == before


def test_a_site_of_zensical_gets_the_extension_behind_those_it_lists(site: Path) -> None:
    (site / "mkdocs.yml").unlink()
    text = '[project]\nsite_name = "A"\n\n[project.markdown_extensions.toc]\npermalink = true\n'
    (site / "zensical.toml").write_text(text)
    mongo_tables("init", cwd=site)
    added = '\n[project.markdown_extensions.mongo-tables]\nresults = "bench.json"\n'
    assert (site / "zensical.toml").read_text() == text + added


def zensical_reads(file: Path) -> tuple[list[str], dict[str, Any]]:
    """The extensions with which Zensical converts the pages of a site, and their options."""
    from zensical.config import parse_zensical_config

    config = parse_zensical_config(str(file))
    return config["markdown_extensions"], config["mdx_configs"]


def test_an_ordinary_site_of_zensical_keeps_all_extensions_that_it_has_of_itself(site: Path) -> None:
    (site / "mkdocs.yml").unlink()
    file = site / "zensical.toml"
    file.write_text('[project]\nsite_name = "A"\n')
    names, options = zensical_reads(file)
    done = mongo_tables("init", cwd=site)
    assert done.stderr == "2 comments on 2 pages: no fault\n"
    others, settings = zensical_reads(file)
    assert settings.pop("mongo-tables") == {"results": "bench.json"}
    assert [name for name in others if name != "mongo-tables"] == names
    assert settings == options
    once = files(site)
    mongo_tables("init", cwd=site)
    assert files(site) == once


def test_what_is_to_be_added_by_hand_stands_in_lines_of_its_own(site: Path) -> None:
    (site / "mkdocs.yml").write_text("plugins:\n")
    done = mongo_tables("init", cwd=site, expect=2)
    lines = "  hint: add this entry, and run the command again:\nplugins:\n  - mongo-tables:\n      results: bench.json\n"
    assert done.stderr.endswith(lines)


def test_a_list_of_extensions_in_toml_is_told_an_entry_of_a_list(site: Path) -> None:
    (site / "mkdocs.yml").unlink()
    file = site / "zensical.toml"
    file.write_text('[project]\nsite_name = "A"\nmarkdown_extensions = ["toc"]\n')
    told = mongo_tables("init", cwd=site, expect=2).stderr.rstrip().rpartition("`markdown_extensions`: ")[2]
    file.write_text(f'[project]\nsite_name = "A"\nmarkdown_extensions = ["toc", {told}]\n')
    assert zensical_reads(file)[1]["mongo-tables"] == {"results": "bench.json"}
    assert mongo_tables("init", cwd=site).stderr == "2 comments on 2 pages: no fault\n"


HOOKS = """\
# All of ours
default_language_version: {python: python3}
repos:
  - repo: https://example.org/hooks   # theirs
    rev: v1
    hooks:
      - id: whitespace
        args: [--fix]

# the end
"""


def test_hooks_that_are_there_stay_as_they_are(project: Path) -> None:
    (project / ".pre-commit-config.yaml").write_text(HOOKS)
    mongo_tables("init", cwd=project)
    text = (project / ".pre-commit-config.yaml").read_text()
    head, tail = HOOKS.split("\n\n# the end")
    assert text.startswith(f"{head}\n  - repo: local\n")
    assert text.endswith(f"\n\n# the end{tail}")
    assert [len(repo["hooks"]) for repo in yaml.safe_load(text)["repos"]] == [1, 2]


def test_hooks_that_cannot_be_added_to_safely_are_left_with_a_word_of_what_to_add(project: Path) -> None:
    (project / ".pre-commit-config.yaml").write_text("repos: &all []\nmore: *all\n")
    done = mongo_tables("init", cwd=project)
    assert (project / ".pre-commit-config.yaml").read_text() == "repos: &all []\nmore: *all\n"
    assert "the hooks cannot be added safely; add this entry:\nrepos:\n  - repo: local\n" in done.stdout
    assert "RESULT_TABLE" in (project / "README.md").read_text()


def test_the_hook_runs_whatever_is_committed_so_that_results_that_went_are_told(project: Path) -> None:
    mongo_tables("init", cwd=project)
    hook = hooks_of(project)[-1]
    (project / "bench.json").unlink()
    assert "no file bench.json" in mongo_tables(*hook["entry"].split()[1:], cwd=project, expect=2).stderr


def test_a_readme_is_checked_as_the_hook_will_its_typed_numbers_too(project: Path) -> None:
    measured = [{"name": "sort", "mean": 0.25}, {"name": "sort -n", "mean": 0.125}]
    (project / "bench.json").write_text(json.dumps(measured))
    (project / "README.md").write_text("# Mine\n\nIt sorts in 270 ms.\n")
    done = mongo_tables("init", cwd=project, expect=1)
    assert "README.md:3:13: warning MT324" in done.stdout


def test_a_file_that_is_large_to_commit_is_told_with_what_makes_it_small(project: Path) -> None:
    one = {"command": "sort", "mean": 0.25, "stddev": 0.1, "system": 0.1, "times": [0.25] * 200_000}
    (project / "bench.json").write_text(json.dumps({"results": [one]}))
    (project / "other.csv").write_text("name,ms\na,1\nb,2\n")
    done = mongo_tables("init", "--dry-run", cwd=project)
    assert "bench.json is large for a commit: " in done.stderr
    (command,) = re.findall(r"`mongo-tables (import .*?)`", done.stderr)
    mongo_tables(*command.split(), cwd=project)
    assert "fixtures: a folder with collections" in mongo_tables("init", cwd=project).stdout


def test_results_that_git_ignores_are_told(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "bench.json").write_text('[{"name": "a", "ns": 1}, {"name": "b", "ns": 2}]')
    told = "bench.json: Git ignores this file"
    assert told not in mongo_tables("init", "--dry-run", cwd=tmp_path).stderr
    (tmp_path / ".gitignore").write_text("*.json\n")
    assert told in mongo_tables("init", "--dry-run", cwd=tmp_path).stderr


def test_files_that_are_passed_over_are_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("# made by us\n# today\nname,ns\nx,1\ny,2\n")
    (tmp_path / "b.csv").write_bytes("name,ns\nx,1\n".encode("utf-16"))
    (tmp_path / "c.csv").write_text("")
    (tmp_path / "d.csv").write_text("name,ns\nx,1\n")
    (tmp_path / "numbers.json").write_text('{"runs": {"list": [{"n": 1}, {"n": 2}]}}')
    told = mongo_tables("init", cwd=tmp_path, expect=2).stderr
    assert "a.csv: 1:1: lines that begin with `#` precede the names of the columns\n" in told
    assert "b.csv: 1:1: UTF-16, not UTF-8\n" in told
    assert "c.csv: it is empty\n" in told
    assert "d.csv: fewer than two documents with numbers\n" in told
    assert "numbers.json: its name does not look like results; choose it with --results\n" in told


def test_nothing_to_work_with_is_said_with_what_would_help(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "a"}')
    done = mongo_tables("init", cwd=tmp_path, expect=2)
    assert "no file of results in ." in done.stderr
    assert "--benchmark-json" in done.stderr
    assert files(tmp_path) == {"package.json": b'{"name": "a"}'}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: no such folder"),
        (["bench.json"], "bench.json: no such folder"),
        (["--results", "gone.json"], "gone.json"),
        (["--results", "mongodb://reader:secret@host/x"], "a set-up needs files"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_writes_nothing(
    project: Path, arguments: list[str], said: str
) -> None:
    before = files(project)
    done = mongo_tables("init", *arguments, cwd=project, expect=2)
    assert said in done.stderr
    assert "secret" not in done.stderr + done.stdout
    assert files(project) == before


@pytest.mark.parametrize("content", [b'[{"name": "a", "mean": 1},', b"", b'[{"mean": "\xff"}]', b"[]"])
def test_a_file_of_results_that_cannot_be_read_is_named(project: Path, content: bytes) -> None:
    (project / "bench.json").write_bytes(content)
    before = files(project)
    done = mongo_tables("init", cwd=project, expect=2)
    assert "bench.json" in done.stderr.partition("hint:")[0] + done.stdout
    assert files(project) == before


def test_names_of_every_kind_end_up_whole_in_every_file(project: Path) -> None:
    name = "bench \"a', b=c?*.json"
    (project / "bench.json").rename(project / name)
    mongo_tables("init", cwd=project)
    assert tomllib.loads((project / "mongo-tables.toml").read_text())["results"] == name
    assert mongo_tables("check", cwd=project).stderr == CHECKED


def test_an_interrupt_leaves_everything_as_it_was(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, written = files(project), []
    write = atomic._write_beside

    def interrupted(path: Path, *rest: object) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(path)
        write(path, *rest)

    monkeypatch.setattr(atomic, "_write_beside", interrupted)
    monkeypatch.chdir(project)
    with pytest.raises(KeyboardInterrupt):
        main(["init"])
    assert files(project) == before


def test_a_password_in_a_site_s_file_is_not_shown(site: Path) -> None:
    uri = "mongodb://reader:hidden-word@127.0.0.1:9/x"
    (site / "mkdocs.yml").write_text(
        f"plugins:\n  - mongo-tables:\n      results: {uri}\n      connect_limit: 0.1\n"
    )
    for more in ([], ["--results", "bench.json"], ["--dry-run"]):
        done = mongo_tables("init", *more, cwd=site, expect=2)
        assert "hidden-word" not in done.stdout + done.stderr


def test_nobody_is_asked_anything(project: Path) -> None:
    leader, follower = os.openpty()
    command = [sys.executable, "-m", "mongo_tables.cli", "init"]
    done = subprocess.run(command, cwd=project, stdin=follower, capture_output=True, text=True, timeout=60)
    os.close(leader)
    os.close(follower)
    assert (done.returncode, done.stderr) == (0, CHECKED)


def test_the_folder_of_saved_runs_can_be_named_and_is_told_if_it_is_left_aside(project: Path) -> None:
    run = (RECORDED / "pytestbenchmark" / "4.0.0.json").read_text("utf-8")
    saved = project / ".benchmarks" / "Linux-64bit"
    saved.mkdir(parents=True)
    (saved / "0001_a.json").write_text(run)
    (project / "bench.json").write_text(run)
    told = mongo_tables("init", "--dry-run", cwd=project).stderr
    assert "; --results 'runs=.benchmarks/*/*.json' would show the saved runs" in told
    named = mongo_tables("init", "--dry-run", "--results", ".benchmarks", cwd=project).stdout
    assert '+results = "runs=.benchmarks/*/*.json"' in named
