"""What a memo keeps between builds never says what a process that starts now would not say."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.aggregation import compiler, limits
from mongo_tables.build import Report, build
from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.files.memo import Memo
from mongo_tables.findings.finding import Finding
from mongo_tables.results.answers import Answers
from mongo_tables.results.guards import Limits
from mongo_tables.site.disk import snapshot_of
from tests.hosts.inprocess import write

TABLE = (
    '<!-- MONGO_TABLE: {"id": "due", "collection": "r", "pipeline": [{"$match": CONDITION}], '
    '"columns": ["_id", "n"], "headers": ["Name", "N"]} -->'
)
ROWS = '{"_id": "a", "n": 1, "d": {"$date": "2026-01-02T00:00:00Z"}}\n{"_id": "b", "n": 2}\n'
BEFORE = datetime(2026, 1, 1, tzinfo=UTC)


def report(text: str, memo: Memo, source: Answers | None = None) -> Report:
    """What a build of a page says, by a new source of results unless one is given."""
    return build(snapshot_of({"a.md": text}), source or Answers("fixtures"), memo)


def found(text: str, memo: Memo, source: Answers | None = None) -> list[str]:
    """The rules that the check of a page names."""
    return [one.rule for one in report(text, memo, source).findings if one.severity == "error"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path, {"fixtures/r/r.jsonl": ROWS}))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The time of ``$$NOW``, which a test sets."""
    times = [BEFORE]

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return times[0]

    monkeypatch.setattr(compiler, "datetime", Clock)
    return times


@pytest.mark.parametrize("part", ["pipeline", "expect", "where"])
def test_a_statement_about_the_time_is_judged_with_each_build(part: str, clock: list[datetime]) -> None:
    due = '{"$expr": {"$lt": ["$$NOW", "$d"]}}'
    table = TABLE.replace("CONDITION", due if part == "pipeline" else '{"_id": "a"}')
    said = {
        "pipeline": '"expect": {"n": 1}',
        "expect": f'"expect": {due}',
        "where": f'"where": {due}, "expect": {{"n": 1}}',
    }[part]
    text = f'{table}\n\n<!-- MONGO_CHECK: {{"table": "due", {said}}} -->\n'
    memo = Memo()
    assert found(text, memo) == []
    clock[0] = BEFORE + timedelta(days=2)
    assert found(text, memo) == found(text, Memo()) != []


def test_a_title_about_the_time_is_judged_with_each_build(clock: list[datetime]) -> None:
    due = '"where": {"_id": "a", "$expr": {"$lt": ["$$NOW", "$d"]}}'
    said = ", ".join(
        f'"{verdict}": "It is."' for verdict in ("slower", "faster", "no difference", "not known")
    )
    title = f'{{"table": "due", "column": "n", {due}, "say": {{{said}}}}}'
    chart = (
        '<!-- MONGO_CHART: {"collection": "r", "pipeline": [{"$sort": {"_id": 1}}], "mark": "bar", "x": "_id", '
        f'"y": "n", "title": {title}}} -->'
    )
    text = TABLE.replace("CONDITION", '{"_id": "a"}') + f"\n\n{chart}\n"
    memo = Memo()
    before = found(text, memo)
    clock[0] = BEFORE + timedelta(days=2)
    assert found(text, memo) == found(text, Memo()) != before


@pytest.mark.parametrize("place", ["stage", "let"])
def test_a_constant_about_the_time_is_judged_by_its_run(place: str, clock: list[datetime]) -> None:
    left = '{"$max": [0, {"$subtract": [{"$toDate": "2026-01-02"}, "$$NOW"]}]}'
    share = f'{{"$divide": [1, {left}]}}'
    compared = share if place == "stage" else '"$$share"'
    text = TABLE.replace("CONDITION", f'{{"$expr": {{"$gt": [{compared}, 0]}}}}')
    if place == "let":
        text = text.replace('"pipeline"', f'"let": {{"share": {share}}}, "pipeline"')
    clock[0] = BEFORE + timedelta(days=2)
    memo = Memo()
    assert found(text, memo) == ["MT301"], "1 is divided by 0"
    clock[0] = BEFORE
    assert found(text, memo) == found(text, Memo()) == []


def test_a_limit_that_the_settings_lower_is_judged_by(clock: list[datetime]) -> None:
    text, memo = TABLE.replace("CONDITION", '{"n": {"$gt": 0}}'), Memo()
    assert found(text, memo) == []

    def few() -> Answers:
        return Answers("fixtures", Limits(rows=1))

    assert found(text, memo, few()) == found(text, Memo(), few()) == ["MT301"]


def found_with(lists: str, memo: Memo) -> list[Finding]:
    """The errors of a page that names the shared list ``due`` of a folder."""
    text = TABLE.replace('{"$match": CONDITION}', '"due"')
    snapshot = replace(snapshot_of({"a.md": text}), shared=SharedPipelines(Path(lists)))
    findings = build(snapshot, Answers("fixtures"), memo).findings
    return [one for one in findings if one.severity == "error"]


@pytest.mark.parametrize("text", ['[{"$mach": {}}]', '[{"$match": {}'])
def test_a_finding_names_the_folder_of_shared_lists_of_its_build(text: str) -> None:
    write(Path(), {"before/due.json": text, "after/due.json": text})
    memo = Memo()
    assert "before/due.json" in str(found_with("before", memo))
    after = found_with("after", memo)
    assert "after/due.json" in str(after)
    assert after == found_with("after", Memo())


def test_a_folder_of_shared_lists_that_can_no_longer_be_read_is_told() -> None:
    memo = Memo()
    assert [one.rule for one in found_with("lists", memo)] == ["MT140"]
    Path("lists").symlink_to("lists")
    assert found_with("lists", memo) == found_with("lists", Memo())
    assert [one.rule for one in found_with("lists", memo)] == ["MT142"]


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Sets whether the machine is so busy that each pipeline runs out of time."""

    class Busy:
        seconds = 0

        def __getattr__(self, _: str) -> Callable[[], int]:
            Busy.seconds += 100
            return lambda: Busy.seconds

    return lambda is_busy: monkeypatch.setattr(limits, "time", Busy() if is_busy else time)


STATEMENT = '<!-- MONGO_CHECK: {"table": "due", "expect": {"n": 1}} -->\n'


def test_what_ran_out_of_time_is_run_again(busy: Callable[[bool], None]) -> None:
    memo, source = Memo(), Answers("fixtures")
    text = TABLE.replace("CONDITION", '{"_id": "a"}') + f"\n\n{STATEMENT}"
    busy(True)
    assert "MT301" in found(text, memo, source)
    busy(False)
    source.refresh()
    assert found(text, memo, source) == found(text, memo) == found(text, Memo()) == []


def test_a_constant_that_ran_out_of_time_is_computed_again(busy: Callable[[bool], None]) -> None:
    many = '{"$expr": {"$lt": [{"$size": {"$range": [0, 3000000]}}, 1]}}'
    text, memo = TABLE.replace("CONDITION", many), Memo()
    busy(True)
    assert report(text, memo).pages[0].server_only != (None,)
    busy(False)
    assert report(text, memo).pages[0].server_only == (None,)


def test_the_reason_of_a_table_without_rows_is_searched_for_again_if_it_ran_out_of_time(
    busy: Callable[[bool], None],
) -> None:
    text, memo, source = TABLE.replace("CONDITION", '{"n": {"$gt": 9}}'), Memo(), Answers("fixtures")
    first = build(snapshot_of({"a.md": text}), source, memo)
    busy(True)
    assert [one.rule for one in first.findings if one.severity == "error"] == ["MT303"]
    busy(False)
    source.refresh()
    assert report(text, memo, source).findings == report(text, Memo()).findings
