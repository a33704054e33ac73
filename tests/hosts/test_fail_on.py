"""The option `fail_on`: how grave a finding must be to end a build, in the words of `check --fail-on`."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.cli import main
from tests.hosts.builds import build
from tests.hosts.inprocess import CONFIG, ROWS, built, table, write

WARNED = '[{"$group": {"_id": "$a", "a": {"$first": "$a"}, "n": {"$sum": "$n"}}}]'
NOTED = '[{"$match": {"n": {"$gt": 0}}}]'
CLEAN = '[{"$sort": {"_id": 1}}]'
FAULTY = '[{"$sorted": {"_id": 1}}]'
FAILS = {"": [FAULTY], "error": [FAULTY], "warning": [FAULTY, WARNED], "note": [FAULTY, WARNED, NOTED]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def site(folder: Path, pipeline: str, fail_on: str) -> Path:
    plugin = f"mongo-tables: {{fail_on: {fail_on}}}" if fail_on else "mongo-tables"
    page = f"# Home\n\n{table('one', pipeline=pipeline)}\n"
    settings = f"{CONFIG}plugins:\n  - {plugin}\n"
    return write(folder, {"mkdocs.yml": settings, "fixtures/r/r.jsonl": ROWS, "docs/index.md": page})


@pytest.mark.parametrize("fail_on", FAILS)
def test_a_build_ends_at_what_is_as_grave_as_its_site_says(fail_on: str, folder: Path) -> None:
    for pipeline in (FAULTY, WARNED, NOTED, CLEAN):
        outcome = built(site(folder, pipeline, fail_on))
        assert outcome.done is (pipeline not in FAILS[fail_on]), (pipeline, outcome.log)
        if pipeline in FAILS[fail_on]:
            assert outcome.errors[0].startswith("docs/index.md:3:")


@pytest.mark.parametrize("fail_on", ["error", "warning", "note"])
def test_a_check_fails_where_the_build_ends(fail_on: str, folder: Path) -> None:
    for pipeline in (FAULTY, WARNED, NOTED, CLEAN):
        site(folder, pipeline, fail_on)
        assert main(["check"]) == int(pipeline in FAILS[fail_on])
        assert main(["check", "--fail-on", "note"]) == int(pipeline != CLEAN)


@pytest.mark.parametrize("fail_on", ["error", "warning"])
def test_a_preview_tells_warnings_and_goes_on(fail_on: str, folder: Path) -> None:
    shown = built(site(folder, WARNED, fail_on), preview=True)
    assert shown.done
    assert [line.split()[1] for line in shown.warnings] == ["MT416"]


def test_a_build_tells_warnings_that_a_check_fails_on(folder: Path) -> None:
    told = built(site(folder, WARNED, ""))
    assert told.done
    assert [line.split()[1] for line in told.warnings] == ["MT416"]


def test_a_word_that_is_none_of_the_three_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site(folder, CLEAN, "warnings")
    assert main(["check"]) == 2
    assert "mkdocs.yml: fail_on must be one of error, warning, note, not warnings" in capsys.readouterr().err
    done = build(folder)
    assert done.returncode == 1 and "'fail_on'" in done.stderr


def extended(folder: Path, pipeline: str, fail_on: str, more: str = "") -> Path:
    site(folder, pipeline, "")
    head = "site_name: Small\ntheme:\n  name: material\n  font: false\n"
    option = f": {{fail_on: {fail_on}}}" if fail_on else ""
    page = f"# Home\n\n{table('one', pipeline=pipeline)}\n{more}\n"
    settings = f"{head}markdown_extensions:\n  - mongo-tables{option}\n"
    return write(folder, {"mkdocs.yml": settings, "docs/index.md": page})


GRAVE = [
    ("", WARNED, ""),
    ("error", WARNED, ""),
    ("warning", WARNED, "MT416"),
    ("warning", NOTED, ""),
    ("note", NOTED, "MT"),
    ("note", CLEAN, ""),
]


# Zensical starts anew for each: one that it refuses and one that it lets pass here, the others by thorough tests.
@pytest.mark.parametrize(
    ("program", "fail_on", "pipeline", "rule"),
    [
        *(("mkdocs", *one) for one in GRAVE),
        *(("zensical", *one) for one in GRAVE[2:4]),
        *(pytest.param("zensical", *one, marks=pytest.mark.thorough) for one in (*GRAVE[:2], *GRAVE[4:])),
    ],
)
def test_the_extension_refuses_what_is_as_grave_as_its_option_says(
    program: str, fail_on: str, pipeline: str, rule: str, folder: Path
) -> None:
    done = build(extended(folder, pipeline, fail_on), program=program)
    said = done.stdout + done.stderr
    assert (done.returncode == 0) is (rule == ""), said
    assert rule in said and ("docs/index.md:3:" in said or not rule)
    assert main(["check", "--fail-on", fail_on or "error"]) == int(rule != "")


def test_the_extension_refuses_a_word_that_is_none_of_the_three(folder: Path) -> None:
    done = build(extended(folder, CLEAN, "warnings"))
    assert done.returncode == 1
    assert "fail_on must be one of error, warning, note, not warnings" in done.stderr
