"""This project's own site, built from its pages and fixtures alone and without a network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.hosts.builds import environment

HERE = Path(__file__).parents[1]
PARTS = ("docs", "hooks", "fixtures", "tests/lint/pages")

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


def build_own_site(folder: Path, seed: str) -> Path:
    """The site in a part of the folder, built from a copy that has nothing but pages and fixtures; ``seed`` of hashes."""
    for part in PARTS:
        shutil.copytree(HERE / part, folder / "copy" / part)
    shutil.copy(HERE / "mkdocs.yml", folder / "copy")
    (folder / "blocked").mkdir()
    before, needed = without_network(folder / "blocked")
    given = environment(PYTHONHASHSEED=seed, MONGO_TABLES_RESULTS="", **needed)
    command = [
        *before,
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",  # with --quiet it would not see a warning
        "-d",
        str(folder / "site"),
    ]
    done = subprocess.run(
        command, cwd=folder / "copy", env=given, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"
