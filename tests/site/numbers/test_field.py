"""Texts without markup in the shape of eight public repositories whose numbers went stale; the numbers are invented.

A right number is marked ⟦so⟧, a stale one ⟪so⟫; others are about something else.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_commands import mongo_tables

MARK = re.compile(r"[⟦⟪]([^⟧⟫]*)[⟧⟫]")


@dataclass(frozen=True)
class Project:
    """Files of a repository, those that are checked, and the results source."""

    results: dict[str, str]
    texts: dict[str, str]
    source: str
    settings: str = ""
    other: dict[str, str] = field(default_factory=dict)


def rows(*documents: dict[str, Any]) -> str:
    return json.dumps(list(documents))


GRAPHS = Project(
    {
        "bench.json": rows(
            {"name": "hop forward", "engine": "pandas", "median_ms": 412.6, "speedup": 1.0},
            {"name": "hop forward", "engine": "cudf", "median_ms": 213.8, "speedup": 1.93},
            {"name": "layout", "engine": "pandas", "median_ms": 5120.4, "speedup": 1.0},
            {"name": "layout", "engine": "cudf", "median_ms": 94.25, "speedup": 54.3},
        )
    },
    {
        "docs/performance.rst": """\
Performance
===========

.. note::

   Hop forward takes ⟦412.6 ms⟧ with pandas and ⟦213.8 ms⟧ with cudf.

On cudf, ``hop forward`` has a speedup of ⟪200×⟫.
The layout on cudf has a speedup of ⟦54.3×⟧: ⟦94 ms⟧ in place of ⟦5,120 ms⟧.

=============  ======  =========
Task           Engine  Median
=============  ======  =========
hop forward    pandas  ⟦413 ms⟧
hop forward    cudf    ⟪181 ms⟫
layout         pandas  ⟦5.12 s⟧
layout         cudf    ⟦94 ms⟧
=============  ======  =========

* layout, pandas: ⟦5120.4 ms⟧, and ⟦5.1 s⟧ rounded
* layout, cudf: ⟦94.3 ms⟧, which is ⟦54.3×⟧
* hop forward, cudf: ⟦214 ms⟧, which is ⟦1.93×⟧; with pandas ⟦0.413 s⟧

.. code-block:: console

   $ hop --timeout "777 ms"

.. figure:: speed.png
   :width: 80 %

.. 778 ms in a remark
"""
    },
    "bench.json",
)

RECALL = Project(
    {
        "results.json": rows(
            {"mode": "recall", "cases": 1284, "hit_rate": 0.917, "p50_ms": 8.4},
            {"mode": "exact", "cases": 640, "hit_rate": 0.988, "p50_ms": 2.1},
        )
    },
    {
        "README.md": "# Seen\n\nIn recall the hit rate is ⟦91.7 %⟧ over ⟦1,284 cases⟧, at a p50 of ⟦8.4 ms⟧.\n\n"
        "* exact: ⟦98.8 %⟧ of ⟦640 cases⟧, p50 ⟦2.1 ms⟧\n",
        "README.zh.md": "# Seen\n\nrecall 的命中率为⟪94.3%⟫。exact 为⟦98.8%⟧，p50 为 ⟦2.1 ms⟧。\n",
        "npm/README.md": "Finds ⟪94.3 %⟫ of what you forgot, with **⟦1,284⟧** cases.\n",
        "llms.txt": "# Seen\n\n- recall: hit rate ⟪94.3 %⟫, p50 ⟦8.4 ms⟧\n- exact: hit rate ⟦98.8 %⟧\n",
        "site/index.html": """\
<!doctype html>
<html lang="en">
<style>.a { width: 77 % }</style>
<p>In recall, p50 is <b>⟦8.4</b>&nbsp;ms⟧.</p>
<div class="stat"><span class="count" data-count="⟪94.3⟫">0</span> %</div>
<div class="stat" data-count="⟦1284⟧">0</div>
<table><tr><td>exact</td><td><code>hit</code> ⟦98.8 %⟧</td></tr></table>
""",
    },
    "results.json",
)

SAVINGS = Project(
    {
        "docs/benchmarks/0.7.10.json": json.dumps(
            {
                "version": "0.7.10",
                "result": {
                    "by_class": {
                        "git": {"saved_pct": 61.4, "tokens": 18250},
                        "cargo": {"saved_pct": 72.8, "tokens": 40321},
                        "npm": {"saved_pct": 80.25, "tokens": 9102},
                    }
                },
            }
        )
    },
    {
        "README.md": "Output of `git` shrinks by ⟦61.4 %⟧, from ⟦18,250 tokens⟧.\n\n`cargo` saves ⟦72.8 %⟧ of "
        "⟦40,321 tokens⟧.\n\nAnd `npm` saves ⟦80.25 %⟧, or ⟦80 %⟧, of ⟦9,102 tokens⟧.\n",
        "README.de.md": "Die Ausgabe von `git` schrumpft um ⟦61,4 %⟧, von ⟦18.250 Tokens⟧.\n\n`cargo` spart ⟪68,9 %⟫.\n",
        "README.fr.md": "`git` économise ⟦61,4\u00a0%⟧ de ⟦18\u202f250 tokens⟧.\n\n`cargo` économise ⟪68,9 %⟫.\n",
        "README.es.md": "`git` ahorra un ⟦61,4 %⟧.\n\n`cargo` ahorra un ⟪68,9 %⟫. `npm`: ⟦80,3 %⟧\n",
        "README.pt-BR.md": "`git` economiza ⟦61,4%⟧.\n\n`cargo` economiza ⟪68.9%⟫ de ⟦40.321 tokens⟧.\n",
        "README.ja.md": "`git` は⟦61.4%⟧、⟦18,250 tokens⟧です。`cargo` は⟪68.9%⟫です。\n",
        "docs/de/speed.md": "---\nlang: de\n---\n\n`npm` spart ⟦80,25 %⟧ von ⟦9.102 Tokens⟧.\n",
    },
    "docs/benchmarks/0.7.10.json",
)

GATES = Project(
    {
        "bench.json": rows(
            {"model": "tiny", "throughput": 231.4, "unit": "tokens/s", "memory_mb": 512},
            {"model": "base", "throughput": 88.6, "unit": "tokens/s", "memory_mb": 1930},
        )
    },
    {
        "docs/speed.md": """\
# Speed

The model `tiny` runs at ⟪198 tokens per second⟫. Requests time out after 30 s.

## Results

<!-- RESULT_TABLE: {"collection": "bench", "columns": ["model", "throughput", "memory_mb"],
  "headers": ["Model", "Throughput (tokens/s)", "Memory (MB)"], "sort": "model"} -->

With base it is ⟦88.6 tokens/s⟧ in ⟦1,930 MB⟧, with tiny ⟦231 tokens/s⟧. base takes ⟦1.93 GB⟧, tiny ⟦512 MB⟧ or ⟦0.51 GB⟧.
"""
    },
    "bench.json",
    '[[numbers.exempt]]\nfile = "docs/*.md"\ntext = "after 30 s"\nreason = "a setting of the server"\n',
)

PUBLIC = Project(
    {
        "bench/results.csv": "tool,ratio,p99_ms,size_kb\ndistil,4.31,12.7,884\nzstd,3.02,9.85,1262\nbrotli,3.55,48.1,1073\n"
    },
    {
        "README.md": "distil has a ratio of ⟦4.31×⟧ and a p99 of ⟪14.2 ms⟫.\n\n| Tool | p99 | Size |\n| --- | --- | --- |\n"
        "| distil | ⟦12.7 ms⟧ | ⟦884 KB⟧ |\n| zstd | ⟦9.85 ms⟧ | ⟪1,310 KB⟫ |\n| brotli | ⟪51.6 ms⟫ | ⟦1,073 KB⟧ |\n",
        "docs/index.html": "<h1>distil</h1><p>distil: a ratio of ⟪4.9×⟫.</p>\n<ul><li>zstd needs ⟪1,310 KB⟫</li>"
        "<li>brotli needs ⟦1,073 KB⟧</li><li>zstd: p99 of ⟦9.85 ms⟧</li></ul>\n",
        "docs/compare.html": "<table>\n<tr><td>distil<td>⟦4.31×⟧<td>⟦12.7 ms⟧\n<tr><td>zstd<td>⟪2.8×⟫<td>⟦9.85 ms⟧\n</table>\n",
        "llms.txt": "> distil compresses.\n\n- distil: p99 ⟪14.2 ms⟫\n- zstd: ratio ⟦3.02×⟧\n- brotli: ratio ⟪3.9×⟫, size ⟦1,073 KB⟧\n",
    },
    "bench/results.csv",
)

COUNTS = Project(
    {
        "counts.json": json.dumps(
            {"theorems": 431, "tests": 1204, "contracts": 37, "axioms": 5, "lines": 20411}
        )
    },
    {
        "docs/index.mdx": """\
import { Card } from "./card"

{/* 999 tests were planned */}

<Card title="Proofs">

Verified by ⟦431 theorems⟧ and ⟪1,180 tests⟫, on ⟦5 axioms⟧.

</Card>
""",
        "README.md": "⟦431 theorems⟧ over ⟦37 contracts⟧; ⟪1,180 tests⟫.\n",
        "llms.txt": "- ⟦20,411 lines⟧, ⟦1,204 tests⟧\n- ⟦5 axioms⟧\n",
    },
    "counts.json",
)

COMPILERS = Project(
    {
        "bench.yaml": "- compiler: vize\n  threads: 8\n  wall_s: 1.24\n  speedup: 6.4\n"
        "- compiler: vuec\n  threads: 1\n  wall_s: 7.94\n  speedup: 1.0\n"
    },
    {
        "docs/performance.md": "# Speed\n\nvize takes ⟦1.24 s⟧, a speedup of ⟦6.4×⟧.\n\nvuec takes ⟦7.94 s⟧.\n",
        "docs/fr/performance.md": "vize prend ⟪0,48 s⟫.\n\nvuec prend ⟦7,94 s⟧, vize est ⟦6,4 fois⟧ plus rapide.\n",
        "docs/ja/performance.md": "vize は⟪0.48 s⟫です。\n\nvuec は⟦7.94 s⟧(⟦7,940 ms⟧)です。\n",
        "docs/pt-BR/performance.md": "O vize leva ⟪0,48 s⟫.\n\nO vuec leva ⟦7,94 s⟧, ou ⟦7,9 s⟧.\n",
        "docs/zh-CN/performance.md": "vize 需要⟪0.48 s⟫，vize 是 vuec 的 ⟦6.4倍⟧。\n\nvuec 需要⟦7.94 s⟧。\n",
    },
    "bench.yaml",
)

ENGINES = Project(
    {
        "runs.jsonl": "".join(
            json.dumps(one) + "\n"
            for one in (
                {
                    "workload": "transitive closure",
                    "engine": "wire",
                    "millis": 355.7,
                    "peak": {"value": 61.5, "unit": "MiB"},
                },
                {
                    "workload": "transitive closure",
                    "engine": "souffle",
                    "millis": 287.1,
                    "peak": {"value": 40.2, "unit": "MiB"},
                },
                {
                    "workload": "points to",
                    "engine": "wire",
                    "millis": 1804.3,
                    "peak": {"value": 212.9, "unit": "MiB"},
                },
                {
                    "workload": "points to",
                    "engine": "souffle",
                    "millis": 1512.8,
                    "peak": {"value": 150.6, "unit": "MiB"},
                },
            )
        )
    },
    {
        "README.md": """\
# Engine

| Workload | Engine | Time | Peak |
| --- | --- | ---: | ---: |
| transitive closure | wire | ⟪261 ms⟫ | ⟦61.5 MiB⟧ |
| transitive closure | souffle | ⟦287 ms⟧ | ⟦40.2 MiB⟧ |
| points to | wire | ⟪0.75 s⟫ | ⟦213 MiB⟧ |
| points to | souffle | ⟦1.51 s⟧ | ⟪128 MiB⟫ |

On points to, wire is at ⟦1804.3 ms⟧, souffle at ⟦1512.8 ms⟧. With souffle the peak of points to is ⟦150.6 MiB⟧, with wire
⟦212.9 MiB⟧. On transitive closure, souffle takes ⟦287.1 ms⟧ and ⟦40 MiB⟧, wire ⟦355.7 ms⟧ and ⟦61.5 MiB⟧.
""",
        "src/lib.rs": """\
//! For points to, wire takes ⟦1,804 ms⟧.

/// On transitive closure wire needs ⟪58.8 MiB⟫ and ⟦356 ms⟧.
pub fn run() -> u64 { let text = "444 ms // 445 ms"; 1 }
""",
        "bench/run.py": '''\
"""Measure: points to with souffle takes ⟦1,513 ms⟧."""

LIMIT = "446 ms"  # transitive closure with souffle: ⟦287.1 ms⟧
''',
    },
    "runs.jsonl",
)

PROJECTS = {
    "graphs": GRAPHS, "recall": RECALL, "savings": SAVINGS, "gates": GATES, "public": PUBLIC, "counts": COUNTS,
    "compilers": COMPILERS, "engines": ENGINES,
}  # fmt: skip

Place = tuple[str, int, int]


def marked(project: Project, sign: str) -> set[Place]:
    """Places of the marked numbers in the files without marks."""
    found = set()
    for file, text in project.texts.items():
        for line, own in enumerate(text.split("\n"), 1):
            for at in MARK.finditer(own):
                if at[0][0] == sign:
                    found.add((file, line, len(MARK.sub(r"\1", own[: at.start()])) + 1))
    return found


def checked(project: Project, folder: Path, *more: str) -> dict[str, Any]:
    plain = {file: MARK.sub(r"\1", text) for file, text in project.texts.items()}
    for file, text in (plain | project.results).items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    if project.settings:
        (folder / "mongo-tables.toml").write_text(project.settings)
    command = (
        "check",
        "--numbers",
        *plain,
        "--results",
        project.source,
        "--report",
        "--format",
        "json",
        *more,
    )
    done = mongo_tables(*command, cwd=folder, expect=1)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def told(found: dict[str, Any]) -> set[Place]:
    stale = [one for one in found["findings"] if one["rule"] == "MT326"]
    places = [place for one in stale for place in (one, *one.get("related", ()))]
    return {(one["file"], one["line"], one["column"]) for one in places}


@pytest.mark.parametrize("name", PROJECTS)
def test_every_stale_number_is_told_and_no_right_one_is_open(name: str, tmp_path: Path) -> None:
    project = PROJECTS[name]
    found = checked(project, tmp_path)
    opened = {
        (one["file"], one["line"], one["column"]) for one in found["numbers"]["all"] if one["class"] == "open"
    }
    assert marked(project, "⟪") - told(found) == set()
    assert (opened | told(found)) & marked(project, "⟦") == set()
    assert told(found) <= marked(project, "⟪")
    assert opened <= marked(project, "⟪")


def test_there_are_many_right_numbers_and_chance_finds_few(tmp_path: Path) -> None:
    right = sum(len(marked(project, "⟦")) for project in PROJECTS.values())
    assert right > 100
    shares = []
    for name, project in PROJECTS.items():
        (tmp_path / name).mkdir()
        numbers = checked(project, tmp_path / name)["numbers"]
        shares.append((numbers["control"] * numbers["total"], numbers["total"]))
    assert sum(hits for hits, _ in shares) / sum(total for _, total in shares) <= 0.1
