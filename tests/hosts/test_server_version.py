"""The option `server`: of a site, of its extension, of a repository without a site, by the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.cli import main
from tests.hosts.test_fail_on import CONFIG, ROWS, build, built, table, write

NEWER = (
    '[{"$group": {"_id": "$a", "a": {"$first": "$a"}, "n": {"$median": {"input": "$n", "method": "approximate"}}}}, '
    '{"$sort": {"_id": 1}}]'
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def site(folder: Path, options: str, listed: str = "plugins") -> Path:
    page = f"# Home\n\n{table('one', pipeline=NEWER)}\n"
    settings = f"{CONFIG}{listed}:\n  - mongo-tables: {{{options}}}\n"
    return write(folder, {"mkdocs.yml": settings, "fixtures/r/r.jsonl": ROWS, "docs/index.md": page})


@pytest.mark.parametrize("listed", ["plugins", "markdown_extensions"])
def test_a_check_names_what_is_newer_than_the_server_of_the_site(
    listed: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site(folder, 'server: "6.0"', listed)
    assert main(["check"]) == 1
    assert "MT314 `$median` came with MongoDB 7.0, but the server is 6.0" in capsys.readouterr().out
    site(folder, 'server: "7.0"', listed)
    assert main(["check"]) == 0


def test_a_repository_without_a_site_may_name_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site(folder, "")
    (folder / "mkdocs.yml").unlink()
    (folder / "mongo-tables.toml").write_text('server = "6.0"\n')
    assert main(["check"]) == 1
    assert "MT314" in capsys.readouterr().out


def test_a_build_tells_it_as_well(folder: Path) -> None:
    assert built(site(folder, "fail_on: warning")).done
    ended = built(site(folder, 'fail_on: warning, server: "6.0"'))
    assert not ended.done
    assert "MT314" in ended.errors[0]


def test_a_version_without_quotes_is_refused_since_it_is_a_number(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site(folder, "server: 8.0")
    said = '`server` must be a version of MongoDB in quotes, such as "8.0", not 8.0'
    assert main(["check"]) == 2
    assert f"mkdocs.yml: {said}" in capsys.readouterr().err
    done = build(folder)
    assert done.returncode == 1 and said in done.stderr
