"""Load machines are named in one word, and what is none is told of in a line."""

from __future__ import annotations

import pytest

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.loadmachines.address import LoadMachines, parse_load_machines


@pytest.mark.parametrize(
    ("where", "meant"),
    [
        ("local:2", LoadMachines(count=2)),
        ("tls://a.example:8786", LoadMachines(scheduler="tls://a.example:8786")),
    ],
)
def test_what_is_named(where, meant):
    assert parse_load_machines(where) == meant


@pytest.mark.parametrize(
    "where",
    ["local", "local:0", "local:many", "local:65", "ssh:a,b", "tls:8786", "ray://a:1"],
)
def test_what_is_none_is_refused(where):
    with pytest.raises(CommandError, match="is not an address of load machines"):
        parse_load_machines(where)


def test_a_scheduler_without_encryption_is_refused():
    with pytest.raises(CommandError, match="the password of the target unencrypted"):
        parse_load_machines("tcp://a:8786")
