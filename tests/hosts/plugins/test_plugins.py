"""Beside each plugin that authors use every figure is right, in the first build and in the next after an edit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from html import unescape
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote

import pytest
from _pytest.mark import ParameterSet

from mongo_tables.cli import main
from tests.hosts.builds import build, environment
from tests.hosts.plugins.sites import SITES, UNDER_ZENSICAL, for_zensical, versions
from tests.hosts.plugins.smallsite import COLD, REWORDED, WARM, Site, read, with_tokens, write

ALIKE = (
    "static-i18n after",
    "gen-files after",
    "blog after",
    "rss before",
    "snippets and the extension",
    "awesome-nav",
)
ALIKE_UNDER_ZENSICAL = ("include-markdown", "snippets", "awesome-nav", "minify")
"""Sites that differ from one of the others by the order of plugins or by little more: they are for thorough tests."""


def few(name: str, left_out: tuple[str, ...]) -> ParameterSet:
    return pytest.param(name, marks=[pytest.mark.thorough] * (name in left_out))


def plain(content: str) -> str:
    """What a reader of a feed, an index or a text sees: no tags, no references, single blanks."""
    return " ".join(re.sub(r"<[^<>]*>", "", unescape(unescape(content))).split())


def built_right(site: Site, built: Path) -> None:
    for name, seen in site.pages.items():
        assert read((built / name).read_text(encoding="utf-8")) == seen, name
    for name, parts in site.others.items():
        content = plain((built / name).read_text(encoding="utf-8"))
        assert [part for part in parts if part not in content] == [], name
    assert with_tokens(built) == []
    assert [link for page in built.rglob("*.html") for link in dead_links_to_rows(page)] == []


def dead_links_to_rows(page: Path) -> list[str]:
    """Where a page leads for rows that lie beside it, and there is no file."""
    links = re.findall(r'href="?([^"\s>:]*rows/[^"\s>]+\.(?:csv|json))', page.read_text(encoding="utf-8"))
    return [link for link in links if not (page.parent / unquote(link)).is_file()]


@pytest.mark.parametrize("name", [few(name, ALIKE) for name in SITES])
def test_every_figure_is_right_beside_a_plugin_when_built_and_when_edited(name: str, tmp_path: Path) -> None:
    for edition in (COLD, REWORDED, WARM):
        site = SITES[name](edition)
        write(site, tmp_path)
        done = build(tmp_path)
        assert done.returncode == 0, done.stderr
        assert "mongo-tables:" not in done.stderr
        built_right(site, tmp_path / "site")


@pytest.mark.parametrize("name", [few(name, ALIKE_UNDER_ZENSICAL) for name in UNDER_ZENSICAL])
def test_every_figure_is_right_under_zensical_when_built_and_when_edited(name: str, tmp_path: Path) -> None:
    for edition in (COLD, WARM):
        site = for_zensical(SITES[name](edition))
        write(site, tmp_path)
        done = build(tmp_path, "--clean", program="zensical")
        assert done.returncode == 0, done.stderr
        built_right(site, tmp_path / "site")


@pytest.mark.parametrize("name", SITES)
def test_check_agrees_with_the_build_beside_a_plugin(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(SITES[name](COLD), tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["check"]) == 0, capsys.readouterr().out


GIT = {
    f"GIT_{who}_{what}": "tests@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


def test_every_figure_is_right_in_each_version_that_mike_publishes(tmp_path: Path) -> None:
    programs = str(Path(sys.executable).parent)

    def done(*command: str) -> bytes:
        found = {**GIT, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment(**found), capture_output=True, timeout=120
        )
        assert ended.returncode == 0, ended.stderr.decode()
        return ended.stdout

    done("git", "init", "--quiet")
    for version, edition in (("1.0", COLD), ("2.0", WARM)):
        write(versions(edition), tmp_path)
        done("git", "add", "docs")
        done("git", "commit", "--quiet", "--message", version)
        done(f"{programs}/mike", "deploy", version)
    with tarfile.open(fileobj=BytesIO(done("git", "archive", "gh-pages"))) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # since Python 3.11.4
        archive.extractall(tmp_path / "published")
    built_right(versions(COLD), tmp_path / "published" / "1.0")
    built_right(versions(WARM), tmp_path / "published" / "2.0")
