"""The ``mongod`` that somebody names is the one that runs, or it is told why not."""

from __future__ import annotations

import pytest

from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.local_address import find_program


def script(path, text):
    """A program in the shell's language."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_program_is_found_by_its_path_and_by_its_name(tmp_path, monkeypatch):
    other = script(tmp_path / "mongod-b", "echo db version v0.0")
    assert find_program(str(other)) == other
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_program("~/mongod-b") == other
    monkeypatch.chdir(tmp_path)
    assert find_program("./mongod-b") == other
    with pytest.raises(TargetError, match="no program on PATH is called mongod-b") as caught:
        find_program("mongod-b")
    assert "./mongod-b" in caught.value.hint
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("mongod-b") == other


def test_a_program_that_is_not_there_or_cannot_be_run_is_told(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    for place, said in (
        (tmp_path / "nowhere", "there is no "),
        (tmp_path, "is a folder"),
        (plain, "cannot be run"),
    ):
        with pytest.raises(TargetError, match=said):
            find_program(str(place))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo 'error while loading shared libraries: libcrypto.so.1.1' >&2; exit 127", "libcrypto.so.1.1"),
        ("echo mongos version v6.0.5", "mongos version"),
        ("exit 3", "it says nothing"),
    ],
)
def test_a_program_that_is_no_mongod_for_this_machine_is_told_in_its_own_words(tmp_path, text, said):
    with pytest.raises(TargetError, match="is no mongod that this machine can run") as caught:
        find_program(str(script(tmp_path / "mongod", text)))
    assert said in caught.value.message
