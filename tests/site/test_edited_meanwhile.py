"""What is edited while a site is built, and taken back, leaves nothing behind in the next build."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from mkdocs.structure.files import File

from mongo_tables.site import pagebypage, pagereader, sitereading
from mongo_tables.site.pagereader import PageReader
from tests.site.builds import files
from tests.site.inprocess import CONFIG, built, write

TABLE = '<!-- MONGO_TABLE: {"collection": "r", "pipeline": ["shared"], "columns": ["n"]} -->\n'
FILES = {
    "mkdocs.yml": f"{CONFIG}plugins: [mongo-tables]\n",
    "fixtures/r/r.jsonl": '{"_id": 1, "n": 5}\n',
    "docs/pipelines/shared.json": '[{"$project": {"_id": 0, "n": {"$add": ["$n", 1]}}}]',
    "docs/index.md": f"# One\n\n{TABLE}",
    "docs/more.md": f"# More\n\n{TABLE}",
}


@pytest.mark.parametrize("pages", ["together", "one by one"])
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("fixtures/r/r.jsonl", '{"_id": 1, "n": 7}\n'),
        ("docs/pipelines/shared.json", '[{"$project": {"_id": 0, "n": {"$add": ["$n", 3]}}}]'),
    ],
)
def test_what_is_taken_back_is_not_on_the_pages_of_the_next_build(
    file: str, text: str, pages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if pages == "one by one":
        monkeypatch.setattr(pagebypage, "MANY", 2)
    site = write(tmp_path, FILES)
    edited, ask = site / file, sitereading._site_key
    before = edited.stat()

    def edit_then(build: sitereading.SiteBuild) -> str:
        key = ask(build)
        edited.write_text(text)
        return key

    with monkeypatch.context() as patch:
        patch.setattr(sitereading, "_site_key", edit_then)
        assert built(site).done
    assert b">8<" in files(site / "site")["index.html"]
    edited.write_text(FILES[file])
    os.utime(edited, ns=(before.st_atime_ns, before.st_mtime_ns))
    for _ in range(2):
        assert built(site).done
        assert b">6<" in files(site / "site")["index.html"]
        assert b">8<" not in files(site / "site")["index.html"]


@pytest.mark.parametrize("folder", ["fixtures", "fixtures/r", "docs/pipelines"])
def test_a_folder_that_was_another_one_meanwhile_leaves_nothing_behind(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = write(tmp_path, FILES)
    aside, ask = tmp_path / "aside", sitereading._site_key
    other = {"docs/pipelines/shared.json": FILES["docs/pipelines/shared.json"].replace("1]", "3]")}
    changed = other if folder == "docs/pipelines" else {"fixtures/r/r.jsonl": '{"_id": 1, "n": 7}\n'}

    def exchange_then(build: sitereading.SiteBuild) -> str:
        key = ask(build)
        (site / folder).rename(aside)
        write(site, changed)
        return key

    with monkeypatch.context() as patch:
        patch.setattr(sitereading, "_site_key", exchange_then)
        assert built(site).done
    assert b">8<" in files(site / "site")["index.html"]
    shutil.rmtree(site / folder)
    aside.rename(site / folder)
    assert built(site).done
    assert b">6<" in files(site / "site")["index.html"]


def test_a_link_above_the_results_that_led_elsewhere_meanwhile_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = "plugins:\n  - mongo-tables:\n      results: latest/fixtures\n"
    site = write(tmp_path, {**FILES, "mkdocs.yml": f"{CONFIG}{plugin}"})
    for run, number in (("first", 5), ("second", 7)):
        write(site, {f"{run}/fixtures/r/r.jsonl": f'{{"_id": 1, "n": {number}}}\n'})
    latest, ask = site / "latest", sitereading.ask_all

    def lead_to(run: str) -> None:
        latest.unlink(missing_ok=True)
        latest.symlink_to(run)

    def ask_another(build: sitereading.SiteBuild) -> None:
        lead_to("second")
        ask(build)
        lead_to("first")

    lead_to("first")
    with monkeypatch.context() as patch:
        patch.setattr(sitereading, "ask_all", ask_another)
        assert built(site).done
    assert b">8<" in files(site / "site")["index.html"]
    assert built(site).done
    assert b">6<" in files(site / "site")["index.html"]


@pytest.mark.parametrize("results", ["r=fixtures/*.csv", "r=fixtures/r.csv,other=fixtures/other.csv"])
def test_a_plain_file_that_was_another_one_meanwhile_leaves_nothing_behind(
    results: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = f'plugins:\n  - mongo-tables:\n      results: "{results}"\n'
    other = {} if "*" in results else {"fixtures/other.csv": "n\n5\n"}
    files_of_site = {"mkdocs.yml": f"{CONFIG}{plugin}", "fixtures/r.csv": "n\n5\n", **other}
    site = write(tmp_path, {**FILES, **files_of_site})
    file, ask = site / "fixtures/r.csv", sitereading.ask_all
    before = file.stat()

    def ask_another(build: sitereading.SiteBuild) -> None:
        file.write_text("n\n7\n")
        ask(build)

    with monkeypatch.context() as patch:
        patch.setattr(sitereading, "ask_all", ask_another)
        assert built(site).done
    assert b">8<" in files(site / "site")["index.html"]
    file.write_text("n\n5\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert built(site).done
    assert b">6<" in files(site / "site")["index.html"]


@pytest.mark.parametrize("file", ["docs/pipelines/shared.json", "fixtures/r.csv"])
def test_a_file_that_becomes_a_link_out_of_its_folder_is_refused_though_its_bytes_are_known(
    file: str, tmp_path: Path
) -> None:
    files_of_site = {name: text for name, text in FILES.items() if name != "fixtures/r/r.jsonl"}
    site = write(tmp_path / "site", {**files_of_site, "fixtures/r.csv": "n\n5\n"})
    assert built(site).done
    (site / file).rename(tmp_path / "elsewhere")
    (site / file).symlink_to(tmp_path / "elsewhere")
    outcome = built(site)
    assert not outcome.done
    assert "link" in outcome.log


def test_a_shared_pipeline_that_was_another_one_when_pages_were_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = write(tmp_path, FILES)
    shared, look = site / "docs/pipelines/shared.json", pagereader.folder_state
    file = File("index.md", str(site / "docs"), str(site / "site"), use_directory_urls=True)
    reader = PageReader(shared.parent)

    def look_then_save(folder: Path) -> str:
        state = look(folder)
        shared.write_text(FILES["docs/pipelines/shared.json"].replace("1]", "3]"))
        return state

    def added() -> object:
        page = reader.on_disk(file, FILES["docs/index.md"])
        assert page is not None
        return page.tables[0].pipeline[0]["$project"]["n"]["$add"][1]

    with monkeypatch.context() as patch:
        patch.setattr(pagereader, "folder_state", look_then_save)
        reader.refresh()
        assert added() == 3
    shared.write_text(FILES["docs/pipelines/shared.json"])
    reader.refresh()
    assert added() == 1
