"""Result documents as the runner writes them, invented but realistic: for tests that need many, quickly and alike.

Number types vary on purpose (counters change from int32 to int64 as they grow), rate series begin with null, some
series are empty or absent, and one run is too short to have a point: what real documents hold.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from bson.int64 import Int64

START = datetime(2026, 3, 1, 9, 30)

_INSTANCE = {
    "atlasInstanceType": "M40",
    "atlasDiskType": "STANDARD",
    "atlasIOPS": 3000,
    "atlasDiskSizeGB": 200,
}
_BATCH = {"docSizeKB": 4, "totalDocsToInsert": 6291456}


def _insert(name: str, variants: list[dict[str, Any]], **config: Any) -> list[dict[str, Any]]:
    return [
        _spec(name, variant, {"docSizeKB": 4, "totalDocsToInsert": 3291456, **config}) for variant in variants
    ]


def _spec(name: str, variant: dict[str, Any], config: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"testname": name, "variant": variant, "config": config or {}}


def _disk(kind: str, iops: int, instance: str = "M50", **more: Any) -> dict[str, Any]:
    return {
        "instance": {
            "atlasInstanceType": instance,
            "atlasDiskType": kind,
            "atlasIOPS": iops,
            "atlasDiskSizeGB": 200,
            **more,
        }
    }


def _specs() -> list[dict[str, Any]]:
    sizes = [(1.0, 25165824), (4, 6291456), (32, 786432), (256, 98304), (2048, 12288)]
    docsize = [{"docSizeKB": size, "totalDocsToInsert": docs, "writeBatchSize": 4000} for size, docs in sizes]
    threads = [
        {"numberOfThreads": n, "nUpdates": 1000000, **extra}
        for extra in ({}, {"indexUpdate": True})
        for n in (10, 50, 400)
    ]
    updates = [
        {"updateFunction": function, "upsert": upsert, "percentNew": new, "nUpdates": 500000}
        for function in ("UpdateOne", "FindOneAndUpdate")
        for upsert in (False, True)
        for new in (0, 50)
    ]
    queries = [{"comment": f"query number {n}", "order": n, "limit": 100} for n in (1, 2, 3, 11, 12)]
    fetches = [
        {"comment": f"limit {n}, {where}", "limit": n} for where in ("cached", "not cached") for n in (1, 100)
    ]
    return [
        *(_spec("insert_docsize", variant) for variant in docsize),
        *_insert("insert_batchsize", [{"writeBatchSize": n} for n in (1, 10, 100, 1000, 2000)], **_BATCH),
        *_insert("insert_idtype", [{"idType": kind} for kind in ("BUSINESS_ID", "OBJECT_ID", "UUID")]),
        *_insert("insert_nindexes", [{"nSecondaryIndexes": n} for n in (0, 1, 4, 16)]),
        *_insert("insert_iops", [_disk("STANDARD", 3000), _disk("PROVISIONED", 6000, price=3.7)]),
        *_insert("insert_instancesize", [_disk("PROVISIONED", 3000, size) for size in ("M30", "M40", "M80")]),
        *(_spec("concurrency", variant) for variant in threads),
        *(_spec("updateapi", variant) for variant in updates),
        *(_spec("query_full", variant) for variant in queries),
        *(_spec("query_fetch", variant) for variant in fetches),
        *(_spec("query_fetch_io", _disk("PROVISIONED", n, cost=127)) for n in (1000, 3000)),
    ]


def result_documents(seed: int = 1) -> list[dict[str, Any]]:
    """Documents of all eleven experiments, the same for the same seed."""
    dice = random.Random(seed)
    return [_document(spec, number, dice) for number, spec in enumerate(_specs())]


def _document(spec: dict[str, Any], number: int, dice: random.Random) -> dict[str, Any]:
    variant, name = spec["variant"], spec["testname"]
    duration = dice.choice([1_234, 61_500, 238_017, 900_001])
    start = START + timedelta(hours=number)
    before, after = _statuses(dice)
    return {
        "_id": dict(sorted({**variant, "testname": name}.items())),
        "start_time": start,
        "end_time": start + timedelta(milliseconds=duration),
        "duration": Int64(duration),
        "variant": variant,
        "test_config": {**spec["config"], "filename": name, "variant": variant},
        "before_status": before,
        "after_status": after,
        "metrics": _metrics(dice, points=dice.choice([1, 3, 13])),
        "testResults": {"nQueries": dice.randrange(1, 3_000_000)} if name.startswith("query") else {},
        "bench_config": {**_INSTANCE, "comment": "invented"},
    }


def _statuses(dice: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    first = {
        "pages": dice.randrange(10_000),
        "written": dice.randrange(2**31),
        "journal": dice.randrange(2**30),
        "conflicts": 0,
        "out": Int64(dice.randrange(2**33)),
    }
    second = {
        "pages": first["pages"] + dice.randrange(500_000),
        "written": Int64(first["written"] + dice.randrange(2**36)),
        "journal": Int64(first["journal"] + dice.randrange(2**34)),
        "conflicts": dice.randrange(10_000),
        "out": Int64(first["out"] + dice.randrange(2**35)),
    }
    return _status(first), _status(second)


def _status(counters: dict[str, Any]) -> dict[str, Any]:
    return {
        "host": "localhost:27017",
        "pid": Int64(4242),
        "wiredTiger": {
            "cache": {"pages read into cache": counters["pages"], "bytes currently in the cache": 1.5e9},
            "block-manager": {"bytes written": counters["written"]},
            "log": {
                "total size of compressed records": counters["journal"],
                "log bytes written": counters["journal"],
            },
        },
        "metrics": {"operation": {"writeConflicts": counters["conflicts"]}},
        "network": {"physicalBytesOut": counters["out"], "bytesOut": counters["out"]},
    }


def _metrics(dice: random.Random, points: int) -> dict[str, Any]:
    process = {
        "SYSTEM_NORMALIZED_CPU_USER": ("PERCENT", 60.0),
        "SYSTEM_NORMALIZED_CPU_KERNEL": ("PERCENT", 9.0),
        "SYSTEM_NORMALIZED_CPU_IOWAIT": ("PERCENT", 20.0),
        "OP_EXECUTION_TIME_WRITES": ("MILLISECONDS", 12.0),
    }
    disk = {
        "DISK_PARTITION_IOPS_TOTAL": ("SCALAR_PER_SECOND", 2500.0),
        "DISK_PARTITION_THROUGHPUT_WRITE": ("BYTES_PER_SECOND", 2e8),
        "DISK_PARTITION_THROUGHPUT_READ": ("BYTES_PER_SECOND", 3e6),
    }
    return {
        "granularity": "PT1M",
        "measurements": [_series(name, *of, points, dice) for name, of in process.items()],
        "diskMetrics": [_series(name, *of, points, dice) for name, of in disk.items()],
    }


def _series(name: str, units: str, size: float, points: int, dice: random.Random) -> dict[str, Any]:
    values = [None, *(_reading(size, dice) for _ in range(points - 1))]
    stamps = [(START + timedelta(minutes=minute)).isoformat() + "Z" for minute in range(points)]
    pairs = zip(stamps, values, strict=True)
    return {
        "name": name,
        "units": units,
        "dataPoints": [{"timestamp": at, "value": value} for at, value in pairs],
    }


def _reading(size: float, dice: random.Random) -> float | int | Int64 | None:
    value = dice.random() * size
    return dice.choice([value, value, value, round(value), Int64(round(value)), None])
