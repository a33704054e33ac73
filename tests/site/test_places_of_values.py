"""Values in addresses and formulas: told before anything is written, and made by `url` where an address is wanted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mongo_tables.cli import main
from mongo_tables.site.pages import read_page

TABLE = '<!-- RESULT_TABLE: {"id": "t", "collection": "t", "columns": ["name", "ms"], "sort": "name"} -->'


def value(**keys: object) -> str:
    return f"<!-- RESULT_VALUE: {json.dumps({'table': 't', 'column': 'ms', 'where': {'name': 'alpha'}, **keys})} -->"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"name": "alpha", "ms": 12.5, "change": -3}]
    (tmp_path / "t.json").write_text(json.dumps(rows))
    return tmp_path


PLACES = {
    "![speed](https://img.shields.io/badge/speed-{}-green)": "the address of a link",
    "See [docs](https://e.org/v{}/x) for it.": "the address of a link",
    "See [docs](<https://e.org/v{}/x>) for it.": "the address of a link",
    "See <https://e.org/{}> there.": "the address of a link",
    '[docs](https://e.org/ "takes {}")': "the title of a link",
    "[r]: https://e.org/{}": "the definition of a link",
    "[r]:\n  https://e.org/{}": "the definition of a link",
    "[q]: https://e.org/\n[r]:\nhttps://e.org/{}": "the definition of a link",
    '[r]: https://e.org/ "takes {}"': "the definition of a link",
    "$$ x = {} $$": "a formula",
    "$$\nx = {}\n$$": "a formula",
    "It is $x = {}$ here.": "a formula",
    "- [docs](https://e.org/{})": "the address of a link",
    "| a |\n| - |\n| [docs](https://e.org/{}) |": "the address of a link",
    "## To [docs](https://e.org/{})": "the address of a link",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_value_where_no_comment_is_one_is_told_with_the_remedy(place: str) -> None:
    page = read_page(f"{place.replace('{}', value())}\n\n{TABLE}\n", "p.md", lambda _: None)
    (found,) = page.findings
    assert (found.rule, f"is in {PLACES[place]}," in found.message) == ("MT113", True)
    assert ("url" in found.hint) == (PLACES[place] != "a formula")


@pytest.mark.parametrize(
    "place",
    [
        "It costs ${} or ${} now.",
        "From $5 to {} and to $7.",
        "See [x](y) and ({}) and [z](w).",
        "[^n]: It takes {}.",
        "[note]: it takes {} today.",
        "See [the {} of us](https://e.org).",
        "A `$x` of {} and `$y`.",
        "$$ x $$ is {} and $$ y $$ too.",
    ],
)
def test_a_value_beside_such_places_is_shown(place: str) -> None:
    page = read_page(f"{place.replace('{}', value())}\n\n{TABLE}\n", "p.md", lambda _: None)
    assert list(page.findings) == []


def test_check_in_place_and_builds_tell_it_alike(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"We have ![s](https://img.shields.io/badge/s-{value()}-green).\n\n{TABLE}\n"
    (folder / "p.md").write_text(text)
    for command in (["check"], ["render", "--in-place"], ["render"]):
        assert main([*command, "p.md", "--results", "t.json"]) == 1
        told = capsys.readouterr()
        assert "MT113 RESULT_VALUE is in the address of a link" in told.out + told.err
    assert (folder / "p.md").read_text() == text


def test_an_address_with_the_value_makes_a_badge_or_a_link(folder: Path) -> None:
    badge = value(url="https://img.shields.io/badge/speed-{value}-green", format={"unit": "req/s"})
    less = value(column="change", url="https://img.shields.io/badge/{name}-{value}-red")
    link = value(url="https://e.org/v{value}/{name}")
    picture = value(url="https://e.org/{value}.svg")
    (folder / "p.md").write_text(f"We have {badge}, {less}, {link}, {picture}.\n\n{TABLE}\n")
    assert main(["render", "--in-place", "p.md", "--results", "t.json"]) == 0
    text = (folder / "p.md").read_text()
    assert ">![12.5 req/s](https://img.shields.io/badge/speed-12.5%20req%2Fs-green)<" in text
    assert ">![-3](https://img.shields.io/badge/alpha---3-red)<" in text
    assert ">[12.5](https://e.org/v12.5/alpha)<" in text
    assert ">![12.5](https://e.org/12.5.svg)<" in text
    assert main(["check", "p.md", "--results", "t.json"]) == 0


@pytest.mark.parametrize(
    ("url", "rule"),
    [("https://e.org/", "MT133"), ("javascript:{value}", "MT133"), ("https://e.org/{nothing}", "MT430")],
)
def test_an_address_that_leads_nowhere_is_told(
    url: str, rule: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "p.md").write_text(f"We have {value(url=url)}.\n\n{TABLE}\n")
    assert main(["check", "p.md", "--results", "t.json"]) == 1
    assert f"error {rule} " in capsys.readouterr().out.replace("warning", "error")
