"""Sixteen more repositories in the shape of public ones: servers of models, libraries, databases, in several languages.

The numbers are invented. A right number is marked ⟦so⟧, a stale one ⟪so⟫; each is counted. Others are about something
else, or in a sentence that names two rows.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.site.numbers.test_field import Project, checked, marked, told

PROJECTS: dict[str, Project] = {}

PROJECTS["llm"] = Project(
    source="bench/results.json",
    results={
        "bench/results.json": json.dumps(
            {
                "llama-8b": {"prefill_tok_s": 4210.5, "decode_tok_s": 118.2, "ttft_ms": 84.1, "vram_gb": 9.6},
                "qwen-14b": {
                    "prefill_tok_s": 2390.0,
                    "decode_tok_s": 71.4,
                    "ttft_ms": 131.7,
                    "vram_gb": 16.9,
                },
                "phi-4": {"prefill_tok_s": 2655.8, "decode_tok_s": 79.9, "ttft_ms": 119.3, "vram_gb": 15.2},
            }
        )
    },
    texts={
        "README.md": """# fastserve

On one card, `llama-8b` decodes at ⟦118.2 tok/s⟧ and prefills at ⟦4,210 tok/s⟧; time to first token is ⟦84 ms⟧.

| Model | Prefill | Decode | TTFT | VRAM |
| --- | --- | --- | --- | --- |
| llama-8b | ⟦4210.5 tok/s⟧ | **⟦118.2 tok/s⟧** | ~⟦84.1ms⟧ | ⟦9.6 GB⟧ |
| qwen-14b | ⟦2390 tok/s⟧ | ⟪65.0 tok/s⟫ | ⟦131.7 ms⟧ | ⟦16.9 GB⟧ |
| phi-4 | ⟦2655.8 tok/s⟧ | ⟦79.9 tok/s⟧ | ⟪98.2 ms⟫ | ⟦15.2 GB⟧ |

With qwen-14b decode is ⟦71.4 tokens/s⟧ and ⟦71.4 tokens per second⟧ again.

phi-4 prefills at ⟦2.66k tok/s⟧. Requests are dropped after 30 s.
""",
        "README.vi.md": """# fastserve

`llama-8b` giải mã ở ⟦118,2 tok/s⟧, cần ⟦9,6 GB⟧. Với `phi-4`: ⟪75,0 tok/s⟫ decode.

`qwen-14b`: ⟦131,7 ms⟧.
""",
        "llms.txt": "# fastserve\n\n- llama-8b: decode ⟦118.2 tok/s⟧, ttft ⟦84.1 ms⟧\n- phi-4: ttft ⟪98.2 ms⟫\n",
    },
)
PROJECTS["crate"] = Project(
    source="benches/results.csv",
    results={
        "benches/results.csv": "name,ns_per_iter,mb_s,speedup\nparse small,214.6,1820.4,3.41\nparse large,90412.7,2465.9,4.87\nserialize,148.2,1388.3,2.06\n"
    },
    texts={
        "README.md": """# fastparse

[![Speed](https://img.shields.io/badge/speed-fast-green)](x)

*parse large* reaches ⟦2.47 GB/s⟧ (⟦4.87x⟧ over the baseline), *parse small* takes ⟦215 ns/iter⟧.

```
parse small 999 ns/iter
```

- parse small: ⟦214.6&nbsp;ns⟧, ⟦1,820 MB/s⟧, ⟦3.4×⟧ faster
- parse large: ⟦90.4 µs⟧, ⟪2,101 MB/s⟫
- serialize: ⟦148.2 ns⟧, ⟦1.39 GB/s⟧, ⟪2.5x⟫ faster
""",
        "src/lib.rs": """//! Fast parser.
//!
//! `parse large` runs at ⟦2466 MB/s⟧; `serialize` takes ⟪171 ns⟫.
pub fn f() {}
""",
        "README.de.md": "# fastparse\n\n`parse large` schafft ⟦2.465,9 MB/s⟧, ist ⟦4,87-mal⟧ so schnell und braucht ⟦90,4 µs⟧. `serialize` braucht ⟪171,0 ns⟫.\n",
    },
)
PROJECTS["golib"] = Project(
    source="bench.json",
    results={
        "bench.json": json.dumps(
            [
                {
                    "name": "Get",
                    "lib": "swiftmap",
                    "ns_op": 12.84,
                    "allocs_op": 0,
                    "b_op": 0,
                    "ops_s": 77881619,
                },
                {
                    "name": "Get",
                    "lib": "sync.Map",
                    "ns_op": 31.92,
                    "allocs_op": 1,
                    "b_op": 16,
                    "ops_s": 31328320,
                },
                {
                    "name": "Set",
                    "lib": "swiftmap",
                    "ns_op": 48.05,
                    "allocs_op": 1,
                    "b_op": 24,
                    "ops_s": 20811654,
                },
                {
                    "name": "Set",
                    "lib": "sync.Map",
                    "ns_op": 142.3,
                    "allocs_op": 3,
                    "b_op": 88,
                    "ops_s": 7027406,
                },
            ]
        )
    },
    texts={
        "README.md": """# swiftmap

`Get` on swiftmap takes ⟦12.8 ns/op⟧ against ⟦31.9 ns/op⟧ of sync.Map, so swiftmap is ⟦2.5x⟧ faster than sync.Map for Get.

`Set` on swiftmap takes ⟪52 ns/op⟫.

| Op | Library | Time | Bytes |
|---|---|---|---|
| Get | swiftmap | ⟦12.84 ns/op⟧ | 0 B/op |
| Get | sync.Map | ⟦31.92 ns/op⟧ | ⟦16 B/op⟧ |
| Set | swiftmap | ⟦48.05 ns/op⟧ | ⟦24 B/op⟧ |
| Set | sync.Map | ⟦142.3 ns/op⟧ | ⟪96 B/op⟫ |

Set with swiftmap does ⟦20.8M ops/s⟧; Get with swiftmap ⟦77.9 million ops/s⟧.
""",
        "doc.go": "// Package swiftmap is a map.\n//\n// For Set, swiftmap has ⟦48 ns/op⟧ and sync.Map 158 ns/op.\npackage swiftmap\n",
    },
)
PROJECTS["js"] = Project(
    source="benchmarks/latest.json",
    results={
        "benchmarks/latest.json": json.dumps(
            {
                "node": "22.1.0",
                "date": "2026-05-01",
                "frameworks": [
                    {
                        "framework": "hono",
                        "req_s": 128450,
                        "latency": {"p50_ms": 0.71, "p99_ms": 2.84},
                        "throughput_mb_s": 24.6,
                    },
                    {
                        "framework": "fastify",
                        "req_s": 96210,
                        "latency": {"p50_ms": 0.98, "p99_ms": 3.67},
                        "throughput_mb_s": 18.9,
                    },
                    {
                        "framework": "express",
                        "req_s": 21875,
                        "latency": {"p50_ms": 4.36, "p99_ms": 11.2},
                        "throughput_mb_s": 5.2,
                    },
                ],
                "bundle": {"min_kb": 14.2, "gzip_kb": 5.6},
            }
        )
    },
    texts={
        "docs/guide/performance.md": """---
outline: deep
---

# Performance

::: tip
hono serves ⟦128,450 req/s⟧ with a p99 of ⟦2.84 ms⟧.
:::

fastify serves ⟦96k req/s⟧, express 19,800 req/s. hono is ⟦5.9x⟧ faster than express in req/s.

- hono p50: ⟦0.71 ms⟧
- fastify p50: ⟦980 µs⟧
- express p50: ⟪5.1 ms⟫, throughput ⟦5.2 MB/s⟧

The bundle is ⟦14.2 kB⟧ minified, ⟦5.6 kB⟧ with gzip.
""",
        "docs/zh/guide/performance.md": "# 性能\n\nhono 每秒处理 ⟦128,450 req/s⟧，p99 为 ⟦2.84 毫秒⟧。express 的 p99 为⟪9.8 ms⟫。\n",
        "README.md": "# h\n\n![](https://img.shields.io/badge/gzip-⟦5.6%20kB⟧-green)\n\n<p>hono: <strong>⟦128,450&nbsp;req/s⟧</strong></p>\n",
    },
)
PROJECTS["pysphinx"] = Project(
    source="docs/bench.json",
    results={
        "docs/bench.json": json.dumps(
            [
                {
                    "task": "groupby",
                    "library": "polarsx",
                    "seconds": 1.42,
                    "speedup_vs_pandas": 9.61,
                    "peak_mb": 812,
                },
                {
                    "task": "groupby",
                    "library": "pandas",
                    "seconds": 13.65,
                    "speedup_vs_pandas": 1.0,
                    "peak_mb": 2950,
                },
                {
                    "task": "join",
                    "library": "polarsx",
                    "seconds": 2.87,
                    "speedup_vs_pandas": 7.33,
                    "peak_mb": 1406,
                },
                {
                    "task": "join",
                    "library": "pandas",
                    "seconds": 21.04,
                    "speedup_vs_pandas": 1.0,
                    "peak_mb": 5122,
                },
            ]
        )
    },
    texts={
        "docs/perf.rst": """
Benchmarks
==========

For groupby, polarsx takes ⟦1.42 s⟧ and pandas ⟦13.65 s⟧, a speedup of ⟦9.6x⟧.

For join, polarsx has a speedup of ⟪12×⟫ over pandas.

.. list-table::

   * - groupby
     - polarsx
     - ⟦1.42 sec⟧
     - ⟦812 MB⟧
   * - join
     - pandas
     - ⟦21.0 sec⟧

.. tip:: A join with pandas needs ⟦5.1 GB⟧, with polarsx ⟦1.4 GB⟧.
""",
        "docs/myst.md": """# Perf

:::{note}
join in pandas: ⟪19.4 s⟫. groupby in pandas: ⟦13.7 s⟧.
:::

polarsx needs ⟦812 MB⟧ for groupby, which is 72 % less than the ⟦2,950 MB⟧ of pandas.
""",
        "README.fr.md": "# polarsx\n\nPour groupby, polarsx prend ⟦1,42 s⟧ ; pandas prend ⟦13,65 s⟧ : ⟦9,6 fois⟧ plus rapide. join avec polarsx : ⟪3,20 s⟫.\n",
    },
)
PROJECTS["vector"] = Project(
    source="results.yaml",
    results={
        "results.yaml": """- engine: hnsw
  dataset: sift
  recall: 0.984
  qps: 4120
  build_s: 318
- engine: ivf
  dataset: sift
  recall: 0.951
  qps: 5890
  build_s: 74
- engine: flat
  dataset: sift
  recall: 1.0
  qps: 212
  build_s: 3.1
"""
    },
    texts={
        "README.md": """# vecdb

hnsw has a recall of ⟦98.4 %⟧ at ⟦4,120 QPS⟧; ivf has ⟦95.1% recall⟧ at ⟦5,890 queries per second⟧.

flat answers ⟦212 qps⟧ with ⟦100%⟧ recall. The index of hnsw builds in ⟦318 s⟧, that of ivf in 1.8 min.

recall of ivf: ⟪93.2%⟫
""",
        "README.de.md": "# vecdb\n\nhnsw hat einen Recall von ⟦98,4 %⟧ bei ⟦4.120 QPS⟧. ivf baut in ⟦74 s⟧ und hat einen Recall von ⟪93,2 %⟫.\n",
        "docs/index.html": "<!doctype html><html lang='en'><p>hnsw: <kbd>⟦4,120 QPS⟧</kbd>, recall <em>⟦98.4</em>&nbsp;%⟧</p>\n<div data-count=\"⟦5890⟧\">0</div></html>",
    },
)
PROJECTS["counts"] = Project(
    source="metrics.json",
    results={
        "metrics.json": json.dumps(
            {
                "tests": 1388,
                "coverage": 0.942,
                "modules": 56,
                "proofs": {"total": 431, "axioms": 7},
                "suite": {"unit": {"passed": 1210, "failed": 0}, "e2e": {"passed": 178, "failed": 0}},
            }
        )
    },
    texts={
        "README.md": """# prover

![Tests](https://img.shields.io/badge/tests-⟦1388⟧%20passing-brightgreen) [![cov](https://img.shields.io/badge/coverage-⟦94.2%25⟧-green)](x) ![proofs](https://img.shields.io/badge/proofs-⟪420⟫-green)

It has ⟦1,388 tests⟧ in ⟦56 modules⟧ and a coverage of ⟦94.2 %⟧. There are ⟦431 proofs⟧ on ⟦7 axioms⟧.

The unit suite passed ⟦1,210 tests⟧.
""",
        "docs/intro.mdx": "import X from './x'\n\n<Stat>⟦431 proofs⟧</Stat>\n\nCoverage is ⟪91.0 %⟫ over ⟪1,290 tests⟫.\n",
        "README.vi.md": "# prover\n\nĐộ phủ (coverage) là ⟦94,2 %⟧ với ⟦1.388 tests⟧.\n",
    },
)
PROJECTS["german"] = Project(
    source="ergebnisse.json",
    results={
        "ergebnisse.json": json.dumps(
            {
                "messungen": [
                    {"verfahren": "zstd", "saved": 0.689, "durchsatz_mb_s": 412.5, "dauer_ms": 88.2},
                    {"verfahren": "lz4", "saved": 0.522, "durchsatz_mb_s": 1730.1, "dauer_ms": 21.4},
                    {"verfahren": "brotli", "saved": 0.731, "durchsatz_mb_s": 61.8, "dauer_ms": 588.7},
                ]
            }
        )
    },
    texts={
        "README.md": """# Packer

Ein Werkzeug, mit dem man Dateien packt. Es ist schnell und braucht wenig Speicher.

zstd spart ⟦68,9 %⟧ und schafft ⟦412,5 MB/s⟧. lz4 spart 49,0 % bei ⟦1.730 MB/s⟧.

brotli spart ⟦73,1 %⟧ in ⟦588,7 ms⟧; zstd braucht ⟪95,4 ms⟫; lz4 braucht ⟦21,4 msec⟧. Das ist 1 von 3 Verfahren.

lz4 braucht ⟦2.14e1 ms⟧.
""",
        "docs/uebersicht.md": "# Übersicht\n\nlz4 spart ⟦52,2 %⟧ und zstd spart ⟦68,9 Prozent⟧.\n",
    },
)

PROJECTS["wide"] = Project(
    source="bench.csv",
    results={
        "bench.csv": "operation,rows,pandas_ms,polars_ms,duckdb_ms\nfilter,1000000,84.2,12.6,18.9\nsort,1000000,412.7,66.3,71.8\njoin,1000000,958.1,143.5,120.4\n"
    },
    texts={
        "README.md": """# dfbench

For filter, polars takes ⟦12.6 ms⟧ and duckdb ⟦18.9 ms⟧, where pandas takes ⟦84.2 ms⟧.

Sort in pandas takes ⟪388 ms⟫. Join in duckdb takes ⟦120 ms⟧.

| Operation | pandas (ms) | polars (ms) | duckdb (ms) |
|---|---|---|---|
| filter | ⟦84.2⟧ | ⟦12.6⟧ | ⟦18.9⟧ |
| sort | ⟦412.7⟧ | ⟦66.3⟧ | ⟪75.0⟫ |
| join | ⟦958.1⟧ | ⟦143.5⟧ | ⟦120.4⟧ |
"""
    },
)
PROJECTS["nested"] = Project(
    source="results.json",
    results={
        "results.json": json.dumps(
            {
                "host": "m7i",
                "results": {
                    "clickbench": {
                        "duckdb": {"total_s": 21.4, "hot_s": 9.7},
                        "polarsql": {"total_s": 38.9, "hot_s": 14.1},
                    },
                    "tpch": {
                        "duckdb": {"total_s": 7.83, "hot_s": 6.1},
                        "polarsql": {"total_s": 11.2, "hot_s": 8.8},
                    },
                },
            }
        )
    },
    texts={
        "README.md": """# engines

On clickbench, duckdb needs ⟦21.4 s⟧ in total; hot runs need ⟦9.7 s⟧. On tpch, polarsql needs ⟪13.0 s⟫ in total.

- tpch, duckdb: total ⟦7.83 s⟧
- clickbench, polarsql: total ⟦38.9 sec⟧, hot ⟦14.1 seconds⟧
""",
        "docs/fr/index.md": "# Moteurs\n\nSur tpch, duckdb met ⟦7,83 s⟧ au total (⟦7 830 ms⟧).\n",
    },
)
PROJECTS["pyb"] = Project(
    source="bench.json",
    results={
        "bench.json": json.dumps(
            {
                "machine_info": {"node": "x"},
                "commit_info": {},
                "datetime": "2026-01-01T00:00:00",
                "version": "4.0.0",
                "benchmarks": [
                    {
                        "group": None,
                        "name": "test_encode",
                        "fullname": "t::test_encode",
                        "params": None,
                        "param": None,
                        "extra_info": {},
                        "options": {},
                        "stats": {
                            "min": 0.00121,
                            "max": 0.0019,
                            "mean": 0.001384,
                            "stddev": 0.0001,
                            "rounds": 612,
                            "median": 0.001352,
                            "iqr": 0.0001,
                            "q1": 0.0013,
                            "q3": 0.0014,
                            "iqr_outliers": 3,
                            "stddev_outliers": 5,
                            "outliers": "5;3",
                            "ld15iqr": 0.0012,
                            "hd15iqr": 0.0015,
                            "ops": 722.5,
                            "total": 0.84,
                            "iterations": 1,
                        },
                    },
                    {
                        "group": None,
                        "name": "test_decode",
                        "fullname": "t::test_decode",
                        "params": None,
                        "param": None,
                        "extra_info": {},
                        "options": {},
                        "stats": {
                            "min": 0.00301,
                            "max": 0.0049,
                            "mean": 0.003512,
                            "stddev": 0.0002,
                            "rounds": 280,
                            "median": 0.003398,
                            "iqr": 0.0001,
                            "q1": 0.0033,
                            "q3": 0.0036,
                            "iqr_outliers": 3,
                            "stddev_outliers": 5,
                            "outliers": "5;3",
                            "ld15iqr": 0.003,
                            "hd15iqr": 0.0039,
                            "ops": 284.7,
                            "total": 0.98,
                            "iterations": 1,
                        },
                    },
                ],
            }
        )
    },
    texts={
        "README.rst": """codec
=====

.. image:: https://img.shields.io/badge/python-3.12-blue

``test_encode`` takes ⟦1.38 ms⟧ on average (median ⟦1.352 ms⟧), ``test_encode`` is ⟦2.5×⟧ as fast as ``test_decode``.

``test_decode`` takes ⟪4.1 ms⟫.

The median of ``test_decode`` is ⟦3.4 ms⟧.
"""
    },
)
PROJECTS["html"] = Project(
    source="stats.json",
    results={
        "stats.json": json.dumps(
            [
                {"product": "searchly", "p95_ms": 18.4, "docs_s": 41200, "index_mb": 312.5, "recall": 0.973},
                {
                    "product": "elasticfoo",
                    "p95_ms": 63.1,
                    "docs_s": 15800,
                    "index_mb": 890.2,
                    "recall": 0.981,
                },
            ]
        )
    },
    texts={
        "index.html": """<!doctype html><html lang="en"><body>
<section><h2>searchly</h2><p>searchly answers in <strong>⟦18.4&nbsp;ms⟧</strong> at p95 and indexes <b>⟦41,200</b> docs/s⟧.</p></section>
<dl><dt>searchly</dt><dd>⟦312.5 MB⟧</dd></dl>
<table><tr><th>elasticfoo</th><td>⟦63.1 ms⟧</td><td>⟪14,900 docs/s⟫</td><td>⟦98.1 %⟧</td></tr></table>
<p>searchly: recall ⟦97.3%⟧</p><p>elasticfoo: recall ⟪94.4%⟫</p>
</body></html>
""",
        "llms.txt": "# searchly\n\n- searchly: ⟦41.2k docs/s⟧, p95 ⟦18.4 ms⟧\n- elasticfoo: p95 ⟪71 ms⟫\n",
    },
)
PROJECTS["toml"] = Project(
    source="perf.toml",
    results={
        "perf.toml": '[[run]]\nmodel = "whisper-small"\nwer = 0.087\nrtf = 0.031\nmem_mb = 612\n[[run]]\nmodel = "whisper-large"\nwer = 0.054\nrtf = 0.142\nmem_mb = 3140\n'
    },
    texts={
        "README.md": "# asr\n\nwhisper-small has a wer of ⟦8.7 %⟧ in ⟦612 MB⟧, whisper-large one of ⟦5.4%⟧.\n\nwhisper-large needs ⟦3.14 GB⟧. The wer of whisper-large is ⟪6.1 %⟫.\n",
        "README.zh-CN.md": "# asr\n\nwhisper-small 的 wer 为 ⟦8.7%⟧，占用 ⟦612 MB⟧。whisper-large 占用 ⟪2,900 MB⟫。\n",
        "README.ja.md": "whisper-small は⟦612 MB⟧、whisper-large は⟦3,140 MB⟧です。\n",
    },
)
PROJECTS["src"] = Project(
    source="runs.jsonl",
    results={
        "runs.jsonl": '{"case":"insert","impl":"btree","ns_per_op":184.2,"mops_s":5.43}\n{"case":"insert","impl":"lsm","ns_per_op":61.7,"mops_s":16.2}\n{"case":"scan","impl":"btree","ns_per_op":9.8,"mops_s":102.0}\n{"case":"scan","impl":"lsm","ns_per_op":27.3,"mops_s":36.6}\n'
    },
    texts={
        "src/tree.ts": "/**\n * An insert into the btree takes ⟦184 ns⟧.\n * A scan of the lsm takes ⟪31 ns/op⟫.\n */\nexport const a = 1\n",
        "README.md": "# t\n\nA scan of the btree takes ⟦9.8 ns⟧, which is ⟦2.8×⟧ as fast as a scan of the lsm. An insert into the lsm takes ⟦61.7 ns⟧; it is ⟦3×⟧ as fast as an insert into the btree.\n",
    },
)
PROJECTS["dedocs"] = Project(
    source="daten/ergebnis.json",
    results={
        "daten/ergebnis.json": json.dumps(
            {
                "stand": "2026-05",
                "laeufe": [
                    {"name": "Kaltstart", "dauer_ms": 842.3, "speicher_mb": 96.4},
                    {"name": "Warmstart", "dauer_ms": 118.6, "speicher_mb": 88.1},
                ],
            }
        )
    },
    texts={
        "docs/leistung.md": "---\ntitle: Leistung\n---\n\n# Leistung\n\nDer Kaltstart dauert ⟦842,3 ms⟧ und belegt ⟦96,4 MB⟧. Der Warmstart dauert ⟦118,6 ms⟧, ist also ⟦7,1-mal⟧ so schnell wie der Kaltstart.\n\n:::note\nWarmstart: ⟪91,0 MB⟫.\n:::\n",
        "i18n/en/leistung.md": "The Kaltstart takes ⟦842.3 ms⟧.\n",
    },
)
PROJECTS["vi"] = Project(
    source="metrics.json",
    results={
        "metrics.json": json.dumps(
            {
                "files": 1284,
                "coverage_pct": 91.7,
                "latency": {"p50_ms": 12.4, "p99_ms": 87.2},
                "accuracy": 0.934,
            }
        )
    },
    texts={
        "README.vi.md": "# Công cụ\n\n- ⟦1.284 files⟧, coverage ⟦91,7%⟧\n- p50: ⟦12,4 ms⟧, p99: ⟦87,2 ms⟧\n- accuracy ⟦93,4 %⟧\n- p99: ⟪79,0 ms⟫\n",
        "README.md": "![files](https://img.shields.io/badge/files-⟦1284⟧-blue) ![acc](https://img.shields.io/badge/accuracy-⟦93.4%25⟧-blue)\n\np50 is ⟦12.4ms⟧; coverage is ⟪88 %⟫.\n",
    },
)


@pytest.mark.parametrize("name", PROJECTS)
def test_numbers_are_counted_the_right_ones_found_and_the_stale_ones_told(name: str, tmp_path: Path) -> None:
    project = PROJECTS[name]
    found = checked(project, tmp_path)
    classes = {(one["file"], one["line"], one["column"]): one["class"] for one in found["numbers"]["all"]}
    right, stale = marked(project, "⟦"), marked(project, "⟪")
    assert {one: classes.get(one) for one in right if classes.get(one) != "found"} == {}
    assert told(found) == stale
    assert found["numbers"]["control"] < 0.05
