"""Result documents of two small runs, and a table over them: for tests about where rows come from."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bson.int64 import Int64

from mongo_tables.directives.specs import TableSpec
from tests.render.specs import table


def document(size: int, server: str = "6.0.5", day: int = 21, **parts: Any) -> dict[str, Any]:
    """What the runner writes, as far as it is told under tables."""
    start = datetime(2026, 11, day, 4, size, 1, 250_000)
    speeds = (100.0 * size, 90.0 * size, 110.5 * size)
    return {
        "_id": {"docSizeKB": size, "testname": "insert"},
        "start_time": start,
        "versions": {"server": server, "driver": "PyMongo 4.20.0", "harness": "mongo-tables 0.1.0"},
        "hardware": {"cpu": "Some CPU", "cores": 2, "memory_gib": 23.5, "kernel": "Linux"},
        "topology": {"kind": "replica set", "members": 3, "cache_gb": 0.25, "place": "all on one machine"},
        "bench_config": {"atlasInstanceType": "local", "atlasIOPS": None},
        "write_concern": {"w": "majority"},
        "client": {"connections": 10},
        "experiment": {
            "name": "insert",
            "scale": 0.001,
            "seconds": 0.7,
            "repeats": 3,
            "seed": 1,
            "target": "local",
            "variant": {"docSizeKB": size},
        },
        "repeats": [
            {
                "start_time": start,
                "duration": Int64(700),
                "operations": Int64(number),
                "operations_per_second": speed,
                "errors": {"WriteError": 2} if number == 2 else {},
            }
            for number, speed in enumerate(speeds)
        ],
        **parts,
    }


def in_blocks(size: int, blocks: int = 3, *, back: bool = False, **parts: Any) -> dict[str, Any]:
    """The same, measured in blocks of one campaign; ``back``: each block has it on the way there and on the way back."""
    one = document(size)
    windows = [window | {"block": block} for block in range(blocks) for window in one["repeats"][: 1 + back]]
    start = datetime(2026, 11, 21, 3)
    return one | {
        "experiment": one["experiment"] | {"repeats": blocks, "and_back": back},
        "campaign": {"id": "c0ffee", "start": start, "blocks": blocks, "targets": []},
        "repeats": windows,
        **parts,
    }


def pooled(*campaigns: tuple[str, int, int]) -> dict[str, Any]:
    """What several campaigns conclude of a row, as far as it is told: the id, the day and the blocks of each."""
    return {
        "ratio": 1.0,
        "each": [
            {"id": name, "start": datetime(2026, 11, day, 3), "ratio": 0.9 + day / 100, "blocks": blocks}
            for name, day, blocks in campaigns
        ],
    }


def speeds(**keys: Any) -> TableSpec:
    """A table of speeds over such documents."""
    pipeline = [
        {"$match": {"_id.testname": "insert"}},
        {
            "$project": {
                "_id": 0,
                "size": "$_id.docSizeKB",
                "speed": {"$first": "$repeats.operations_per_second"},
                "slowest": {"$min": "$repeats.operations_per_second"},
                "fastest": {"$max": "$repeats.operations_per_second"},
                "runs": {"$size": "$repeats"},
            }
        },
        {"$sort": {"size": 1}},
    ]
    return table(
        "size",
        "speed",
        **{"collection": "results", "pipeline": pipeline, "headers": ["Size", "Speed"], **keys},
    )
