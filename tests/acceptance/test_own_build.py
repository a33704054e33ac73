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


def test_every_header_of_every_table_and_of_the_values_of_every_chart_says_what_it_means(
    own_site: Path,
) -> None:
    headers = [
        (page.parent.name, header)
        for page in own_site.rglob("*.html")
        for figure in re.findall(
            r'<figure class="mongo-table".*?</figure>', page.read_text("utf-8"), re.DOTALL
        )
        for header in re.findall(r'<th scope="col".*?</th>', figure)
    ]
    assert len(headers) > 2000
    assert [header for header in headers if "<abbr title=" not in header[1]] == []


def test_every_empty_cell_of_a_table_of_results_says_why_it_is_empty(own_site: Path) -> None:
    empty = [
        (page.relative_to(own_site).as_posix(), title)
        for page in own_site.rglob("index.html")
        if "authors" not in page.parts
        for title in re.findall(r'<td[^>]* data-t="[a-z]+" title="([^"]*)"', page.read_text("utf-8"))
    ]
    assert len(empty) > 500
    assert [one for one in empty if one[1] in ("null", "missing: the row has no such field")] == []


def test_a_site_without_an_address_has_no_empty_sitemap(own_site: Path) -> None:
    assert list(own_site.glob("sitemap.xml*")) == []


def test_campaigns_that_a_page_names_lead_to_their_rows(own_site: Path) -> None:
    page = own_site / "experiments/ycsb-core/index.html"
    (named,) = set(re.findall("<li>Campaigns: (.*?)</li>", page.read_text("utf-8")))
    links = re.findall('<a href="([^"]+)">([0-9a-f]{12})</a> of 2026-', named)
    assert len(links) == 2
    assert all((page.parent / address).resolve().stem == name for address, name in links)
    assert all((page.parent / address).is_file() for address, _ in links)


def test_a_table_with_controls_counts_and_reaches_the_documents_of_all_its_rows(own_site: Path) -> None:
    page = (own_site / "experiments/query-full/index.html").read_text("utf-8")
    (figure,) = re.findall('<figure class="mongo-table" id="query-full-control".*?</figure>', page, re.DOTALL)
    rows = len(re.findall('<tr id="query-full-control--[^"]*"', figure.partition("<details>")[0]))
    assert f"<li>Result documents: {rows}</li>" in figure
    assert figure.count('class="mongo-table__runs"') == rows


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
