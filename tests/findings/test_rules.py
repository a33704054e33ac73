"""The table of rules and the findings of the package are about the same rules."""

from __future__ import annotations

import re
from pathlib import Path

import mongo_tables
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import RULES, finding

PACKAGE = Path(mongo_tables.__file__).parent


def used_rules():
    """Every rule id that stands as a string in a module other than the table itself."""
    modules = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "rules.py"]
    return {rule for path in modules for rule in re.findall(r'"(MT\d{3})"', path.read_text("utf-8"))}


def test_every_rule_that_a_module_speaks_of_is_in_the_table():
    assert used_rules() - RULES.keys() == set()


def test_every_rule_in_the_table_is_spoken_of_by_a_module():
    assert RULES.keys() - used_rules() == set()


def test_names_are_in_kebab_case_and_each_is_given_once():
    names = [rule.name for rule in RULES.values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


def test_summaries_are_sentences_and_the_table_is_in_order():
    assert all(rule.summary[0].isupper() and rule.summary.endswith(".") for rule in RULES.values())
    assert list(RULES) == sorted(RULES)


def test_a_finding_has_the_severity_of_its_rule():
    assert finding("MT122", "a.md", (3, 4), "Twice.", "Once.") == Finding(
        "a.md", 3, 4, "MT122", "warning", "Twice.", "Once."
    )
