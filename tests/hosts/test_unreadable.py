"""A build that cannot read or write what it has to ends with one line for each fault, and no traceback."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts.builds import environment, error_lines, sample
from tests.modes import closed, obedient


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return sample(tmp_path)


def faults_of(site: Path) -> list[str]:
    done = obedient("mkdocs", "build", cwd=site)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert not (site / "site" / "index.html").exists()
    return error_lines(done.stderr)


def test_a_closed_collection_is_a_source_that_cannot_be_used(site: Path) -> None:
    with closed(site / "fixtures" / "runs"):
        (fault, _) = faults_of(site)
    assert fault.startswith("mkdocs.yml: MT310 the folder ")
    assert "fixtures/runs cannot be read: Permission denied" in fault


@pytest.mark.parametrize("name", ["", "by-threads.json"])
def test_shared_lists_that_cannot_be_read_are_said_to_be_so(site: Path, name: str) -> None:
    with closed(site / "docs" / "pipelines" / name):
        (fault, _) = faults_of(site)
    assert fault.endswith("docs/pipelines/by-threads.json: MT142 the file cannot be read (Permission denied)")


def test_a_folder_among_the_shared_lists_is_none_of_them(site: Path) -> None:
    (site / "docs" / "pipelines" / "folder.json").mkdir()
    assert obedient("mkdocs", "build", cwd=site).returncode == 0


def test_a_page_that_cannot_be_read_is_named(site: Path) -> None:
    with closed(site / "docs" / "guide.md"):
        (fault, _) = faults_of(site)
    assert fault == "docs/guide.md: MT100 the page cannot be read: Permission denied"


def test_a_page_that_is_not_utf_8_is_told_at_its_first_bad_byte(site: Path) -> None:
    (site / "docs" / "guide.md").write_bytes("Für\nGrün".encode("latin-1"))
    (fault, _) = faults_of(site)
    assert fault.startswith("docs/guide.md:1:2: MT100 the page is not UTF-8: there is a byte 0xfc here")


def _write_little() -> None:
    """Before a program begins: it can write as much into a file as if the disk were full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))


PUTS = """
from pathlib import Path
from mongo_tables.hosts.published_files import put
put({"rows/one.csv": "a,n\\n", "rows/two.csv": "0123456789" * 30}, Path())
"""


def test_a_full_disk_leaves_no_half_of_a_download(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PUTS],
        cwd=tmp_path,
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=_write_little,
    )
    assert "File too large: './rows/two.csv'" in done.stderr
    assert [file.name for file in (tmp_path / "rows").iterdir()] == ["one.csv"]


def test_a_file_behind_a_table_that_cannot_be_written_is_named(site: Path) -> None:
    (site / "docs" / "rows").write_text("a file where the folder of rows belongs")
    done = obedient("mkdocs", "build", cwd=site)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert any("site/rows/" in line and "Not a directory" in line for line in done.stderr.splitlines())
