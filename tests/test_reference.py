"""Reference pages say what the program's own data say."""

from __future__ import annotations

from preprocessor.reference import fields_page
from preprocessor.resultfields import fields

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


def test_names_in_sentences_are_not_emphasis():
    assert "replaces the row" in fields_page()
    assert "have \\_ before them" in fields_page()
