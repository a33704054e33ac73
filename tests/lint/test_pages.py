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
    text = page.read_text("utf-8")
    server = re.search(r'`server: "([\d.]+)"`', text)
    snapshot = snapshot_of({page.name: text}, needs, server=server[1] if server else "6.0")
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
    "a field as a string in a query": (
        "MT434/bad-not-equal",
        ["MT434/bad-at-least", "MT434/bad-greater", "MT434/bad-name", "MT434/bad-variable-in-list"],
    ),
    "a format whose parts do not fit": (
        "MT437/bad-calendar-year",
        [
            "MT437/bad-iso-year",
            "MT437/bad-minute-for-month",
            "MT437/bad-month-for-minute",
            "MT437/bad-no-part",
            "MT437/bad-operators",
        ],
    ),
    "an element that is named by its index": (
        "MT438/bad-sort",
        [
            "MT402/bad-first-element",
            "MT402/bad-first-joined",
            "MT402/bad-kept-element",
            "MT438/bad-ascending",
            "MT438/bad-nested",
        ],
    ),
    "documents that `$unwind` drops": (
        "MT439/bad-empty-and-missing",
        [
            "MT439/bad-after-match",
            "MT439/bad-before-join",
            "MT439/bad-join",
            "MT439/bad-second",
        ],
    ),
    "values that `$unwind` repeats": (
        "MT440/bad-two",
        ["MT440/bad-join", "MT440/bad-mean", "MT440/bad-outside", "MT440/bad-siblings"],
    ),
    "a value that is newer than the server": (
        "MT314/bad-parsed-month",
        [
            "MT314/bad-join-by-field",
            "MT314/bad-join-within-join",
            "MT314/bad-newer-value",
            "MT314/bad-now",
        ],
    ),
}
"""Kinds of mistakes that authors lose hours with: the page of the first one, and those of others that people reported."""
REPORT = re.compile(r"Reported (?:for \S+ )?in: (?:[\w.-]+/[\w.-]+#\d+|SERVER-\d+|https?://\S+)\.")
"""Where people reported the mistake that a page shows: with MongoDB, or where another program has the same."""


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_mistake_has_pages_that_people_reported(kind: str) -> None:
    first, members = KINDS[kind]
    assert (PAGES / f"{first}.md").exists()
    assert len({*members} - {first}) >= 4
    for one in members:
        assert reports(PAGES / f"{one}.md"), one
    for rule in {Path(one).parent.name for one in (first, *members)}:
        assert list(PAGES.glob(f"{rule}/good-*.md")), rule


def reports(page: Path) -> list[str]:
    """The public reports that a page names in its third line."""
    return [one for one in page.read_text("utf-8").splitlines()[:3] if one.startswith("Reported ")]


def test_the_report_of_a_page_has_an_address() -> None:
    named = {page: line for page in ALL for line in reports(page)}
    assert len(named) >= 30
    for page, line in named.items():
        assert REPORT.fullmatch(line), page
        assert page.name.startswith("bad-")
