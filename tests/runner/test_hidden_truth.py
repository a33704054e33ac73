"""Where the mechanism of an experiment is off, its rows are of another regime, and nothing is said of a claim.

The rows were measured by ``python -m benchmarks.hidden_truth``: whether the mechanism was on is known of each. The
comparison is the same for all of them, so the regime alone decides whether there is a verdict.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mongo_tables.aggregation import aggregate
from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.results import Query, open_source
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.fingerprint import renew
from mongo_tables.runner.result_rows import row_id

ROOT = Path(__file__).parents[2]
STAGES = list(SharedPipelines(ROOT / "docs" / "pipelines")("claims").stages)
RECORDED = list(open_source(str(Path(__file__).parent / "recorded")).aggregate(Query("hidden_truth", ())))
CLAIMS: dict[str, dict[str, Any]] = {
    "insert_idtype": {"row": {"idType": "UUID"}, "beside": {"idType": "OBJECT_ID"}},
    "insert_nindexes": {"row": {"nSecondaryIndexes": 16}, "beside": {"nSecondaryIndexes": 0}},
}
SLOWER = {"verdict": "slower", "ratio": 0.4, "low": 0.35, "high": 0.45}
OFF = [
    ("insert_idtype", "without random keys"),
    ("insert_idtype", "all in the cache"),
    ("insert_nindexes", "without different values"),
    ("insert_nindexes", "all in the cache"),
]


def judge(name: str, case: str, expects: str) -> tuple[set[str], str, str | None]:
    """The regimes of the rows, what is said of the claim that the mechanism makes inserts so, and the remark."""
    experiment = experiments.load(name)
    ids = [row_id(experiment, number) for number in range(len(experiment.variants))]
    recorded = [
        {**row, "_id": variant, "comparison": SLOWER}
        for row in RECORDED
        for variant in ids
        if row["_id"] == {**variant, "case": case}
    ]
    rows = renew(recorded, experiment, ids)
    assert len(rows) == 2
    claim = {"_id": f"{name}: {case}", "testname": name, "claim": "", **CLAIMS[name], "expects": [expects]}
    (said,) = aggregate([claim], STAGES, collections={"results": rows})
    return {row["fingerprint"]["regime"] for row in rows}, said["here"], said["note"]


@pytest.mark.parametrize("name", CLAIMS)
def test_with_the_mechanism_on_the_regime_is_the_published_one_and_there_is_a_verdict(name: str) -> None:
    assert judge(name, "on", "slower") == ({"same"}, "holds here", None)
    assert judge(name, "on", "faster") == ({"same"}, "does not hold here", None)


@pytest.mark.parametrize(("name", "case"), OFF)
@pytest.mark.parametrize("expects", ["slower", "faster", "no difference"])
def test_with_the_mechanism_off_the_regime_is_another_and_there_is_no_verdict(
    name: str, case: str, expects: str
) -> None:
    regimes, said, remark = judge(name, case, expects)
    assert "other" in regimes
    assert said == "undecided here"
    assert remark is not None
    assert "pages read" in remark
