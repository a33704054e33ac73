"""Clusters of a run: made, waited for, read back, removed, and nothing of others touched."""

from __future__ import annotations

from contextlib import closing
from math import inf

import pytest
from pymongo import MongoClient

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.atlas.address import RUN_TAG
from mongo_tables.runner.atlas.costs import read_prices
from mongo_tables.runner.atlas.target import LONGEST_CHANGE, AtlasTarget, begin_run
from mongo_tables.runner.errors import TargetError
from tests.runner.atlas.fake import Fault
from tests.runner.atlas.project import PROJECT, hardware_of, region_of

RUN = "a1b2c3d4e5f6"
WHERE = f"atlas:{PROJECT}"
M50 = {"atlasInstanceType": "M50", "atlasDiskType": "PROVISIONED", "atlasIOPS": 3000, "atlasDiskSizeGB": 200}
M60 = {**M50, "atlasInstanceType": "M60"}
FASTER = {**M50, "atlasIOPS": 6000}
STANDARD = {**M50, "atlasDiskType": "STANDARD"}
PRICES = """\
date = 2026-11-01
source = "a test"
currency = "USD"
prices = [
  { tier = "M50", region = "EU_WEST_1", disk = "PROVISIONED", iops = 3000, gb = 200, per_hour = 2.5 },
  { tier = "M60", region = "EU_WEST_1", disk = "PROVISIONED", iops = 3000, gb = 200, per_hour = 4.5 },
  { tier = "M50", region = "EU_WEST_1", disk = "PROVISIONED", iops = 6000, gb = 200, per_hour = 3.7 },
  { tier = "M50", region = "EU_WEST_1", disk = "STANDARD", gb = 200, per_hour = 1.3 },
]
"""


@pytest.fixture
def told():
    """What the run says while it works."""
    return []


@pytest.fixture
def opened(tmp_path, told):
    """Gives a target; it is closed by the test."""
    table = tmp_path / "prices.toml"
    table.write_text(PRICES, encoding="utf-8")

    def open_one(most=inf, run=RUN, where=WHERE):
        return AtlasTarget(where, begin_run(read_prices(table), most, run), told.append)

    return open_one


@pytest.fixture
def two_opened(tmp_path):
    """Gives two targets of one run in the same project; they are closed by the test."""
    table = tmp_path / "prices.toml"
    table.write_text(PRICES, encoding="utf-8")

    def open_two(most=inf):
        run = begin_run(read_prices(table), most, RUN)
        return [AtlasTarget(WHERE, run, lambda text: None) for _ in range(2)]

    return open_two


def clusters(fake):
    return {name: cluster.body for name, cluster in fake.project.clusters.items()}


def changes(fake):
    """What was made, changed or removed, as ``METHOD path`` below the project, in order."""
    asked = ((one.method, one.path.partition(f"{PROJECT}/")[2]) for one in fake.seen)
    return [f"{method} {path}" for method, path in asked if method != "GET" and path]


def is_empty(fake):
    """Whether nothing of ours is there."""
    return not (fake.project.clusters or fake.project.users)


def test_a_cluster_is_made_used_and_removed_with_its_user(usable, opened):
    with closing(opened()) as target:
        machine = target.prepare({"instance": M50}, 1.0)
        (body,) = clusters(usable).values()
        assert body["tags"] == [{"key": RUN_TAG, "value": RUN}]
        with MongoClient(target.uri) as client:
            client.measured.one.insert_one({"x": 1})
            assert (
                client.admin.command("connectionStatus")["authInfo"]["authenticatedUsers"][0]["user"]
                == body["name"]
            )
        assert machine.bench_config["atlasInstanceType"] == "M50"
        assert machine.varied == M50
        assert machine.not_varied == ()
    assert is_empty(usable)
    name = "mongo-tables-a1b2c3-1"
    assert changes(usable) == [
        "POST clusters", "POST databaseUsers", f"DELETE clusters/{name}", f"DELETE databaseUsers/admin/{name}",
    ]  # fmt: skip


def test_nothing_that_costs_more_or_disturbs_is_on(usable, opened):
    with closing(opened()) as target:
        target.prepare({"instance": M50}, 1.0)
        (body,) = clusters(usable).values()
    assert not body["backupEnabled"] and not body["pitEnabled"] and not body["terminationProtectionEnabled"]
    region = region_of(body)
    assert not any(part["enabled"] for part in region["autoScaling"].values())
    assert "diskIOPS" in region["electableSpecs"]


def test_another_machine_is_another_cluster_and_the_same_one_stays(usable, opened):
    with closing(opened()) as target:
        target.prepare({"instance": M50}, 1.0)
        first = target.uri
        target.prepare({"instance": M50}, 1.0)
        assert target.uri == first
        for number, machine in ((2, M60), (3, FASTER)):
            with MongoClient(target.uri) as client:
                client.measured.one.insert_one({"x": 1})
            target.prepare({"instance": machine}, 1.0)
            assert list(clusters(usable)) == [f"mongo-tables-a1b2c3-{number}"]
            with MongoClient(target.uri) as client:
                assert client.measured.one.count_documents({}) == 0
    assert is_empty(usable)


def test_a_cluster_that_says_idle_between_two_steps_is_not_ready(usable, opened):
    with closing(opened()) as target:
        target.prepare({"instance": M50}, 1.0)
        (cluster,) = usable.project.clusters.values()
        assert any(state == "IDLE" for _, state in cluster.plan[:-1])
        assert usable.time.now() >= cluster.ready


def test_what_a_variant_does_not_say_the_address_and_then_the_published_machine_do(usable, opened):
    reference = {**STANDARD, "atlasInstanceType": "M40"}
    with closing(opened(where=f"{WHERE}?tier=M50&version=7.0")) as target:
        machine = target.prepare({"reference": {**reference, "version": "8.0"}}, 1.0)
        (body,) = clusters(usable).values()
    assert (machine.bench_config["atlasInstanceType"], machine.bench_config["atlasIOPS"]) == ("M50", 3000)
    assert body["mongoDBMajorVersion"] == "7.0"


def test_the_operations_of_a_standard_disk_are_those_that_atlas_says(usable, opened):
    asked = {**STANDARD, "atlasIOPS": 3072, "price": 1.0}
    with closing(opened()) as target:
        machine = target.prepare({"instance": asked}, 1.0)
    assert machine.not_varied == ()
    assert machine.varied.keys() == {"atlasInstanceType", "atlasDiskType", "atlasDiskSizeGB"}
    assert machine.bench_config["atlasIOPS"] == 3000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda body: hardware_of(body).update(instanceSize="M80"), "tier is M80, not M50"),
        (
            lambda body: hardware_of(body).update(ebsVolumeType="STANDARD"),
            "disk is STANDARD, not PROVISIONED",
        ),
        (lambda body: hardware_of(body).update(diskIOPS=2000), "operations is 2000, not 3000"),
        (lambda body: hardware_of(body).update(diskSizeGB=100.0), "size of the disk is 100, not 200"),
        (
            lambda body: region_of(body)["autoScaling"]["compute"].update(enabled=True),
            "automatic scaling is on, not off",
        ),
        (lambda body: body.update(backupEnabled=True), "backup is on, not off"),
        (lambda body: body.update(pitEnabled=True), "continuous backup is on, not off"),
        (lambda body: body.update(mongoDBMajorVersion="7.0"), "version is 7.0, not 8.0"),
        (lambda body: body.update(effectiveDatabaseEdition="INFINITE"), "edition is infinite, not core"),
        (lambda body: region_of(body).update(regionName="US_EAST_1"), "region is US_EAST_1, not EU_WEST_1"),
        (lambda body: body.pop("replicationSpecs"), "tier is not known, not M50"),
    ],
)
def test_a_cluster_that_is_not_what_was_asked_for_is_not_measured_and_is_removed(atlas, opened, change, said):
    def altered(asked, body):
        if asked.startswith("GET clusters/"):
            change(body)
        return body

    atlas.alter = altered
    with (
        pytest.raises(TargetError, match=f"differs from the requested one: .*{said}"),
        closing(opened()) as target,
    ):
        target.prepare({"instance": M50}, 1.0)
    assert is_empty(atlas)


def test_a_cluster_that_is_not_ready_in_an_hour_is_given_up_and_removed(atlas, opened):
    atlas.project.times.creation = 5 * 3600
    with pytest.raises(TargetError, match="after 60 minutes"), closing(opened()) as target:
        target.prepare({"instance": M50}, 1.0)
    assert is_empty(atlas)
    (ended,) = atlas.project.ended
    assert ended.paid_until - ended.paid_from < 1.2 * LONGEST_CHANGE


def test_a_run_ends_when_its_clusters_have_cost_what_they_may(atlas, opened):
    atlas.project.times.creation = 5 * 3600
    with (
        pytest.raises(TargetError, match=r"have cost about 1\.0\d USD, and --max-cost is 1"),
        closing(opened(1.0)) as target,
    ):
        target.prepare({"instance": M50}, 1.0)
    assert is_empty(atlas)
    assert atlas.project.cost_until(atlas.time.now(), lambda hardware: 2.5) < 1.2


def test_two_targets_of_a_run_in_one_project_have_clusters_of_their_own(usable, two_opened):
    first, second = two_opened()
    with closing(first), closing(second):
        for target in (first, second):
            target.prepare({"instance": M50}, 1.0)
            with MongoClient(target.uri) as client:
                client.admin.command("ping")
        assert list(clusters(usable)) == ["mongo-tables-a1b2c3-1", "mongo-tables-a1b2c3-2"]
        assert first.uri != second.uri
    assert is_empty(usable)


def test_two_targets_of_a_run_share_what_they_may_cost(usable, two_opened):
    first, second = two_opened(1.0)
    with pytest.raises(TargetError, match="and --max-cost is 1"), closing(first), closing(second):
        first.prepare({"instance": M50}, 1.0)
        usable.time.sleep(900)
        second.prepare({"instance": M50}, 1.0)
    assert is_empty(usable)
    assert usable.project.cost_until(usable.time.now(), lambda hardware: 2.5) < 1.3


def test_a_price_that_is_not_known_stops_before_the_cluster_is_ordered(atlas, opened):
    with pytest.raises(CommandError, match="is not known"), closing(opened()) as target:
        target.prepare({"instance": {**M50, "atlasInstanceType": "M40"}}, 1.0)
    assert not any(asked.startswith("POST") and "clusters" in asked for asked in atlas.asked())
    assert is_empty(atlas)


def test_a_deletion_that_fails_is_asked_for_again(usable, opened):
    usable.project.times.failing_deletions = 3
    with closing(opened()) as target:
        target.prepare({"instance": M50}, 1.0)
    assert is_empty(usable)


def test_a_deletion_that_never_works_says_what_is_left(usable, opened):
    usable.project.times.failing_deletions = 999
    target = opened()
    target.prepare({"instance": M50}, 1.0)
    with pytest.raises(TargetError, match="mongo-tables-a1b2c3-1 could not be removed") as failed:
        target.close()
    assert "remove the resources called mongo-tables-" in failed.value.hint
    usable.project.times.failing_deletions = 0
    target.close()
    assert is_empty(usable)


def test_an_order_whose_answer_is_lost_makes_one_cluster(usable, opened):
    usable.faults.append(Fault("POST clusters", status=502, done=True))
    usable.faults.append(Fault("POST databaseUsers", done=True))
    with closing(opened()) as target:
        target.prepare({"instance": M50}, 1.0)
        assert len(clusters(usable)) == 1
        with MongoClient(target.uri) as client:
            client.admin.command("ping")
    assert is_empty(usable)


def test_a_cluster_of_somebody_else_with_the_same_name_stays_untouched(atlas, opened):
    name = "mongo-tables-a1b2c3-1"
    body = {
        "name": name,
        "replicationSpecs": [{"regionConfigs": [{"electableSpecs": {"instanceSize": "M10"}}]}],
    }
    atlas.project.create(body)
    with pytest.raises(TargetError) as failed, closing(opened()) as target:
        target.prepare({"instance": M50}, 1.0)
    assert "lacks the tag of this run, so it is not changed" in failed.value.message
    assert list(clusters(atlas)) == [name]


def test_a_cluster_that_is_not_of_this_run_any_more_is_not_removed(usable, opened):
    """Somebody has put one of their own, without our tag, in the place of the run's."""
    with pytest.raises(TargetError) as failed, closing(opened()) as target:
        target.prepare({"instance": M50}, 1.0)
        (cluster,) = usable.project.clusters.values()
        cluster.body["tags"] = [{"key": "mongo-tables-run", "value": "0123456789ab"}]
        target.prepare({"instance": M60}, 1.0)
    assert "mongo-tables-a1b2c3-1 lacks the tag of this run, so it is not changed" in failed.value.message
    assert not any(asked.startswith("DELETE clusters") for asked in changes(usable))
    assert clusters(usable) == {"mongo-tables-a1b2c3-1": cluster.body}


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("atlas:", "is not a project"),
        ("atlas:xyz?tier=M50", "is not a project"),
        (f"{WHERE}?teir=M50", "no setting 'teir'"),
        (f"{WHERE}?tier=", "tier has no value"),
        (f"{WHERE}?gb=10GB", "gb is '10GB'"),
        (f"{WHERE}?gb=10&gb=20", "gb is given twice"),
    ],
)
def test_an_address_that_says_something_else_is_refused_before_anything_is_asked(atlas, opened, where, said):
    with pytest.raises(CommandError) as refused:
        opened(where=where)
    assert said in refused.value.message
    assert atlas.asked() == []


def test_a_machine_that_is_not_described_is_refused(atlas, opened):
    target = opened()
    target.check_config({"instance": M50})
    with pytest.raises(TargetError, match="names no tier, disk, gb"):
        target.check_config({})
    with pytest.raises(TargetError, match="asks for 1 members"):
        target.check_config({"instance": M50, "members": 1})
