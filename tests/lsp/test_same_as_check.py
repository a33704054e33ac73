"""An editor marks what `check` finds, where `check` finds it, whatever was typed on the way there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol.types import Position, Range

from mongo_tables.commands.check.pages import check_paths
from mongo_tables.findings.finding import Finding
from mongo_tables.lsp.session import Session, request_of
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import Request
from mongo_tables.site.rewrites import apply_edits
from tests.lsp.conftest import SAID, TABLE, lay_out, session_here

TESTS = Path(__file__).parents[1]
LINTED = [
    *sorted((TESTS / "lint/pages").glob("MT*/*.md")),
    *sorted((TESTS / "acceptance/pages").glob("*.md")),
]
FAULTY = sorted(
    page for folder in ("directives/faulty", "directives/fixtures") for page in (TESTS / folder).rglob("*.md")
)
FIXTURES = TESTS / "lint/pages/fixtures"


def found_by_check(texts: Mapping[str, str], request: Request) -> list[Finding]:
    overlay = {str(Path.cwd() / file): text for file, text in texts.items()}
    with closing(Answers(request.results, request.limits)) as source:
        return list(check_paths(texts, replace(request, texts=overlay), source).findings)


def found_by(session: Session) -> list[Finding]:
    return sorted(one.finding for each in session.check().diagnostics.values() for one in each)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("linted"))
        return Session(lambda: request_of(None, str(FIXTURES), None, database=False))


@pytest.mark.parametrize("page", [*LINTED, *FAULTY], ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_a_page_has_the_findings_of_check_at_the_same_places(
    page: Path, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_bytes().decode().removeprefix("\ufeff")
    session.open(page.name, text, 1)
    marked = session.check().diagnostics.get(page.name, [])
    session.close(page.name)
    assert [one.finding for one in marked] == [
        one for one in found_by_check({page.name: text}, session.project.request) if one.file == page.name
    ]
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for one in marked:
        if one.finding.line:
            before = lines[one.finding.line - 1][: one.finding.column - 1]
            column = len(before.encode("utf-16-le", "surrogatepass")) // 2
            assert one.span.start == Position(one.finding.line - 1, column)
        assert one.span.end >= one.span.start


@pytest.mark.parametrize("page", LINTED, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_what_is_offered_about_a_finding_makes_no_error(
    page: Path, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_bytes().decode().removeprefix("\ufeff")
    session.open(page.name, text, 1)
    found = session.check().diagnostics.get(page.name, [])
    everywhere = Range(Position(0, 0), Position(len(text), 0))
    listed = session.list_actions(page.name, everywhere)
    errors = sum(one.finding.severity == "error" for one in found)
    for action in listed[0] if listed else []:
        session.open(page.name, apply_edits(text, action.rewrite.edits), 2)
        after = session.check().diagnostics.get(page.name, [])
        assert sum(one.finding.severity == "error" for one in after) <= errors, action.rewrite
    session.close(page.name)


def test_there_are_pages_with_findings_of_many_rules() -> None:
    assert len(LINTED) >= 120
    assert len(FAULTY) >= 10


PIECES = [
    *'x1"$,:{}[] \n😀>-`',
    "\r\n",
    "-->",
    "<!--",
    '"limit": 1, ',
    '{"$limit": 2}, ',
    "{{ x }}",
    SAID,
    TABLE,
]
Edits = Sequence[tuple[str, float, int, str, bool]]
"""The file, where in it, how many characters go, what comes in their place, and whether a check looks at it."""


def edits_of(
    files: Sequence[str], pieces: Sequence[str], *, dropped: int, most: int
) -> st.SearchStrategy[Edits]:
    edit = st.tuples(
        st.sampled_from(files),
        st.floats(0, 1),
        st.integers(0, dropped),
        st.sampled_from(pieces),
        st.booleans(),
    )
    return st.lists(edit, min_size=1, max_size=most)


def opened(texts: Mapping[str, str]) -> Session:
    """A session with these texts open."""
    session = session_here()
    for file, text in texts.items():
        session.open(file, text, 1)
    return session


def type_into(session: Session, edits: Edits) -> dict[str, str]:
    """Make the edits, one after the other; give the texts that all open files have in the end."""
    for number, (file, where, dropped, piece, looks) in enumerate(edits, 2):
        text = session.documents[file].text
        at = round(where * len(text))
        end = min(at + dropped, len(text))
        session.open(file, text[:at] + piece + text[end:], number)
        if looks:
            session.check()
    return {file: document.text for file, document in session.documents.items()}


SITE = {
    "docs/one.md": f"# One\n\n{TABLE}\n{SAID}",
    "docs/two.md": f"# Two\n\n{SAID}\nMore: {SAID}",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    lay_out(folder, SITE)
    return folder


@settings(max_examples=120, deadline=None)
@given(edits=edits_of([*SITE], PIECES, dropped=12, most=12))
def test_any_sequence_of_edits_ends_in_the_findings_of_the_final_text(site: Path, edits: Edits) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(site)
        session = opened(SITE)
        assert [*session.project.files] == [*SITE]
        texts = type_into(session, edits)
        assert found_by(session) == found_by_check(texts, session.project.request)


UNREAD = {
    "runs": "",
    "bad": "fixtures/bad/b.jsonl",
    "folders": "fixtures/folders/2025/a.jsonl",
    "plain.old": "",
    "gone": "",
}
"""Names of collections, and a file of each: of one all can be read, others not."""


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(
        st.tuples(st.sampled_from([*SITE]), st.sampled_from([*UNREAD]), st.booleans()), min_size=1, max_size=7
    )
)
def test_a_collection_that_cannot_be_read_is_told_as_long_as_it_is_named(
    tmp_path_factory: pytest.TempPathFactory, names: Sequence[tuple[str, str, bool]]
) -> None:
    joined = '{{"$lookup": {{"from": "{name}", "localField": "_id", "foreignField": "_id", "as": "x"}}}}, {{"$sort"'
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("unread"))
        lay_out(Path(), SITE)
        for file in filter(None, UNREAD.values()):
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            Path(file).exists() or Path(file).write_text('{"_id": 1, "x": ')
        texts = dict(SITE)
        session = opened(SITE)
        for number, (file, name, joins) in enumerate(names, 2):
            texts[file] = (
                SITE[file].replace('{"$sort"', joined.format(name=name))
                if joins
                else SITE[file].replace('"collection": "runs"', f'"collection": "{name}"')
            )
            session.open(file, texts[file], number)
            session.check()
        assert found_by(session) == found_by_check(texts, session.project.request)


@pytest.mark.parametrize("taken_back", [False, True])
def test_of_two_files_that_cannot_be_read_the_first_on_the_pages_is_told(
    taken_back: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {f"docs/{name}.md": TABLE.replace("speeds", name) for name in "abc"}
    lay_out(tmp_path, texts)
    (tmp_path / "mongo-tables.toml").write_text('results = "results/*"\npages = ["docs"]\n')
    (tmp_path / "results").mkdir()
    (tmp_path / "results/runs.json").write_text('[{"_id": 1, "kind": "read"}]')
    (tmp_path / "results/one.json").write_text('[{"_id": 1, "x": ')
    (tmp_path / "results/two.json").write_text('[{"_id": 1, "x": 1}, {"x')
    session = opened(texts)
    for file, name in (("docs/b.md", "two"), ("docs/a.md", "one"), *([("docs/a.md", "runs")] * taken_back)):
        texts[file] = TABLE.replace("speeds", file[5]).replace('"runs"', f'"{name}"')
        session.open(file, texts[file], 2)
        assert found_by(session) == found_by_check(texts, session.project.request)


LIST = "docs/pipelines/reads.json"
OUTER = "docs/pipelines/outer.json"
NAMING = TABLE.replace('{"$match": {"kind": "read"}}', '"outer"')
LIST_PIECES = [*'x1"$,:{}[] \n', "1.0", "true", '"reads"', '{"$limit": 1}, ', '{"$limit": 1.0}, ']


@settings(max_examples=60, deadline=None)
@given(edits=edits_of([LIST, LIST, OUTER, "docs/one.md"], LIST_PIECES, dropped=8, most=10))
def test_edits_of_shared_pipelines_end_in_the_findings_of_opening_the_final_texts(
    tmp_path_factory: pytest.TempPathFactory, edits: Edits
) -> None:
    texts = {
        "docs/one.md": f"# One\n\n{NAMING}\n{SAID}\n{TABLE.replace('speeds', 'others')}",
        LIST: '[{"$match": {"kind": "read"}}, {"$limit": 1}]',
        OUTER: '["reads"]',
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("lists"))
        lay_out(Path(), texts)
        session = opened(texts)
        fresh = opened(type_into(session, edits))
        assert found_by(session) == found_by(fresh)


NEWER = TABLE.replace(
    '{"$sort": {"_id": 1}}', '{"$sort": {"_id": 1}},\n    {"$set": {"qps": {"$percentile": {"input": "$qps", "p": [0.5], "method": "approximate"}}}}'
)  # fmt: skip


def test_what_is_newer_than_the_server_of_a_site_is_marked_as_check_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(tmp_path, {"docs/page.md": NEWER})
    (tmp_path / "mongo-tables.toml").write_text('results = "fixtures"\npages = ["docs"]\nserver = "6.0"\n')
    monkeypatch.chdir(tmp_path)
    request = request_of(None, None, None, database=False)
    found = found_by(Session(lambda: request))
    assert [one.rule for one in found] == ["MT314"]
    assert found == found_by_check({"docs/page.md": NEWER}, request[0])
