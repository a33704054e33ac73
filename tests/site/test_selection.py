"""A table without a pipeline, under either keyword, is through every door what one with a pipeline is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mongo_tables.hosts.markdown_extension import makeExtension
from tests.commands.test_commands import mongo_tables
from tests.hosts.inprocess import CONFIG, built

ROWS = [
    {"_id": 1, "name": "parse", "mean": 2.5, "kind": "read", "samples": [2, 3]},
    {"_id": 2, "name": "dump", "mean": 7.5, "kind": "write", "samples": [7, 8]},
    {"_id": 3, "name": "scan", "mean": 4.5, "kind": "read", "samples": [4, 5]},
]
SELECTED = '"where": {"kind": "read"}, "sort": "-mean", "limit": 2'
PIPED = '"pipeline": [{"$match": {"kind": "read"}}, {"$sort": {"mean": -1}}, {"$limit": 2}]'
SHOWN = '"columns": ["name", "mean"], "headers": ["Name", "Mean"]'
PROSE = (
    'It takes <!-- {0}_VALUE: {{"table": "speed", "column": "mean", "where": {{"name": "scan"}}}} --> s.'
    '<!-- {0}_CHECK: {{"table": "speed", "expect": {{"mean": {{"$lt": {1}}}}}}} -->\n'
)


def table(word: str, rows: str) -> str:
    return f'<!-- {word}_TABLE: {{"id": "speed", "collection": "bench", {rows}, {SHOWN}}} -->\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "fixtures/bench").mkdir(parents=True)
    (tmp_path / "fixtures/bench/a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "mkdocs.yml").write_text(f"{CONFIG}plugins: [mongo-tables]\n")
    return tmp_path


def write(project: Path, text: str) -> None:
    (project / "docs/index.md").write_text(f"# Benchmarks\n\n{text}")


def page(word: str, rows: str, most: int = 9) -> str:
    return f"{table(word, rows)}\n{PROSE.format(word, most)}"


@pytest.mark.parametrize("word", ["MONGO", "RESULT"])
def test_every_door_shows_the_same(project: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    shown = []
    for written in (page("MONGO", PIPED), page(word, SELECTED)):
        write(project, written)
        assert mongo_tables("check", "--fail-on", "note" if SELECTED in written else "warning", cwd=project)
        markdown = mongo_tables("render", "docs/index.md", cwd=project).stdout
        assert built(project).done
        html = (project / "site/index.html").read_text()
        (figure,) = re.findall(r'<figure class="mongo-table.*?</table>', html, re.DOTALL)
        shown.append((markdown, figure, re.findall(r"It takes .*? s\.", html)))
    assert shown[0] == shown[1]
    assert "| scan  |  4.5 |" in shown[0][0]


def test_the_markdown_extension_knows_both_keywords(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from markdown import Markdown

    monkeypatch.chdir(project)
    html = Markdown(extensions=[makeExtension(results="fixtures")]).convert(page("RESULT", SELECTED))
    assert '<figure class="mongo-table' in html
    assert "RESULT_" not in html


def test_a_table_without_a_pipeline_is_written_in_place_and_noticed_when_it_is_old(project: Path) -> None:
    write(project, page("RESULT", SELECTED))
    mongo_tables("render", "--in-place", "docs/index.md", cwd=project)
    assert "-->\n<!-- mongo-tables: begin " in (project / "docs/index.md").read_text()
    assert mongo_tables("check", cwd=project).stderr == "3 comments on 1 page: no fault\n"
    now = "".join(json.dumps({**row, "mean": row["mean"] + 1}) + "\n" for row in ROWS)
    (project / "fixtures/bench/a.jsonl").write_text(now)
    assert "MT166" in mongo_tables("check", cwd=project, expect=1).stdout


def test_a_statement_that_does_not_hold_is_told_at_its_own_comment(project: Path) -> None:
    write(project, page("RESULT", SELECTED, most=4))
    done = mongo_tables("check", cwd=project, expect=1)
    assert re.search(
        r"docs/index\.md:5:\d+: error MT322 the statement does not hold for 1 row of 2", done.stdout
    )


def test_values_may_quote_what_the_table_does_not_show(project: Path) -> None:
    quoted = '<!-- RESULT_VALUE: {"table": "speed", "column": "kind", "where": {"_id": 3}} -->'
    write(project, f"{table('RESULT', SELECTED)}\nOf kind {quoted}.\n")
    assert "Of kind read." in mongo_tables("render", "docs/index.md", cwd=project).stdout


def test_a_site_tells_which_documents_the_rows_are(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    write(project, table("RESULT", SELECTED))
    assert built(project).done
    html = (project / "site/index.html").read_text()
    assert "The rows are these documents of the collection <code>bench</code>:" in html
    assert "&quot;where&quot;: {&quot;kind&quot;: &quot;read&quot;}," in html
    (rows,) = (project / "site/rows").rglob("*.json")
    assert json.loads(rows.read_text())["pipeline"] == json.loads(f"{{{PIPED}}}")["pipeline"]


def test_explain_calls_stages_by_their_keys(project: Path) -> None:
    write(project, table("RESULT", SELECTED.replace("read", "raed")))
    done = mongo_tables("explain", "docs/index.md", cwd=project, expect=1)
    assert re.search(r'1  where \{"kind": "raed"\}\s+3 → 0', done.stdout)
    said = " ".join(done.stdout.split())
    assert 'stage 1, where, lost all 3 documents: no document has `kind` equal to "raed"' in said


@pytest.mark.parametrize(
    ("keys", "place", "said"),
    [
        ('"where": {"kind": "nothing"}', "3:", "MT303 `where` selects no rows of collection 'bench'"),
        ('"where": {"$where": "sleep(1)"}', "3:", "MT201"),
        ('"where": {"mean": {"$gtt": 1}}', "3:", "MT301"),
        ('"sort": "-maen"', "3:", "MT305 rows are sorted by `maen`, but no document has it"),
    ],
)
def test_a_fault_stands_at_the_key(project: Path, keys: str, place: str, said: str) -> None:
    write(project, table("RESULT", keys))
    line = next(
        line for line in mongo_tables("check", cwd=project, expect=1).stdout.splitlines() if "MT" in line
    )
    assert said in line
    found = re.match(r"docs/index\.md:3:(\d+): ", line)
    assert found
    written = table("RESULT", keys)
    assert int(found[1]) - 1 >= written.index(keys.partition(":")[0])
    assert int(found[1]) - 1 < written.index(keys) + len(keys)


def test_diff_and_pull_know_such_tables(project: Path) -> None:
    write(project, page("RESULT", SELECTED))
    (project / "newer/bench").mkdir(parents=True)
    changed = [{**ROWS[0], "mean": 3.5}, *ROWS[1:]]
    (project / "newer/bench/a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))
    assert "2.5 → 3.5" in mongo_tables("diff", "fixtures", "newer", cwd=project, expect=1).stdout
    mongo_tables("pull", "newer", cwd=project)
    kept = [json.loads(line) for line in (project / "fixtures/bench/a.jsonl").read_text().splitlines()]
    assert kept[0] == changed[0]
