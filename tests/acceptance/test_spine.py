"""A site is a pure function of a snapshot and of answers, and every door shows what that function gives."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mongo_tables.build
from mongo_tables.build import Report, build
from mongo_tables.cli import main
from mongo_tables.findings.rules import finding
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import Request, read_snapshots, snapshot_of
from mongo_tables.site.site_config import find_site
from tests.hosts.inprocess import CONFIG, built, html, write

HERE = Path(__file__).parents[2]
TABLE = (
    '<!-- MONGO_TABLE: {"id": "runs", "collection": "runs", "pipeline": [{"$sort": {"n": 1}}], '
    '"columns": ["n"], "headers": ["N"]} -->\n'
)
VALUE = '<!-- MONGO_VALUE: {"table": "runs", "column": "n", "where": {"_id": 1}} -->'
FILES = {
    "mkdocs.yml": f"{CONFIG}plugins: [mongo-tables]\n",
    "docs/index.md": f"# Runs\n\n{TABLE}\nThe first has {VALUE}.\n",
    "fixtures/runs/a.jsonl": '{"_id": 1, "n": 4711}\n{"_id": 2, "n": 4712}\n',
}
_FORBIDDEN = {"open", "os.listdir", "os.scandir", "socket.connect", "subprocess.Popen"}
_sealed = False


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if _sealed and event in _FORBIDDEN:
        raise AssertionError(f"{event} {arguments[:1]} while a site is computed")


sys.addaudithook(_refuse)


class _NoEnvironment(dict[str, str]):
    def __getitem__(self, name: str) -> str:
        raise AssertionError(f"the variable {name} is read while a site is computed")

    get = __getitem__  # type: ignore[assignment]


@contextmanager
def sealed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Within this, whoever opens a file, or asks for its state, the time or the environment, fails."""

    def fail(*_: Any, **__: Any) -> Any:
        raise AssertionError("the state of a file, or the time of day, is asked for while a site is computed")

    global _sealed
    with monkeypatch.context() as patch:
        # Clocks of elapsed time stay: the limits of pipelines count processor time.
        for module, name in ((os, "stat"), (os, "lstat"), (time, "time"), (time, "time_ns")):
            patch.setattr(module, name, fail)
        patch.setattr(os, "environ", _NoEnvironment())
        _sealed = True
        try:
            yield
        finally:
            _sealed = False


class Ready:
    """A source whose answers are there already."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.asked = 0

    def answer(self, queries: Any) -> Answers:
        self.asked += 1
        assert all(query.key in self.answers.by_key for query in queries)
        return self.answers


def compute(snapshot: Any, source: Any) -> list[Any]:
    """Everything that doors ask of a site."""
    report = build(snapshot, source)
    figures = [report.figures.html(page, lambda name, text: name) for page in report.pages]
    texts = [report.figures.markdown(page) for page in report.pages]
    return [list(report.findings), figures, texts]


def test_a_site_is_computed_without_a_file_the_time_of_day_or_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(HERE)
    site = find_site(Path())
    assert site is not None
    request = Request(site, "docs/pipelines", "fixtures")
    pages = ["docs/experiments/insert-docsize.md", "docs/index.md"]
    (snapshot,) = read_snapshots(pages, request, "figures").snapshots
    answers = Answers("fixtures")
    first = compute(snapshot, answers)  # and with it every module that this needs is imported
    ready = Ready(answers)
    with sealed(monkeypatch):
        again = compute(snapshot, ready)
    assert again == first
    assert ready.asked == 1


def test_what_comes_into_a_page_is_found_in_the_snapshot_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(tmp_path, {**FILES, "docs/taking.md": f'# Taking\n\n--8<-- "taken.md"\n\nAgain: {VALUE}.\n'})
    write(tmp_path, {"docs/taken.md": TABLE.replace('"id": "runs"', '"id": "taken"')})
    monkeypatch.chdir(tmp_path)
    request = Request(find_site(Path()), "docs/pipelines", "fixtures")
    (snapshot,) = read_snapshots(["docs"], request, "figures").snapshots
    answers = Answers("fixtures")
    first = compute(snapshot, answers)
    with sealed(monkeypatch):
        assert compute(snapshot, Ready(answers)) == first


def test_the_seal_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for look in (
        lambda: (tmp_path / "a").open(),
        lambda: os.environ["HOME"],
        lambda: time.time(),
        tmp_path.stat,
    ):
        with pytest.raises(AssertionError), sealed(monkeypatch):
            look()


MARK = finding("MT424", "docs/index.md", (1, 1), "the mark of the stub", "")


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A site, in a process in which ``build`` marks every finding and every figure."""

    def stub(snapshot: Any, source: Any, memo: Any = None) -> Report:
        report = build(snapshot, source, memo)
        draw, write_text = report.figures.html, report.figures.markdown
        report.figures.html = lambda *given: [f"MARK {each}" for each in draw(*given)]  # type: ignore[method-assign]
        report.figures.markdown = lambda *given: f"MARK {write_text(*given)}"  # type: ignore[method-assign]
        report.__dict__["findings"] = [MARK]
        return report

    for name, module in list(sys.modules.items()):
        if name.startswith("mongo_tables.") and getattr(module, "build", None) is build:
            monkeypatch.setattr(module, "build", stub)
    monkeypatch.setattr(mongo_tables.build, "build", stub)
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for module in list(sys.modules.values()):  # Those that this test imported have the stub for good.
        if module.__dict__.get("build") is stub:
            module.__dict__["build"] = build


def test_check_reports_what_build_finds(marked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "docs"]) == 1
    assert "the mark of the stub" in capsys.readouterr().out


def test_render_writes_what_build_makes(marked: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "docs/index.md"]) == 0
    assert capfd.readouterr().out.startswith("MARK # Runs")


def test_mkdocs_shows_what_build_makes_and_finds(marked: Path) -> None:
    outcome = built(marked)
    assert "the mark of the stub" in outcome.log
    assert "MARK <figure" in html(marked, "index.html")


def test_the_markdown_extension_shows_what_build_makes(marked: Path) -> None:
    import markdown

    with pytest.warns(UserWarning, match="the mark of the stub"):
        text = markdown.markdown((marked / "docs/index.md").read_text("utf-8"), extensions=["mongo-tables"])
    assert "MARK <figure" in text


def test_the_language_server_marks_what_build_finds(marked: Path) -> None:
    from mongo_tables.lsp.session import Session, request_of

    session = Session(lambda: request_of(None, None, None, database=False))
    (found,) = session.check().diagnostics["docs/index.md"]
    assert found.finding == MARK


def test_the_architecture_page_quotes_the_spine() -> None:
    quoted = re.search(
        r"```python\n(def build\(.*?)```", (HERE / "docs/contributing/architecture.md").read_text(), re.S
    )
    code = (HERE / "preprocessor/mongo_tables/build.py").read_text()
    assert quoted is not None
    for line in quoted[1].strip().splitlines():
        assert line in code


def test_a_query_that_two_tables_ask_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    other = TABLE.replace('"id": "runs", ', "")
    snapshot = replace(snapshot_of({"page.md": f"{TABLE}\n{other}"}), needs="rows")
    answers = Answers("fixtures")
    assert build(snapshot, answers).answers
    assert answers.ran == 1
