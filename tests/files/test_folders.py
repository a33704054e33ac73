"""Folders are walked through as a build of MkDocs does, and to an end."""

from __future__ import annotations

from pathlib import Path

import pytest
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import get_files

from mongo_tables.files.folders import walk


@pytest.fixture(autouse=True)
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("docs/deep/er/one.md", "docs/two.md", "elsewhere/under/three.md"):
        file = Path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# Page\n")
    return Path("docs")


def pages() -> list[str]:
    files = (Path(place, name) for place, names in walk(Path("docs")) for name in names)
    return sorted(file.relative_to("docs").as_posix() for file in files if file.suffix == ".md")


def test_pages_behind_links_are_those_that_a_build_has(docs: Path) -> None:
    (docs / "linked").symlink_to("../elsewhere")
    config = MkDocsConfig()
    config.load_dict({"site_name": "Site", "docs_dir": "docs"})
    config.validate()
    assert pages() == sorted(file.src_path for file in get_files(config))
    assert "linked/under/three.md" in pages()


@pytest.mark.parametrize("leads_to", [".", "..", "../docs", "deep", "circle", "nowhere", "/"])
def test_a_link_to_what_is_around_it_is_not_followed(leads_to: str, docs: Path) -> None:
    (docs / "deep/circle").symlink_to(leads_to)
    assert pages() == ["deep/er/one.md", "two.md"]


def test_two_links_that_lead_to_each_other_end(docs: Path) -> None:
    (docs / "there").symlink_to("../elsewhere")
    Path("elsewhere/back").symlink_to("../docs")
    assert pages() == ["deep/er/one.md", "there/under/three.md", "two.md"]


def test_a_folder_that_cannot_be_read_is_told() -> None:
    failed: list[OSError] = []
    assert list(walk(Path("nowhere"), failed.append)) == []
    assert [error.filename for error in failed] == ["nowhere"]
