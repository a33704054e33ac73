"""Targets have names, and variants are measured on the machines that they are about.

Variants that ask for another machine are measured on one of their own, or not without a word.

What ``--target`` names, once or several times.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from types import SimpleNamespace

import pytest
from pymongo import MongoClient

from mongo_tables.commands.run.targets import fill_in, share_out
from mongo_tables.files.process import TARGET_VARIABLE
from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.options import Options
from mongo_tables.runner.runs import choose_variants
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.target import (
    LocalTarget,
    NamedTarget,
    database_on,
    differing,
    drop_equal,
    machines_without_target,
    parse_targets,
    variants_for,
)
from tests.runner.measured import call
from tests.runner.processes import TINY, finish, start

SIZES = experiments.load("insert_instancesize")
ASKED = Options(0.01, None, None, 1)
HEAD, _, _ = TINY.partition("[[variants]]")
TIERS = HEAD.replace("repeats = 3", "repeats = 1") + "".join(
    f'[[variants]]\ndocSizeKB = 1.0\ntotalDocsToInsert = 60\ninstance = {{ atlasInstanceType = "{tier}" }}\n'
    for tier in ("M30", "M40", "M50")
)


@pytest.mark.parametrize(
    ("name", "differ"),
    [
        ("insert_instancesize", ["atlasDiskSizeGB", "atlasInstanceType"]),
        ("insert_iops", ["atlasDiskType", "atlasIOPS"]),
        ("insert_docsize", []),
    ],
)
def test_what_variants_ask_of_the_machine_differs_without_labels_and_prices(name, differ):
    experiment = experiments.load(name)
    assert differing(experiment, range(len(experiment.variants))) == differ


def test_a_target_is_for_the_variants_of_its_machine():
    assert variants_for(SIZES, NamedTarget("", "local")) == [0, 1, 2, 3, 4]
    assert variants_for(SIZES, NamedTarget("M40", "local")) == [1]
    assert variants_for(experiments.load("insert_nindexes"), NamedTarget("a", "local")) == list(range(7))
    named = [NamedTarget("M30", "x"), NamedTarget("M80", "y")]
    assert machines_without_target(SIZES, named) == ["M40", "M50", "M60"]


def test_targets_without_a_variant_are_refused():
    with pytest.raises(TargetError, match="no variant for the named targets") as caught:
        machines_without_target(SIZES, [NamedTarget("a", "x"), NamedTarget("b", "y")])
    assert "M30, M40" in caught.value.hint


def test_an_experiment_without_machines_is_measured_on_all_targets_side_by_side():
    indexes = experiments.load("insert_nindexes")
    two = [NamedTarget("a", "x"), NamedTarget("b.1", "y")]
    assert machines_without_target(indexes, two) == []
    assert [variants_for(indexes, one) for one in two] == [list(range(7))] * 2
    assert [database_on(indexes, one) for one in two] == [
        "mongo_tables_insert_nindexes_a",
        "mongo_tables_insert_nindexes_b_1",
    ]


def test_of_variants_that_ask_for_a_machine_in_vain_one_is_measured():
    assert drop_equal(SIZES, range(5), lambda number: {}) == [SIZES.baseline]
    assert drop_equal(SIZES, range(5), lambda number: {"cache_gb": number // 2}) == [0, 2, 4]
    assert drop_equal(SIZES, [3, 4], lambda number: {}) == [3]


def test_variants_that_ask_for_no_other_machine_are_all_measured():
    indexes = experiments.load("insert_nindexes")
    assert drop_equal(indexes, range(7), lambda number: {}) == [*range(7)]


def test_a_local_target_has_one_disk_and_measures_variants_of_others_once():
    disks = experiments.load("memory_disk")
    assert choose_variants(disks, ASKED, LocalTarget(LocalAddress(members=1))) == [0, 3, 6, 9]
    assert choose_variants(disks, replace(ASKED, as_is=True), LocalTarget()) == [*range(12)]


def test_what_would_be_the_same_again_is_said_to_be_left_out(tmp_path, capsys):
    store = FileStore(tmp_path)
    share_out([experiments.load("insert_iops")], ASKED, [LocalTarget()], store, leave_out=False)
    said = capsys.readouterr().out
    assert said.startswith("insert_iops: left out variants 2, 3, ")
    assert "another atlasDiskType or atlasIOPS: on local they are equal work (--as-is measures them)" in said


def test_all_experiments_leave_out_those_for_which_no_target_is_meant(capsys):
    targets = [call(SimpleNamespace(given={}), name) for name in ("a", "b")]
    assert share_out([SIZES], SimpleNamespace(), targets, None, leave_out=True) == []
    assert "insert_instancesize: left out, " in capsys.readouterr().out


@pytest.fixture
def tiers(tmp_path):
    """Path of a small experiment whose variants ask for three machines."""
    path = tmp_path / "tiny.toml"
    path.write_text(TIERS, encoding="utf-8")
    return path


def test_one_deployment_is_not_measured_as_three_machines_unless_that_is_asked_for(
    tiers, replica_set, tmp_path
):
    arguments = (tiers, "--target", replica_set.uri, "--output", tmp_path / "out")
    code, _, err = finish(start(*arguments))
    assert code == 2
    assert "differ in atlasInstanceType" in err
    assert "--target M30=" in err
    assert "--as-is" in err
    assert not FileStore(tmp_path / "out").rows("tiny")
    code, out, err = finish(start(*arguments, "--as-is"))
    assert code == 0, err
    assert "this target could not vary atlasInstanceType: these rows measured the same work" in out
    assert [row["experiment"]["not_varied"] for row in FileStore(tmp_path / "out").rows("tiny")] == [
        ["atlasInstanceType"]
    ] * 3


def test_each_variant_is_measured_on_the_target_of_its_machine_and_its_row_says_so(
    tiers, replica_set, tmp_path
):
    other = f"{replica_set.uri}&appname=other"
    code, out, err = finish(
        start(
            tiers,
            "--target",
            f"M50={replica_set.uri}",
            "--target",
            f"M30={other}",
            "--output",
            tmp_path / "out",
        )
    )
    assert code == 0, err
    assert "left out M40" in out
    rows = {
        row["_id"]["instance"]["atlasInstanceType"]: row for row in FileStore(tmp_path / "out").rows("tiny")
    }
    assert {tier: row["experiment"]["target_name"] for tier, row in rows.items()} == {
        "M30": "M30",
        "M50": "M50",
    }
    with MongoClient(replica_set.uri) as client:
        assert "mongo_tables_tiny" not in client.list_database_names()


def test_a_complaint_about_the_second_target_comes_before_anything_is_measured(tiers, replica_set, tmp_path):
    code, out, err = finish(
        start(
            tiers,
            "--target",
            f"M30={replica_set.uri}",
            "--target",
            "M40=nowhere",
            "--output",
            tmp_path / "out",
        )
    )
    assert code == 2
    assert "there is no target 'nowhere'" in err
    assert "rows" not in out


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
        (["a=local", "local"], "'local' has no name"),
        (["a=local", "a=mongodb://h"], "two targets are called a"),
        (["a.b=local", "c=local", "a-b=mongodb://h"], r"a\.b and a-b would have the same database"),
        (["old=local", "Old=local"], "old and Old would have the same database"),
    ],
)
def test_several_targets_without_names_of_their_own_are_refused(given, said):
    with pytest.raises(CommandError, match=said):
        parse_targets(given)


def test_a_complaint_and_a_description_of_a_target_hold_no_password():
    given = ["a=local", "mongodb://me:secret1@host/"]
    with pytest.raises(CommandError) as caught:
        parse_targets(given)
    assert "secret1" not in caught.value.message
    assert "secret1" not in repr(parse_targets([f"a={given[1]}"]))


def test_a_variable_names_several_targets_with_blanks_between(monkeypatch):
    monkeypatch.setenv(TARGET_VARIABLE, "M30=mongodb://a/?w=1\n M40=mongodb://b")
    given = Namespace(target=None, output="fixtures")
    fill_in(given)
    assert [(one.name, one.where) for one in given.target] == [
        ("M30", "mongodb://a/?w=1"),
        ("M40", "mongodb://b"),
    ]
