"""Small pages, bad and good by rule: each says in its first lines what the linter finds in it, and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from mongo_tables.build import build
from mongo_tables.findings.rules import RULES
from mongo_tables.lint import chart_rules, linter  # noqa: F401  # they register rules
from mongo_tables.lint.rule_context import REGISTERED
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import snapshot_of

PAGES = Path(__file__).parent / "pages"
ALL = sorted(PAGES.glob("MT*/*.md"))
SOURCE = Answers(str(PAGES / "fixtures"))


def found(page: Path) -> list[tuple[str, int, int | None]]:
    """Rule, line and column of every finding of a page."""
    rule = RULES[page.parent.name]
    needs = "rows" if rule.rows or "MT320" <= rule.id < "MT4" else "nothing"
    snapshot = snapshot_of({page.name: page.read_text("utf-8")}, needs, server="6.0")
    return sorted((one.rule, one.line, one.column) for one in build(snapshot, SOURCE).findings)


def expected(page: Path) -> list[tuple[str, int, int]]:
    """What the page itself says is found in it."""
    said = re.search(r"^Found: (.+)\.$", page.read_text("utf-8"), re.MULTILINE)
    assert said, "a page says what is found in it"
    places = re.findall(r"(MT\d{3}) in line (\d+), column (\d+)", said[1])
    assert bool(places) != (said[1] == "nothing")
    return sorted((rule, int(line), int(column)) for rule, line, column in places)


@pytest.mark.parametrize("page", ALL, ids=[f"{page.parent.name}-{page.stem}" for page in ALL])
def test_a_page_has_the_findings_that_it_names_and_no_other(page: Path) -> None:
    assert found(page) == expected(page)


def test_rules_that_facts_skip_would_find_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, rules in REGISTERED.items():
        always = [replace(one, needs=frozenset(), reads=frozenset()) for one in rules]
        monkeypatch.setitem(REGISTERED, kind, always)
    assert {page: found(page) for page in ALL} == {page: expected(page) for page in ALL}


def test_every_bad_page_shows_its_own_rule_and_every_good_page_none() -> None:
    for page in ALL:
        rules = {rule for rule, *_ in expected(page)}
        assert (page.parent.name in rules) == page.name.startswith("bad-")
        assert rules or page.name.startswith("good-")


def test_every_rule_of_the_linter_has_bad_and_good_pages() -> None:
    linted = {rule for rule in RULES if rule in ("MT305", "MT312", "MT314") or rule >= "MT4"}
    for rule in sorted(linted):
        assert list(PAGES.glob(f"{rule}/bad-*.md")), rule
        assert list(PAGES.glob(f"{rule}/good-*.md")), rule


def test_there_are_enough_pages_to_mean_something() -> None:
    assert len(ALL) >= 120
