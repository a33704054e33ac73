"""What pages state, computed once more by a program that shares no code with the one that made them.

    mkdocs build && python -m benchmarks.recompute [--site site] [--number 100] [--seed 1]

A mongod runs the pipelines of the tables and selects the rows of the values (MONGO_VALUE) that are drawn by lot;
what the built site shows is held against them, digit by digit. Conclusions are computed from the speeds in the blocks
of every campaign by NumPy and SciPy: of all documents, whether a page shows them or not. Nothing of ``mongo_tables``
is imported but the mongod that its runner starts.

Fails where a figure is another one.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pymongo
from bson import json_util
from pymongo.database import Database
from scipy import stats

from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_set import LocalReplicaSet

Document = Mapping[str, Any]
COMMENT = re.compile(r"<!--\s*MONGO_(TABLE|VALUE)\s*:\s*(\{.*?\})\s*-->", re.DOTALL)
SHOWN = re.compile(r'<span class="mongo-value"[^>]*>(.*?)</span>', re.DOTALL)
TAG = re.compile(r"<[^>]+>")
SHARE = 0.05


class Value(NamedTuple):
    """A value in a sentence of a page: what its comment asks for, and what the site shows."""

    page: str
    body: Document
    shown: str


class Computed(NamedTuple):
    """A ratio of speeds with both ends of its 95 % interval, ``p``, and the number of its blocks."""

    ratio: float
    low: float
    high: float
    p: float
    blocks: int


def read_documents(folder: Path) -> list[Document]:
    """All documents of a folder of Extended JSON, one a line."""
    lines = (line for file in sorted(folder.rglob("*.jsonl")) for line in file.read_text().splitlines())
    return [json_util.loads(line) for line in lines if line.strip()]


def read_comments(docs: Path) -> tuple[dict[str, Document], dict[str, list[Document]]]:
    """The tables of all pages by their id, and the values of each page in their order."""
    tables: dict[str, Document] = {}
    values: dict[str, list[Document]] = {}
    for file in sorted(docs.rglob("*.md")):
        text = re.sub(r"^( *)(```+|~~~+).*?^\1\2", "", file.read_text(), flags=re.DOTALL | re.MULTILINE)
        for kind, source in COMMENT.findall(text):
            body = json_util.loads(source)
            if kind == "TABLE" and "id" in body:
                tables[body["id"]] = body
            elif kind == "VALUE":
                values.setdefault(str(file.relative_to(docs)), []).append(body)
    return tables, values


def find_built(site: Path, page: str) -> Path:
    """The file of a page in the site."""
    name = Path(page)
    return (
        site / name.parent / "index.html"
        if name.stem == "index"
        else site / name.with_suffix("") / "index.html"
    )


def list_values(docs: Path, site: Path, values: Mapping[str, Sequence[Document]]) -> Iterator[Value]:
    """Each value with what the site shows of it; a page that shows another number of them ends the program."""
    for page, bodies in values.items():
        texts = [unescape(TAG.sub("", one)) for one in SHOWN.findall(find_built(site, page).read_text())]
        if len(texts) != len(bodies):
            raise SystemExit(f"{docs / page} has {len(bodies)} values, and the site {len(texts)}")
        yield from (Value(page, body, text) for body, text in zip(bodies, texts, strict=True))


def write_out(pipeline: Sequence[Any] | str, docs: Path) -> list[Any]:
    """The stages of a pipeline, those of the shared ones that it names among them."""
    stages = [pipeline] if isinstance(pipeline, str) else pipeline
    found: list[Any] = []
    for stage in stages:
        if isinstance(stage, str):
            shared = json_util.loads((docs / "pipelines" / f"{stage}.json").read_text())
            found += write_out(shared["pipeline"] if isinstance(shared, dict) else shared, docs)
        else:
            found.append(stage)
    return found


def find_value(database: Database[Any], table: Document, body: Document, docs: Path) -> Any:
    """What the server answers for a value."""
    stages = write_out(table["pipeline"], docs)
    rows = list(database[table["collection"]].aggregate(stages))
    chosen = list(database.aggregate([{"$documents": rows}, {"$match": body.get("where", {})}]))
    if len(chosen) != 1:
        raise SystemExit(f"{body}: {len(chosen)} rows")
    value: Any = chosen[0]
    for name in body["column"].split("."):
        value = value[name]
    return value


def say_fault(value: Any, shown: str, missing: str | None) -> str:
    """What is wrong with the text of a value; "" where nothing is."""
    if isinstance(value, Mapping):
        return say_conclusion_fault(value, shown)
    if value is None or isinstance(value, str):
        expected = missing if value is None else value
        return "" if expected is not None and shown.startswith(expected) else f"it is {expected!r}"
    if isinstance(value, datetime):
        return "" if shown.startswith(f"{value:%Y-%m-%d}") else f"it is {value}"
    if isinstance(value, list | bool):
        return f"it is {value!r}"
    number = float(value.to_decimal()) if hasattr(value, "to_decimal") else float(value)
    (first, *_) = (*read_numbers(shown), None)
    if first is None:
        return f"it is {number}, and no number is shown"
    return "" if is_rounded(number, first) else f"it is {number}"


def read_numbers(text: str) -> list[Decimal]:
    """The numbers in a text, with their decimals."""
    plain = text.replace("−", "-").replace(",", "")
    return [Decimal(one) for one in re.findall(r"(?<![\w.])[-+]?\d+(?:\.\d+)?", plain)]


def is_rounded(number: float, shown: Decimal) -> bool:
    """Whether a number, written with as many decimals as another has, is that one."""
    exponent = shown.as_tuple().exponent
    assert isinstance(exponent, int)
    return abs(number - float(shown)) <= 0.5 * 10.0**exponent * (1 + 1e-6) + 1e-12


def say_conclusion_fault(told: Document, shown: str) -> str:
    """Hold the words of a conclusion against its ratio, or those of campaigns that do not agree, and its interval."""
    ratio, low, high = (float(told[name] or 0) for name in ("ratio", "low", "high"))
    words = shown.removeprefix("with itself: ")
    plain = words.replace("; based on few requests)", ")").removesuffix(" (based on few requests)")
    figures = read_numbers(plain)
    if plain.startswith("no difference"):
        most = np.ceil(round(100 * (max(high, 1 / low) - 1), 6))
        right = told["verdict"] == "no difference" and [int(one) for one in figures] == [max(1, int(most))]
    elif plain.startswith(("not known", "noise", "at most", "between")):
        beyond = ((low, 1 - low), (high, high - 1))
        bounds = [find_bound(end) for end, share in beyond if round(100 * share) > 0]
        written = [float(one) for one in read_numbers(plain.partition(" (campaigns")[0])]
        is_right = told["verdict"] == "not known" and (plain == "not known" or written == bounds)
        right = plain.startswith("noise") or is_right
    else:
        right = is_told_as(told["verdict"], find_ratios(told), (low, high), plain)
    right = right and (words != plain) == bool(told.get("few_requests"))
    return "" if right else f"it is {told['verdict']} {ratio:.5f} [{low:.5f}, {high:.5f}]"


def find_bound(end: float) -> float:
    """How far an end of an interval is from 1, rounded up: in per cent below twice, in times from there on."""
    factor = max(end, 1 / end)
    if factor < 2:
        return float(np.ceil(round(100 * abs(end - 1), 6)))
    return float(np.ceil(round(factor, 6)) if factor >= 10 else np.ceil(round(factor * 10, 6)) / 10)


def find_ratios(told: Document) -> list[float]:
    """The ratio of a conclusion; where the intervals of its campaigns do not touch, that of each."""
    each = told.get("each", [])
    apart = len(each) > 1 and max(one["low"] for one in each) > min(one["high"] for one in each)
    return [float(one["ratio"]) for one in each] if apart else [float(told["ratio"])]


def is_told_as(verdict: str, ratios: Sequence[float], ends: Sequence[float], words: str) -> bool:
    """Whether words have these ratios and the ends of their interval: as factors or in per cent."""
    if "times slower" in words:
        figures, turned, right = (
            read_numbers(words),
            [1 / one for one in (*ratios, *ends)],
            verdict == "slower",
        )
    elif "times as fast" in words:
        figures, turned, right = read_numbers(words), [*ratios, *ends], verdict == "faster"
    else:
        figures, turned = read_numbers(words), [abs(100 * (one - 1)) for one in (*ratios, *ends)]
        right = verdict in words
    count = len(ratios)
    pairs = ((turned[:count], figures[:count]), (turned[count:], figures[count:]))
    return (
        right
        and len(figures) == len(turned)
        and all(all(map(is_rounded, sorted(a), sorted(b))) for a, b in pairs)
    )


def speeds_of(row: Document, again: bool | None = None) -> dict[int, float]:
    """The speed of a row in each block: the geometric mean of its windows there."""
    found: dict[int, list[float]] = {}
    for repeat in row.get("repeats", ()):
        if "block" in repeat and again in (None, bool(repeat.get("again"))):
            found.setdefault(int(repeat["block"]), []).append(float(repeat["operations_per_second"]))
    return {block: float(stats.gmean(some)) for block, some in found.items()}


def compute_interval(one: Mapping[int, float], other: Mapping[int, float]) -> Computed:
    """The ratio of speeds in the same blocks."""
    blocks = sorted(one.keys() & other.keys())
    logs = np.log([one[block] / other[block] for block in blocks])
    if len(blocks) >= 20:
        return Computed(*compute_by_ranks(logs), len(blocks))
    around = stats.t.interval(0.95, len(logs) - 1, loc=logs.mean(), scale=stats.sem(logs))
    p = stats.ttest_1samp(logs, 0).pvalue
    low, high = map(float, np.exp(around))
    return Computed(float(np.exp(logs.mean())), low, high, float(p), len(blocks))


def compute_by_ranks(logs: Any) -> tuple[float, float, float, float]:
    """The same by the signed ranks: the shifts that Wilcoxon's test does not refuse.

    The test changes its mind at the means of pairs, so each end is asked just inside of one.
    """
    walsh = np.sort([(a + b) / 2 for i, a in enumerate(logs) for b in logs[i:]])
    low = next(one for one in walsh if _is_kept(logs - one - 1e-12))
    high = next(one for one in walsh[::-1] if _is_kept(logs - one + 1e-12))
    p = float(stats.wilcoxon(logs, method="exact").pvalue)
    return float(np.exp(np.median(walsh))), float(np.exp(low)), float(np.exp(high)), p


def _is_kept(logs: Any) -> bool:
    return bool(stats.wilcoxon(logs, method="exact").pvalue > 1 - 0.95)


def name_of(row: Document) -> str:
    """The name by which conclusions call a variant: its comment, or its parameters where a machine is among them."""
    key = {name: value for name, value in row["_id"].items() if name not in ("testname", "target")}
    if "comment" in key and "instance" not in key:
        return str(key["comment"]).strip()
    plain = {name: value for name, value in key.items() if name not in ("comment", "query")}
    return ", ".join(f"{name} {write_plainly(value)}" for name, value in plain.items())


def write_plainly(value: Any) -> str:
    """A value in the name of a variant."""
    return " ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)


def compute_told(rows: Sequence[Document], row: Document, field: str) -> Computed | None:
    """What a row was compared with in its own campaign, computed anew; None where there is no such subdocument."""
    if (told := row.get(field)) is None:
        return None
    if told["against"] == "itself":
        return compute_interval(speeds_of(row, again=True), speeds_of(row, again=False))
    itself = (one for one in rows if one.get("comparison", {}).get("against") == "itself")
    named = (one for one in rows if name_of(one) == told["against"])
    return compute_interval(speeds_of(row), speeds_of(next(itself if field == "comparison" else named)))


def pool(each: Sequence[Computed]) -> Computed:
    """Up to four campaigns together: from the lowest end to the highest."""
    ratio = float(stats.gmean([one.ratio for one in each]))
    low, high = min(one.low for one in each), max(one.high for one in each)
    p = max(one.p for one in each) if low > 1 or high < 1 else 1.0
    return Computed(ratio, low, high, p, sum(one.blocks for one in each))


def judge(found: Computed, differs: bool) -> str:
    """The verdict of an interval; ``differs``: it stands among those that are judged together."""
    if differs and not found.low <= 1 <= found.high:
        return "faster" if found.low > 1 else "slower"
    return "no difference" if found.low >= 1 / 1.1 and found.high <= 1.1 else "not known"


def check_family(family: Mapping[str, tuple[Document, Computed]]) -> Iterator[str]:
    """Hold some subdocuments that are judged together against what was computed, by the name of their row."""
    differ = stats.false_discovery_control([found.p for _, found in family.values()]) <= SHARE
    for (name, (told, found)), one in zip(family.items(), differ, strict=True):
        expected = (found.ratio, found.low, found.high, found.p)
        there = tuple(float(told[key]) for key in ("ratio", "low", "high", "p"))
        if not np.allclose(there, expected, rtol=1e-6, atol=1e-9) or told["blocks"] != found.blocks:
            yield f"{name}: it says {there}, {told['blocks']} blocks; computed {expected}, {found.blocks} blocks"
        elif told["verdict"] != (verdict := judge(found, bool(one))):
            yield f"{name}: it says {told['verdict']}, computed {verdict}"


def list_families(
    rows: Sequence[Document], campaigns: Mapping[str, Sequence[Document]]
) -> Iterator[dict[str, tuple[Document, Computed]]]:
    """All that the rows of an experiment conclude, in one campaign and over several, as it is judged together."""
    for field in ("comparison", "contrast"):
        for over in (False, True):
            found: dict[bool, dict[str, tuple[Document, Computed]]] = {}
            for row in rows:
                told = find_pooled(row, field) if over else row.get(field)
                if told is None or told.get("ratio") is None:
                    continue
                sets = [find_rows(campaigns, one["id"], row) for one in told["each"]] if over else [rows]
                computed = [compute_told(some, find_same(some, row), field) for some in sets]
                each = [one for one in computed if one is not None]
                name = f"{row['_id']['testname']}, {name_of(row)}, {field}{' over campaigns' * over}"
                own = found.setdefault(told["against"] == "itself", {})
                own[name] = (told, pool(each) if over else each[0])
            yield from found.values()


def find_pooled(row: Document, field: str) -> Document | None:
    """What several campaigns conclude in place of a subdocument."""
    over: Document = row.get("campaigns") or {}
    return over.get("contrast") if field == "contrast" else over or None


def find_rows(campaigns: Mapping[str, Sequence[Document]], name: str, row: Document) -> list[Document]:
    """The rows of the row's experiment in a campaign."""
    return [one for one in campaigns[name] if one["_id"]["testname"] == row["_id"]["testname"]]


def find_same(rows: Sequence[Document], row: Document) -> Document:
    """The row of the same variant."""
    return next(one for one in rows if one["_id"] == row["_id"])


def check_speed(row: Document) -> Iterator[str]:
    """Hold the speed of a row and its interval against its blocks: the median, and two of the speeds."""
    speeds = np.sort([*speeds_of(row).values()])
    if "speed" not in row or len(speeds) < 6 or speeds[0] <= 0:
        return
    cut = int(stats.binom.ppf(0.025, len(speeds), 0.5)) - 1
    expected = (float(np.median(speeds)), float(speeds[cut]), float(speeds[-1 - cut]))
    there = tuple(float(row["speed"][key]) for key in ("median", "low", "high"))
    if not np.allclose(there, expected, rtol=1e-6):
        yield f"{name_of(row)} of {row['_id']['testname']}: the speed is said to be {there}, computed {expected}"


def check_documents(fixtures: Path) -> Iterator[str]:
    """Hold what all documents conclude against the speeds in their blocks."""
    campaigns: dict[str, list[Document]] = {}
    for folder in sorted((fixtures / "campaigns").glob("*/results")):
        campaigns[folder.parent.name] = [*read_documents(folder)]
    results = read_documents(fixtures / "results")
    for row in results:
        if (own := row.get("campaign", {}).get("id")) and not any(
            one["_id"] == row["_id"] for one in campaigns.get(own, [])
        ):
            campaigns.setdefault(own, []).append(row)
    looked = 0
    sets = [*campaigns.values(), results]
    for rows in sets:
        for test in sorted({row["_id"]["testname"] for row in rows}):
            some = [row for row in rows if row["_id"]["testname"] == test]
            for family in list_families(some, campaigns):
                looked += len(family)
                yield from check_family(family)
            for row in some:
                yield from check_speed(row)
    print(f"{looked} conclusions of documents computed anew")


def check_values(asked: argparse.Namespace) -> Iterator[str]:
    """Hold values that are drawn by lot against what a server answers to the pipelines of their tables."""
    tables, values = read_comments(asked.docs)
    every = [*list_values(asked.docs, asked.site, values)]
    drawn = random.Random(asked.seed).sample(every, min(asked.number, len(every)))
    server = LocalReplicaSet(LocalAddress(members=1))
    try:
        database: Database[Any] = pymongo.MongoClient(server.uri, tz_aware=True)["recomputed"]
        for name in {table["collection"] for table in tables.values()}:
            if documents := read_documents(asked.fixtures / name):
                database[name].insert_many(documents)
        for one in drawn:
            table = tables[one.body["table"]]
            form = one.body.get("format") or table.get("format", {}).get(one.body["column"], {})
            fault = say_fault(
                find_value(database, table, one.body, asked.docs), one.shown, form.get("missing")
            )
            if fault:
                yield f"{one.page}: “{one.shown}” of {one.body['table']}, {one.body['column']}: {fault}"
    finally:
        server.close()
    print(f"{len(drawn)} of {len(every)} values computed anew (seed {asked.seed})")


def main() -> int:
    """Print what was recomputed, and what is another figure; 1 where something is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    parser.add_argument("--fixtures", type=Path, default=Path("fixtures"))
    parser.add_argument("--site", type=Path, default=Path("site"))
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    faults = [*check_documents(asked.fixtures), *check_values(asked)]
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
