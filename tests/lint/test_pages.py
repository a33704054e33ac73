"""Small pages, bad and good by rule: each says in its first lines what the linter finds in it, and where.

A bad page that is modelled on a public report names it.
"""

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


KINDS = {
    "a path as a string in a query": ("MT434/bad-not-equal", ["MT434"]),
    "a format that mixes calendars": ("MT437/bad-calendar-year", ["MT437"]),
    "an element as a key": ("MT438/bad-sort", ["MT438"]),
    "documents that `$unwind` drops or repeats": ("MT440/bad-two", ["MT439", "MT440"]),
    "a value that is newer than the server": ("MT314/bad-parsed-month", ["MT314"]),
}
"""Kinds of mistakes that authors lose hours with: the page of the first report, and the rules that find them."""
REPORT = re.compile(r"[\w.-]+/[\w.-]+#\d+|SERVER-\d+|https?://\S+")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_mistake_has_pages_that_people_reported(kind: str) -> None:
    first, rules = KINDS[kind]
    assert (PAGES / f"{first}.md").exists()
    pages = [page for rule in rules for page in PAGES.glob(f"{rule}/bad-*.md")]
    reported = {page.stem for page in pages if reports(page)} - {Path(first).name}
    assert len(reported) >= 4


def reports(page: Path) -> list[str]:
    """The public reports that a page names in its third line."""
    return [one for one in page.read_text("utf-8").splitlines()[:3] if one.startswith("Reported in: ")]


def test_the_report_of_a_page_has_an_address() -> None:
    named = {page: line for page in ALL for line in reports(page)}
    assert len(named) >= 30
    for page, line in named.items():
        assert REPORT.fullmatch(line.removeprefix("Reported in: ").removesuffix(".")), page
        assert page.name.startswith("bad-")
