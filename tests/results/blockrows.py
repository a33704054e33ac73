"""Rows that were measured in blocks, as a run writes them, with speeds that a test gives."""

from __future__ import annotations

from datetime import UTC, datetime

from mongo_tables.results.conclusions import conclude, conclude_targets

SHAKE = (1.0, 1.02, 0.99, 1.01, 0.98, 1.0, 1.03, 0.97, 1.01, 0.99)


def measured(size, speeds, again=(), target=None):
    """A row with these speeds in blocks 0, 1, 2…, and second measurements in the same blocks."""
    repeats = [
        {"block": block, "again": second, "operations_per_second": float(speed)}
        for second, some in ((False, speeds), (True, again))
        for block, speed in enumerate(some)
    ]
    return {
        "_id": {"size": size, **({"target": target} if target else {}), "testname": "t"},
        "repeats": repeats,
    }


def shaken(speed, by=SHAKE):
    return [speed * one for one in by]


def campaign(rows, reference=0, identity="one", hour=0):
    """The rows with what is concluded from them, as one campaign; this one of them is the reference."""
    told = conclude(rows, reference)
    of = {"id": identity, "start": datetime(2026, 11, 1, hour, tzinfo=UTC)}
    return [
        {**row, "campaign": of, "comparison": comparison} for row, comparison in zip(rows, told, strict=True)
    ]


def side_by_side(first, second):
    """The rows of two targets of one campaign, those of the second with what they are to the first."""
    told = conclude_targets(first, second)
    return [*first, *({**row, "targets": one} for row, one in zip(second, told, strict=True))]
