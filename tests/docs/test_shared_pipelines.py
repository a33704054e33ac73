"""What shared pipelines of the site say of a row, they say of its windows and of the variant as it was run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.aggregation import aggregate
from mongo_tables.directives.pipelines import SharedPipelines

PIPELINES = Path(__file__).parents[2] / "docs" / "pipelines"


def pipeline(name: str) -> list[Any]:
    return list(SharedPipelines(PIPELINES)(name).stages)


@pytest.mark.parametrize(
    ("variant", "choices"),
    [
        ({"query": {"group": "RANDINT(1,1)"}}, 1),
        ({"query": {"_id": "RANDINT(1,600000)"}}, 600_000),
        ({"query": {"_id": {"_$in": "RANDINTLIST(1,1000,100)"}}}, 1000),
        ({"pipeline": [{"_$match": {"group": {"_$in": "RANDINTLIST(1,25,25)"}}}]}, 25),
        ({"pipeline": [{"_$match": {"_id": "RANDINT(1,1500)"}}, {"_$limit": 1}]}, 1500),
        ({}, None),
    ],
)
def test_the_table_of_the_cache_has_the_groups_or_keys_that_a_request_of_the_run_chose_from(
    variant: dict[str, Any], choices: int | None
) -> None:
    (found,) = aggregate([{"_id": 1, "by": "row", "variant": variant}], pipeline("choices-and-cache"))
    assert (found["by"], found["choices"]) == ("row", choices)


def row(name: str, kind: str, ratio: float, **more: Any) -> dict[str, Any]:
    experiment = {"name": name, "variant": {"idType": kind}, **more}
    return {
        "_id": {"idType": kind, "testname": name},
        "experiment": experiment,
        "by": kind,
        "speed": {"median": 100 * ratio, "low": 1.0, "high": 2.0, "blocks": 8},
        "comparison": {"ratio": ratio},
    }


def test_a_control_stands_behind_the_row_of_its_variant_and_is_called_so() -> None:
    rows = [row("keys", kind, ratio) for kind, ratio in (("a", 1.0), ("b", 0.4))]
    controls = [row("keys_control", kind, 0.9, control_of="keys") for kind in ("b", "a")]
    together = sorted([*rows, *controls], key=lambda one: one["_id"]["idType"])
    found = aggregate(together, pipeline("with-control"))
    assert [(one["by"], one["held"], one["compared"]["ratio"]) for one in found] == [
        ("a", "a part", 1.0),
        ("a", "everything", 0.9),
        ("b", "a part", 0.4),
        ("b", "everything", 0.9),
    ]
    assert aggregate(rows, pipeline("with-control")) == []


@pytest.mark.parametrize(
    ("least", "inside", "regime"),
    [(0, True, "same"), (15, True, "same, disk unknown"), (15, False, "other"), (None, None, "unknown")],
)
def test_a_row_that_reads_pages_as_at_full_size_does_not_say_that_a_disk_served_them(
    least: float | None, inside: bool | None, regime: str
) -> None:
    counter = {"counter": "pages_read", "value": 31.0}
    if least is not None:
        counter |= {"least": least, "most": 60, "inside": inside}
    row = {"_id": 1, "fingerprint": {"regime": regime.partition(",")[0], "counters": [counter]}}
    (found,) = aggregate([row], pipeline("fingerprint"))
    assert (found["pages_read"], found["regime"]) == (31, regime)


BUSY, READING = "processors", "waiting for the disk"


@pytest.mark.parametrize(
    ("limit", "published", "regime", "differs"),
    [
        ("processors", BUSY, "same", None),
        ("processors", READING, "same, other limit", "limit: waiting for the disk (here processors)"),
        ("disk", READING, "same", None),
        ("disk", BUSY, "same, other limit", "limit: processors (here disk)"),
        ("waiting", READING, "same, other limit", "limit: waiting for the disk (here waiting)"),
        ("not known", READING, "same", None),
        (None, READING, "same", None),
        ("processors", "none found", "same", None),
        ("processors", None, "same", None),
    ],
)
def test_a_row_of_the_published_regime_says_where_something_else_limited_the_published_run(
    limit: str | None, published: str | None, regime: str, differs: str | None
) -> None:
    row = {
        "_id": 1,
        **({"resources": {"limit": limit}} if limit else {}),
        "fingerprint": {"regime": "same", "counters": []},
    }
    source = {
        "published": [{"result_id": 1, "limit": published}],
    }
    (found,) = aggregate([row], pipeline("fingerprint"), collections=source)
    assert (found["regime"], found["differs"]) == (regime, differs)
    row["fingerprint"] = {"regime": "other", "counters": []}
    (found,) = aggregate([row], pipeline("fingerprint"), collections=source)
    assert (found["regime"], found["differs"]) == ("other", differs)


def test_every_parameter_is_scaled_kept_or_changed_and_says_what_that_changes() -> None:
    full = {"numberOfThreads": 10, "initialDocsToInsert": 1000, "docSizeKB": 1.0}
    rows = [
        {
            "_id": {"testname": "insert_x", "n": n},
            "experiment": {"name": "insert_x", "parameters": full, "variant": {"n": n, "total": 100 * n}},
            "test_config": {**full, "initialDocsToInsert": 10, "docSizeKB": 2.0},
            "variant": {"n": n, "total": n},
            "topology": {"cache_gb": 0.5, "cache_ratio_kept": False},
            "checks": {"in_flight_share": 0.06, "in_flight_allowed": 0.05},
        }
        for n in (1, 2)
    ]
    said = {"initialDocsToInsert": {"scaled": True}, "total": {"scaled": True}, "cache": {"full": 8}}
    parameters = [
        {"testname": "insert_x", "parameter": name, "changes": f"of {name}", **more}
        for name, more in {**said, "in flight": {"full": 0.0026}}.items()
    ]
    found = aggregate(rows, pipeline("parameters"), collections={"results": rows, "parameters": parameters})
    assert {one["_id"]: (one["full"], one["run"], one["how"], one.get("changes")) for one in found} == {
        "cache": ("8 GiB", "0.5 GiB", "changed", "of cache"),
        "docSizeKB": (1.0, 2.0, "changed", None),
        "in flight": ("0.26 %", "6 %", "beyond the bound", "of in flight"),
        "initialDocsToInsert": (1000, 10, "scaled", "of initialDocsToInsert"),
        "n": ("1 to 2", "1 to 2", "varied", None),
        "numberOfThreads": (10, 10, "kept", None),
        "total": ("100 to 200", "1 to 2", "scaled", "of total"),
    }


@pytest.mark.parametrize(
    ("speed", "effect"),
    [(60.0, "less than here"), (40.0, "within the interval here"), (20.0, "more than here")],
)
def test_a_published_speed_is_a_ratio_to_the_published_reference_beside_ours(
    speed: float, effect: str
) -> None:
    rows = [row("keys", "a", 1.0), row("keys", "b", 0.4)]
    rows[0]["comparison"] = {"against": "itself", "ratio": 1.0, "low": 0.9, "high": 1.1}
    rows[1]["comparison"] = {"against": "a", "ratio": 0.4, "low": 0.3, "high": 0.5}
    published = [
        {"_id": number, "result_id": one["_id"], "figures": {"DocsPerSecond": figure}}
        for number, (one, figure) in enumerate(zip(rows, (100.0, speed), strict=True))
    ]
    stages = [*pipeline("beside-published"), *pipeline("published-ratio")]
    _, found = aggregate(rows, stages, collections={"results": rows, "published": published})
    assert (found["published"]["ratio"], found["published"]["verdict"]) == (speed / 100, "slower")
    assert found["effect"].startswith(effect)


def test_a_published_speed_between_a_row_and_its_control_is_said_to_be_between_them() -> None:
    rows = [
        row("keys", "a", 1.0),
        row("keys", "b", 0.2),
        row("keys_control", "a", 1.0),
        row("keys_control", "b", 0.8),
    ]
    bounds = ((0.9, 1.1), (0.1, 0.3), (0.9, 1.1), (0.7, 0.9))
    for one, (low, high) in zip(rows, bounds, strict=True):
        one["comparison"] = {"against": "a", "ratio": (low + high) / 2, "low": low, "high": high}
    rows[0]["comparison"]["against"] = rows[2]["comparison"]["against"] = "itself"

    def effect(speed: float) -> str:
        published = [
            {"_id": number, "result_id": one["_id"], "figures": {"DocsPerSecond": figure}}
            for number, (one, figure) in enumerate(zip(rows[:2], (100.0, speed), strict=True))
        ]
        stages = [*pipeline("beside-published"), *pipeline("published-ratio")]
        found = aggregate(rows[:2], stages, collections={"results": rows, "published": published})
        return str(found[1]["effect"])

    assert effect(20.0) == "within the interval here"
    assert effect(50.0).startswith("between our intervals")
    assert effect(80.0).startswith("within our interval with everything in the cache")
    assert effect(95.0).startswith("less than here")


def test_two_rows_that_the_experiment_does_not_compare_are_compared_block_by_block() -> None:
    logs = (0.1, 0.2, 0.3)
    rows: list[dict[str, Any]] = [
        {
            "by": name,
            "campaign": {"id": "new"},
            "checks": {"few_requests": False},
            "repeats": [
                {"block": block, "operations_per_second": 100 * math.exp(log if name == "one" else 0.0)}
                for block, log in enumerate(logs)
            ],
            "campaigns": {"each": [{"id": "old", "speed": speed}, {"id": "new", "speed": 1.0}]},
        }
        for name, speed in (("one", 50.0), ("other", 40.0), ("third", 1.0))
    ]
    (found,) = aggregate(rows, pipeline("pair"), variables={"pair": {"row": "one", "to": "other"}})
    low, high = (math.exp(0.2 + side * 4.3027 * 0.1 / math.sqrt(3)) for side in (-1, 1))
    compared = found["compared"]
    assert (compared["ratio"], compared["low"], compared["high"]) == pytest.approx((math.exp(0.2), low, high))
    assert (compared["blocks"], compared["verdict"], found["before"]) == (3, "not known", 1.25)
