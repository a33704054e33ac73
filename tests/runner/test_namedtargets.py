"""What ``--target`` names, once or several times."""

from __future__ import annotations

import pytest

from mongo_tables.runner.errors import RunnerError
from mongo_tables.runner.named_targets import NamedTarget, parse_targets, split_targets


@pytest.mark.parametrize(
    "where", ["local", "mongodb://h:1/?replicaSet=a&tls=true", "mongodb+srv://u:p=q@h/?w=majority"]
)
def test_one_target_needs_no_name(where):
    assert parse_targets([where]) == (NamedTarget("", where),)
    assert parse_targets([f"M30={where}"]) == (NamedTarget("M30", where),)


def test_several_targets_keep_their_order():
    named = parse_targets(["b=mongodb://one/?w=1", "a=local"])
    assert [(one.name, one.where) for one in named] == [("b", "mongodb://one/?w=1"), ("a", "local")]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a=local", "local"], "which of 2 targets"),
        (["a=local", "a=mongodb://h"], "two targets are called a"),
        (["a.b=local", "c=local", "a-b=mongodb://h"], r"a\.b and a-b would have the same database"),
        (["old=local", "Old=local"], "old and Old would have the same database"),
    ],
)
def test_several_targets_without_names_of_their_own_are_refused(given, said):
    with pytest.raises(RunnerError, match=said):
        parse_targets(given)


def test_a_complaint_and_a_description_of_a_target_hold_no_password():
    given = ["a=local", "mongodb://me:secret1@host/"]
    with pytest.raises(RunnerError) as caught:
        parse_targets(given)
    assert "secret1" not in caught.value.message
    assert "secret1" not in repr(parse_targets([f"a={given[1]}"]))


def test_a_variable_names_several_targets_with_blanks_between():
    assert split_targets("M30=mongodb://a/?w=1\n M40=mongodb://b") == [
        "M30=mongodb://a/?w=1",
        "M40=mongodb://b",
    ]
