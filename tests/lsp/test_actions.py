"""One keystroke does what a hint says: the finding is gone, and nothing else has changed for the worse."""

from __future__ import annotations

import pytest
from lsprotocol.types import Position, Range

from mongo_tables.lsp.diagnostics import Lines
from mongo_tables.lsp.session import Session
from mongo_tables.site.rewrites import apply_edits
from tests.lsp.conftest import PAGE, SAID, TABLE, lay_out, session_here

ALL = Range(Position(0, 0), Position(999, 0))


@pytest.fixture
def session(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Session:
    folder = tmp_path_factory.mktemp("site")
    lay_out(folder, {PAGE: f"# Speeds\n\n{TABLE}\n{SAID}"})
    (folder / "mkdocs.yml").write_text("site_name: Speeds\n")
    monkeypatch.chdir(folder)
    return session_here()


def rules(session: Session, text: str) -> list[str]:
    session.open(PAGE, text, len(session.documents) + len(text))
    return [one.finding.rule for one in session.check().diagnostics.get(PAGE, [])]


def titles(session: Session, text: str, span: Range = ALL) -> list[str]:
    rules(session, text)
    found = session.list_actions(PAGE, span)
    return [one.rewrite.title for one in found[0]] if found else []


def done(session: Session, text: str, title: str, span: Range = ALL) -> str:
    rules(session, text)
    found = session.list_actions(PAGE, span)
    assert found is not None
    (one,) = (one for one in found[0] if one.rewrite.title == title)
    return apply_edits(text, one.rewrite.edits)


def table(stages: str, rest: str = '"columns": ["threads"], "headers": ["Threads"]') -> str:
    return f'<!-- MONGO_TABLE: {{"collection": "runs", "pipeline": [{stages}], {rest}}} -->\n'


SORTED = '{"$match": {"kind": "read"}}, {"$sort": {"threads": 1}}'


@pytest.mark.parametrize(
    ("text", "rule", "title"),
    [
        (table(SORTED.replace("$sort", "$sotr")), "MT301", "Replace `$sotr` by `$sort`"),
        (table(SORTED, '"colums": ["threads"], "headers": ["T"]'), "MT130", "Replace `colums` by `columns`"),
        (table(SORTED, '"columns": ["thread"], "headers": ["T"]'), "MT302", "Replace `thread` by `threads`"),
        (
            table(
                f'{{"$match": {{"at": {{"$lt": ISODate("2026-01-01")}}}}}}, {SORTED}',
                '"columns": ["n"], "empty": "-"',
            ),
            "MT120",
            'Write {"$date": "2026-01-01T00:00:00Z"}',
        ),
        (table(f"{SORTED}, "), "MT120", "Remove the comma"),
        (table(SORTED)[:-5] + "\n", "MT101", "Add -->"),
        (table(SORTED).replace("-->", "--!>"), "MT107", "Write -->"),
        ("\\" + table(SORTED), "MT110", "Remove the backslash"),
        (
            table(SORTED, '"columns": ["threads"], "headers": ["a --> b"]'),
            "MT102",
            r"Write --\u003e",
        ),
    ],
)
def test_what_a_hint_says_is_done(session: Session, text: str, rule: str, title: str) -> None:
    assert rule in rules(session, text)
    after = done(session, text, title)
    assert rule not in rules(session, after)
    assert "MT120" not in rules(session, after)


def test_a_finding_is_taken_upon_its_comment_with_a_reason(session: Session) -> None:
    text = table('{"$match": {"kind": "read"}}')
    after = done(session, text, "Ignore MT417 here, with a reason")
    assert '"ignore": {"MT417": "say why"}' in after
    assert "MT417" not in rules(session, after)
    more = after.replace('"Threads"]', '"Threads (s)"], "format": {"threads": {"unit": "ms"}}')
    assert '"ignore": {"MT417": "say why", "MT427": "say why"}' in done(
        session, more, "Ignore MT427 here, with a reason"
    )


def test_what_cannot_be_ignored_is_not_offered_to_be(session: Session) -> None:
    offered = titles(session, table(SORTED.replace("$sort", "$sotr")))
    assert not any("Ignore" in title for title in offered)


def test_what_is_added_stands_on_a_line_of_its_own_where_its_neighbours_do(session: Session) -> None:
    lines = TABLE.replace(',\n    {"$sort": {"_id": 1}}', "").replace("\n", "\r\n")
    after = done(session, lines, "Ignore MT416 here, with a reason")
    assert '\r\n  "ignore": {"MT416": "say why"}\r\n}' in after


def test_only_what_is_touched_is_offered(session: Session) -> None:
    text = table(SORTED.replace("$sort", "$sotr")) + table(SORTED.replace("$match", "$mach"))
    last = Lines(text).position(text.index("$mach"))
    assert [title for title in titles(session, text, Range(last, last)) if "Replace" in title] == [
        "Replace `$mach` by `$match`"
    ]


def test_where_nothing_is_touched_what_is_in_the_line_is_offered(session: Session) -> None:
    text = f"{table(SORTED.replace('$sort', '$sotr'))}\n\n{table(SORTED.replace('$match', '$mach'))}"
    last = Lines(text).position(text.rindex("-->"))
    assert [title for title in titles(session, text, Range(last, last)) if "Replace" in title] == [
        "Replace `$mach` by `$match`"
    ]
    between = Position(last.line - 1, 0)
    assert titles(session, text, Range(between, between)) == []


def test_findings_of_an_older_text_are_not_acted_upon(session: Session) -> None:
    text = table(SORTED.replace("$sort", "$sotr"))
    rules(session, text)
    session.open(PAGE, "\n" + text, 10_000)
    found = session.list_actions(PAGE, ALL)
    assert found is not None
    assert found[0] == []
