"""``check PAGE`` reports what the whole check reports of that page, whatever stands on the other pages."""

from __future__ import annotations

import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.commands.check.pages import check_paths
from mongo_tables.findings.finding import Finding
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import Request
from mongo_tables.site.site_config import read_site
from tests.hosts.inprocess import write

HERE = Path(__file__).parents[2]
IDS = ("a", "b", "c")
KEYS = st.fixed_dictionaries(
    {
        "id": st.sampled_from(IDS),
        "stages": st.sampled_from(
            [
                '{"$sort": {"_id": 1}}',
                '{"$sort": {"speed": -1}}',
                '{"$project": {"n": 1, "unused": 1}}, {"$sort": {"_id": 1}}',
                '{"$sorted": {"n": 1}}',
                '"shared"',
                '"missing"',
            ]
        ),
        "column": st.sampled_from(["n", "nn", "_id"]),
    }
)
TABLES = KEYS.map(
    lambda keys: (
        f'<!-- MONGO_TABLE: {{"id": "{keys["id"]}", "collection": "runs", "pipeline": [{keys["stages"]}], '
        f'"columns": ["{keys["column"]}"], "headers": ["N"]}} -->'
    )
)
CHARTS = st.sampled_from(IDS).map(
    lambda name: (
        f'<!-- MONGO_CHART: {{"id": "{name}", "collection": "runs", "pipeline": [{{"$sort": {{"_id": 1}}}}], '
        '"mark": "bar", "x": "_id", "y": "n"} -->'
    )
)
VALUES = st.builds(
    lambda name, column, number: (
        f'It is <!-- MONGO_VALUE: {{"table": "{name}", "column": "{column}", "where": {{"_id": {number}}}}} -->.'
    ),
    st.sampled_from([*IDS, "nowhere"]),
    st.sampled_from(["n", "x"]),
    st.sampled_from([1, 7]),
)
CHECKS = st.sampled_from(IDS).map(
    lambda name: f'<!-- MONGO_CHECK: {{"table": "{name}", "expect": {{"n": {{"$gt": 2}}}}}} -->'
)
OTHERS = st.sampled_from(["Words.", "<!-- MONGO_TABEL: {} -->", "{{ template }}", "```\ncode\n```"])
PAGES = st.lists(st.one_of(TABLES, CHARTS, VALUES, CHECKS, OTHERS), max_size=4).map("\n\n".join)
SITES = st.fixed_dictionaries({f"docs/{name}.md": PAGES for name in ("index", "one", "two/three")})


def found(paths: list[str], source: Answers) -> list[Finding]:
    request = Request(read_site(Path("mkdocs.yml")), "docs/pipelines", "fixtures")
    return list(check_paths(paths, request, source).findings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {
        "mkdocs.yml": "site_name: Runs\nplugins: [mongo-tables]\n",
        "docs/pipelines/shared.json": '[{"$match": {"n": {"$gt": 1}}}, {"$sort": {"n": 1}}]',
        "fixtures/runs/a.jsonl": '{"_id": 1, "n": 1}\n{"_id": 2, "n": 2}\n{"_id": 3, "n": 5}\n',
    }
    return write(tmp_path_factory.mktemp("site"), files)


@given(site=SITES)
@settings(max_examples=200)
def test_a_page_alone_has_the_findings_that_it_has_among_all(folder: Path, site: dict[str, str]) -> None:
    with pytest.MonkeyPatch.context() as patch, closing(Answers("fixtures")) as source:
        patch.chdir(folder)
        write(folder, site)
        whole = found(["docs"], source)
        for page in site:
            alone = [one for one in found([page], source) if one.file == page]
            assert alone == [one for one in whole if one.file == page]


MISTAKES = (
    (re.compile(r'"columns": \["\w+"'), '"columns": ["mistyped"'),
    (re.compile(r'"table": "(\w)'), r'"table": "no-\1'),
    (re.compile(r'"id": "[\w-]+"'), '"id": "the-same"'),
    (re.compile(r'"\$match"'), '"$mtch"'),
)
"""What goes wrong in a page: a column, a quotation, an id that others have, a stage."""


def test_each_page_of_our_own_alone_has_the_findings_that_it_has_among_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(HERE / "docs", tmp_path / "docs")
    shutil.copy(HERE / "mkdocs.yml", tmp_path)
    monkeypatch.chdir(tmp_path)
    pages = [page.as_posix() for page in sorted(Path("docs").rglob("*.md"))]
    commented = [page for page in pages if "<!-- MONGO_" in Path(page).read_text("utf-8")]
    assert len(commented) > 30
    for number, page in enumerate(commented[::3]):
        text = Path(page).read_text("utf-8")
        mistakes = (*MISTAKES[number % len(MISTAKES) :], *MISTAKES)
        spoilt = next(new for old, by in mistakes if (new := old.sub(by, text, count=1)) != text)
        Path(page).write_text(spoilt, "utf-8")
    with closing(Answers(str(HERE / "fixtures"))) as source:
        whole = found(["docs"], source)
        assert len({one.file for one in whole}) >= len(commented) // 4
        assert len({one.rule for one in whole}) >= len(MISTAKES)
        for page in pages:
            alone = [one for one in found([page], source) if one.file == page]
            assert alone == [one for one in whole if one.file == page]
