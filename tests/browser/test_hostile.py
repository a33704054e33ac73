"""Whoever can write into the results database cannot run anything in a reader's browser."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from unittest import mock
from urllib.request import urlopen

import markdown
import pymongo
import pytest
from playwright.sync_api import Browser, Page

from mongo_tables.render.values import visible
from tests.browser.browsing import Served, Witness, served
from tests.hostile.corpus import CORPUS, TAGS
from tests.hosts.builds import SAMPLE, build
from tests.mongod import Mongod

FOREIGN = """([tags]) => [...document.querySelectorAll("figure.mongo-table, figure.mongo-table *, .mongo-value, h1, h1 *")]
    .filter((one) => !tags.includes(one.localName)
        || [...one.attributes].some(({ name, value }) => name.startsWith("on") || /^\\s*javascript:/i.test(value)))
    .map((one) => one.outerHTML.slice(0, 200))"""


def document(number: int, text: str) -> dict[str, object]:
    """A result document in which every text is hostile."""
    when = datetime(2026, 11, 1, number % 24, tzinfo=UTC)
    return {
        "_id": {"testname": "hostile", "text": text, "number": number},
        "text": text,
        "number": number,
        "nested": {text.replace(".", "").replace("$", "").replace("\x00", "") or "x": [text]},
        "start_time": when,
        "end_time": when,
        "duration": 1000 + number,
        "versions": {"server": text, "driver": text, "harness": text, "python": text},
        "hardware": {"cpu": text, "cores": 2, "memory_gib": 4, "system": text, "disk": text},
        "topology": {"kind": text, "members": 3, "cache_gb": 0.25, "one_machine": True},
        "write_concern": {"w": text},
        "read_concern": text,
        "experiment": {"name": text, "scale": 0.001, "seconds": 1, "seed": 1, "repeats": 1},
        "test_config": {"numberOfThreads": text},
        "work": {"documents": number + 1, "operations": number + 1, "bytes": 10},
        "repeats": [{"duration": 1000, "operations": 5, "errors": 1, "start_time": when, "error": text}],
    }


def page_text() -> str:
    """Comments whose every text is hostile as well: authors are trusted, their sources need not be."""
    for_all = " ".join(CORPUS)
    common = {"collection": "results", "pipeline": [{"$sort": {"number": 1}}]}
    words = {"title": for_all, "caption": for_all}
    comments = {
        "MONGO_TABLE": {
            **common,
            **words,
            "columns": ["text", "number", "nested", "versions.server"],
            "headers": [for_all, "Number", CORPUS[0], CORPUS[4]],
            "format": {"number": {"unit": CORPUS[6]}},
            "id": "hostile",
        },
        "MONGO_CHART": {
            **common,
            **words,
            "x": "text",
            "y": "number",
            "mark": "bar",
            "labels": {"text": CORPUS[4], "number": CORPUS[6]},
        },
    }
    series = {
        "collection": "results",
        "pipeline": [{"$sort": {"number": 1}}, {"$limit": 6}],
        "x": "number",
        "y": "duration",
        "series": "text",
    }
    where = {"table": "hostile", "column": "text", "where": {"number": 3}}
    lines = [
        f"# Hostile {comment('MONGO_VALUE', where)}",
        "",
        f"A {comment('MONGO_VALUE', where)} sentence.",
        "",
    ]
    for keyword, body in (*comments.items(), ("MONGO_CHART", series)):
        lines += [comment(keyword, body), ""]
    return "\n".join(lines)


def comment(keyword: str, body: dict[str, object]) -> str:
    written = json.dumps(body).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!-- {keyword}: {written} -->"


@pytest.fixture(scope="module")
def source(mongod: Mongod) -> Iterator[str]:
    """The URI of a database that holds the corpus."""
    with pymongo.MongoClient(mongod.uri()) as client:
        client.hostile.results.insert_many(document(*each) for each in enumerate(CORPUS))
        yield mongod.uri("hostile")
        client.drop_database("hostile")


@pytest.fixture(scope="module")
def hostile(source: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A site made of that database by the plugin, and one page made by the extension."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "mkdocs.yml").write_text((SAMPLE / "mkdocs.yml").read_text("utf-8"), encoding="utf-8")
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text(page_text(), encoding="utf-8")
    done = build(folder, MONGO_TABLES_RESULTS=source)
    assert done.returncode == 0, done.stderr
    with mock.patch.dict(os.environ, MONGO_TABLES_RESULTS=source):
        html = markdown.markdown(page_text(), extensions=["mongo-tables"])
    whole = f"<!doctype html>\n<html lang=en><meta charset=utf-8><link rel=icon href=data:,><title>x</title>\n<body>{html}"
    (folder / "site" / "extension.html").write_text(whole, encoding="utf-8")
    with served(folder / "site") as site:
        yield site


def touched(page: Page) -> None:
    """Everything on the page that reacts is made to: headers, what unfolds, what can be pointed at or focused."""
    page.evaluate("""() => {
        document.querySelectorAll("details").forEach((one) => { one.open = true; });
        for (const one of document.querySelectorAll("figure *, h1 *")) {
            for (const name of ["mouseover", "mouseenter", "pointerdown"])
                one.dispatchEvent(new Event(name, { bubbles: true }));
            one.focus?.();
        }
        document.querySelectorAll("figure button").forEach((one) => one.click());
        document.querySelectorAll("figure a[href^='#']").forEach((one) => one.click());
    }""")


@dataclass(frozen=True)
class Visit:
    """What a page showed, and what happened in it when everything on it was used."""

    labels: list[str]
    heading: str
    names: str
    links: list[str]
    complaints: list[str]
    outside: list[str]
    foreign: list[str]
    ran: object


@pytest.fixture(scope="module", params=["index.html", "extension.html"])
def visit(request: pytest.FixtureRequest, hostile: Served, browser: Browser) -> Visit:
    with browser.new_context() as context:
        page = context.new_page()
        witness = Witness.of(page)
        page.goto(hostile.url + request.param)
        rows = page.locator("#hostile table").first.locator("tbody th[scope=row]")
        labels = rows.evaluate_all("(cells) => cells.map((one) => one.innerText)")
        heading = page.locator("h1").inner_text()
        titles = page.locator("svg title")
        names = titles.evaluate_all("(all) => all.map((one) => one.textContent).join(' ')")
        links = page.locator("figure a").evaluate_all("(all) => all.map((one) => one.href)")
        touched(page)
        page.wait_for_timeout(200)
        foreign, ran = page.evaluate(FOREIGN, [sorted(TAGS)]), page.evaluate("window.__xss")
        outside = witness.outside(hostile.url)
        return Visit(labels, heading, names, links, witness.complaints, outside, foreign, ran)


def test_nothing_of_a_hostile_database_runs_or_is_fetched(visit: Visit) -> None:
    assert visit.ran is None
    assert visit.complaints == []
    assert visit.outside == []
    assert visit.foreign == []


def test_hostile_values_are_shown_as_they_are(visit: Visit) -> None:
    assert visit.labels == [visible(text).strip() for text in CORPUS]
    assert visible(CORPUS[3]) in visit.heading
    assert CORPUS[0] in visit.names


@pytest.mark.parametrize("visit", ["index.html"], indirect=True)
def test_downloads_are_no_pages(visit: Visit) -> None:
    away = [link for link in visit.links if "#" not in link]
    assert len(away) == 6
    for link in away:
        with urlopen(link) as answered:
            assert answered.headers.get_content_type() in ("text/csv", "application/json"), link


def test_search_shows_hostile_values_as_text(hostile: Served, fresh: Page) -> None:
    witness = Witness.of(fresh)
    fresh.goto(hostile.url)
    fresh.locator(".md-search__input").click()
    fresh.keyboard.type("hostile")
    fresh.locator(".md-search-result__item").first.wait_for()
    fresh.wait_for_timeout(200)
    assert fresh.evaluate("window.__xss") is None
    assert witness.outside(hostile.url) == []
    assert fresh.locator(".md-search-result :is(script, img, iframe, form, style, svg[onload])").count() == 0
