"""`render --in-place`: values, charts beside the page, what was edited or is not ours, and files as they are on disk."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from mongo_tables.cli import main
from mongo_tables.site.disk import MARKDOWN_SUFFIXES, PAGE_SUFFIXES
from tests import forked
from tests.commands.test_writing import everything, on_a_full_disk

TABLE = {"id": "speed", "collection": "runs", "pipeline": [{"$sort": {"n": 1}}], "columns": ["n", "qps"]}
TABLE |= {"headers": ["Threads", "Queries/s"], "tolerance": "5 %"}
CHART = {"id": "drawn", "collection": "runs", "pipeline": [{"$sort": {"n": 1}}], "x": "n", "y": "qps"}
VALUE = {"table": "speed", "column": "qps", "where": {"n": 8}}
PAGE = f"""\
# Speed

We reach <!-- MONGO_VALUE: {json.dumps(VALUE)} --> queries.

<!-- MONGO_TABLE: {json.dumps(TABLE)} -->

<!-- MONGO_CHART: {json.dumps(CHART)} -->
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    fill(tmp_path, 5000)
    (tmp_path / "README.md").write_text(PAGE)
    return tmp_path


def fill(folder: Path, qps: int) -> None:
    rows = f'{{"_id": 1, "n": 1, "qps": 1000}}\n{{"_id": 2, "n": 8, "qps": {qps}}}\n'
    (folder / "fixtures" / "runs" / "a.jsonl").write_text(rows)


def run(*arguments: str, cwd: Path, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = forked.completed(forked.MONGO_TABLES, arguments, cwd, dict(os.environ))
    assert done.returncode == expect, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def in_place(folder: Path, *options: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    return run("render", "--in-place", "README.md", *options, cwd=folder, expect=expect)


def test_a_page_and_its_drawing_are_written_once(folder: Path) -> None:
    shown = in_place(folder, "--check", expect=1).stdout
    assert "+++ README.md" in shown
    assert "--- README.drawn.svg\n" in shown
    assert not (folder / "README.drawn.svg").exists()
    assert in_place(folder).stderr == "README.md: written\nREADME.drawn.svg: written\n"
    before = everything(folder)
    assert in_place(folder).stderr == ""
    assert in_place(folder, "--check").stdout == ""
    assert everything(folder) == before
    assert run("check", "README.md", cwd=folder).stdout == ""


def test_what_moved_less_than_it_may_is_neither_told_nor_written(folder: Path) -> None:
    page = PAGE.partition("<!-- MONGO_CHART")[0]
    (folder / "README.md").write_text(page)
    in_place(folder)
    written = (folder / "README.md").read_text()
    fill(folder, 5200)
    assert in_place(folder, "--check").stdout == ""
    assert run("check", "README.md", cwd=folder).stdout == ""
    in_place(folder)
    assert (folder / "README.md").read_text() == written
    fill(folder, 5300)
    assert run("check", "README.md", cwd=folder, expect=1).stdout.count("MT166") == 2
    assert "+|       8 |      5300 |" in in_place(folder, "--check", expect=1).stdout


def test_a_value_edited_by_hand_is_overwritten_by_force_alone(folder: Path) -> None:
    in_place(folder)
    written = (folder / "README.md").read_text()
    edited = written.replace("-->5000<", "-->9000<")
    (folder / "README.md").write_text(edited)
    assert "README.md:3:10: error MT164" in in_place(folder, expect=1).stderr
    assert (folder / "README.md").read_text() == edited
    in_place(folder, "--force")
    assert (folder / "README.md").read_text() == written


def test_a_drawing_edited_by_hand_is_overwritten_by_force_alone(folder: Path) -> None:
    in_place(folder)
    drawing = folder / "README.drawn.svg"
    written = drawing.read_text()
    drawing.write_text(written.replace("5000", "9000"))
    assert "MT164 the drawing of this chart, `README.drawn.svg`" in in_place(folder, expect=1).stderr
    assert "MT164" in run("check", "README.md", cwd=folder, expect=1).stdout
    in_place(folder, "--force")
    assert drawing.read_text() == written


def test_a_drawing_that_is_missing_or_old_is_told_by_a_check_and_drawn_again(folder: Path) -> None:
    in_place(folder)
    drawing = folder / "README.drawn.svg"
    written = drawing.read_text()
    drawing.unlink()
    assert "`README.drawn.svg`, does not exist" in run("check", "README.md", cwd=folder, expect=1).stdout
    fill(folder, 5200)
    in_place(folder)
    assert drawing.read_text() != written
    fill(folder, 5000)
    assert "MT166" in run("check", "README.md", cwd=folder, expect=1).stdout
    in_place(folder)
    assert drawing.read_text() == written


def test_a_drawing_with_the_line_ends_of_another_system_is_the_same(folder: Path) -> None:
    in_place(folder)
    drawing = folder / "README.drawn.svg"
    drawing.write_bytes(drawing.read_bytes().replace(b"\n", b"\r\n"))
    assert run("check", "README.md", cwd=folder).stdout == ""
    assert in_place(folder).stderr == ""


@pytest.mark.parametrize("what", ["text", "link", "link to nothing", "folder", "bytes"])
def test_what_is_not_ours_is_never_overwritten(what: str, folder: Path) -> None:
    drawing, other = folder / "README.drawn.svg", folder / "other.svg"
    if what.startswith("link"):
        drawing.symlink_to(other)
        if what == "link":
            other.write_text("<svg/>")
    elif what == "folder":
        drawing.mkdir()
    else:
        drawing.write_bytes(b"\xff\x00" if what == "bytes" else b"<svg/>")
    before = everything(folder)
    for options in ((), ("--force",), ("--check",)):
        assert "MT168" in in_place(folder, *options, expect=1).stderr
    assert everything(folder) == before
    assert other.exists() == (what == "link")


def test_messages_quote_the_signs_of_the_rows(folder: Path) -> None:
    def name_it(qps: float) -> None:
        rows = f'{{"_id": 1, "n": "d_e_f", "qps": {qps}}}\n{{"_id": 2, "n": "a*b", "qps": 1}}\n'
        (folder / "fixtures" / "runs" / "a.jsonl").write_text(rows)

    name_it(2.5)
    (folder / "README.md").write_text(f"<!-- MONGO_TABLE: {json.dumps(TABLE)} -->\n")
    in_place(folder)
    name_it(3.5)
    told = run("check", "README.md", cwd=folder, expect=1).stdout
    assert "`Queries/s` of `d_e_f` is 2.5, and 3.5 now" in told


def test_a_row_of_two_keys_is_named_by_both(folder: Path) -> None:
    def measure(qps: float) -> None:
        rows = [{"_id": n, "n": "read", "threads": n, "qps": qps * n} for n in (1, 8)]
        (folder / "fixtures" / "runs" / "a.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rows))

    measure(2.5)
    table = {"id": "speed", "collection": "runs", "sort": "threads", "columns": ["n", "threads", "qps"]}
    (folder / "README.md").write_text(f"<!-- MONGO_TABLE: {json.dumps(table)} -->\n")
    in_place(folder)
    measure(3.5)
    assert "`Qps` of `read, 1` is 2.5, and 3.5 now" in run("check", "README.md", cwd=folder, expect=1).stdout


def test_two_pages_that_would_have_one_drawing_are_refused(folder: Path) -> None:
    (folder / "README.markdown").write_text(
        f"<!-- MONGO_CHART: {json.dumps({**CHART, 'title': 'A'})} -->".replace('"id": "drawn", ', "")
    )
    (folder / "README.md").write_text((folder / "README.markdown").read_text())
    told = run("render", "--in-place", "README.md", "README.markdown", cwd=folder, expect=2).stderr
    assert "README.chart-a.svg" in told
    assert not (folder / "README.chart-a.svg").exists()


def test_pages_of_one_name_in_other_folders_and_outside_of_this_one_are_written(folder: Path) -> None:
    for name, place in (
        ("one", folder / "a"),
        ("two", folder / "b"),
        ("three", folder.parent / f"{folder.name}-out"),
    ):
        place.mkdir()
        page = PAGE.replace('"speed"', f'"{name}"').replace('"drawn"', f'"drawn-{name}"')
        (place / "README.md").write_text(page)
    out = f"../{folder.name}-out/README.md"
    run("render", "--in-place", "a/README.md", "b/README.md", out, cwd=folder)
    drawn = [folder / "a/README.drawn-one.svg", folder / "b/README.drawn-two.svg"]
    drawn.append(folder.parent / f"{folder.name}-out" / "README.drawn-three.svg")
    assert all(file.exists() for file in drawn)
    assert run("render", "--in-place", "--check", "a/README.md", "b/README.md", out, cwd=folder).stdout == ""


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_a_page_keeps_its_mark_line_ends_and_last_line(
    mark: bytes, newline: bytes, last: bool, folder: Path
) -> None:
    page = mark + PAGE.encode().replace(b"\n", newline)
    file = folder / "README.md"
    file.write_bytes(page if last else page.removesuffix(newline))
    in_place(folder)
    written = file.read_bytes()
    assert written.startswith(mark + b"# Speed" + newline)
    assert (written.count(b"\r\n") == written.count(b"\n")) == (newline == b"\r\n")
    assert written.endswith(newline) == last
    assert in_place(folder).stderr == ""
    assert file.read_bytes() == written
    assert (folder / "README.drawn.svg").read_bytes().endswith(b"</svg>\n")


def test_a_page_without_a_last_line_end_is_shown_as_such(folder: Path) -> None:
    (folder / "README.md").write_text(PAGE.removesuffix("\n"))
    assert "\\ No newline at end of file\n" in in_place(folder, "--check", expect=1).stdout


def test_a_page_that_is_a_link_stays_one_and_its_file_is_written(folder: Path) -> None:
    (folder / "docs").mkdir()
    (folder / "README.md").rename(folder / "docs" / "index.md")
    (folder / "README.md").symlink_to("docs/index.md")
    in_place(folder)
    assert (folder / "README.md").is_symlink()
    assert "-->5000<" in (folder / "docs" / "index.md").read_text()
    assert (folder / "docs" / "index.drawn.svg").exists()
    assert run("render", "--in-place", "--check", "docs/index.md", cwd=folder).stdout == ""


def test_a_page_that_nobody_may_write_stays_and_so_does_what_is_beside_it(folder: Path) -> None:
    (folder / "README.md").chmod(0o444)
    before = everything(folder)
    assert "README.md: Permission denied" in in_place(folder, expect=2).stderr
    assert everything(folder) == before


def test_on_a_full_disk_neither_page_nor_drawing_is_written(folder: Path) -> None:
    (folder / "README.md").write_text("Text.\n" * 600 + "\n" + PAGE)
    before = everything(folder)
    done = on_a_full_disk("render", "--in-place", "README.md", cwd=folder)
    assert (done.returncode, "File too large" in done.stderr) == (2, True)
    assert everything(folder) == before


def test_a_page_with_an_error_is_not_written_nor_is_another(folder: Path) -> None:
    (folder / "other.md").write_text(
        PAGE.replace('"speed"', '"other"').replace('"n": 8', '"n": 9').replace("drawn", "d2")
    )
    before = everything(folder)
    told = run("render", "--in-place", "README.md", "other.md", cwd=folder, expect=1).stderr
    assert "MT320" in told
    assert everything(folder) == before


def test_a_value_that_begins_its_line_is_refused_with_what_to_do(folder: Path) -> None:
    (folder / "README.md").write_text(PAGE.replace("We reach ", ""))
    told = in_place(folder, expect=1).stderr
    assert "README.md:3:1: error MT167" in told
    assert "put a word before it" in told


def test_all_pages_with_figures_are_written_after_new_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the hook does that writes, when only results are committed."""
    monkeypatch.chdir(tmp_path)
    comment = '# P\n\n<!-- RESULT_TABLE: {"collection": "m", "columns": ["ms"], "sort": "ms"} -->\n'
    for file in ("README.md", "written.md", "plain.md"):
        Path(file).write_text(comment)
    Path("mongo-tables.toml").write_text('results = "m.json"\n')
    Path("m.json").write_text('[{"ms": 15}]')
    assert main(["render", "--in-place", "written.md"]) == 0
    Path("m.json").write_text('[{"ms": 25}]')
    assert main(["check", "."]) == 1
    assert main(["render", "--in-place", "--written"]) == 0
    assert main(["check", "README.md", "written.md"]) == 0
    assert "|  25 |" in Path("README.md").read_text()
    assert "|  25 |" in Path("written.md").read_text()
    assert Path("plain.md").read_text() == comment


def test_drawings_have_absolute_addresses_for_package_indexes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    chart = '<!-- RESULT_CHART: {"id": "c", "collection": "m", "x": "n", "y": "ms", "sort": "n"} -->\n'
    for file in ("READ ME.md", "docs/p.md"):
        Path(file).write_text(chart)
    Path("m.json").write_text('[{"n": "a", "ms": 15}, {"n": "b", "ms": 25}]')
    Path("mongo-tables.toml").write_text('results = "m.json"\ndrawings = "https://raw.example/o/r/HEAD"\n')
    assert main(["render", "--in-place", "READ ME.md", "docs/p.md"]) == 0
    assert "](https://raw.example/o/r/HEAD/READ%20ME.c.svg)" in Path("READ ME.md").read_text()
    assert "](https://raw.example/o/r/HEAD/docs/p.c.svg)" in Path("docs/p.md").read_text()
    assert Path("docs/p.c.svg").is_file()
    assert main(["check", "READ ME.md", "docs/p.md"]) == 0
    Path("mongo-tables.toml").write_text('results = "m.json"\ndrawings = "javascript:x"\n')
    capsys.readouterr()
    assert main(["check", "READ ME.md"]) == 2
    assert "`drawings` is not an address" in capsys.readouterr().err


def test_the_hooks_run_when_only_results_changed() -> None:
    hooks = {
        one["id"]: one
        for one in yaml.safe_load((Path(__file__).parents[3] / ".pre-commit-hooks.yaml").read_text())
    }
    assert all(hooks[name]["always_run"] for name in ("mongo-tables-check", "mongo-tables-write"))
    assert hooks["mongo-tables-write"]["entry"].endswith("--in-place --written")
    kinds = {"mongo-tables-check-changed": PAGE_SUFFIXES, "mongo-tables-write": MARKDOWN_SUFFIXES}
    for name, suffixes in kinds.items():
        assert all(re.search(hooks[name]["files"], f"docs/page{each}") for each in suffixes)
        assert not re.search(hooks[name]["files"], "docs/page.mdx.txt")
