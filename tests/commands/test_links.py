"""What a checkout brings shows nothing that lies elsewhere on the disk: links that lead out of their folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mongo_tables.cli import main

COMMANDS = [
    ["check", "docs"],
    ["render", "docs/index.md", "docs/other.md", "--output", "built"],
    ["explain", "docs/index.md"],
    ["init", "--table", "results"],
]
SECRET = "topsecret-password=Xq7Zk"
ROW = '{"_id": "Xq7Zk", "a": 1}\n'
TABLE = (
    '<!-- MONGO_TABLE: {"collection": "results", "pipeline": %s, "columns": ["_id"], "headers": ["A"]} -->\n'
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "project"
    (place / "fixtures/results").mkdir(parents=True)
    (place / "fixtures/results/a.jsonl").write_text('{"_id": 1, "a": 1}\n')
    (place / "docs/pipelines").mkdir(parents=True)
    (place / "docs/index.md").write_text("# Page\n\n" + TABLE % '[{"$sort": {"_id": 1}}]')
    (place / "mkdocs.yml").write_text("site_name: x\nplugins:\n- mongo-tables\n")
    monkeypatch.chdir(place)
    return place


def outside(project: Path, name: str, text: str) -> Path:
    file = project.parent / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def findings(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, str]]:
    capsys.readouterr()
    assert main(["check", "docs", "--results", "fixtures", "--format", "json", *arguments]) != 0
    out, err = capsys.readouterr()
    assert "Xq7Zk" not in out + err
    assert "topsecret" not in out + err
    found: list[dict[str, str]] = json.loads(out)["findings"]
    return found


def _file(project: Path, text: str) -> str:
    (project / "fixtures/results/z.jsonl").symlink_to(outside(project, "secret.txt", text))
    return "z.jsonl"


def _relative(project: Path, text: str) -> str:
    outside(project, "secret.txt", text)
    (project / "fixtures/results/z.jsonl").symlink_to("../../../secret.txt")
    return "z.jsonl"


def _beside_the_fixtures(project: Path, text: str) -> str:
    (project / ".env").write_text(text)
    (project / "fixtures/results/z.jsonl").symlink_to("../../.env")
    return "z.jsonl"


def _folder(project: Path, text: str) -> str:
    (project / "fixtures/results/a.jsonl").unlink()
    (project / "fixtures/results").rmdir()
    outside(project, "elsewhere/a.jsonl", text)
    (project / "fixtures/results").symlink_to("../../elsewhere", target_is_directory=True)
    return "a.jsonl"


def _by_another_link(project: Path, text: str) -> str:
    name = _file(project, text)
    (project / "fixtures/results" / name).rename(project / "fixtures/hidden")
    (project / "fixtures/results/y.json").symlink_to("../hidden")
    return "y.json"


@pytest.mark.parametrize("text", [SECRET, ROW], ids=["no JSON", "a document"])
@pytest.mark.parametrize("link", [_file, _relative, _beside_the_fixtures, _folder, _by_another_link])
def test_a_fixture_that_leads_out_of_its_folder_is_one_finding_without_a_word_of_it(
    project: Path, link, text: str, capsys: pytest.CaptureFixture[str]
):
    name = link(project, text)
    (project / "docs/other.md").write_text((project / "docs/index.md").read_text())
    for command in COMMANDS:
        told = main([*command, "--results", "fixtures"])
        out, err = capsys.readouterr()
        if command[0] == "check":  # A finding like others: pages are checked as far as they can be.
            assert (told, out.count("leads out of the folder"), err) == (1, 1, "")
        else:
            assert (told, out) == (2, "")
            assert (err.count("leads out of the folder"), err.count(f"/{name}: ")) == (1, 1)
        assert "Xq7Zk" not in out + err
        assert "topsecret" not in out + err
        assert "Traceback" not in out + err


def test_a_build_shows_nothing_of_a_fixture_that_leads_out_of_its_folder(
    project: Path, caplog: pytest.LogCaptureFixture
):
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    _file(project, ROW)
    (project / "mkdocs.yml").write_text("site_name: x\nplugins:\n- mongo-tables:\n    documents: results\n")
    with pytest.raises(Abort):
        build(load_config("mkdocs.yml"))
    assert "leads out of the folder" in caplog.text
    assert "Xq7Zk" not in caplog.text
    assert not [
        file for file in (project / "site").rglob("*") if file.is_file() and b"Xq7Zk" in file.read_bytes()
    ]


@pytest.mark.parametrize("text", [SECRET, '[{"$set": {"Xq7Zk": 1}}]'], ids=["no JSON", "stages"])
def test_a_shared_pipeline_that_leads_out_of_its_folder_is_one_finding_without_a_word_of_it(
    project: Path, text: str, capsys: pytest.CaptureFixture[str]
):
    (project / "docs/pipelines/x.json").symlink_to(outside(project, "secret.json", text))
    (project / "docs/index.md").write_text("# Page\n\n" + TABLE % '["x", {"$sort": {"_id": 1}}]')
    (found,) = findings(capsys)
    assert found["file"].endswith("pipelines/x.json")
    assert found["rule"] == "MT142"


@pytest.mark.parametrize("name", ["../secret", "..", "/etc/passwd", "a/../../secret", "..\\secret"])
def test_no_name_of_a_shared_pipeline_or_a_collection_leads_out_of_its_folder(
    project: Path, name: str, capsys: pytest.CaptureFixture[str]
):
    outside(project, "project/docs/secret.json", SECRET)
    outside(project, "project/secret/a.jsonl", ROW)
    stages = json.dumps([name, {"$sort": {"_id": 1}}])
    (project / "docs/index.md").write_text("# Page\n\n" + TABLE % stages)
    assert findings(capsys)
    table = TABLE.replace('"results"', json.dumps(name))
    (project / "docs/index.md").write_text("# Page\n\n" + table % '[{"$sort": {"_id": 1}}]')
    assert [one["rule"] for one in findings(capsys)] == ["MT304"]


def test_links_within_the_folder_are_followed(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / "fixtures/kept").mkdir()
    (project / "fixtures/kept/b.jsonl").write_text('{"_id": 2, "a": 1}\n')
    (project / "fixtures/results/b.jsonl").symlink_to("../kept/b.jsonl")
    (project / "fixtures/same").symlink_to("results", target_is_directory=True)
    (project / "docs/pipelines/x.json").write_text('[{"$sort": {"_id": 1}}]')
    (project / "docs/pipelines/y.json").symlink_to("x.json")
    table = TABLE.replace('"results"', '"same"')
    (project / "docs/index.md").write_text("# Page\n\n" + table % '["y"]')
    assert main(["render", "docs/index.md", "--results", "fixtures"]) == 0
    out = capsys.readouterr().out
    assert [line.strip("| ") for line in out.splitlines() if line.startswith("|")][2:] == ["1", "2"]


def test_a_fixture_folder_that_is_itself_a_link_is_the_folder_that_was_named(
    project: Path, capsys: pytest.CaptureFixture[str]
):
    (project / "fixtures").rename(project.parent / "shared")
    (project / "fixtures").symlink_to(project.parent / "shared", target_is_directory=True)
    assert main(["check", "docs", "--results", "fixtures"]) == 0


def test_pull_changes_nothing_outside_of_the_fixture_folder(
    project: Path, capsys: pytest.CaptureFixture[str]
):
    theirs = outside(project, "elsewhere/theirs.jsonl", ROW)
    (project / "fixtures/copy").symlink_to("../../elsewhere", target_is_directory=True)
    assert main(["pull", "fixtures", "results", "--as", "copy"]) != 0
    assert "leads out of the folder" in capsys.readouterr().err
    assert [(file.name, file.read_text()) for file in theirs.parent.iterdir()] == [(theirs.name, ROW)]


@pytest.mark.timeout(30)
def test_a_build_is_not_held_up_by_a_shared_pipeline_without_an_end(project: Path):
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    os.mkfifo(project / "docs/pipelines/x.json")
    build(load_config("mkdocs.yml"))
    assert (project / "site/index.html").exists()
