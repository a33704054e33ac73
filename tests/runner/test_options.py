"""What scaling made too small for a window is raised, and a duration is kept whatever an experiment says."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from mongo_tables.commands.options import duration
from mongo_tables.runner.experiment import load
from mongo_tables.runner.options import Options, ends_after, with_enough_work
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.target import LocalTarget
from tests.runner.measured import obstacle

INSERT = {"numberOfThreads": 10, "writeBatchSize": 100, "totalDocsToInsert": 1000}


def test_each_connection_has_some_batches():
    assert with_enough_work("insert", INSERT, None) == {**INSERT, "totalDocsToInsert": 5000}
    large = {**INSERT, "totalDocsToInsert": 10**6}
    assert with_enough_work("insert", large, None) == large
    assert with_enough_work("hot_update", {"numberOfThreads": 4, "nUpdates": 3}, None)["nUpdates"] == 20


def test_a_duration_lengthens_as_well_as_shortens():
    for given in (1, 1000):
        assert with_enough_work("query", {"testTimeSecs": given}, 60.0) == {"testTimeSecs": 60.0}
    assert with_enough_work("insert", INSERT, 60.0)["totalDocsToInsert"] > 10**9


@pytest.mark.parametrize(
    ("since", "enough", "length"),
    [
        (100, True, 1000),
        (100, False, None),
        (990, False, None),
        (980, True, 1250),
        (1400, True, 1500),
        (1400, False, None),
        (4000, False, None),
        (9960, False, 10_010),
        (30_000, False, 30_050),
    ],
    ids=[
        "in time",
        "too few",
        "too few at its end",
        "late",
        "later",
        "long over",
        "looked at late",
        "most",
        "beyond",
    ],
)
def test_a_window_with_too_few_requests_has_no_end_however_late_that_is_seen(since, enough, length):
    assert ends_after(since, 1000, enough, 50) == length


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("1.5h", 5400), ("1d", 86_400), ("2", 2)]
)
def test_a_duration_has_a_unit(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["1w", "d", "", "-1h", "1e308d", "inf"])
def test_of_what_is_no_duration_the_units_are_told(text):
    with pytest.raises(ArgumentTypeError, match="such as 90s, 30m, 1h or 2d, not") as caught:
        duration(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "rates", "duration", "refused"),
    [
        ("insert_docsize", (100.0, 200.0), None, True),
        ("insert_docsize", (100.0, 200.0), 60.0, False),
        ("insert_docsize", (100.0,), None, False),
        ("query_fetch", (100.0, 200.0), None, False),
    ],
    ids=["an amount", "an amount with a duration", "an amount at one rate", "a time"],
)
def test_a_rate_has_steps_only_in_a_window_whose_length_is_known(name, rates, duration, refused, tmp_path):
    asked = Options(rates=rates, duration=duration)
    assert (obstacle(load(name), asked, LocalTarget(), FileStore(tmp_path)) is not None) == refused
