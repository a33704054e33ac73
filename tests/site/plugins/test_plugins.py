"""Beside each plugin that authors use every figure is right, in the first build and in the next after an edit."""

from __future__ import annotations

from pathlib import Path

import pytest

from preprocessor.cli import main
from tests.site.builds import build
from tests.site.plugins.sites import SITES
from tests.site.plugins.smallsite import COLD, WARM, Site, read, with_tokens, write


def built_right(site: Site, built: Path) -> None:
    for name, seen in site.pages.items():
        assert read((built / name).read_text(encoding="utf-8")) == seen, name
    for name, parts in site.others.items():
        content = " ".join((built / name).read_text(encoding="utf-8").split())
        assert [part for part in parts if part not in content] == [], name
    assert with_tokens(built) == []


@pytest.mark.parametrize("name", SITES)
def test_every_figure_is_right_beside_a_plugin_when_built_and_when_edited(name: str, tmp_path: Path) -> None:
    for edition in (COLD, WARM):
        site = SITES[name](edition)
        write(site, tmp_path)
        done = build(tmp_path)
        assert done.returncode == 0, done.stderr
        assert "mongo-tables:" not in done.stderr
        built_right(site, tmp_path / "site")


@pytest.mark.parametrize("name", SITES)
def test_check_agrees_with_the_build_beside_a_plugin(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(SITES[name](COLD), tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["check"]) == 0, capsys.readouterr().out
