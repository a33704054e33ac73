"""Experiment files say what is measured; scaling and estimates keep to them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.estimate import estimate, local_seconds
from mongo_tables.runner.options import PROFILES, Options
from mongo_tables.runner.result_rows import row_id
from mongo_tables.runner.workloads import workload


def test_full_size_insert_docsize_loads_24_gib_in_every_variant():
    experiment = experiments.load("insert_docsize")
    for one in estimate(experiment, 1):
        assert one.bytes == 24 * 2**30


def test_the_estimate_of_time_follows_the_scale_and_the_limit():
    experiment = experiments.load("insert_docsize")
    full, part = (estimate(experiment, 3, Options(scale=scale)) for scale in (1.0, 0.1))
    # The reference is measured twice in each of three blocks.
    assert [one.windows for one in full] == [6, *[3] * 4]
    assert sum(one.seconds for one in part) == pytest.approx(sum(one.seconds for one in full) / 10, rel=0.01)
    limited = estimate(experiment, 3, Options(scale=0.1, seconds=10.0))
    assert all(10.0 * one.windows <= one.seconds < 16.0 * one.windows for one in limited)
    assert [one.windows for one in estimate(experiment, 2)] == [2] * 5


def test_each_variant_has_the_limit_that_is_for_its_batches():
    experiment = experiments.load("insert_batchsize")
    single, *batches = estimate(experiment, 1, Options(seconds=0.7, batch_seconds=2.0))
    assert 0.7 <= single.seconds < 1.0
    assert min(one.seconds for one in batches) >= 2.0


def test_work_that_paces_itself_has_a_limit_of_its_own():
    experiment, asked = experiments.load("schema_load"), Options(scale=0.01, seconds=0.7, batch_seconds=2.0)
    found = estimate(experiment, 1, replace(asked, paced_seconds=5.0))
    assert {one.seconds for one in found} == {5.0}
    assert {one.seconds for one in estimate(experiment, 1, asked)} == {0.7}


def test_a_window_in_which_the_primary_changes_takes_its_course_whatever_the_limit():
    found = estimate(experiments.load("failover"), 1, Options(scale=0.05, seconds=0.7))
    assert [one.seconds for one in found] == [10, 14, 24]
    assert 100 < local_seconds(found) < 160


def test_batches_that_take_longer_than_a_window_are_waited_for_before_it_and_behind_it():
    asked = Options(scale=0.01, seconds=0.7, batch_seconds=2.0)
    *_, large = estimate(experiments.load("insert_batchsize"), 1, asked)
    # 48 batches of 2,000 documents of 4 KB, twice, into three members on one machine.
    assert 20 < large.seconds < large.local_seconds < 60


def test_the_estimate_counts_one_window_of_the_reference_where_windows_go_on_from_each_other():
    experiment = experiments.load("schema_load")
    assert {one.windows for one in estimate(experiment, 3, Options(scale=0.01))} == {3}


def test_everything_by_the_quick_profile_fits_into_a_quarter_of_an_hour():
    quick, seconds = PROFILES["quick"], 0.0
    for name in experiments.names():
        experiment = experiments.load(name)
        seconds += local_seconds(estimate(experiment, quick.repeats, quick))
    assert 10 * 60 < seconds < 15 * 60


def test_scaling_shrinks_what_the_file_names_and_nothing_else():
    experiment = experiments.load("insert_docsize")
    scaled = experiments.scale(experiment, 0.001)
    assert [variant["totalDocsToInsert"] for variant in scaled.variants] == [25166, 6291, 786, 98, 12]
    assert [variant["docSizeKB"] for variant in scaled.variants] == [1, 4, 32, 256, 2048]
    assert scaled.parameters["numberOfThreads"] == 10


def test_scaling_leaves_enough_work_to_be_measured():
    experiment = experiments.load("concurrency")
    assert {variant["nUpdates"] for variant in experiments.scale(experiment, 0.5).variants} == {500_000}
    assert {variant["nUpdates"] for variant in experiments.scale(experiment, 0.001).variants} == {10_000}
    assert experiments.scale(experiment, 0.001).parameters["initialDocsToInsert"] == 1_000
    few = replace(experiment, variants=({"nUpdates": 7_000},))
    assert experiments.scale(few, 0.001).variants[0]["nUpdates"] == 7_000


def test_what_is_less_than_one_does_not_grow_when_it_is_made_smaller():
    experiment = experiments.load("insert_docsize")
    small = {"initialDocsToInsert": 0, "docSizeKB": 0.25}
    odd = replace(experiment, scaled=tuple(small), parameters=small, variants=({},), least={})
    assert experiments.scale(odd, 0.001).parameters == small


def test_an_experiment_may_have_a_scale_that_it_is_not_made_smaller_than():
    experiment = experiments.load("insert_docsize")
    assert [experiments.scale_of(experiment, asked) for asked in (0.001, 0.005, 0.2)] == [0.005, 0.005, 0.2]
    assert experiments.scale_of(experiments.load("insert_iops"), 0.001) == 0.001
    assert replace(experiment, least_scale=0.0).digest != experiment.digest


def test_a_row_has_the_same_id_at_every_scale():
    experiment = experiments.load("insert_docsize")
    assert list(row_id(experiment, 0)) == ["docSizeKB", "testname", "totalDocsToInsert", "writeBatchSize"]
    assert row_id(experiment, 0)["totalDocsToInsert"] == 25_165_824


DOING = """\
name = "one"
title = "One"
workload = "insert"
repeats = 3
[parameters]
database = "mongo_tables_one"
collection = "inserts"
numberOfThreads = 1
docSizeKB = 1.0
writeBatchSize = 10
[[variants]]
totalDocsToInsert = 100
comment = "few"
instance = { atlasIOPS = 3000, price = 1.5 }
[published]
source = "a report"
rows = [{ durationS = 10 }]
"""


def changed(old="", new=""):
    assert old in DOING
    return experiments.read(DOING.replace(old, new).encode(), "one.toml")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('title = "One"', 'title = "Another"\ndescription = "Why."'),
        ("durationS = 10", "durationS = 11"),
        ('"a report"', '"page 7 of a report"'),
        ("price = 1.5", "price = 1.6"),
        ('"few"', '"few documents"'),
        ("docSizeKB = 1.0\nwriteBatchSize = 10", "writeBatchSize = 10\ndocSizeKB = 1.0"),
    ],
)
def test_words_prices_and_published_figures_make_no_other_test(old, new):
    assert changed(old, new).digest == changed().digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("repeats = 3", "repeats = 5"),
        ("repeats = 3", "repeats = 3\nwarm = true"),
        ("repeats = 3", 'repeats = 3\nscaled = ["totalDocsToInsert"]'),
        ("writeBatchSize = 10", "writeBatchSize = 11"),
        ("totalDocsToInsert = 100", "totalDocsToInsert = 101"),
        ("atlasIOPS = 3000", "atlasIOPS = 3001"),
        ("[published]", '[reference]\nsource = "x"\ncache_gb = 8\n[published]'),
    ],
)
def test_whatever_changes_what_is_done_makes_another_test(old, new):
    assert changed(old, new).digest != changed().digest


def test_the_order_of_stages_and_of_what_they_sort_by_makes_another_test():
    lookup = experiments.load("lookup")
    other = replace(lookup, parameters={**lookup.parameters, "pipeline": [{"$sort": {"a": 1, "b": 1}}]})
    turned = replace(lookup, parameters={**lookup.parameters, "pipeline": [{"$sort": {"b": 1, "a": 1}}]})
    assert other.digest != turned.digest


def test_a_run_is_gone_on_with_only_under_the_words_that_its_rows_have():
    assert changed("durationS = 10", "durationS = 11").wording == changed().wording
    for old, new in (('title = "One"', 'title = "Another"'), ('"few"', '"few documents"')):
        assert changed(old, new).wording != changed().wording


def test_an_unknown_experiment_is_answered_with_the_known_ones():
    with pytest.raises(CommandError, match="no experiment 'insert_docsizes'") as caught:
        experiments.load("insert_docsizes")
    assert "insert_docsize" in caught.value.hint


PUBLISHED = {
    "insert_docsize", "insert_batchsize", "insert_idtype", "insert_nindexes", "insert_iops",
    "insert_instancesize", "concurrency", "updateapi", "query_full", "query_fetch", "query_fetch_io",
}  # fmt: skip
OWN = {"aggregate_group", "delete", "lookup", "replace", "update"}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_every_published_experiment_names_the_source_of_its_figures_and_has_one_row_a_variant(name):
    experiment = experiments.load(name)
    assert "UniBench@" in experiment.published["source"]
    assert "UniBench@" in experiment.reference["source"]
    assert len(experiment.published["rows"]) == len(experiment.variants)
    assert experiment.name == name


def test_there_are_the_published_experiments_and_ours_for_whose_variants_nobody_published_figures():
    assert set(experiments.names()) >= PUBLISHED | OWN
    for name in OWN:
        assert {variant for variant, _ in experiments.load(name).published_rows()} <= {0}


@pytest.mark.parametrize("name", sorted(name for name in PUBLISHED if name.startswith("insert_")))
def test_the_sizes_of_full_size_inserts_are_the_published_ones(name):
    experiment = experiments.load(name)
    for config, row in zip(experiments.configs(experiment), experiment.published["rows"], strict=True):
        inserted = workload("insert").plan(config)
        assert round(inserted.bytes / 2**20) == pytest.approx(row.get("totalMB", 24 * 1024), abs=1)
        loaded = config.get("initialDocsToInsert", 0)
        (one,) = estimate(replace(experiment, variants=(config,), published={}), 1)
        assert one.documents == inserted.documents + loaded
        assert one.bytes == (inserted.documents + loaded) * config["docSizeKB"] * 1024


def test_templates_in_a_pipeline_shrink_and_its_other_numbers_do_not():
    pipeline = experiments.scale(experiments.load("lookup"), 0.001).variants[2]["pipeline"]
    assert pipeline[:2] == [{"$match": {"group": "RANDINT(1,1)"}}, {"$limit": 100}]


def test_random_numbers_of_queries_shrink_with_the_data_they_choose_from():
    scaled = experiments.scale(experiments.load("query_full"), 0.001)
    queries = [variant["query"] for variant in scaled.variants]
    assert queries[1] == {"_id": "RANDINT(1,60000)"}
    assert queries[3] == {"group": "RANDINT(1,150)"}
    assert queries[7] == {"group": "RANDINT(1,150)", "group_seq": "RANDINT(1,400)"}
    assert queries[10] == {"_id": {"$in": "RANDINTLIST(1,60000,100)"}}
    assert scaled.parameters["initialDocsToInsert"] == 60_000
    assert scaled.parameters["testTimeSecs"] == 5


def test_a_list_of_different_numbers_never_has_too_few_to_choose_from():
    scaled = experiments.scale(experiments.load("query_full"), 1e-9)
    assert scaled.variants[9]["query"] == {"_id": {"$in": "RANDINTLIST(1,100,100)"}}


@pytest.mark.parametrize("name", ["query_full", "query_fetch", "query_fetch_io"])
@given(factor=st.floats(1e-4, 1.0))
@settings(max_examples=60, deadline=None)
def test_at_every_scale_queries_ask_for_documents_and_groups_that_are_there(name, factor):
    for config in experiments.configs(experiments.scale(experiments.load(name), factor)):
        documents = config["initialDocsToInsert"]
        there = {"_id": documents, "group": documents // config["groupSize"]}
        for field, asked in config["query"].items():
            if field in there:
                text = asked["$in"] if isinstance(asked, dict) else asked
                assert int(text.split(",")[1].strip(")")) <= max(1, there[field])


def test_variants_of_one_experiment_may_be_of_several_workloads():
    experiment = experiments.load("server_versions")
    works = [config["workload"] for config in experiments.configs(experiment)]
    assert works == ["insert", "insert", "query", "query", "aggregate", "aggregate", "ycsb", "ycsb"]
    for config in experiments.configs(experiment):
        assert workload(config["workload"]).needs <= config.keys()
        assert (config["writeConcern"], config["readConcern"]) == ({"w": "majority"}, {"level": "local"})
    planned = estimate(experiment, 20, Options(seconds=0.7, batch_seconds=2.0))
    # Reads by key are what the others are compared with, so they are measured twice.
    assert [one.windows for one in planned] == [20, 20, 40, *[20] * 5]
    assert [one.operations for one in planned] == [1_000_000, 1_000_000, *[None] * 6]
    assert all(one.seconds and one.local_seconds > one.seconds / 2 for one in planned)


def test_work_that_another_variant_shares_data_with_is_loaded_once():
    loads = [
        workload(config["workload"]).preload(config)
        for config in experiments.configs(experiments.load("server_versions"))
    ]
    assert loads[:2] == [None, None]
    assert loads[2] == loads[3] == loads[4] == loads[5]
    assert loads[6] == loads[7] != loads[2]


def test_inserts_into_an_empty_collection_have_no_pass_before_them():
    warm = replace(experiments.load("insert_docsize"), warm=True)
    assert estimate(warm, 1) == estimate(experiments.load("insert_docsize"), 1)
