"""What is done without the garbage collector leaves the process as it found it."""

from __future__ import annotations

import gc

import pytest

from mongo_tables.files.process import nothing_collected


@pytest.mark.parametrize("at_work", [True, False])
def test_the_collector_is_at_work_afterwards_as_before(at_work: bool) -> None:
    were = gc.isenabled()
    try:
        (gc.enable if at_work else gc.disable)()
        with pytest.raises(KeyError), nothing_collected():
            assert not gc.isenabled()
            raise KeyError
        assert gc.isenabled() is at_work
    finally:
        (gc.enable if were else gc.disable)()
