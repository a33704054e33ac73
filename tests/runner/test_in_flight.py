"""A small run has as many connections as the published one: what they write at once fills little of the cache."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.cache_size import measured_share, parameter_documents
from mongo_tables.runner.options import Options
from mongo_tables.runner.runs import asked_of
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.target import open_target
from tests.runner.measured import obstacle

INSERTS = [name for name in experiments.names() if experiments.load(name).workload == "insert"]
ALONE = "local?members=1"


def written_at_once(config):
    """Bytes of documents: as the file says, without the program's formula."""
    return config["numberOfThreads"] * config["writeBatchSize"] * config["docSizeKB"] * 1024


@pytest.mark.parametrize("name", INSERTS)
@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_requests_fill_five_percent_of_the_cache_or_twice_as_much_as_published(name, scale, monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(total=256 * 2**30))
    experiment, target = experiments.load(name), open_target(ALONE)
    scale = experiments.scale_of(experiment, scale)
    scaled = experiments.scale(experiment, scale)
    tiers = {"M30": 2, "M40": 8, "M50": 16, "M60": 32, "M80": 64}
    for number, config in enumerate(experiments.configs(scaled)):
        full = {**experiment.parameters, **experiment.variants[number]}
        tier = config.get("instance", {}).get("atlasInstanceType")
        published_cache = tiers.get(tier, experiment.reference.get("cache_gb", 8)) * 2**30
        allowed = max(0.05, 2 * written_at_once(full) / published_cache)
        cache = target.machine_for(*asked_of(experiment, scaled, scale, number))["cache_gb"] * 2**30
        assert 1.05 * written_at_once(config) / cache <= allowed, number


@pytest.mark.parametrize("name", ["insert_idtype", "insert_nindexes"])
def test_a_cache_that_the_effect_depends_on_keeps_its_ratio_to_the_data(name):
    experiment = experiments.load(name)
    scale = experiments.scale_of(experiment, 0.01)
    scaled = experiments.scale(experiment, scale)
    got = open_target(ALONE).machine_for(*asked_of(experiment, scaled, scale, 0))["cache_gb"]
    full, here = (
        cache / one.parameters["initialDocsToInsert"] for cache, one in ((8, experiment), (got, scaled))
    )
    assert here == pytest.approx(full, rel=0.1)


def test_at_every_scale_a_customer_has_as_many_documents():
    experiment = experiments.load("insert_idtype")
    for asked in (0.001, 0.01, 0.02, 0.05, 0.3, 1.0):
        scaled = experiments.scale(experiment, experiments.scale_of(experiment, asked)).parameters
        assert scaled["initialDocsToInsert"] / scaled["customers"] == pytest.approx(1050, rel=0.001)


def asked(name, where, tmp_path, **options):
    experiment = experiments.load(name)
    with_profile = {"scale": 0.01, "profile": "publish", **options}
    return obstacle(experiment, Options(**with_profile), open_target(where), FileStore(tmp_path))


def test_for_conclusions_a_cache_is_refused_that_batches_would_fill(tmp_path):
    message, hint = asked("insert_docsize", "local?members=1&cacheGB=0.25", tmp_path)
    assert (
        "requests in flight of insert_docsize fill 15.6% of the cache, but --profile publish allows at most 5.0%"
        in message
    )
    assert "0.86 GB or more" in hint and "--as-is" in hint
    assert asked("insert_docsize", "local?members=1&cacheGB=1", tmp_path) is None


@pytest.mark.parametrize("more", [{"as_is": True}, {"profile": "quick"}, {"profile": None}])
def test_a_first_look_and_whoever_asks_for_it_may_use_such_a_cache(more, tmp_path):
    assert asked("insert_docsize", "local?members=1&cacheGB=0.25", tmp_path, **more) is None


def test_a_control_needs_a_cache_that_holds_everything(tmp_path):
    message, _ = asked("insert_idtype_control", "local?members=1&cacheGB=0.25", tmp_path)
    assert "insert_idtype_control needs a cache for all of its data" in message
    assert asked("insert_idtype_control", "mongodb://127.0.0.1:1", tmp_path) is not None


def test_a_control_is_the_same_work_with_room_for_all_data():
    experiment, control = (experiments.load(name) for name in ("insert_idtype", "insert_idtype_control"))
    assert (control.variants, control.parameters) == (experiment.variants, experiment.parameters)
    assert (control.control_of, control.digest != experiment.digest) == ("insert_idtype", True)
    assert list(control.published_rows()) == []
    scaled = experiments.scale(control, 0.02)
    data = sum(scaled.parameters[name] for name in ("initialDocsToInsert", "totalDocsToInsert")) * 1024
    _, wanted, least = asked_of(control, scaled, 0.02, 0)
    assert wanted * 2**30 < data < least * 2**30 / 2


def test_the_share_of_a_row_is_what_its_connections_wrote_at_once():
    window = SimpleNamespace(bytes=8e6, requests=20)
    assert measured_share(10, window, 0.25, writes=True) == pytest.approx(4e6 / 2**28)
    assert measured_share(10, window, 0.25, writes=False) == 0.0
    assert measured_share(10, window, None, writes=True) is None


def test_a_file_that_says_nothing_has_no_control():
    experiment = experiments.load("insert_docsize")
    assert not experiment.control
    assert replace(experiment, control=True).digest == experiment.digest


def test_pages_say_of_each_parameter_what_the_files_say():
    folder = Path(__file__).parents[2] / "fixtures" / "parameters"
    kept = {
        path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in folder.iterdir()
    }
    loaded = map(experiments.load, experiments.names())
    # mongo-tables experiments --published
    assert kept == {one.name: parameter_documents(one) for one in loaded}


def test_a_file_says_for_itself_what_a_size_changes():
    def said(experiment):
        found = {one["parameter"]: one for one in parameter_documents(experiment)}
        return {name: one.get("changes", "") for name, one in found.items()}

    experiment = experiments.load("insert_docsize")
    assert said(experiment)["cache"].startswith("The cache holds everything that a window inserts")
    assert said(replace(experiment, changes={}))["cache"].startswith("The cache is larger than in proportion")
    assert said(experiment)["docSizeKB"] == said(replace(experiment, changes={}))["docSizeKB"] != ""
