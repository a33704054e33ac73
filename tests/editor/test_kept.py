"""What is typed and taken back costs nothing, and never brings back what no longer holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.comments.model import Comment, Scan
from mongo_tables.editor.positions import Edit, Lines
from mongo_tables.editor.recent import Recent
from mongo_tables.editor.remembered import Shared
from mongo_tables.editor.session import Session, request_of
from mongo_tables.findings.finding import Finding
from mongo_tables.pages.static import read_comment
from mongo_tables.specs.reading import Reading
from tests.editor.conftest import PAGE, SAID, TABLE, lay_out

LIST = "docs/pipelines/reads.json"
TEXT = f"# Speeds\n\n{TABLE}\n{SAID}"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    lay_out(tmp_path, {PAGE: TEXT})
    monkeypatch.chdir(tmp_path)
    session = Session(lambda: request_of(None, None, None, database=False))
    session.open(PAGE, TEXT, 1)
    session.check()
    return session


def replace(session: Session, old: str, new: str) -> list[str]:
    """Put one text in the place of another; give the rules of what is found."""
    text, version = session.documents[PAGE].text, session.documents[PAGE].version
    at = text.index(old)
    session.change(PAGE, [Edit(Lines(text).span(at, at + len(old)), new)], version + 1)
    return rules(session)


def rules(session: Session) -> list[str]:
    """The rules of what is found on the page."""
    return [one.finding.rule for one in session.check().diagnostics.get(PAGE, [])]


def test_what_is_taken_back_is_not_run_again(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    assert replace(session, '"read"', '"rea"') != []
    monkeypatch.setattr("mongo_tables.results.filesource.aggregate", pytest.fail)
    assert replace(session, '"rea"', '"read"') == []
    assert replace(session, '"read"', '"rea"') != []


def test_where_results_have_changed_meanwhile_what_is_taken_back_is_run_again(session: Session) -> None:
    replace(session, '"read"', '"rea"')
    runs = Path("fixtures/runs/runs.jsonl")
    runs.write_text(runs.read_text().replace('"threads": 1,', '"threads": 3,'))
    session.look_again()
    assert replace(session, '"rea"', '"read"') == ["MT320"]


def test_rows_of_a_file_that_was_another_one_while_it_was_asked_are_not_kept(session: Session) -> None:
    runs = Path("fixtures/runs/runs.jsonl")
    sound = runs.read_text()
    faulty = sound.replace('"threads": 1,', '"threads": 3,')
    runs.write_text(faulty)
    session.project.look_again()
    runs.write_text(sound)
    rules(session)
    session.look_again()
    assert rules(session) == []
    runs.write_text(faulty)
    session.look_again()
    assert rules(session) == ["MT320"]


def test_a_file_that_a_page_is_to_take_in_is_looked_for_from_then_on(session: Session) -> None:
    seen = session.project.glance()
    session.open("docs/other.md", '--8<-- "part.md"\n', 1)
    session.check()
    assert session.project.glance() == seen  # While its name is typed nothing changes on disk.
    Path("part.md").write_text(SAID)
    assert session.project.glance() != seen


def test_pages_that_were_away_while_they_were_read_are_another_glance(session: Session) -> None:
    seen = session.project.glance()
    Path("docs/.page.md.swp").write_text("the hidden file of an editor")
    assert session.project.glance() == seen
    Path("docs").rename("away")
    Path("away").rename("docs")
    assert session.project.glance() != seen


def test_what_changes_while_a_project_is_opened_is_another_glance(session: Session) -> None:
    assert session.project.glance() == session.project.first_glance
    Path("mongo-tables.toml").write_text("results = 'other'\n")
    assert session.project.glance() != session.project.first_glance


def test_of_what_was_dropped_the_last_is_kept() -> None:
    recent: Recent[int, str] = Recent()
    for number in range(100):
        recent.put(number, str(number))
    assert recent.take(99) == "99"
    assert recent.take(99) is None
    assert recent.take(0) is None
    recent.clear()
    assert not recent.keys()


def test_a_letter_in_a_comment_has_no_other_comment_read_or_judged_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def read(comment: Comment, file: str, shared: Shared) -> tuple[Reading, Finding | None]:
        seen.append(comment.keyword)
        return read_comment(comment, file, shared)

    def scan(text: str, file: str) -> Scan:
        raise AssertionError("the whole page was scanned")

    monkeypatch.setattr("mongo_tables.editor.remembered.read_comment", read)
    monkeypatch.setattr("mongo_tables.editor.project.find", scan)
    replace(session, '"_id": 1}} -->', '"_id": 2}} -->')
    assert seen == ["MONGO_VALUE"]


def test_a_shared_pipeline_that_is_edited_has_only_those_judged_again_that_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = '{"$match": {"kind": "read"}}'
    shared = TABLE.replace(match, '"outer"').replace('"speeds"', '"shared"')
    lay_out(
        tmp_path,
        {PAGE: TEXT + shared, LIST: f"[{match}]", "docs/pipelines/outer.json": '["reads"]'},
    )
    monkeypatch.chdir(tmp_path)
    session = Session(lambda: request_of(None, None, None, database=False))
    session.open(PAGE, TEXT + shared, 1)
    session.open(LIST, f"[{match}]", 1)
    assert session.check().diagnostics.get(PAGE, []) == []
    seen = []

    def read(comment: Comment, file: str, shared: Shared) -> tuple[Reading, Finding | None]:
        seen.append(comment.body.count('"outer"'))
        return read_comment(comment, file, shared)

    monkeypatch.setattr("mongo_tables.editor.remembered.read_comment", read)
    session.change(LIST, [Edit(None, f"[{match.replace('read', 'none')}]")], 2)
    assert [one.finding.rule for one in session.check().diagnostics[PAGE]] == ["MT303"]
    assert seen == [1]
    session.change(LIST, [Edit(None, f'[{match}, {{"$limit": 1}}]')], 3)
    session.check()
    session.change(LIST, [Edit(None, f'[{match}, {{"$limit": 1.5}}]')], 4)
    assert "MT301" in {one.finding.rule for one in session.check().diagnostics[PAGE]}
