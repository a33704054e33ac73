"""A set-up writes a whole section: a sentence with a value, a table with a computed column, and a chart."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_commands import mongo_tables
from tests.results.formats.test_recorded import FILES, NAMES


def set_up(folder: Path, name: str, text: str) -> tuple[dict[str, Any], str]:
    """Run ``init`` beside a file. Return the keys of the table, and the sentence above it without its comment."""
    (folder / name).write_text(text, "utf-8")
    mongo_tables("init", cwd=folder)
    return read_section((folder / "README.md").read_text("utf-8"))


def read_section(page: str) -> tuple[dict[str, Any], str]:
    keys = json.loads(page.split("<!-- RESULT_TABLE: ")[1].split(" -->")[0])
    above = page.split("<!-- RESULT_TABLE: ")[0]
    before, _, rest = above.partition("<!-- RESULT_VALUE: ")
    shown = rest.partition("begin ")[2].partition("-->")[2].replace("<!-- mongo-tables: end -->", "")
    return keys, (before.rpartition("\n\n")[2] + shown).strip()


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_each_recorded_file_becomes_a_section_with_every_part(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path)
    done = mongo_tables("init", cwd=tmp_path)
    assert done.stderr == "2 comments on 1 page: no fault\n"
    keys, sentence = read_section((tmp_path / "README.md").read_text("utf-8"))
    assert keys["compute"] == {"per_second": "1 / value"}
    assert sentence.startswith("`") and " takes " in sentence and sentence.endswith("s.")
    if path.parent.name != "bencher":  # its file has one row
        assert keys["chart"]["x"] == "name" and keys["chart"]["y"] == "value"
        assert list(tmp_path.glob("README.*.svg"))


@pytest.mark.parametrize(
    ("name", "text", "added", "chart", "sentence"),
    [
        (
            "bench.csv", "python,ms,kb\n3.9,21.50,40\n3.10,14.90,39\n3.11,9.80,\n",
            {"compute": {"per_second": "1000 / ms"}}, {"mark": "bar", "x": "python", "y": "ms"},
            "Python `3.9` takes 21.50 ms.",
        ),
        (
            "bench.csv", "case,build minutes\nsmall,3\nlarge,45\n",
            {"compute": {"per_hour": "60 / 'build minutes'"}}, {"mark": "bar", "x": "case", "y": "build minutes"},
            "`large` takes 45 minutes.",
        ),
        (
            "bench.csv", "tool,docs,seconds\na,9000000,77\nb,9000000,120\n",
            {"compute": {"per_second": "docs / seconds"}, "headers": ["Tool", "Seconds", "Docs/s"]},
            {"mark": "bar", "x": "tool", "y": "seconds"}, "`a` takes 77 seconds.",
        ),
        (
            "bench.csv", "tool,total rows,elapsed_ms\na,500,20\nb,500,30\n",
            {"compute": {"per_second": "1000 * 'total rows' / elapsed_ms"}}, {"mark": "bar", "x": "tool", "y": "elapsed_ms"},
            "`a` takes 20 ms.",
        ),
        (
            "bench.csv", "tool,requests,p99_ms\na,500,20\nb,500,30\n",
            {"compute": {"per_second": "1000 / p99_ms"}}, {"mark": "bar", "x": "tool", "y": "p99_ms"}, "`a` takes 20 ms.",
        ),
        (
            "bench.csv", "threads,mb_s\n1,110.2\n8,480.5\n",
            {"baseline": {"row": {"threads": 1}, "column": "mb_s", "header": "Change from 1"}}, {"mark": "line", "x": "threads", "y": "mb_s"},
            "Threads 1: 110.2 MB/s.",
        ),
        (
            "bench.csv", "day,score\n2026-01-01,1.5\n2026-01-02,2.5\n",
            {"baseline": {"row": {"day": {"$date": "2026-01-01T00:00:00Z"}}, "column": "score", "header": "Change"}},
            {"mark": "line", "x": "day", "y": "score"}, "Score of 2026-01-01: 1.5.",
        ),
        (
            "bench.json", '{"a": {"read": {"ms": 1.5}, "write": {"ms": 800}}, "b": {"read": {"ms": 2}, "write": {"ms": 900}}}',
            {"compute": {"per_second": "1000 / ms"}}, {"mark": "dot", "log": "y", "x": "_key", "y": "ms", "series": "_top._key"},
            "`a`, `read` takes 1.5 ms.",
        ),
        (
            "bench.csv", "name,ms\nsort -- a --> b,2\n`x`,1\n",
            {"compute": {"per_second": "1000 / ms"}}, {"mark": "bar", "x": "name", "y": "ms"}, "It takes 1 ms.",
        ),
    ],
    ids=["versions", "minutes", "docs and seconds", "rows and ms", "requests and p99", "numbers", "days", "two names", "signs"],
)  # fmt: skip
def test_the_parts_follow_from_what_the_columns_are(
    tmp_path: Path, name: str, text: str, added: dict[str, Any], chart: dict[str, Any], sentence: str
) -> None:
    keys, said = set_up(tmp_path, name, text)
    assert {key: keys.get(key) for key in added} == added
    assert keys.get("chart") == chart
    assert said == sentence


K6 = {
    "http_req_blocked": {"avg": 0.1, "med": 0.1, "p(90)": 0.2, "p(95)": 0.3},
    "http_req_duration": {"avg": 12.5, "med": 10.25, "p(90)": 22.125, "p(95)": 30.75},
    "iterations": {"count": 1200, "rate": 39.8},
}
VEGETA = {"total": 1200, "mean": 2.5, "50th": 2.1, "95th": 4.7, "99th": 9.1, "max": 19.5}


@pytest.mark.parametrize(
    ("summary", "rows", "header", "line"),
    [
        ({"root_group": {"name": ""}, "metrics": K6}, "metrics.http_req_duration.*", "Name", r"p\(95\) +\|  30.75"),
        ({"latencies": VEGETA, "bytes_in": {"total": 6, "mean": 2}, "bytes_out": {"total": 0, "mean": 0}},
         "latencies.*", "Latency", r"99th +\| +9.1"),
        ({"summary": {"total": 5.01, "average": 0.0012}, "latencyPercentiles": {"p50": 0.0011, "p99.9": 0.0101},
          "details": {"dns": {"average": 0.1}, "dial": {"average": 0.2}}},
         "latencyPercentiles.*", "Latency percentile", r"p99.9 +\| 0.0101"),
    ],
    ids=["k6", "vegeta", "oha"],
)  # fmt: skip
def test_the_summary_of_a_load_test_has_a_row_for_each_percentile(
    tmp_path: Path, summary: dict[str, Any], rows: str, header: str, line: str
) -> None:
    keys, _ = set_up(tmp_path, "bench.json", json.dumps(summary))
    assert (keys["rows"], keys["headers"][0]) == (rows, header)
    assert re.search(rf"\n\| {line}", (tmp_path / "README.md").read_text("utf-8"))
