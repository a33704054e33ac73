"""``mongo-tables run`` on a fake Atlas whose clusters are a replica set: from the command to the published columns."""

from __future__ import annotations

import json
import re

import pytest

from mongo_tables.cli import main
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner import host
from mongo_tables.runner.store import FileStore
from tests.runner.atlas.project import PROJECT, hardware_of
from tests.runner.atlas.test_faults import EXPERIMENT
from tests.runner.atlas.test_lifecycle import WHERE, is_empty

SEEN = ("--seconds", 3, "--duration", "3s")
"""Windows in which the server samples its machine, once a second."""
TIERS = {"M30": 0.9, "M40": 1.7, "M50": 2.6, "M60": 4.4, "M80": 8.0}


@pytest.fixture
def prices(tmp_path):
    """A table with every machine of the three experiments."""
    lines = [
        f'{{ tier = "{tier}", region = "EU_WEST_1", disk = "{disk}", iops = {iops}, gb = {gb}, per_hour = {price} }}'
        for tier, price in TIERS.items()
        for disk, all_iops in (("STANDARD", [1]), ("PROVISIONED", [1000, 1500, 3000, 4500, 6000]))
        for iops in all_iops
        for gb in (200, 512, 1024)
    ]
    path = tmp_path / "prices.toml"
    text = f'date = 2026-11-01\nsource = "a test"\ncurrency = "USD"\nprices = [{", ".join(lines)}]\n'
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def run(capsys, prices, tmp_path, usable):
    """Runs an experiment in small; gives exit code, output, errors."""

    def run_it(name, *arguments):
        given = [
            "--profile",
            "quick",
            "--prices",
            prices,
            "--output",
            tmp_path / "out",
            "--processes",
            1,
            *arguments,
        ]
        code = main(["run", str(smaller(name, tmp_path)), "--target", WHERE, *map(str, given)])
        return code, *capsys.readouterr()

    return run_it


def smaller(name, folder):
    """The experiment with all its variants, and with batches and connections that two processors bear."""
    path = folder / f"{name}.toml"
    text = (path if path.exists() else experiments.FOLDER / path.name).read_text("utf-8")
    text = re.sub(r"numberOfThreads = \d+", "numberOfThreads = 3", text)
    text = re.sub(r"writeBatchSize = \d+", "writeBatchSize = 20", text)
    text = re.sub(r"(initialDocsToInsert|totalDocsToInsert) = [\d_]+", r"\1 = 400_000", text)
    path.write_text(text.replace("RANDINT(1,62500)", "RANDINT(1,1000)"), encoding="utf-8")
    return path


def series(name):
    """The values that a series has."""
    listed = {"$concatArrays": ["$metrics.measurements", "$metrics.diskMetrics"]}
    named = {"$first": {"$filter": {"input": listed, "cond": {"$eq": ["$$this.name", name]}}}}
    return {"$let": {"vars": {"found": named}, "in": "$$found.dataPoints.value"}}


def counted(path, seconds="$duration"):
    """What a counter of the server grew by in a millisecond of the window."""
    return {"$divide": [{"$subtract": [f"$after_status.{path}", f"$before_status.{path}"]}, seconds]}


LABEL = {
    "$concat": [
        "$variant.instance.atlasDiskType", " (", {"$toString": "$variant.instance.atlasDiskSizeGB"}, "GB@",
        {"$toString": "$variant.instance.atlasIOPS"}, "IOPS)",
    ]
}  # fmt: skip
SPEED = {
    "durationS": {"$round": [{"$divide": ["$duration", 1000]}, 1]},
    "totalMB": {"$divide": ["$work.bytes", 1048576]},
    "DocsPerSecond": "$work.operations_per_second",
    "MBperSecond": {"$divide": ["$work.bytes", "$duration"]},
    "opLatency": {"$round": [{"$avg": series("OP_EXECUTION_TIME_WRITES")}, 1]},
}
RESOURCES = {
    "meancpu": {
        "$add": [
            {"$avg": series("SYSTEM_NORMALIZED_CPU_USER")},
            {"$avg": series("SYSTEM_NORMALIZED_CPU_KERNEL")},
        ]
    },
    "iowait": {"$round": [{"$avg": series("SYSTEM_NORMALIZED_CPU_IOWAIT")}, 2]},
    "cachePageReadPerSecondKB": counted("wiredTiger.cache.pages read into cache"),
    "compressedDataPerSecondKB": counted("wiredTiger.block-manager.bytes written"),
    "journalPerSecondKB": counted("wiredTiger.log.log bytes written"),
    "meanIops": {"$avg": series("DISK_PARTITION_IOPS_TOTAL")},
    "meanWrite": {"$divide": [{"$avg": series("DISK_PARTITION_THROUGHPUT_WRITE")}, 1048576]},
    "meanRead": {"$divide": [{"$avg": series("DISK_PARTITION_THROUGHPUT_READ")}, 1048576]},
}


TIER = "$variant.instance.atlasInstanceType"
IOPS = "$variant.instance.atlasIOPS"


def rendered(capsys, folder, name, label, columns, order):
    """Rows of a page's table with these columns, as the program renders it: texts by the name of the column."""
    project = {"_id": 0, "label": label, "order": order, **columns}
    names = ["label", *columns]
    spec = {
        "collection": "results",
        "pipeline": [{"$match": {"_id.testname": name}}, {"$project": project}, {"$sort": {"order": 1}}],
        "columns": names, "headers": names,
    }  # fmt: skip
    page = folder / "page.md"
    page.write_text(f"# Page\n\n<!-- MONGO_TABLE: {json.dumps(spec)} -->\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["render", str(page), "--results", str(folder / "out")]) == 0
    lines = [line.strip("| ") for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_insert_speed_by_disk_has_its_published_columns(usable, run, tmp_path, capsys):
    code, out, err = run("insert_iops", "--max-cost", 60, *SEEN)
    assert (code, out) == (0, "insert_iops: 5 rows\n"), err
    assert is_empty(usable)
    assert len(usable.project.ended) == 5  # a cluster for each disk
    table = rendered(capsys, tmp_path, "insert_iops", LABEL, {**SPEED, **RESOURCES}, IOPS)
    assert [row["label"] for row in table] == [
        "PROVISIONED (200GB@<wbr>1500IOPS)", "STANDARD (200GB@<wbr>3000IOPS)", "PROVISIONED (200GB@<wbr>3000IOPS)",
        "PROVISIONED (200GB@<wbr>4500IOPS)", "PROVISIONED (200GB@<wbr>6000IOPS)",
    ]  # fmt: skip
    for row in table:
        check_resources(row)
        assert all(float(row[name]) > 0 for name in ("totalMB", "DocsPerSecond", "MBperSecond", "opLatency"))


@pytest.mark.thorough
def test_insert_speed_by_size_has_a_cluster_for_each_tier(usable, run, tmp_path, capsys):
    code, out, err = run("insert_instancesize", "--max-cost", 60, *SEEN)
    assert (code, out) == (0, "insert_instancesize: 5 rows\n"), err
    assert is_empty(usable)
    disks = {hardware_of(cluster.body)["diskSizeGB"] for cluster in usable.project.ended}
    assert disks == {200, 512}
    assert len(usable.project.ended) == 5
    table = rendered(capsys, tmp_path, "insert_instancesize", TIER, {**SPEED, **RESOURCES}, TIER)
    assert [row["label"] for row in table] == list(TIERS)
    for row in table:
        check_resources(row)
    for row in rows(tmp_path, "insert_instancesize"):
        asked = row["variant"]["instance"]
        assert row["experiment"]["varied"] == asked
        assert row["experiment"]["not_varied"] == []
        assert {name: row["bench_config"][name] for name in asked} == asked


@pytest.mark.exhaustive
def test_queries_by_disk_have_their_cost_and_two_tiers(usable, run, tmp_path, capsys):
    code, out, err = run("query_fetch_io", "--max-cost", 60, *SEEN)
    assert (code, out) == (0, "query_fetch_io: 6 rows\n"), err
    assert is_empty(usable)
    columns = {
        "disktype": "$variant.instance.atlasDiskType",
        "iops": IOPS,
        "durationS": SPEED["durationS"],
        "qps": "$work.operations_per_second",
        "cost": {"$divide": ["$_id.instance.cost", 100]},
        **RESOURCES,
    }
    table = rendered(capsys, tmp_path, "query_fetch_io", TIER, columns, IOPS)
    assert [(row["label"], row["iops"], row["cost"]) for row in table] == [
        ("M50", "1000", "2.33"), ("M60", "3000", "3.13"), ("M50", "3000", "3.13"), ("M50", "3072", "1.77"),
        ("M50", "4500", "3.73"), ("M50", "6000", "4.33"),
    ]  # fmt: skip
    for row in table:
        check_resources(row)
        assert float(row["qps"]) > 0
    (standard,) = (
        row for row in rows(tmp_path, "query_fetch_io") if row["bench_config"]["atlasDiskType"] == "STANDARD"
    )
    assert "atlasIOPS" not in standard["experiment"]["varied"]  # its size decides
    assert standard["bench_config"]["atlasIOPS"] == 3000


def test_variants_may_ask_for_versions(usable, run, tmp_path, monkeypatch):
    """Each row has what Atlas gave; the stand-in's server says the version of its cluster."""
    versions = host.versions
    monkeypatch.setattr(
        host,
        "versions",
        lambda info: {
            **versions(info),
            "server": next(iter(usable.project.all_clusters()))["mongoDBVersion"],
        },
    )
    machine = (
        'atlasInstanceType = "M50", atlasDiskType = "PROVISIONED", atlasIOPS = 3000, atlasDiskSizeGB = 200'
    )
    head = EXPERIMENT.partition("[[variants]]")[0]
    variants = [
        f'[[variants]]\ninstance = {{ {machine}, version = "{version}" }}\n' for version in ("7.0", "8.0")
    ]
    (tmp_path / "tiny.toml").write_text(head + "".join(variants), encoding="utf-8")
    code, _, err = run("tiny", "--max-cost", 60, "--repeats", 2)
    assert code == 0, err
    found = rows(tmp_path, "tiny")
    assert [row["versions"]["server"] for row in found] == ["7.0.4", "8.0.4"]
    assert [row["experiment"]["varied"]["version"] for row in found] == ["7.0", "8.0"]


def rows(folder, name):
    return FileStore(folder / "out").rows(name)


def check_resources(row):
    """The server says them of its own machine."""
    assert float(row["meancpu"]) > 0
    assert all(float(row[name]) >= 0 for name in ("iowait", "meanIops", "meanWrite", "meanRead"))


def test_a_row_says_where_it_was_measured_and_no_secret(usable, run, tmp_path):
    (tmp_path / "tiny.toml").write_text(EXPERIMENT, encoding="utf-8")
    code, _, err = run("tiny", "--max-cost", 60)
    assert code == 0, err
    row = rows(tmp_path, "tiny")[0]
    assert row["topology"] == {
        "kind": "replica set", "members": 3, "place": "Atlas on AWS, EU_WEST_1; the client elsewhere",
    }  # fmt: skip
    assert row["experiment"]["target"] == "atlas"
    text = json.dumps(row, default=str)
    assert PROJECT not in text
    passwords = [
        one.body["password"] for one in usable.seen if one.method == "POST" and one.path.endswith("Users")
    ]
    assert passwords and not any(password in text for password in passwords)
    assert not any(name in text for name in ("mongo-tables-", "mongodb.net"))
