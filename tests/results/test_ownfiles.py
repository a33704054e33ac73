"""The program is known by its files: what an older one kept is not taken for its own."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mongo_tables.results import cachefolder, ownfiles

LONG_AGO = 1_700_000_000
DIST = "mongo_tables-0.2.0.dist-info"


def sign() -> str:
    """The sign as another process has it."""
    ownfiles.sign_of_program.cache_clear()
    return ownfiles.sign_of_program()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    package = tmp_path / "package"
    monkeypatch.setattr(ownfiles, "_PACKAGE", package)
    monkeypatch.setenv(cachefolder.VARIABLE, str(tmp_path / "cache"))
    (package / "room").mkdir(parents=True)
    (package / "room/module.py").write_text("A = 1\n")
    yield package
    ownfiles.sign_of_program.cache_clear()


@pytest.mark.parametrize("name", ["room/module.py", "room/catalogue.jsonl", "schemas/key.schema.json"])
def test_another_text_in_the_package_is_another_program(name: str, package: Path) -> None:
    before = sign()
    (package / name).parent.mkdir(exist_ok=True)
    (package / name).write_text("A = 22\n")
    assert sign() != before


def test_a_part_behind_a_link_is_one_of_the_package(package: Path) -> None:
    (package / "room").rename(package.parent / "elsewhere")
    (package / "room").symlink_to(package.parent / "elsewhere")
    before = sign()
    (package.parent / "elsewhere/module.py").write_text("A = 22\n")
    assert sign() != before


def test_what_python_compiled_is_no_part_of_the_program(package: Path) -> None:
    before = sign()
    (package / "room/__pycache__").mkdir()
    (package / "room/__pycache__/module.cpython-311.pyc.140").write_bytes(b"compiled")
    assert sign() == before


@pytest.mark.parametrize("name", ["markdown_it", "tzdata"])
def test_another_version_of_what_pages_are_read_with_is_another_sign(
    name: str, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = package.parent / "front"
    before = sign()
    (front / name).mkdir(parents=True)
    (front / name / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(front)
    shadowed = sign()
    (front / name / "__init__.py").write_text("# new\n")
    assert len({before, shadowed, sign()}) == 3


def test_another_version_of_anything_installed_is_another_sign(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = package.parent / "front"
    monkeypatch.syspath_prepend(front)
    signs = [sign()]
    (front / "scanner-1.0.dist-info").mkdir(parents=True)
    signs.append(sign())
    (front / "scanner-1.0.dist-info").rename(front / "scanner-1.1.dist-info")
    signs.append(sign())
    (front / "scanner-1.1.dist-info/direct_url.json").write_text('{"vcs_info": {"commit_id": "1"}}')
    assert len({*signs, sign()}) == 4


def test_the_same_package_has_the_same_sign_on_another_machine(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = sign()
    there = package.parent / "there/package"
    shutil.copytree(package, there)
    os.utime(there / "room/module.py", (LONG_AGO, LONG_AGO))
    monkeypatch.setattr(ownfiles, "_PACKAGE", there)
    assert sign() == here
    (there / "room/module.py").rename(there / "room/moved.py")
    assert sign() != here


def test_a_package_that_was_patched_within_its_sizes_and_copied_is_another_program(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = package.parent / DIST / "RECORD"
    listed.parent.mkdir()
    listed.write_text("package/room/module.py,sha256=1,6\n")
    before = sign()
    (package / "room/module.py").write_text("A = 2\n")
    there = package.parent / "there"
    shutil.copytree(package, there / "package")
    shutil.copytree(listed.parent, there / DIST)
    monkeypatch.setattr(ownfiles, "_PACKAGE", there / "package")
    assert sign() != before


@pytest.mark.parametrize("ago", [-60, 3600])
def test_the_files_are_read_again_once_their_states_are_others_and_as_long_as_these_are_new(
    ago: int, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = time.time_ns() - ago * 10**9
    state = f"6 1 1 {changed} {changed}"
    monkeypatch.setattr(ownfiles, "list_states", lambda *_, **__: [("room/module.py", state)])
    before = sign()
    (package / "room/module.py").write_text("A = 2\n")
    assert (sign() == before) == (ago > 0)
    state = f"6 1 1 {changed} {changed + 1}"
    assert sign() != before


@pytest.mark.parametrize("left", [0, 10, -1])
def test_what_is_left_of_a_kept_digest_is_not_believed(
    left: int, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownfiles, "is_settled", lambda *_: True)
    before = sign()
    (kept,) = (package.parent / "cache").glob("*/*.bson")
    kept.write_bytes(kept.read_bytes()[:left])
    assert sign() == before
    kept.write_bytes(kept.read_bytes()[:-1] + b"?")
    assert sign() == before


@pytest.mark.parametrize("folder", ["", "room/module.py"])
def test_without_a_cache_another_text_is_another_program_too(
    folder: str, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cachefolder.VARIABLE, folder and str(package / folder))
    before = sign()
    assert sign() == before
    (package / "room/module.py").write_text("A = 22\n")
    assert sign() != before


def test_a_file_that_cannot_be_read_ends_no_check(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = "6 1 1 1 1"
    monkeypatch.setattr(ownfiles, "list_states", lambda *_, **__: [("gone.py", state)])
    gone = sign()
    (package / "gone.py").write_text("A = 1\n")
    assert sign() != gone
