"""The commands and the hook check what the site publishes: they read the file that it is built from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mongo_tables.findings.usage import CommandError
from mongo_tables.hosts.markdown_extension import MongoTablesExtension
from mongo_tables.hosts.options import MongoTablesConfig
from mongo_tables.site.settings_files import list_site_files
from mongo_tables.site.site_config import PLUGIN_KEYS, find_site, read_site
from tests.commands.test_commands import mongo_tables

TABLE = """\
<!-- MONGO_TABLE: {"collection": "r", "pipeline": ["sorted", {"$project": {"a": 1}}], "columns": ["a"], "headers": ["A"]} -->
"""
MKDOCS = """\
site_name: Trains
docs_dir: content
theme:
  name: material
  icon: !!python/name:material.extensions.emoji.to_svg
extra:
  analytics: !ENV [ANALYTICS, false]
plugins:
  - search
  - mongo-tables:
      results: data
      pipelines: stages
"""
ZENSICAL = """\
[project]
site_name = "Trains"
docs_dir = "content"

[project.markdown_extensions.mongo-tables]
results = "data"
pipelines = "stages"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A site whose pages, results and shared pipelines are all elsewhere than usual."""
    for folder in ("content", "data/r", "stages"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "mkdocs.yml").write_text(MKDOCS)
    (tmp_path / "content/index.md").write_text(TABLE)
    (tmp_path / "stages/sorted.json").write_text('[{"$sort": {"_id": 1}}]')
    (tmp_path / "data/r/r.jsonl").write_text('{"_id": 1, "a": "x"}\n{"_id": 2, "a": "y"}\n')
    return tmp_path


def test_the_pages_and_results_of_mkdocs_yml_are_those_that_are_checked(project: Path) -> None:
    assert mongo_tables("check", cwd=project).stderr == "1 comment on 1 page: no fault\n"


@pytest.mark.parametrize(("name", "text"), [("properdocs.yml", MKDOCS), ("zensical.toml", ZENSICAL)])
def test_sites_of_other_programs_are_read_as_well(project: Path, name: str, text: str) -> None:
    (project / "mkdocs.yml").unlink()
    (project / name).write_text(text)
    assert mongo_tables("check", cwd=project).stderr == "1 comment on 1 page: no fault\n"


def test_an_empty_docs_folder_is_not_taken_for_the_pages(project: Path) -> None:
    (project / "docs").mkdir()
    (project / "content/index.md").write_text(TABLE.replace("$project", "$projekt"))
    assert "content/index.md:1:" in mongo_tables("check", cwd=project, expect=1).stdout


def test_every_command_finds_pages_results_and_pipelines(project: Path) -> None:
    assert "| y" in mongo_tables("render", "content/index.md", cwd=project).stdout
    assert "2 documents" in mongo_tables("explain", "content/index.md", cwd=project).stdout
    assert '"collection": "r"' in mongo_tables("init", "--table", "r", cwd=project).stdout
    assert mongo_tables("diff", "data", "data", cwd=project).stdout.strip() == "nothing changed"
    (project / "newer/r").mkdir(parents=True)
    (project / "newer/r/r.jsonl").write_text('{"_id": 3, "a": "z"}\n')
    mongo_tables("pull", "newer", cwd=project)
    assert '"z"' in (project / "data/r/r.jsonl").read_text()


def test_a_command_below_the_folder_of_the_site_finds_it(project: Path) -> None:
    (project / "content/deep").mkdir()
    done = mongo_tables("check", cwd=project / "content/deep")
    assert done.stderr == "1 comment on 1 page: no fault\n"


def test_what_the_command_line_says_comes_first(project: Path) -> None:
    (project / "more/r").mkdir(parents=True)
    (project / "more/r/r.jsonl").write_text('{"_id": 1, "a": "of the command line"}\n')
    done = mongo_tables("render", "content/index.md", "--results", "more", cwd=project)
    assert "of the command line" in done.stdout


def test_the_environment_comes_before_the_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "more/r").mkdir(parents=True)
    (project / "more/r/r.jsonl").write_text('{"_id": 1, "a": "of the environment"}\n')
    monkeypatch.setenv("MONGO_TABLES_RESULTS", "more")
    assert "of the environment" in mongo_tables("render", "content/index.md", cwd=project).stdout


def test_a_results_folder_may_come_from_a_variable_as_in_mkdocs(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "mkdocs.yml").write_text(MKDOCS.replace("results: data", "results: !ENV [ROWS, nothing]"))
    assert "no fixture folder" in mongo_tables("check", cwd=project, expect=2).stderr
    monkeypatch.setenv("ROWS", "data")
    mongo_tables("check", cwd=project)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("results: dta", "there is no fixture folder dta, which `results` of mkdocs.yml names"),
        ("resuls: data", "mkdocs.yml: unknown option of mongo-tables `resuls`"),
    ],
)
def test_a_misspelt_setting_is_named_with_its_remedy(project: Path, option: str, said: str) -> None:
    (project / "mkdocs.yml").write_text(MKDOCS.replace("results: data", option))
    stderr = mongo_tables("check", cwd=project, expect=2).stderr
    meant = "data" if "dta" in option else "results"
    assert stderr == f"mongo-tables: {said}\n  hint: did you mean `{meant}`?\n"


def test_commands_know_the_options_of_the_plugin_and_of_the_extension() -> None:
    assert {name for name, _ in MongoTablesConfig()._schema} <= set(PLUGIN_KEYS)  # type: ignore[no-untyped-call]
    assert set(MongoTablesExtension().config) <= set(PLUGIN_KEYS)


def test_an_inherited_file_counts(project: Path) -> None:
    (project / "base").mkdir()
    (project / "mkdocs.yml").rename(project / "base.yml")
    (project / "mkdocs.yml").write_text("INHERIT: base.yml\nsite_name: Other\n")
    assert read_site(project / "mkdocs.yml").docs == project / "content"


def test_the_files_of_a_site_are_its_own_and_all_that_it_inherits_also_one_that_is_missing(
    tmp_path: Path,
) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "mkdocs.yml").write_text("INHERIT: base/near.yml\n")
    (tmp_path / "base/near.yml").write_text("INHERIT: ../far.yml\n")
    (tmp_path / "far.yml").write_text("site_name: Far\n")
    names = ["mkdocs.yml", "base/near.yml", "far.yml"]
    site = read_site(tmp_path / "mkdocs.yml")
    assert list_site_files(site.file) == [tmp_path / name for name in names]
    (tmp_path / "far.yml").unlink()
    assert list_site_files(site.file) == [tmp_path / name for name in names]
    (tmp_path / "base/near.yml").write_text("INHERIT: [\n")
    assert list_site_files(site.file) == [tmp_path / name for name in names[:2]]
    (tmp_path / "base/near.yml").write_text("INHERIT: ../mkdocs.yml\n")
    assert set(list_site_files(site.file)) == {tmp_path / name for name in names[:2]}
    (tmp_path / "mkdocs.yml").write_text('INHERIT: "a\\0b.yml"\n')
    assert list_site_files(site.file) == [tmp_path / "mkdocs.yml"]


def test_files_that_inherit_from_each_other_are_told(project: Path) -> None:
    (project / "mkdocs.yml").write_text("INHERIT: mkdocs.yml\n")
    assert "leads back" in mongo_tables("check", cwd=project, expect=2).stderr


def test_two_files_that_disagree_are_told_and_one_may_be_named(project: Path) -> None:
    (project / "zensical.toml").write_text(ZENSICAL.replace('"data"', '"other"'))
    done = mongo_tables("check", cwd=project, expect=2)
    assert "mkdocs.yml and zensical.toml name different pages or results" in done.stderr
    mongo_tables("check", "--config-file", "mkdocs.yml", cwd=project)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("mkdocs.yml", "docs_dir: [\n", "mkdocs.yml:2:1: not YAML"),
        ("mkdocs.yml", "docs_dir: 5\n", "`docs_dir` is not a string"),
        ("mkdocs.yml", "docs_dir: \xff", "not UTF-8"),
        ("mkdocs.yml", "docs_dir: docs\nsince: 2024-13-45\n", "mkdocs.yml: not YAML: month must be in 1..12"),
        ("mkdocs.yml", f"docs_dir: docs\nhuge: {'1' * 5_000}\n", "mkdocs.yml: not YAML"),
        ("mkdocs.yml", 'INHERIT: "a\\0b.yml"\n', "embedded null byte"),
        ("zensical.toml", "[project\n", "zensical.toml: not TOML"),
        ("zensical.toml", f"deep = {'[' * 5_000}", "zensical.toml: not TOML"),
        ("zensical.toml", f"huge = {'1' * 5_000}", "zensical.toml: not TOML"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    done = mongo_tables("check", cwd=tmp_path, expect=2)
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 2
    with pytest.raises(CommandError):
        read_site(tmp_path / name)


def test_the_search_ends_at_the_repository(project: Path) -> None:
    (project / "inner/.git").mkdir(parents=True)
    assert find_site(project / "inner") is None
    assert find_site(project / "content") is not None


def test_a_password_of_the_results_is_never_printed(project: Path) -> None:
    secret = "mongodb://reader:known-only-to-tests@127.0.0.1:9/x"
    (project / "mkdocs.yml").write_text(MKDOCS.replace("results: data", f"results: {secret}"))
    done = mongo_tables("check", cwd=project, expect=2)
    assert "known-only-to-tests" not in done.stdout + done.stderr


def test_a_page_without_a_comment_is_not_taken_for_a_checked_one(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("# Nothing\n")
    assert mongo_tables("check", cwd=tmp_path).stderr == "0 comments on 1 page: nothing was checked\n"


def test_the_list_of_findings_alone_goes_to_standard_output(project: Path) -> None:
    assert mongo_tables("check", cwd=project).stdout == ""
    assert "no fault" not in mongo_tables("check", "--format", "json", cwd=project).stderr


def test_a_site_that_says_nothing_of_ours_costs_no_yaml(project: Path) -> None:
    (project / "mkdocs.yml").write_text("site_name: a\nx: [\n")
    assert read_site(project / "mkdocs.yml").docs == project / "docs"
    assert os.fspath(read_site(project / "mkdocs.yml").pipelines).endswith("docs/pipelines")


def test_a_plugin_that_zensical_passes_over_is_reported_by_every_check(project: Path) -> None:
    (project / "mkdocs.yml").unlink()
    file = project / "zensical.toml"
    file.write_text(ZENSICAL.replace("markdown_extensions", "plugins"))
    said = mongo_tables("check", cwd=project, expect=1).stdout
    assert said.startswith("zensical.toml: error MT172 Zensical ignores the plugin")
    assert "[project.markdown_extensions.mongo-tables]" in said
    file.write_text(f'{file.read_text()}\n[project.markdown_extensions.mongo-tables]\nresults = "data"\n')
    assert "MT172" not in mongo_tables("check", cwd=project, expect=None).stdout
