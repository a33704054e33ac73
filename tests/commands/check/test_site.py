"""`check --site`: which programs show figures, and what to add, which then makes them show figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from zensical.config import DEFAULT_MARKDOWN_EXTENSIONS, parse_zensical_config

from mongo_tables.site.settings_files import load_yaml, toml_settings
from tests.commands.test_commands import mongo_tables

PLUGIN = "plugins:\n  - search\n  - mongo-tables:\n      results: data\n"
EXTENSION = "markdown_extensions:\n  - tables\n  - mongo-tables:\n      results: data\n"
TABLE = '<!-- MONGO_TABLE: {"collection": "r", "sort": "a", "columns": ["a"]} -->\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("docs/pipelines", "data/r"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs/index.md").write_text(TABLE)
    (tmp_path / "data/r/r.jsonl").write_text('{"_id": 1, "a": 1}\n')
    return tmp_path


def said(project: Path, *arguments: str, expect: int = 0) -> str:
    return mongo_tables("check", "--site", *arguments, cwd=project, expect=expect).stdout


def heads(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith(" ")]


def added(text: str) -> str:
    """What is to be added, without its indent."""
    return "\n".join(line.removeprefix("    ") for line in text.splitlines() if line.startswith("    "))


def test_the_plugin_is_the_door_of_two_programs_and_none_of_zensical(project: Path) -> None:
    (project / "mkdocs.yml").write_text(f"site_name: S\n{PLUGIN}")
    text = said(project)
    assert heads(text) == [
        "mkdocs.yml: MkDocs shows figures, by the plugin",
        "mkdocs.yml: ProperDocs shows figures, by the plugin",
        "mkdocs.yml: Zensical shows no figures; it passes over the plugin `mongo-tables` without a word",
    ]
    entry, watch = added(text).split("watch:")
    assert load_yaml(entry) == [{"mongo-tables": {"results": "data"}}]
    assert load_yaml(f"watch:{watch}") == {"watch": ["data", "docs/pipelines"]}


def test_what_it_says_to_add_opens_every_door_and_nothing_is_left_to_say(project: Path) -> None:
    watch = "watch: [data, docs/pipelines]\n"
    (project / "mkdocs.yml").write_text(f"site_name: S\n{PLUGIN}{EXTENSION}{watch}")
    text = said(project)
    assert [line.partition(" shows ")[2] for line in text.splitlines()] == [
        "figures, by the plugin",
        "figures, by the plugin",
        "figures, by the Markdown extension; it passes over the plugin `mongo-tables` without a word",
    ]


def test_the_extension_alone_shows_figures_everywhere_and_the_plugin_is_named_as_the_better_door(
    project: Path,
) -> None:
    (project / "mkdocs.yml").write_text(f"site_name: S\n{EXTENSION}")
    text = said(project)
    assert [line.rpartition(": ")[2] for line in heads(text)] == [
        f"{program} shows figures, by the Markdown extension"
        for program in ("MkDocs", "ProperDocs", "Zensical")
    ]
    assert text.count("for search, downloads and less time, add to `plugins`:") == 2


def test_an_entry_takes_over_what_the_other_one_reads(project: Path) -> None:
    (project / "mkdocs.yml").write_text(
        f"site_name: S\ndocs_dir: content\n{PLUGIN}      fail_on: warning\n      row_limit: 5\n      documents: r\n"
    )
    (entry,) = load_yaml(added(said(project)).split("watch:")[0])
    assert entry["mongo-tables"] == {
        "results": "data", "pipelines": "content/pipelines", "fail_on": "warning", "row_limit": 5,
    }  # fmt: skip


def test_a_plugin_that_zensical_passes_over_is_told_by_every_check(project: Path) -> None:
    file = project / "zensical.toml"
    file.write_text('[project]\nsite_name = "S"\n\n[project.plugins.mongo-tables]\nresults = "data"\n')
    told = mongo_tables("check", cwd=project, expect=1).stdout
    assert told.startswith("zensical.toml:4:18: error MT172 Zensical passes over the plugin")
    text = said(project, expect=1)
    assert heads(text) == [
        "zensical.toml: Zensical shows no figures; it passes over the plugin `mongo-tables` without a word"
    ]
    entry, _, watch = added(text).partition("[project]\n")
    file.write_text(file.read_text().replace("[project]\n", f"[project]\n{watch}\n") + entry)
    assert toml_settings(file)["project"]["watch"] == ["data", "docs/pipelines"]
    assert mongo_tables("check", cwd=project).stderr == "1 comment on 1 page: no fault\n"
    assert heads(said(project))[0].startswith(
        "zensical.toml: Zensical shows figures, by the Markdown extension"
    )


@pytest.mark.parametrize("head", ["[project]\n", ""])
def test_zensical_takes_settings_with_and_without_a_table_around_them(head: str, project: Path) -> None:
    inner = "project.markdown_extensions" if head else "markdown_extensions"
    (project / "zensical.toml").write_text(
        f'{head}site_name = "S"\n[{inner}.mongo-tables]\nresults = "data"\n'
    )
    assert "Zensical shows figures, by the Markdown extension" in said(project)


def test_each_program_reads_the_file_of_its_own_first(project: Path) -> None:
    (project / "mkdocs.yml").write_text(f"site_name: S\n{PLUGIN}")
    (project / "properdocs.yml").write_text("site_name: S\n")
    (project / "zensical.toml").write_text('[project]\nsite_name = "S"\n')
    assert [line.partition(";")[0] for line in heads(said(project, expect=1))] == [
        "mkdocs.yml: MkDocs shows figures, by the plugin",
        "properdocs.yml: ProperDocs shows no figures",
        "zensical.toml: Zensical shows no figures",
    ]


def test_a_program_that_does_not_look_for_the_file_is_named_with_its_option(project: Path) -> None:
    (project / "properdocs.yml").write_text(f"site_name: S\n{EXTENSION}")
    assert "properdocs.yml: Zensical -f properdocs.yml shows figures, by the Markdown extension" in said(
        project
    )


def test_a_plugin_that_is_switched_off_is_no_door(project: Path) -> None:
    (project / "mkdocs.yml").write_text(f"site_name: S\n{PLUGIN}      enabled: false\n")
    assert "mkdocs.yml: MkDocs shows no figures" in said(project, expect=1)


def test_a_password_is_not_repeated(project: Path) -> None:
    (project / "mkdocs.yml").write_text(
        f"site_name: S\n{PLUGIN.replace('data', 'mongodb://me:hidden@localhost/bench')}"
    )
    text = said(project)
    assert "hidden" not in text and "results: …" in text


def test_a_pattern_is_watched_by_the_folder_around_it(project: Path) -> None:
    (project / "bench").mkdir()
    (project / "mkdocs.yml").write_text(f"site_name: S\n{PLUGIN.replace('data', 'runs=bench/*.csv, data')}")
    assert load_yaml("watch:" + added(said(project)).split("watch:")[1])["watch"] == [
        "bench",
        "data",
        "docs/pipelines",
    ]


@pytest.mark.parametrize(("head", "told"), [("", True), ("plugins: [search]\n", False)])
def test_what_a_first_list_takes_away_is_told(head: str, told: bool, project: Path) -> None:
    (project / "mkdocs.yml").write_text(f"site_name: S\n{head}")
    assert ("without a list there is `search`" in said(project, expect=1)) == told


def test_where_no_site_is_described_it_says_so(project: Path) -> None:
    (project / "mongo-tables.toml").write_text('results = "data"\n')
    assert "no site is described here" in mongo_tables("check", "--site", cwd=project, expect=2).stderr


def test_pages_and_other_options_do_not_go_with_it(project: Path) -> None:
    (project / "mkdocs.yml").write_text(f"site_name: S\n{PLUGIN}")
    for other in (["docs"], ["--static"], ["--format", "json"]):
        assert (
            "--site checks only the file"
            in mongo_tables("check", "--site", *other, cwd=project, expect=2).stderr
        )
    assert heads(said(project, "--config-file", "mkdocs.yml"))


def test_a_list_that_took_the_place_of_zensicals_own_extensions_is_told_with_what_they_were(
    project: Path,
) -> None:
    ours = '[project.markdown_extensions.mongo-tables]\nresults = "data"\n'
    file = project / "zensical.toml"
    file.write_text(f'[project]\nsite_name = "S"\nwatch = ["data", "docs/pipelines"]\n{ours}')
    told = said(project)
    assert "its list replaces Zensical's own extensions" in told
    file.write_text(f"{file.read_text()}{added(told)}\n")
    assert said(project) == "zensical.toml: Zensical shows figures, by the Markdown extension\n"


def test_a_list_that_has_one_of_zensicals_own_extensions_is_its_authors_choice(project: Path) -> None:
    lines = '[project.markdown_extensions.mongo-tables]\nresults = "data"\n[project.markdown_extensions]\ntoc = {}\n'
    (project / "zensical.toml").write_text(f'[project]\nsite_name = "S"\n{lines}')
    assert "own extensions" not in said(project)


def test_what_it_says_to_add_to_a_toml_without_a_list_keeps_zensicals_own_extensions(project: Path) -> None:
    file = project / "zensical.toml"
    file.write_text(
        '[project]\nsite_name = "S"\nwatch = ["data", "docs/pipelines"]\nplugins = ["mongo-tables"]\n'
    )
    told = said(project, expect=1)
    file.write_text(f"{file.read_text()}{added(told)}\n")
    assert {*DEFAULT_MARKDOWN_EXTENSIONS} < {*parse_zensical_config(str(file))["markdown_extensions"]}
    assert "Zensical shows figures, by the Markdown extension" in said(project)
    assert "own extensions" not in said(project)
