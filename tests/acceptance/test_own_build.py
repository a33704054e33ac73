"""This project's site is built from files alone, without a network, and twice the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts.builds import environment
from tests.ownsite import build_own_site, without_network


@pytest.fixture(scope="module")
def sites(own_site: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The site twice, hashed differently."""
    return [own_site, build_own_site(tmp_path_factory.mktemp("again"), "4711")]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_the_site_is_built_from_files_alone_without_a_network(own_site: Path) -> None:
    page = (own_site / "experiments/insert-docsize/index.html").read_text("utf-8")
    assert page.count('<figure class="mongo-table"') >= 5
    assert "MONGO_" not in page


def test_every_header_of_a_table_of_results_says_what_it_means(own_site: Path) -> None:
    pages = [own_site / "index.html", *own_site.glob("experiments/**/*.html")]
    pages += [
        own_site / name / "index.html"
        for name in ("changes", "costs", "methodology", "sizing", "targets", "two-machines")
    ]
    headers = [
        (page.parent.name, header)
        for page in pages
        for figure in re.findall(
            r'<figure class="mongo-table".*?</figure>', page.read_text("utf-8"), re.DOTALL
        )
        for header in re.findall(r'<th scope="col".*?</th>', figure)
    ]
    assert len(headers) > 1000
    assert [header for header in headers if "<abbr title=" not in header[1]] == []


@pytest.mark.exhaustive
def test_two_builds_give_the_same_bytes(sites: list[Path]) -> None:
    one, other = map(contents, sites)
    assert len(one) > 50
    assert sorted(one) == sorted(other)
    assert [path for path in sorted(one) if one[path] != other[path]] == []


def test_a_blocked_socket_is_refused(tmp_path: Path) -> None:
    """What the first test leans on: neither way lets a connection through."""
    before, needed = without_network(tmp_path)
    code = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=3)"
    command = [*before, sys.executable, "-c", code]
    done = subprocess.run(
        command, env=environment(**needed), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "no network" in done.stderr or "unreachable" in done.stderr
