"""A preview goes on: it shows faults in the page, follows every save, and runs a pipeline only when it must."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from tests.hosts.builds import environment, sample
from tests.signals import heed_signals

_TIME = r">(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)<"


class Preview:
    """``mkdocs serve`` of a site, or that of another program, in a process of its own, until the block ends."""

    def __init__(self, site: Path, *options: str, program: str = "mkdocs", **extra: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.site = site
        self._log = site.parent / "serve.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", program, "serve", *options, "-a", f"127.0.0.1:{self.port}"],
                cwd=site,
                env=environment(**extra),
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=heed_signals,
            )

    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def pipelines_run(self) -> list[int]:
        """How many pipelines each build so far has run."""
        return [int(number) for number in re.findall(r"mongo-tables: (\d+) pipelines run", self.log())]

    def wait(self, page: str, text: str, *, gone: bool = False) -> str:
        """The page as soon as it has the text (or no longer has it)."""
        html = ""
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            assert self._process.poll() is None, self.log()
            html = self._get(page)
            if html and (text in html) != gone:
                return html
            time.sleep(0.1)
        raise AssertionError(f"{text!r} not seen in {page}:\n{html[-3000:]}\n{self.log()[-3000:]}")

    def _get(self, page: str) -> str:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{page}", timeout=10) as answer:
                return str(answer.read(), "utf-8")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return ""

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.site / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(timeout=120)


@pytest.fixture
def preview(tmp_path: Path) -> Iterator[Preview]:
    with Preview(sample(tmp_path), "-v") as started:
        yield started


def test_a_preview_follows_every_save(preview: Preview) -> None:
    preview.wait("index.html", "139.8")
    # Six tables, two of which ask the same, and where the rows come from.
    assert preview.pipelines_run() == [10]

    preview.edit("docs/index.md", "A table between", "A prose edit between")
    preview.wait("index.html", "A prose edit between")
    assert preview.pipelines_run() == [10, 0]

    preview.edit("fixtures/runs/runs.jsonl", "139.8", "140.25")
    preview.wait("index.html", "140.25")

    preview.edit("docs/pipelines/by-threads.json", '"threads": 1 } }\n]', '"threads": -1 } }\n]')
    html = preview.wait("index.html", "140.25")
    while html.index(">140.25<") < html.index(">1032240<"):
        html = preview.wait("index.html", "140.25")


def test_a_preview_asks_for_the_time_again_at_each_save(preview: Preview) -> None:
    preview.wait("index.html", "139.8")
    pipeline = '[{ "$limit": 1 }, { "$set": { "at": { "$toString": "$$NOW" } } }]'
    clock = f'<!-- MONGO_TABLE: {{ "collection": "runs", "pipeline": {pipeline}, "columns": ["at"] }} -->'
    preview.edit("docs/index.md", "A table between", f"Asked:\n\n{clock}\n\nA table between")
    (before,) = re.findall(_TIME, preview.wait("index.html", "Asked:"))
    preview.edit("docs/index.md", "Asked:", "Asked again:")
    (after,) = re.findall(_TIME, preview.wait("index.html", "Asked again:"))
    assert before < after


def test_a_preview_shows_a_fault_in_the_page_and_goes_on(preview: Preview) -> None:
    preview.wait("index.html", "139.8")
    preview.edit("docs/index.md", '["by-threads"]', '["by-threads", { "$match": { "$nope": 1 } }]')
    html = preview.wait("index.html", "mongo-table-fault")
    assert "<code>docs/index.md:11:" in html
    assert "MONGO_TABLE" not in html

    preview.edit("docs/index.md", '["by-threads", { "$match": { "$nope": 1 } }]', '["by-threads"')
    preview.wait("index.html", "MT120")

    preview.edit("docs/index.md", '["by-threads"', '["by-threads"]')
    assert ">139.8<" in preview.wait("index.html", "mongo-table-fault", gone=True)


def test_a_preview_works_with_a_dead_results_source(tmp_path: Path) -> None:
    dead = "mongodb://user:secret@127.0.0.1:9/db?serverSelectionTimeoutMS=200"
    with Preview(sample(tmp_path), MONGO_TABLES_RESULTS=dead) as preview:
        html = preview.wait("index.html", "mongo-table-fault")
        assert "secret" not in html + preview.log()
        preview.edit("docs/index.md", "A table between", "A prose edit between")
        preview.wait("index.html", "A prose edit between")
