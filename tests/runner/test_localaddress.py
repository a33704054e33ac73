"""A local target is written in one way only, and what it has not is told."""

from __future__ import annotations

import pytest

from mongo_tables.runner.errors import RunnerError
from mongo_tables.runner.local_address import LocalAddress, is_local, parse_local
from mongo_tables.runner.named_targets import parse_targets, split_targets


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
    for given in ([f"a.1={where}", "b=local"], split_targets(f"a.1={where} b=local")):
        one, other = parse_targets(given)
        assert (one.name, one.where, other.where) == ("a.1", where, "local")
    assert parse_targets([where])[0].name == ""


@pytest.mark.parametrize("where", ["locals", "LOCAL", "localhost:27017", "mongodb://local:1/?members=1", ""])
def test_what_is_no_local_target_is_not_taken_for_one(where):
    assert not is_local(where)


@pytest.mark.parametrize(
    ("where", "said", "hint"),
    [
        ("local:", "no program is named", "local:PATH"),
        ("local:?members=1", "no program is named", "local:PATH"),
        ("local?", "'' is no NAME=VALUE", "members, cacheGB, oplogMB and setParameter.NAME"),
        ("local?members", "'members' is no NAME=VALUE", "members"),
        ("local?member=1", "no setting 'member'", "did you mean `members`?"),
        ("local?cachegb=1", "no setting 'cachegb'", "did you mean `cacheGB`?"),
        ("local?setParam.a=1", "no setting 'setParam.a'", "did you mean `setParameter.a`?"),
        ("local?zzz=1", "no setting 'zzz'", "members, cacheGB, oplogMB and setParameter.NAME"),
        ("local?members=1&members=2", "members is given twice", "once"),
        ("local?setParameter.a=1&setParameter.a=1", "setParameter.a is given twice", "once"),
        ("local?members=0", "members is a whole number from 1 to 7, not '0'", "members=1"),
        ("local?members=8", "from 1 to 7", ""),
        ("local?members=1.5", "a whole number", ""),
        ("local?members=two", "a whole number", ""),
        ("local?cacheGB=0", "cacheGB is a number from 0.008 on, not '0'", ""),
        ("local?cacheGB=-1", "cacheGB is a number", ""),
        ("local?cacheGB=nan", "cacheGB is a number", ""),
        ("local?cacheGB=1e9", "cacheGB is a number", ""),
        ("local?oplogMB=989", "oplogMB is a whole number from 990 on", ""),
        ("local?setParameter.=1", "'' is no name of a parameter", ""),
        ("local?setParameter.a.b=1", "'a.b' is no name of a parameter", ""),
        ("local?setParameter.enableLocalhostAuthBypass=true", "set by the run itself", "leave it out"),
    ],
)
def test_what_a_local_target_has_not_is_told_with_what_was_meant(where, said, hint):
    assert is_local(where)
    with pytest.raises(RunnerError) as caught:
        parse_local(where)
    assert said in caught.value.message
    assert hint in caught.value.hint


def test_rows_have_what_was_asked_for_and_no_more():
    assert parse_local("local:/home/me/mongod").settings == {}
    assert parse_local("local?setParameter.b=2&members=1&setParameter.a=1").settings == {
        "members": 1,
        "setParameter": {"a": "1", "b": "2"},
    }
