"""What does more than read never reaches a server, whichever way a pipeline comes in: held against a real one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pymongo
import pytest
from pymongo import monitoring

from mongo_tables.cli import main
from mongo_tables.lint.walk import SAMPLE
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.mongodb import MongoSource
from tests.mongod import Mongod

CODE = "function(k, v) { return 'JS ran ' + 6 * 7; }"
REDUCED = {"$_internalJsReduce": {"data": {"k": "$a", "v": "$a"}, "eval": CODE}}
HOSTILE: dict[str, list[dict[str, Any]]] = {
    "JavaScript in $group": [{"$group": {"_id": "$a", "v": REDUCED}}],
    "JavaScript in $bucketAuto": [{"$bucketAuto": {"groupBy": "$a", "buckets": 1, "output": {"v": REDUCED}}}],
    "an internal stage": [{"$_internalInhibitOptimization": {}}],
    "an internal stage below": [
        {"$lookup": {"from": "t", "as": "v", "pipeline": [{"$_internalInhibitOptimization": {}}]}}
    ],
    "an internal operator of a query": [{"$match": {"a": {"$_internalExprEq": 1}}}],
    "a stage that nobody knows": [{"$listEverything": {}}],
    "another database": [
        {"$lookup": {"from": {"db": "config", "coll": ""}, "as": "v", "pipeline": [{"$limit": 1}]}}
    ],
}


class Heard(monitoring.CommandListener):
    """The pipelines that are sent to a server."""

    def __init__(self) -> None:
        self.pipelines: list[list[Any]] = []

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        if event.command_name == "aggregate":
            self.pipelines.append([dict(stage) for stage in event.command["pipeline"]])

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        pass

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        pass


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    listener = Heard()
    monkeypatch.setattr(pymongo, "MongoClient", partial(pymongo.MongoClient, event_listeners=[listener]))
    return listener


@pytest.fixture
def uri(mongod: Mongod) -> Iterator[str]:
    with pymongo.MongoClient[dict[str, Any]](mongod.uri()) as client:
        client["unsent"]["t"].insert_many([{"_id": 1, "a": 1}, {"_id": 2, "a": 2}])
        yield mongod.uri("unsent")
        client.drop_database("unsent")


@pytest.fixture(params=HOSTILE)
def project(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site whose page, and whose shared pipeline, is hostile."""
    pipeline = HOSTILE[request.param]
    comment = {"collection": "t", "pipeline": pipeline, "columns": ["v"], "headers": ["V"]}
    (tmp_path / "docs/pipelines").mkdir(parents=True)
    (tmp_path / "docs/index.md").write_text(f"# Page\n\n<!-- MONGO_TABLE: {json.dumps(comment)} -->\n")
    (tmp_path / "docs/pipelines/evil.json").write_text(json.dumps({"pipeline": pipeline}))
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins:\n- mongo-tables\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pipeline_of(project: Path) -> list[dict[str, Any]]:
    shared: dict[str, Any] = json.loads((project / "docs/pipelines/evil.json").read_text())
    pipeline: list[dict[str, Any]] = shared["pipeline"]
    return pipeline


DOORS = {
    "check": ["check", "docs/index.md"],
    "render": ["render", "docs/index.md"],
    "render in place": ["render", "--in-place", "docs/index.md"],
    "explain": ["explain", "docs/index.md"],
}


@pytest.mark.parametrize("door", DOORS)
def test_no_command_sends_a_pipeline_that_does_more_than_read(
    project: Path, uri: str, heard: Heard, door: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*DOORS[door], "--results", uri]
    assert main(arguments) != 0
    out, err = capsys.readouterr()
    assert "JS ran 42" not in out + err
    assert "Traceback" not in out + err
    # What `explain` shows of the collection that a pipeline begins with.
    looked_at = [[{"$count": "n"}], [{"$limit": SAMPLE}]] if door == "explain" else []
    assert [sent for sent in heard.pipelines if sent not in looked_at] == []


def test_a_build_sends_no_pipeline_that_does_more_than_read(
    project: Path, uri: str, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    monkeypatch.setenv("MONGO_TABLES_RESULTS", uri)
    with pytest.raises(Abort):
        build(load_config("mkdocs.yml"))
    assert heard.pipelines == []
    assert not (project / "site/index.html").exists()


def test_the_library_sends_no_pipeline_that_does_more_than_read(
    project: Path, uri: str, heard: Heard
) -> None:
    source = MongoSource(uri)
    with pytest.raises(ResultsError, match=r"only read|internal|database") as caught:
        source.aggregate(Query("t", tuple(pipeline_of(project))))
    assert caught.value.path
    with pytest.raises(ResultsError):
        source.aggregate(Query("t", ({"$match": {}},), {"v": {"$map": {"input": [1], "in": REDUCED}}}))
    source.close()
    assert heard.pipelines == []


def test_what_only_reads_is_heard(uri: str, heard: Heard) -> None:
    source = MongoSource(uri)
    assert len(source.aggregate(Query("t", ({"$match": {"a": {"$gt": 0}}},)))) == 2
    source.close()
    assert heard.pipelines == [[{"$match": {"a": {"$gt": 0}}}]]
