"""Of a page that was edited only the comments that changed are judged again, and nothing is missed by that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mongo_tables.cli import main
from mongo_tables.lint import looking
from mongo_tables.pages import static
from tests.commands.check.settledsite import make_site

FAST = (
    '<!-- MONGO_TABLE: {"id": "fast", "collection": "runs", "pipeline": ["fast"], "columns": ["n", "mean"], '
    '"headers": ["Threads", "Mean (ms)"]} -->'
)
SLOW = FAST.replace("fast", "slow")
QUOTE = '<!-- MONGO_VALUE: {"table": "fast", "column": "mean", "where": {"n": 1}} -->'
STAGES = (
    '[{"$sort": {"n": 1}}, {"$project": {"_id": 0, "n": 1, "mean": {"$round": ["$mean", 1]}, '
    '"other": {"$add": ["$n", 1]}}}]'
)
Check = Callable[..., tuple[str, list[str]]]


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site whose files are old enough to be known by their states; `other` of its tables is read by nobody."""
    folder = make_site(tmp_path, monkeypatch)
    Path("docs/pipelines/fast.json").write_text(STAGES.replace(', "other": {"$add": ["$n", 1]}', ""))
    Path("docs/pipelines/slow.json").write_text(STAGES.replace(', "other": {"$add": ["$n", 1]}', ""))
    write_page(FAST, SLOW)
    Path("docs/other.md").write_text(f"# Other\n\nThe mean is {QUOTE} ms.\n")
    Path("fixtures/runs/all.jsonl").write_text('{"_id": 1, "n": 1, "mean": 2.25}\n')
    return folder


def write_page(*parts: str) -> None:
    Path("docs/runs.md").write_text("\n\n".join(["# Runs", *parts, ""]))


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Check:
    """Checks the page: what is said, and the ids of the tables whose pipelines were judged or looked at for it."""
    seen: list[str] = []
    read, look = static.read_comment, looking.look_at

    def read_seen(comment, *beside):
        seen.extend(name for name in ("fast", "slow") if f'"id": "{name}"' in comment.body)
        return read(comment, *beside)

    def look_seen(spec, *beside):
        seen.append(str(spec.id))
        return look(spec, *beside)

    monkeypatch.setattr(static, "read_comment", read_seen)
    monkeypatch.setattr(looking, "look_at", look_seen)

    def run(*options: str) -> tuple[str, list[str]]:
        seen.clear()
        main(["check", *(options or ("--static",)), "docs/runs.md"])
        return "".join(capsys.readouterr()), sorted({*seen})

    return run


@pytest.mark.parametrize("option", ["--static", "--numbers", "--fail-on=note"])
def test_comments_that_stayed_are_not_judged_again_wherever_they_stand_now(option: str, check: Check) -> None:
    assert check(option)[1] == ["fast", "slow"]
    write_page("Some words.", SLOW, "## More", FAST)
    assert check(option)[1] == []
    write_page(FAST, SLOW.replace("Mean (ms)", "Time (ms)"))
    assert check(option)[1] == ["slow"]


def test_a_fault_of_a_comment_that_changed_is_told_and_told_again(check: Check) -> None:
    check()
    write_page(FAST, SLOW.replace('"mean"]', '"meen"]'))
    first, again = check(), check()
    assert "`meen`" in first[0] and "docs/runs.md:5" in first[0]
    assert first[0] == again[0]
    assert first[1] == ["slow"]


def test_what_a_comment_ignores_is_ignored_wherever_it_stands_and_told_once_it_is_not(check: Check) -> None:
    ignoring = SLOW.replace('"pipeline"', '"ignore": {"MT504": "as in the report"}, "pipeline"')
    ignoring = ignoring.replace('"Threads"', '"n_threads"').replace('"n"', '"n_threads"')
    stages = STAGES.replace(', "other": {"$add": ["$n", 1]}', "")
    Path("docs/pipelines/slow.json").write_text(stages.replace('"n": 1, "mean"', '"n_threads": "$n", "mean"'))
    write_page(ignoring, FAST)
    before = check("--static", "--fail-on=note")
    assert "MT504" not in before[0]
    write_page("Words.", FAST, "More words.", ignoring)
    assert check("--static", "--fail-on=note")[1] == []
    write_page("Words.", ignoring.replace("as in the report", "as there"), FAST)
    assert check("--static", "--fail-on=note")[1] == ["slow"]


@pytest.mark.parametrize("above", [(), ("Words.",), ("Words.", "More words.")])
def test_what_is_said_of_a_comment_is_said_at_its_place(above: tuple[str, ...], check: Check) -> None:
    odd = SLOW.replace('"Mean (ms)"', '" Mean (ms)"')
    write_page(FAST, odd)
    assert "docs/runs.md:5:" in check()[0]
    write_page(*above, odd, FAST)
    said, judged = check()
    assert f"docs/runs.md:{3 + 2 * len(above)}:" in said and "blanks too many" in said
    assert judged == []


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("docs/pipelines/fast.json", STAGES, "`other`"),
        ("docs/pipelines/fast.json", STAGES.replace("$round", "$rond"), "$rond"),
        ("fixtures/runs/all.jsonl", '{"_id": 1, "n": 1, "meen": 2.25}\n', "`mean`"),
        ("mkdocs.yml", 'site_name: R\nplugins: [{mongo-tables: {server: "4.0"}}]\n', "$round"),
    ],
)
def test_whatever_else_a_comment_is_judged_by_is_looked_at(
    file: str, text: str, says: str, check: Check
) -> None:
    assert "no fault" in check()[0]
    Path(file).write_text(text)
    write_page("Some words.", FAST, SLOW)
    assert says in check()[0]
    write_page("Other words.", FAST, SLOW)
    assert says in check()[0]


def test_a_faulty_file_of_results_is_told_each_time(check: Check) -> None:
    assert "no fault" in check("--fail-on=note")[0]
    Path("fixtures/runs/all.jsonl").write_text('{"_id": 1, "n": 1, \n')
    for words in ("Some words.", "Other words.", "More words."):
        write_page(words, FAST, SLOW)
        assert "fixtures/runs/all.jsonl" in check("--fail-on=note")[0]


def test_what_another_page_quotes_of_a_table_is_looked_at(check: Check) -> None:
    Path("docs/pipelines/fast.json").write_text(STAGES)
    Path("docs/other.md").write_text(f"# Other\n\nThe sum is {QUOTE.replace('mean', 'other')}.\n")
    assert "no fault" in check()[0]
    Path("docs/other.md").write_text(f"# Other\n\nThe mean is {QUOTE} ms.\n")
    said, judged = check()
    assert "`other`" in said
    assert judged == ["fast"]


def test_a_table_that_changed_is_held_against_those_that_did_not(check: Check) -> None:
    three = [SLOW, FAST, FAST.replace('"id": "fast"', '"id": "third"')]
    write_page(*three)
    assert "no fault" in check()[0]
    stages = STAGES.replace('"$mean", 1', '"$mean", 2').replace(', "other": {"$add": ["$n", 1]}', "")
    write_page(SLOW.replace('["slow"]', stages), *three[1:])
    said, judged = check()
    assert "MT506" in said and "rounded to 2 decimals here, and to 1 decimal in other tables" in said
    assert judged == ["slow"]


def test_rows_that_may_be_others_tomorrow_are_looked_at_each_time(check: Check) -> None:
    write_page(
        FAST, SLOW.replace('["slow"]', '[{"$sample": {"size": 1}}, {"$project": {"n": 1, "mean": 1}}]')
    )
    check("--fail-on=error")
    write_page("Some words.", *Path("docs/runs.md").read_text().split("\n\n")[1:])
    assert check("--fail-on=error")[1] == ["slow"]


def test_other_bytes_in_the_place_of_what_is_remembered_are_not_believed(
    check: Check, tmp_path: Path
) -> None:
    check()
    for entry in (tmp_path / "cache").rglob("*.bson"):
        entry.write_bytes(entry.read_bytes()[:-1] + b"7")
    write_page("Some words.", FAST, SLOW)
    assert check()[1] == ["fast", "slow"]
