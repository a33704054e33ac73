"""No text that an author can type makes the server fail: not a check, and nothing that is asked on the way."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lsprotocol.types import Position, Range

from mongo_tables.lsp.diagnostics import Lines
from mongo_tables.lsp.session import Session
from tests.lsp.conftest import PAGE, SAID, TABLE, lay_out, session_here

LIST = "docs/pipelines/reads.json"
CHART = (
    '<!-- MONGO_CHART: {"collection": "runs", "pipeline": ["reads", {"$set": {"m": {"$map": {"input": ["$qps"], '
    '"in": {"$add": ["$$this", 1]}}}}}, {"$unwind": "$m"}, {"$sort": {"threads": 1}}], "mark": "line", '
    '"x": "threads", "y": ["m"]} -->\n'
)
CHECK = '<!-- MONGO_CHECK: {"table": "speeds", "where": {"_id": {"$gt": 1}}, "expect": {"qps": {"$gt": 100}}} -->\n'
TEXTS = {
    PAGE: f"---\ntitle: x\n---\n# Speeds\n\n{TABLE}\n{SAID}\n{CHART}\n{CHECK}\n> quoted\n\n```\n{TABLE}```\n",
    LIST: '{"description": "Reads", "fields": {"qps": "q"}, "pipeline": [{"$match": {"kind": "read"}}]}\n',
}
PIECES = [
    *"{}[]:,\"$.<>-!`\\/'“\n\r\t 0123456789abcxyz😀é\u2028\x00\ud800",
    "$$this.",
    "-->",
    "<!--",
    "<!-- MONGO_VALUE: {",
    '{"$lookup": {"from": "runs", "pipeline": [',
    '{"$facet": {"a": [',
    '"$switch": {"branches": [{"case": ',
    '{"$date": "x"}',
    "ISODate(",
    "1e999",
    "null",
    '"ignore": {"MT401": ',
    "\r\n> ",
    "{{ x }}",
    '--8<-- "page.md"',
]
AMOUNT = {"quick": 400, "exhaustive": 20_000}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lay_out(tmp_path, TEXTS)
    (tmp_path / "mkdocs.yml").write_text("site_name: Speeds\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edited(text: str, dice: random.Random) -> tuple[int, int, str]:
    """An edit as authors make them: letters, pieces that were pasted, parts that are taken out or put elsewhere."""
    start = dice.randrange(len(text) + 1)
    end = min(start + dice.choice([0, 0, 0, 0, 1, 1, 2, 5, 30]), len(text))
    kind = dice.random()
    if kind < 0.8:
        return start, end, dice.choice(PIECES)
    if kind < 0.9:
        other = dice.randrange(len(text) + 1)
        return start, start, text[other : other + dice.randrange(60)]
    return start, min(start + dice.randrange(80), len(text)), ""


def ask_all(session: Session, file: str, at: Position) -> None:
    """Everything that an editor asks of a place."""
    session.complete(file, at)
    session.hover(file, at)
    session.list_actions(file, Range(at, at))
    session.mention_at(file, at)


def type_at_random(session: Session, seed: int, amount: int) -> None:
    dice = random.Random(seed)
    for file, text in TEXTS.items():
        session.open(file, text, 0)
    for number in range(amount):
        file = dice.choice([PAGE, PAGE, PAGE, LIST])
        text = session.documents[file].text
        if number % 60 == 59 or len(text) > 6_000:
            session.open(file, TEXTS[file], number)
            continue
        start, end, piece = edited(text, dice)
        session.open(file, text[:start] + piece + text[end:], number)
        now = Lines(session.documents[file].text)
        at = now.position(min(start + len(piece), len(now.text)))
        session.complete(file, at)
        session.hover(file, at)
        if number % 4 == 0:
            session.check()
            ask_all(session, file, at)
    session.check()


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_that_is_typed_makes_a_question_fail(site: Path, seed: int) -> None:
    type_at_random(session_here(), seed, AMOUNT["quick"] // 2)


@pytest.mark.exhaustive
@pytest.mark.timeout(3_000)
def test_nothing_of_twenty_thousand_edits_makes_a_question_fail(site: Path) -> None:
    for seed in range(10):
        session = session_here()
        type_at_random(session, 100 + seed, AMOUNT["exhaustive"] // 10)
