"""A value without a table, and values that the settings name: ``<!-- RESULT: saved -->`` on any page, by every door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.test_commands import mongo_tables

DATA = {
    "commit": "a1",
    "result": {"arms": {"rtk": {"saved_pct": 0.8125}}, "by_class": {"git": {"n": 12}, "npm": {"n": 7}}},
}
SETTINGS = """\
results = "bench.json"
pages = ["README.md", "docs"]
[values.saved]
collection = "bench"
field = "result.arms.rtk.saved_pct"
format = {decimals = 1, percent = true}
[values.git]
collection = "bench"
rows = "result.by_class.*"
where = {_key = "git"}
field = "n"
"""
NPM = '{"collection": "bench", "rows": "result.by_class.*", "where": {"_key": "npm"}, "field": "n"}'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "bench.json").write_text(json.dumps(DATA))
    (tmp_path / "mongo-tables.toml").write_text(SETTINGS)
    (tmp_path / "README.md").write_text("# A\n\nIt saves <!-- RESULT: saved --> of all.\n")
    (tmp_path / "docs").mkdir()
    return tmp_path


def checked(project: Path, text: str) -> str:
    (project / "docs/b.md").write_text(f"# B\n\n{text}\n")
    return mongo_tables("check", "docs/b.md", cwd=project, expect=None).stdout


def test_a_value_of_a_document_needs_no_table(project: Path) -> None:
    text = f'At <!-- RESULT_VALUE: {{"collection": "bench", "field": "commit"}} --> it is <!-- RESULT_VALUE: {NPM} -->.'
    (project / "README.md").write_text(f"{text}\n")
    assert mongo_tables("render", "README.md", cwd=project).stdout == "At a1 it is 7.\n"
    mongo_tables("render", "--in-place", "README.md", cwd=project)
    assert "1 page: no fault" in mongo_tables("check", "README.md", cwd=project).stderr
    (project / "bench.json").write_text(json.dumps(DATA).replace('"n": 7', '"n": 8'))
    assert "it is 7, and 8 now" in mongo_tables("check", "README.md", cwd=project, expect=1).stdout


def test_a_value_can_be_computed(project: Path) -> None:
    body = NPM.replace('"field": "n"', '"compute": {"k": "n * 2 + 1"}, "field": "k"')
    (project / "README.md").write_text(f"It is <!-- RESULT_VALUE: {body} -->.\n")
    assert mongo_tables("render", "README.md", cwd=project).stdout == "It is 15.\n"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"collection": "bench", "field": "comit"}', "MT302 no row has the column 'comit'"),
        ('{"collection": "bench", "rows": "result.by_class.*", "field": "n"}', "MT320 a value comes from one row, but 2 rows of collection `bench`"),
        ('{"collection": "bench", "field": "result"}', "MT325 `result` of collection `bench` is a whole document"),
        ('{"collection": "benhc", "field": "commit"}', "MT304 the results source has no collection 'benhc'"),
        ('{"collection": "bench", "where": {"commit": "y"}, "field": "commit"}', "MT303 `where` selects no rows"),
        ('{"collection": "bench"}', "MT131 a RESULT_VALUE comment needs the key `field`"),
        ('{"field": "n"}', "MT131 a RESULT_VALUE comment needs the key `collection`"),
        ('{"table": "t", "column": "a", "field": "n"}', "MT130 `field` has no effect together with `table`"),
        ('{"collection": "bench", "field": "commit", "column": "a"}', "MT130 `column` has no effect together with `collection`"),
        ('{"collection": "bench", "field": "n", "pipeline": [{"$mtach": {}}]}', "MT301 "),
        ('{"collection": "bench", "field": "commit", "format": {"percent": true}}', "MT335 "),
    ],
)  # fmt: skip
def test_what_is_wrong_with_it_is_told(project: Path, body: str, told: str) -> None:
    assert told in checked(project, f"It is <!-- RESULT_VALUE: {body} -->.")


def test_a_named_value_is_the_same_on_every_page_and_in_place(project: Path) -> None:
    text = "Es spart <!-- RESULT: saved -->, <!-- RESULT:git --> von allem."
    (project / "docs/b.md").write_text(f"# B\n\n{text}\n")
    assert mongo_tables("render", "README.md", cwd=project).stdout == "# A\n\nIt saves 81.3 % of all.\n"
    assert (
        mongo_tables("render", "docs/b.md", cwd=project).stdout == "# B\n\nEs spart 81.3 %, 12 von allem.\n"
    )
    mongo_tables("render", "--in-place", "README.md", "docs/b.md", cwd=project)
    assert "no fault" in mongo_tables("check", cwd=project).stderr
    assert "mongo-tables.toml" in mongo_tables("deps", "README.md", cwd=project).stdout


def test_a_name_that_the_settings_lack_is_told_and_marks_of_others_are_left_alone(project: Path) -> None:
    told = checked(
        project, "It is <!-- RESULT: savd --> <!-- RESULTS: start --> <!-- RESULT: OK --> <!-- RESULT -->."
    )
    assert told.count(": error ") == told.count("docs/b.md:") == 1
    assert told.startswith("docs/b.md:3:20: error MT147 there is no value `savd`")


def test_a_fault_of_a_named_value_stands_at_its_name(project: Path) -> None:
    text = SETTINGS.replace('field = "n"', 'field = "m"\nfromat = {}')
    (project / "mongo-tables.toml").write_text(text)
    assert "docs/b.md:3:20: error MT130 a RESULT comment has no key `fromat`" in checked(
        project, "It is <!-- RESULT: git -->."
    )
    (project / "mongo-tables.toml").write_text('results = "bench.json"\nvalues = ["a"]\n')
    assert (
        "`values` is not a table of names" in mongo_tables("check", "README.md", cwd=project, expect=2).stderr
    )


@pytest.mark.parametrize("program", ["mkdocs", "extension"])
def test_a_site_names_values_too(project: Path, program: str) -> None:
    (project / "mongo-tables.toml").unlink()
    (project / "docs/index.md").write_text("# A\n\nIt saves <!-- RESULT: saved --> of all.\n")
    values = {
        "saved": {"collection": "bench", "field": "result.arms.rtk.saved_pct", "format": {"percent": True}}
    }
    options = {"results": "bench.json", "values": values}
    if program == "mkdocs":
        import yaml
        from mkdocs.commands.build import build
        from mkdocs.config import load_config

        (project / "mkdocs.yml").write_text(
            yaml.safe_dump({"site_name": "A", "plugins": [{"mongo-tables": options}]})
        )
        build(load_config(str(project / "mkdocs.yml")))
        html = (project / "site/index.html").read_text()
    else:
        import markdown

        options["results"] = str(project / "bench.json")
        html = markdown.markdown(
            (project / "docs/index.md").read_text(),
            extensions=["mongo-tables"],
            extension_configs={"mongo-tables": options},
        )
    assert 'data-v="0.8125"' in html and "RESULT:" not in html
