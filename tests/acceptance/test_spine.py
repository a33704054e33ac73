"""A site is a pure function of a snapshot and of answers, and every door shows what that function gives."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

import mongo_tables.build
from mongo_tables.build import Report, build
from mongo_tables.cli import main
from mongo_tables.files.memo import Memo
from mongo_tables.findings.rules import finding
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import Request, read_snapshots, snapshot_of
from mongo_tables.site.in_place import InPlace
from mongo_tables.site.pages import Page
from mongo_tables.site.site_config import find_site
from tests.acceptance.seal import sealed
from tests.hosts.inprocess import CONFIG, built, html, write
from tests.hosts.test_sphinx import build as sphinx_build
from tests.hosts.test_sphinx import page as sphinx_page

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


class Ready:
    """A source whose answers are there already."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.asked = 0

    def answer(self, queries: Any) -> Answers:
        self.asked += 1
        assert all(key in self.answers.by_key for key in queries)
        return self.answers


def compute(snapshot: Any, source: Any, memo: Memo | None = None) -> list[Any]:
    """Everything that doors ask of a site."""
    report = build(snapshot, source, memo)
    figures = [report.figures.html(page, lambda name, text: name) for page in report.pages]
    texts = [report.figures.markdown(page) for page in report.pages]
    paths = report.site.paths()
    in_place = [report.figures.in_place(page, paths[page.file]) for page in report.pages]
    written = [(one.text, [(each.path, each.text) for each in one.drawings]) for one in in_place]
    return [list(report.findings), figures, texts, written]


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
    memo = Memo()
    first = compute(snapshot, answers, memo)  # and with it every module that this needs is imported
    ready = Ready(answers)
    with sealed(monkeypatch):
        again = compute(snapshot, ready)
        assert ready.asked == 1
        kept = compute(snapshot, ready, memo)
    assert again == kept == first


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
        again = compute(snapshot, Ready(answers))
    assert again == first


def test_the_reason_of_a_figure_without_rows_is_found_without_the_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty = TABLE.replace('"id": "runs"', '"id": "empty"').replace(
        '"pipeline": [', '"pipeline": [{"$match": {"n": {"$gt": 9999}}}, '
    )
    nothing = VALUE.replace('"_id": 1', '"_id": 7')
    assert len({empty, nothing, TABLE, VALUE}) == 4
    write(tmp_path, {**FILES, "docs/empty.md": f"# Empty\n\n{empty}\n\nAgain: {nothing}.\n"})
    monkeypatch.chdir(tmp_path)
    request = Request(find_site(Path()), "docs/pipelines", "fixtures")
    (snapshot,) = read_snapshots(["docs"], request, "figures").snapshots
    answers = Answers("fixtures")
    first = compute(snapshot, answers)
    assert {one.rule for one in first[0]} >= {"MT303", "MT320"}
    with sealed(monkeypatch):
        again = compute(snapshot, Ready(answers))
    assert again == first


@pytest.mark.parametrize(
    ("rule", "file"), [("MT313", "fixtures/notes.xlsx"), ("MT310", "fixtures/runs/b.jsonl")]
)
def test_what_is_wrong_with_a_file_of_results_is_found_without_the_working_folder(
    rule: str, file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(write(tmp_path, {**FILES, file: "no results"}))
    request = Request(find_site(Path()), "docs/pipelines", "fixtures")
    (snapshot,) = read_snapshots(["docs"], request, "figures").snapshots
    answers = Answers("fixtures")
    first = compute(snapshot, answers)
    assert (rule, file) in {(one.rule, one.file) for one in first[0]}
    with sealed(monkeypatch):
        again = compute(snapshot, Ready(answers))
    assert again == first


# -- every door shows what `build` gives --

MARK = finding("MT424", "docs/index.md", (3, 1), "the mark of the stub", "")
Build = Callable[..., Report]


def marking() -> Build:
    """``build`` that marks every finding, row and figure with the number of the build."""
    builds = count(1)

    def stub(snapshot: Any, source: Any, memo: Any = None) -> Report:
        report, mark = build(snapshot, source, memo), f"MARK {next(builds)}"
        for key, rows in report.source.by_key.items():
            if isinstance(rows, list):
                by_key = report.source.by_key
                by_key.held[key] = by_key.hold(key, [{**row, "n": mark} for row in rows])
        figures = report.figures
        draw, write_text, compose = figures.html, figures.markdown, figures.in_place

        def in_place(page: Page, path: Path) -> InPlace:
            made = compose(page, path)
            return made._replace(parts=[one._replace(text=f"{one.text} {mark}") for one in made.parts])

        figures.html = lambda *given: [f"{mark} {each}" for each in draw(*given)]  # type: ignore[method-assign]
        figures.markdown = lambda *given: f"{mark} {write_text(*given)}"  # type: ignore[method-assign]
        figures.in_place = in_place  # type: ignore[method-assign]
        marks = [MARK._replace(file=one.file) for one in snapshot.pages]
        report.__dict__ |= {"findings": marks, "faults": marks}
        return report

    return stub


def another_site(snapshot: Any, source: Any, memo: Any = None) -> Report:
    """``build`` of a site whose page reads another collection."""
    pages = [
        replace(one, text=one.text.replace('"collection": "runs"', '"collection": "mark"'))
        for one in snapshot.pages
    ]
    return build(replace(snapshot, pages=tuple(pages)), source, memo)


@contextmanager
def replaced(stub: Build, folder: Path) -> Iterator[None]:
    """A process with a stub for ``build``, in the folder of a site."""
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("mongo_tables.") and getattr(module, "build", None) is build:
                patch.setattr(module, "build", stub)
        patch.setattr(mongo_tables.build, "build", stub)
        write(folder, FILES)
        patch.chdir(folder)
        yield
    for module in list(sys.modules.values()):  # Those that this test imported have the stub for good.
        if module.__dict__.get("build") is stub:
            module.__dict__["build"] = build


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[Path]:
    with replaced(marking(), tmp_path):
        yield tmp_path


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Path]:
    with replaced(another_site, tmp_path):
        yield tmp_path


def test_nothing_but_build_parses_and_judges_a_site() -> None:
    package = HERE / "preprocessor/mongo_tables"
    naming = {name: set[str]() for name in ("parse_site", "check_site", "check_without_linter")}
    for path in package.rglob("*.py"):
        for name in naming.keys() & set(re.findall(r"\w+", path.read_text("utf-8"))):
            naming[name].add(path.relative_to(package).as_posix())
    assert naming["parse_site"] == {"build.py", "site/site.py"}
    assert naming["check_site"] == naming["check_without_linter"] == {"build.py", "site/checks.py"}


def test_check_reports_what_build_finds(marked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "docs"]) == 1
    assert "the mark of the stub" in capsys.readouterr().out


def test_render_writes_what_build_makes(marked: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "docs/index.md"]) == 0
    assert capfd.readouterr().out.startswith("MARK 1 # Runs")


def test_render_writes_what_build_makes_into_a_folder(
    marked: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", "docs", "--output", "out"]) == 0
    assert "the mark of the stub" in capfd.readouterr().err
    text = (marked / "out/docs/index.md").read_text()
    assert text.startswith("MARK 1 # Runs")
    assert "| MARK 1 |" in text


def test_render_writes_what_build_makes_into_the_page(
    marked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", "--in-place", "docs/index.md"]) == 0
    assert "the mark of the stub" in capsys.readouterr().err
    text = (marked / "docs/index.md").read_text()
    assert "| MARK 1 |" in text
    assert text.endswith("MARK 1.\n")


def test_the_commit_hooks_are_commands_that_show_what_build_makes(
    marked: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_INDEX_FILE", "index")
    hooks = yaml.safe_load((HERE / ".pre-commit-hooks.yaml").read_text())
    assert len(hooks) >= 3
    for hook in hooks:
        main([*hook["entry"].split()[1:], "docs/index.md"])
        printed = capsys.readouterr()
        assert "the mark of the stub" in printed.out + printed.err


def test_diff_compares_what_build_makes(marked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "fixtures", "fixtures"]) == 1
    printed = capsys.readouterr().out
    assert "MARK 1" in printed
    assert "MARK 2" in printed


def test_explain_says_what_build_finds(marked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "docs/index.md"])
    assert "the mark of the stub" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        ["deps"],
        ["deps", "--json"],
        ["pull", "fixtures", "--to", "copied"],
        ["explain", "docs/index.md"],
        ["explain", "docs/index.md:3", "--cell", "1", "n"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_command_reads_the_site_that_build_makes(
    command: list[str], other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(other, {"fixtures/mark/a.jsonl": '{"_id": 1, "n": 4713}\n'})
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "mark" in printed
    assert "fixtures/runs" not in printed


def test_sphinx_shows_what_build_makes_and_finds(marked: Path) -> None:
    conf = 'project = "Runs"\nextensions = ["myst_parser", "mongo_tables.hosts.sphinx_extension"]\n'
    write(marked, {"docs/conf.py": conf, "mongo-tables.toml": 'results = "fixtures"\n'})
    assert "the mark of the stub" in sphinx_build(marked).warnings
    assert "MARK 1" in sphinx_page(marked, "index")


def test_mkdocs_shows_what_build_makes_and_finds(marked: Path) -> None:
    outcome = built(marked)
    assert "the mark of the stub" in outcome.log
    assert "MARK 1 <figure" in html(marked, "index.html")


def test_the_markdown_extension_shows_what_build_makes(marked: Path) -> None:
    import markdown

    with pytest.warns(UserWarning, match="the mark of the stub"):
        text = markdown.markdown((marked / "docs/index.md").read_text("utf-8"), extensions=["mongo-tables"])
    assert "MARK 1 <figure" in text


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


def test_diff_compares_what_build_makes_of_checkouts(
    marked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", str(marked), str(marked)]) == 1
    printed = capsys.readouterr().out
    assert "MARK 1" in printed
    assert "MARK 2" in printed


def test_init_proposes_what_build_finds_sound(marked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["init", "--table", "runs"])
    printed = capsys.readouterr()
    assert "the mark of the stub" in printed.out + printed.err


def test_init_writes_what_build_makes(marked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (marked / "mkdocs.yml").unlink()
    (marked / "README.md").write_text("# Runs\n", encoding="utf-8")
    main(["init"])
    assert re.search(r"<!-- mongo-tables: end --> MARK \d+\n$", (marked / "README.md").read_text("utf-8"))
