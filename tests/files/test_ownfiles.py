"""The program is known by its files: what an older one kept is not taken for its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from preprocessor.files import ownfiles
from preprocessor.files.ownfiles import sign_of_program


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(ownfiles, "_PACKAGE", tmp_path)
    (tmp_path / "room").mkdir()
    (tmp_path / "room/module.py").write_text("A = 1\n")
    return tmp_path


@pytest.mark.parametrize("name", ["room/module.py", "room/catalogue.jsonl", "schemas/key.schema.json"])
def test_another_text_in_the_package_is_another_program(name: str, package: Path) -> None:
    before = sign_of_program()
    (package / name).parent.mkdir(exist_ok=True)
    (package / name).write_text("A = 22\n")
    assert sign_of_program() != before


def test_what_python_compiled_is_no_part_of_the_program(package: Path) -> None:
    before = sign_of_program()
    (package / "room/__pycache__").mkdir()
    (package / "room/__pycache__/module.cpython-311.pyc.140").write_bytes(b"compiled")
    assert sign_of_program() == before


def test_another_version_of_what_pages_are_read_with_is_another_sign(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sign_of_program()
    (package / "markdown_it").mkdir()
    (package / "markdown_it/__init__.py").write_text("")
    own = sign_of_program()
    monkeypatch.syspath_prepend(package)
    assert len({before, own, sign_of_program()}) == 3
