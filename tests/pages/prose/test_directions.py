"""Faster, more, the slowest: what a sentence says of rows that are named, against those rows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.pages.prose.telling import judge, write_rows

WORD = re.compile("fastest|slowest|faster|slower")
COMPARED = {"against": "LSM", "blocks": 20, "margin": 0.1}
ROWS = [
    {"engine": "B-tree", "ops": 900, "p99": 4.0, "c": {**COMPARED, "ratio": 0.7, "low": 0.6, "high": 0.8, "verdict": "slower"}},
    {"engine": "LSM", "ops": 1300, "p99": 9.5, "c": {**COMPARED, "against": "itself", "ratio": 1.0, "low": 0.98, "high": 1.02, "verdict": "no difference"}},
    {"engine": "LSM tree, tuned", "ops": 1500, "p99": 6.0, "c": {**COMPARED, "ratio": 1.2, "low": 1.1, "high": 1.3, "verdict": "faster"}},
]  # fmt: skip
TABLE = {
    "id": "engines",
    "collection": "runs",
    "pipeline": [{"$sort": {"ops": 1}}],
    "columns": ["engine", "ops", "p99"],
    "headers": ["Engine", "Speed (inserts/s)", "99th percentile (ms)"],
}


@pytest.fixture
def told(tmp_path: Path):
    write_rows(tmp_path, "runs", ({"_id": row["engine"], **row} for row in ROWS))

    def list_messages(prose: str, **changed: object) -> list[str]:
        text = f"# Engines\n\n{prose}\n\n<!-- MONGO_TABLE: {json.dumps({**TABLE, **changed})} -->\n"
        return [one.message for one in judge(text, tmp_path)]

    return list_messages


@pytest.mark.parametrize(
    "sentence",
    [
        "The B-tree is the slowest, and LSM tree, tuned is the fastest.",
        "LSM is the slowest by its 99th percentile.",
        "LSM is faster than the B-tree.",
        "LSM is slower than the B-tree in its 99th percentile.",
        "LSM tree, tuned is faster than LSM.",
        "LSM takes longer than the B-tree, and costs more.",
        "The fastest of them was chosen.",
        "The R-tree is the fastest.",
        "Neither LSM nor the B-tree is the fastest.",
        "The B-tree is not faster than LSM tree, tuned.",
        "The B-tree is the second fastest.",
        "The B-tree is one of the fastest.",
        "The B-tree writes more slowly than LSM.",
        "On none of the disks is it the fastest.",
        "If the B-tree were the fastest, it would be chosen.",
        "b-tree is the fastest.",
        "`LSM` is faster than the `B-tree`.",
        "lsm is faster than the b-tree.",
        "LSM is the fastest engine written in pure Go.",
        "LSM is the fastest engine in Go.",
        "The slowest part of LSM is its start.",
        "The slowest part of `LSM` is its start.",
        "LSM starts faster than LSM tree, tuned.",
        "LSM compiles much faster than LSM tree, tuned.",
    ],
)
def test_what_rows_bear_out_or_do_not_decide_is_not_told(told, sentence):
    assert told(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("LSM is the fastest.", "in `ops` it is the row of LSM tree, tuned"),
        ("LSM tree, tuned is the slowest.", "in `ops` it is the row of B-tree"),
        ("The B-tree is faster than LSM tree, tuned in all.", ""),
        (
            "LSM is faster than LSM tree, tuned.",
            "`ops` is 1300 in the row of LSM, 1500 in that of LSM tree, tuned",
        ),
        (
            "It is so. `LSM` is faster than `LSM tree, tuned`.",
            "`ops` is 1300 in the row of LSM, 1500 in that of LSM tree, tuned",
        ),
        (
            "Lsm is faster than LSM Tree, tuned.",
            "`ops` is 1300 in the row of LSM, 1500 in that of LSM tree, tuned",
        ),
        ("LSM is the fastest engine of the table.", "in `ops` it is the row of LSM tree, tuned"),
        ("The fastest engine is LSM.", "in `ops` it is the row of LSM tree, tuned"),
        (
            "LSM inserts much faster than LSM tree, tuned.",
            "`ops` is 1300 in the row of LSM, 1500 in that of LSM tree, tuned",
        ),
        (
            "LSM runs 2× faster than LSM tree, tuned.",
            "`ops` is 1300 in the row of LSM, 1500 in that of LSM tree, tuned",
        ),
        ("`LSM` is the fastest.", "in `ops` it is the row of LSM tree, tuned"),
    ],
)
def test_what_rows_contradict_is_told_with_what_they_say(told, sentence, message):
    found = told(sentence)
    assert found == ([f"`{WORD.search(sentence)[0]}` is not what the rows say: {message}"] if message else [])


def test_columns_that_are_neither_rates_nor_times_decide_nothing(told):
    headers = ["Engine", "Size (MB)", "Connections"]
    assert told("LSM is the fastest.", headers=headers) == []
    assert told("LSM is faster than LSM tree, tuned.", headers=headers) == []


def test_no_text_breaks_the_check(told):
    for text in (
        "LSM is fasteſt at 5 μs.",
        "by a thırd, ſix times as fast, 5 mıllion rows",
        "LSM (tuned)* is the fastest[",
    ):
        told(text)


VALUE = '<!-- MONGO_VALUE: {"table": "engines", "column": "c", "where": {"engine": "B-tree"}} -->'
CHECK = '<!-- MONGO_CHECK: {"table": "engines", "where": {"engine": "B-tree"}, "expect": {"c.verdict": "slower"}} -->'


@pytest.mark.parametrize("comment", [VALUE, CHECK])
def test_a_sentence_says_what_its_comparison_says(told, comment):
    assert told(f"Hence it is slower. {comment}") == []
    assert told(f"It is {comment}, so slower.") == []
    assert told(f"It is {comment}, so quicker.") == [
        "`quicker` is not what the rows say: the comparison of the sentence says slower"
    ]
    assert told(f"It is {comment}. What is quicker is another matter.") == []
    assert told(f"It is {comment}, slower where others are faster.") == []


def test_a_table_can_take_what_its_section_says_upon_itself(told):
    assert told("The B-tree is the fastest.", ignore={"MT327": "of another run"}) == []
