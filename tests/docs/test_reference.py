"""Reference pages say what the program's own data say."""

from __future__ import annotations

import re

import pytest

from hooks.referencepages import calibration_page, command_page, commands_page, fields_page, keys_page
from mongo_tables.cli import COMMANDS, main
from mongo_tables.directives.schemas import fields, load
from mongo_tables.directives.specs import DIRECTIVES

PARAMETERS = ("_id", "test_config", "test_config.variant", "experiment.parameters", "experiment.variant")


def test_the_page_of_fields_has_a_line_for_every_field_with_its_unit_and_title():
    lines = fields_page().splitlines()
    parameters = [path.removeprefix("variant.") for path in fields() if path.startswith("variant.")]
    repeated = {f"{place}.{name}" for place in PARAMETERS for name in parameters}
    own = {"test_config.database", "test_config.collection"}  # The schema of results describes these itself.
    for field in fields().values():
        start = f"| `{field.path}` | {field.unit} | {field.title} | "
        expected = 0 if field.path in repeated - own else 1
        assert sum(line.startswith(start) for line in lines) == expected, field


def test_every_line_of_a_table_has_as_many_cells_as_its_head():
    rows = [line for line in fields_page().splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {5}


def test_the_page_of_calibrations_leaves_out_what_results_have_as_well():
    page = calibration_page()
    for path in (
        "pairs",
        "together.share",
        "power.slowdown",
        "together.design_effect",
        "groups.alone",
        "fine.power.together.high",
        "smallest_alone.high",
        "client.connections",
        "servers",
    ):
        assert f"| `{path}` | {fields('calibration')[path].unit} |" in page
    assert "`servers.members" not in page


def test_names_in_sentences_are_not_emphasis():
    assert "replaces the row" in fields_page()
    assert "has \\_ before it here" in fields_page()
    assert "(`results_history`)" in command_page("history")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_a_command_has_every_option_that_the_program_takes(name, capsys):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    options = set(re.findall(r"^  (?:-\w(?: \w+)?, )?(--[\w-]+)", capsys.readouterr().out, re.MULTILINE))
    assert set(re.findall(r"^\| `(--[\w-]+)", command_page(name), re.MULTILINE)) == options


def test_the_overview_leads_to_the_page_of_every_command():
    assert re.findall(
        r"^\| \[`(\w+)`\]\(commands/(\w+)\.md\)\{ #(\w+) \}", commands_page(), re.MULTILINE
    ) == [(name, name, name) for name in COMMANDS]


def test_every_key_of_a_comment_stands_once_under_a_purpose_with_an_example():
    page = keys_page()
    for kind in DIRECTIVES:
        section = page.partition(f"{{ #mongo_{kind} }}")[2].partition("\n## ")[0]
        shown = re.findall(r"^#### `(\w+)` .*\n(?:(?!#).*\n)*?```json\n\"(\w+)\": ", section, re.MULTILINE)
        assert sorted(shown) == sorted((key, key) for key in load(kind)["properties"])


def test_the_page_of_commands_does_not_depend_on_terminal_or_results_source(monkeypatch):
    usual = commands_page() + command_page("check")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("MONGO_TABLES_RESULTS", "mongodb://user:secret@host/results")
    assert commands_page() + command_page("check") == usual
