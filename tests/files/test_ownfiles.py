"""The program is known by its files: what an older one kept is not taken for its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from preprocessor.files import ownfiles

LONG_AGO = 1_700_000_000
DIST = "mkdocs_mongo_tables-0.2.0.dist-info"


def sign() -> str:
    """The sign as another process has it."""
    ownfiles.sign_of_program.cache_clear()
    return ownfiles.sign_of_program()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    package = tmp_path / "package"
    monkeypatch.setattr(ownfiles, "_PACKAGE", package)
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


def test_the_same_installed_package_has_the_same_sign_on_another_machine(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = package.parent / DIST / "RECORD"
    listed.parent.mkdir()
    listed.write_text("package/room/module.py,sha256=1,6\n")
    here = sign()
    there = package.parent / "there"
    shutil.copytree(package, there / "package")
    shutil.copytree(listed.parent, there / DIST)
    monkeypatch.setattr(ownfiles, "_PACKAGE", there / "package")
    assert sign() == here
    (there / DIST / "RECORD").write_text("package/room/module.py,sha256=2,6\n")
    assert sign() != here


def test_an_installed_package_that_was_edited_where_it_is_is_another_program(package: Path) -> None:
    listed = package.parent / DIST / "RECORD"
    listed.parent.mkdir()
    listed.write_text("package/room/module.py,sha256=1,6\n")
    before, module = sign(), package / "room/module.py"
    while (
        module.stat().st_ctime_ns <= listed.stat().st_ctime_ns
    ):  # The clock of the file system ticks slowly.
        module.write_text("A = 2\n")
        os.utime(module, (LONG_AGO, LONG_AGO))  # as of a copy
    assert sign() != before
