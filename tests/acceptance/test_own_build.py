"""This project's site is built from files alone, without a network, and twice the same."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.site.builds import environment

HERE = Path(__file__).parents[2]
PARTS = ("docs", "fixtures", "tests/lint/pages")

# Where the kernel grants no network of one's own: every connection but to a file raises.
NO_SOCKETS = """\
import socket

def refuse(self, address):
    raise OSError(f"no network: {address}")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = lambda host, *others, **more: refuse(None, host)
"""


def without_network(folder: Path) -> tuple[list[str], dict[str, str]]:
    """What stands before a command so that it reaches no host, and what its environment needs for it."""
    alone = ["unshare", "--map-root-user", "--net"]
    try:
        permitted = subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        permitted = False
    if permitted:
        return alone, {}
    (folder / "sitecustomize.py").write_text(NO_SOCKETS)
    return [], {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The site twice: of a copy with nothing but pages and fixtures, without a network, hashed differently."""
    copy = tmp_path_factory.mktemp("copy")
    for part in PARTS:
        shutil.copytree(HERE / part, copy / part)
    shutil.copy(HERE / "mkdocs.yml", copy)
    before, needed = without_network(tmp_path_factory.mktemp("blocked"))
    built = []
    for seed in ("1", "4711"):
        folder = tmp_path_factory.mktemp(f"site{seed}")
        cache = str(tmp_path_factory.mktemp(f"cache{seed}"))
        given = environment(PYTHONHASHSEED=seed, MONGO_TABLES_CACHE=cache, MONGO_TABLES_RESULTS="", **needed)
        command = [*before, sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-d", str(folder)]
        done = subprocess.run(
            command, cwd=copy, env=given, capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == 0, done.stderr
        built.append(folder)
    return built


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_the_site_is_built_from_files_alone_without_a_network(sites: list[Path]) -> None:
    page = (sites[0] / "experiments/insert-docsize/index.html").read_text("utf-8")
    assert page.count('<figure class="mongo-table"') >= 5
    assert "MONGO_" not in page


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
