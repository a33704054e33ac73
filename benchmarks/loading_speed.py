"""What loading fixtures costs: `python -m benchmarks.loading_speed`.

Makes 132 result documents of realistic size (two `serverStatus` of about 40 KB, 20 measurements of 60 points) in
eleven files of a temporary folder, and prints CPU seconds for one pipeline, for one of each experiment, and for one of
the next build; then what the first load takes against ``json.loads`` of the same lines.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.documents import status
from mongo_tables.results.file_source import open_fixtures
from mongo_tables.results.model import Query

_ROUNDS = 5
TESTS = [f"experiment_{number:02}" for number in range(11)]


def _document(test: str, number: int) -> dict[str, Any]:
    points = [{"timestamp": f"2026-01-01T00:{k:02}:00Z", "value": k * 1.37 + number} for k in range(60)]
    return {
        "_id": {"order": number, "testname": test},
        "duration": {"$numberLong": str(60_000 + number)},
        "variant": {"threads": number},
        "before_status": status(number + 1),
        "after_status": status(number + 2),
        "metrics": {
            "measurements": [{"name": f"M{k}", "units": "PERCENT", "dataPoints": points} for k in range(20)]
        },
    }


def _query(test: str) -> Query:
    counter = "wiredTiger.cache.pages read into cache"
    mean = {"$filter": {"input": "$metrics.measurements", "cond": {"$eq": ["$$this.name", "M3"]}}}
    return Query(
        "results",
        (
            {"$match": {"_id.testname": test}},
            {
                "$set": {
                    "pages": {"$subtract": [f"$after_status.{counter}", f"$before_status.{counter}"]},
                    "series": {"$first": mean},
                }
            },
            {"$project": {"_id": 0, "duration": 1, "pages": 1, "mean": {"$avg": "$series.dataPoints.value"}}},
        ),
    )


def _timed(label: str, work: Callable[[], Any]) -> None:
    print(f"{label:<50} {_seconds(work):7.3f} s CPU")


def _compare_cold(folder: Path) -> None:
    """The least of some rounds, in turns."""
    files = sorted((folder / "results").iterdir())
    ours, theirs = [], []
    for _ in range(_ROUNDS):
        theirs.append(_seconds(lambda: [_parse(file) for file in files]))
        ours.append(_seconds(lambda: open_fixtures(folder).read_collection("results")))
    print(f"{'json.loads of every line':<50} {min(theirs):7.3f} s CPU")
    print(f"{'the first load':<50} {min(ours):7.3f} s CPU, {min(ours) / min(theirs):.2f} times as long")


def _parse(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _seconds(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "fixtures"
        (folder / "results").mkdir(parents=True)
        for test in TESTS:
            lines = [json.dumps(_document(test, number)) for number in range(12)]
            (folder / "results" / f"{test}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        size = sum(path.stat().st_size for path in folder.rglob("*.jsonl"))
        print(f"{size / 2**20:.1f} MiB of Extended JSON, 132 documents")
        queries = [_query(test) for test in TESTS]
        # Import everything first.
        open_fixtures(Path(temporary)).aggregate(Query("none", queries[0].pipeline))
        source = open_fixtures(folder)
        _timed("one pipeline", lambda: source.aggregate(queries[0]))
        _timed("eleven pipelines", lambda: [source.aggregate(query) for query in queries])
        source.refresh()
        _timed("one pipeline of the next build", lambda: source.aggregate(queries[0]))
        _compare_cold(folder)


if __name__ == "__main__":
    main()
