"""A site with old faults takes up the check without mending them first, and new faults still fail."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.findings.finding import Finding
from mongo_tables.findings.reporters import compare_with_baseline, format_baseline
from tests.commands.test_commands import TABLE, mongo_tables

FAULTY = TABLE.replace("$sort", "$sor")

findings = st.lists(
    st.builds(
        Finding,
        st.sampled_from(["docs/a.md", "docs/b.md"]),
        st.integers(1, 5),
        st.integers(1, 5),
        st.sampled_from(["MT301", "MT302"]),
        st.just("error"),
        st.sampled_from(["the id `a` is already used: docs/a.md, line 3.", "no row has the column 'n'"]),
    ),
    max_size=8,
)


NOTHING_NEW = "1 comment on 1 page: no fault that the baseline does not accept (no pipeline was run)\n"


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """A folder with one page of one faulty table, accepted in ``accepted.json``."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(f"{FAULTY}\n")
    mongo_tables("check", "--static", "--baseline", "accepted.json", "--write-baseline", cwd=tmp_path)
    return tmp_path


def check(folder: Path, *arguments: str, expect: int) -> str:
    done = mongo_tables(
        "check", "--static", "--baseline", "accepted.json", *arguments, cwd=folder, expect=expect
    )
    return done.stdout + done.stderr


def test_accepted_findings_do_not_fail(faulty: Path) -> None:
    assert check(faulty, expect=0) == NOTHING_NEW


def test_text_above_an_accepted_finding_does_not_make_it_new(faulty: Path) -> None:
    page = faulty / "docs" / "page.md"
    page.write_text("# A heading\n\nA paragraph.\n\n" + page.read_text())
    assert check(faulty, expect=0) == NOTHING_NEW


@pytest.mark.parametrize("places", ["line 3", "lines 3 and 7", "lines 3, 14 and 15"])
def test_lines_that_a_message_speaks_of_may_move_too(places: str, tmp_path: Path) -> None:
    moved = re.sub(r"\d+", lambda number: str(int(number[0]) + 90), places)
    before, after = (
        Finding("a.md", line, 1, "MT417", "warning", f"It is so (here and in {said}), 8 times.")
        for line, said in ((3, places), (93, moved))
    )
    assert compare_with_baseline([after], format_baseline([before], tmp_path), tmp_path) == ([], 0)


def test_a_new_finding_fails_and_is_the_only_one_listed(faulty: Path) -> None:
    page = faulty / "docs" / "page.md"
    page.write_text(page.read_text() + "\n" + TABLE.replace("$sort", "$limi") + "\n")
    listed = json.loads(check(faulty, "--format", "json", expect=1))["findings"]
    assert [(one["line"], one["rule"]) for one in listed] == [(3, "MT301")]


def test_one_more_of_the_same_finding_is_new(faulty: Path) -> None:
    page = faulty / "docs" / "page.md"
    page.write_text(page.read_text() + "\n" + FAULTY + "\n")
    assert "docs/page.md:3:" in check(faulty, expect=1)


def test_the_same_fault_in_another_file_is_new(faulty: Path) -> None:
    (faulty / "docs" / "other.md").write_text(FAULTY)
    assert "docs/other.md" in check(faulty, expect=1)


def test_the_way_a_file_is_named_does_not_matter(faulty: Path) -> None:
    assert check(faulty, str(faulty / "docs" / "page.md"), expect=0) == NOTHING_NEW
    assert check(faulty, "./docs/../docs", expect=0) == NOTHING_NEW


def test_what_was_mended_is_said_and_forgotten_on_request(faulty: Path) -> None:
    (faulty / "docs" / "page.md").write_text(f"{TABLE}\n")
    assert "accepted findings that no longer occur: 1" in check(faulty, expect=0)
    check(faulty, "--write-baseline", expect=0)
    assert check(faulty, expect=0) == NOTHING_NEW
    assert json.loads((faulty / "accepted.json").read_text())["findings"] == []


@pytest.mark.parametrize(
    "text", ["", "[]", '{"version": 2, "findings": []}', '{"version": 1, "findings": [1]}']
)
def test_a_file_that_is_no_baseline_is_refused_in_one_line(faulty: Path, text: str) -> None:
    (faulty / "accepted.json").write_text(text)
    assert "accepted.json is not a baseline" in check(faulty, expect=2)


def test_a_missing_baseline_is_not_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    assert "--write-baseline" in check(tmp_path, expect=2)


@settings(max_examples=50)
@given(findings)
def test_a_baseline_accepts_exactly_what_it_was_written_from(found: list[Finding]) -> None:
    here = Path.cwd()
    text = format_baseline(found, here)
    assert compare_with_baseline(found, text, here) == compare_with_baseline(
        [], format_baseline([], here), here
    )
    assert compare_with_baseline([], text, here) == ([], len(set(found)))
    assert format_baseline(reversed(found), here) == text


@settings(max_examples=50)
@given(findings, findings)
def test_what_is_new_and_what_is_gone_balance(before: list[Finding], after: list[Finding]) -> None:
    here = Path.cwd()
    new, gone = compare_with_baseline(after, format_baseline(before, here), here)
    assert set(new) <= set(after)
    assert len(set(after)) - len(new) == len(set(before)) - gone


def test_the_error_of_a_broken_baseline_is_its_own(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="version 7"):
        compare_with_baseline([], '{"version": 7, "findings": []}', tmp_path)
