"""Which source a text names, and what another kind of source must bring with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.hosts.published_files import PublishedDocuments
from mongo_tables.lint.walk import StageWalk
from mongo_tables.results import opening
from mongo_tables.results.answers import Answers
from mongo_tables.results.file_source import FileSource, hold
from mongo_tables.results.guards import Limits
from mongo_tables.results.model import Query, ResultsError, ResultsSource
from mongo_tables.results.opening import KINDS, join_kinds, list_kinds, open_source
from mongo_tables.site.checks import lint_site
from mongo_tables.site.pages import read_page
from tests.judged import report_on

PAGE = """<!-- MONGO_TABLE: {
  "collection": "numbers",
  "pipeline": [{"$match": {"_id": {"$gt": 1}}}, {"$set": {"n": "$_id", "m": {"$size": "$tags"}, "o": "$nowhere"}}],
  "columns": ["n", "m"], "headers": ["N", "M"]} -->
"""


def open_numbers(where: str, limits: Limits) -> ResultsSource:
    """A source of another kind: a collection of the numbers from 1 to what is written behind ``count:``."""
    numbers = range(1, int(where.removeprefix("count:")) + 1)
    documents = [{"_id": number, "tags": ["a"]} for number in numbers]
    return FileSource(where, limits=limits, read=lambda: [hold("numbers", documents)])


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> ResultsSource:
    """The other kind, first in the table, and one such source."""
    kind = KINDS[0]._replace(
        form="count:NUMBER",
        meaning="the numbers up to NUMBER",
        short="a count",
        give="count:NUMBER",
        is_named=lambda where: where.startswith("count:"),
        opener=f"{__name__}:{open_numbers.__name__}",
    )
    monkeypatch.setattr(opening, "KINDS", (kind, *KINDS))
    return open_source("count:3")


def test_the_first_kind_whose_texts_have_this_form_is_meant(tmp_path: Path) -> None:
    assert type(open_source("mongodb://host/data")).__name__ == "MongoSource"
    assert type(open_source("MongoDB+SRV://host/data")).__name__ == "MongoSource"
    assert type(open_source(str(tmp_path))).__name__ == "FileSource"
    for none in ("", " ", "mongodb:/me:word@host/data", "https://host/data"):
        with pytest.raises(ResultsError) as raised:
            open_source(none)
        assert raised.value.environment
        assert "word" not in raised.value.message + raised.value.hint


def test_help_and_errors_speak_of_every_kind(counting: ResultsSource) -> None:
    *short, last = [kind.short for kind in opening.KINDS]
    assert join_kinds() == f"{', '.join(short)} or {last}"
    assert [line.split()[0] for line in list_kinds().splitlines()] == [kind.form for kind in opening.KINDS]
    with pytest.raises(ResultsError) as raised:
        open_source("")
    assert "count:NUMBER, or mongodb://HOST/DATABASE" in raised.value.hint
    with pytest.raises(ResultsError, match=r"not a count, a mongodb:// URI, .* that exists"):
        open_source("mongodb:/host")


def test_documents_of_another_kind_are_asked_learnt_from_stepped_through_and_published(
    counting: ResultsSource,
) -> None:
    page = read_page(PAGE, "page.md", SharedPipelines(Path("none")))
    (spec,) = page.tables
    build = report_on(Answers("count:3"), page, needs="nothing")
    assert "MT402" in [one.rule for one in lint_site(build.figures.judge)]  # no number has `nowhere`
    build = report_on(Answers("count:3"), page)
    assert build.answers[spec.query.key] == [
        {"_id": number, "tags": ["a"], "n": number, "m": 1} for number in (2, 3)
    ]
    walk = StageWalk(counting, Query("numbers", spec.pipeline))
    assert walk.run() is None
    assert [step.count for step in walk.steps] == [3, 2, 2]
    files = PublishedDocuments.of(build.source.local, "numbers").files
    assert list(files.values())[:1] == [b'{"_id":1,"tags":["a"]}\n']
