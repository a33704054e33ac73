"""A local target is what its address says, with the mongod that it names.

A local target is written in one way only, and what it has not is told.

The ``mongod`` that somebody names is the one that runs, or it is told why not.
"""

from __future__ import annotations

import pytest

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import local_address
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.local_address import (
    LocalAddress,
    find_program,
    find_server,
    is_local,
    parse_local,
)
from mongo_tables.runner.target import parse_targets


@pytest.mark.parametrize(
    ("where", "address"),
    [
        ("local", LocalAddress()),
        ("local:mongod-b", LocalAddress("mongod-b")),
        ("local:/opt/8.0=new/mongod", LocalAddress("/opt/8.0=new/mongod")),
        ("local:C:%5Cmongod.exe", LocalAddress("C:\\mongod.exe")),
        ("local:/my%20own%3F/mongod?members=1", LocalAddress("/my own?/mongod", members=1)),
        ("local?cacheGB=0.1&oplogMB=2000&members=5", LocalAddress("", 5, 0.1, 2000)),
        (
            "local?setParameter.b=x%26y=1?&setParameter.a=",
            LocalAddress(parameters=(("a", ""), ("b", "x&y=1?"))),
        ),
    ],
)
def test_what_is_written_is_read_with_and_without_a_name_and_in_the_variable(where, address):
    assert parse_local(where) == address
    for given in ([f"a.1={where}", "b=local"], f"a.1={where} b=local".split()):
        one, other = parse_targets(given)
        assert (one.name, one.where, other.where) == ("a.1", where, "local")
    assert parse_targets([where])[0].name == ""


@pytest.mark.parametrize("where", ["locals", "LOCAL", "localhost:27017", "mongodb://local:1/?members=1", ""])
def test_what_is_no_local_target_is_not_taken_for_one(where):
    assert not is_local(where)


@pytest.mark.parametrize(
    ("where", "said", "hint"),
    [
        ("local:", "names no program", "local:PATH"),
        ("local:?members=1", "names no program", "local:PATH"),
        ("local?members", "members has no value", "members=VALUE"),
        ("local?member=1", "no setting 'member'", "did you mean `members`?"),
        ("local?cachegb=1", "no setting 'cachegb'", "did you mean `cacheGB`?"),
        ("local?setParam.a=1", "no setting 'setParam.a'", "did you mean `setParameter.a`?"),
        ("local?zzz=1", "no setting 'zzz'", "members, cacheGB, oplogMB and setParameter.NAME"),
        ("local?members=1&members=2", "members is given twice", "once"),
        ("local?setParameter.a=1&setParameter.a=1", "setParameter.a is given twice", "once"),
        ("local?members=0", "members must be a whole number from 1 to 7, not '0'", "members=1"),
        ("local?members=8", "from 1 to 7", ""),
        ("local?members=1.5", "a whole number", ""),
        ("local?members=two", "a whole number", ""),
        ("local?cacheGB=0", "cacheGB must be a number from 0.008 on, not '0'", ""),
        ("local?cacheGB=-1", "cacheGB must be a number", ""),
        ("local?cacheGB=nan", "cacheGB must be a number", ""),
        ("local?cacheGB=1e9", "cacheGB must be a number", ""),
        ("local?oplogMB=989", "oplogMB must be a whole number from 990 on", ""),
        ("local?setParameter.=1", "'' is not the name of a mongod parameter", ""),
        ("local?setParameter.a.b=1", "'a.b' is not the name of a mongod parameter", ""),
        ("local?setParameter.enableLocalhostAuthBypass=true", "set by the run itself", "leave it out"),
    ],
)
def test_what_a_local_target_has_not_is_told_with_what_was_meant(where, said, hint):
    assert is_local(where)
    with pytest.raises(CommandError) as caught:
        parse_local(where)
    assert said in caught.value.message
    assert hint in caught.value.hint


def test_rows_have_what_was_asked_for_and_no_more():
    assert parse_local("local:/home/me/mongod").settings == {}
    assert parse_local("local?setParameter.b=2&members=1&setParameter.a=1").settings == {
        "members": 1,
        "setParameter": {"a": "1", "b": "2"},
    }


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
    with pytest.raises(TargetError, match="PATH has no program mongod-b"):
        find_program("mongod-b")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("mongod-b") == other


def test_a_program_that_is_not_there_or_cannot_be_run_is_told(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    for place, said, hint in (
        (tmp_path / "nowhere", "there is no ", "local:PATH"),
        (tmp_path, "is a folder", "the program in it"),
        (plain, "cannot be run", f"make it executable: chmod +x {plain}"),
    ):
        with pytest.raises(TargetError, match=said) as caught:
            find_program(str(place))
        assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo 'error while loading shared libraries: libcrypto.so.1.1' >&2; exit 127", "libcrypto.so.1.1"),
        ("echo mongos version v6.0.5", "mongos version"),
        ("exit 3", "it prints nothing"),
    ],
)
def test_a_program_that_is_no_mongod_for_this_machine_is_told_in_its_own_words(tmp_path, text, said):
    with pytest.raises(TargetError, match="is not a mongod that this machine can run") as caught:
        find_program(str(script(tmp_path / "mongod", text)))
    assert said in caught.value.message


@pytest.fixture
def servers(tmp_path, monkeypatch):
    """A folder of servers, of which two have names of unpacked archives."""
    folder = tmp_path / "my servers?"
    for name in (
        "5.0.9",
        "mongodb-linux-x86_64-5.0.32",
        "4.4.2",
        "mongodb-macos-aarch64-7.0.12",
        "notes-5.0.40",
    ):
        (folder / name / "bin").mkdir(parents=True)
        if name != "notes-5.0.40":
            (folder / name / "bin" / "mongod").touch()
    monkeypatch.setenv("MONGO_TABLES_SERVERS", str(folder))
    monkeypatch.setattr(local_address, "_packaged", lambda: None)
    return folder


@pytest.mark.parametrize(
    ("given", "name", "folder", "settings"),
    [
        ("5.0", "", "mongodb-linux-x86_64-5.0.32", {}),
        ("5.0.9", "", "5.0.9", {}),
        ("old=4.4", "old", "4.4.2", {}),
        (
            "old=7.0?members=1&cacheGB=0.5",
            "old",
            "mongodb-macos-aarch64-7.0.12",
            {"members": 1, "cacheGB": 0.5},
        ),
        ("4.4?members=3", "", "4.4.2", {"members": 3}),
    ],
)
def test_a_version_is_the_newest_such_server_of_the_folder(servers, given, name, folder, settings):
    (target,) = parse_targets([given])
    address = parse_local(target.where)
    assert (target.name, address.program, address.settings) == (
        name,
        str(servers / folder / "bin" / "mongod"),
        settings,
    )


def test_versions_side_by_side_have_the_names_of_the_versions(servers):
    assert [one.name for one in parse_targets(["4.4", "5.0", "again=5.0"])] == ["4.4", "5.0", "again"]


@pytest.mark.parametrize("version", ["6.0", "5.0.3", "5.0.9.1"])
def test_a_version_that_no_folder_has_is_answered_with_those_that_are_there(servers, version):
    with pytest.raises(CommandError) as caught:
        find_server(version)
    assert caught.value.message == (
        f"there is no server {version}: the folder {servers} has 4.4.2, 5.0.9, 5.0.32, 7.0.12"
    )
    assert f"{servers}/{version}" in caught.value.hint
    assert f"benchmarks.old_servers {servers}" in caught.value.hint


def test_the_installed_server_stands_in_for_its_series_where_the_folder_has_none(tmp_path, monkeypatch):
    program = tmp_path / "mongod"
    program.write_text("#!/bin/sh\necho 'db version v6.0.5'\n", encoding="ascii")
    program.chmod(0o755)
    monkeypatch.delenv("MONGO_TABLES_SERVERS", raising=False)
    monkeypatch.setattr(local_address, "_packaged", lambda: program)
    assert find_server("6.0") == find_server("6.0.5") == program
    with pytest.raises(CommandError, match=r"no server 6\.1: MONGO_TABLES_SERVERS names no folder"):
        find_server("6.1")
