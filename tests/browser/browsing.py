"""What tests in a browser share: the browser's program, a served site, and what a page did while it was open."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
EVERY = [9, pytest.param(1, marks=pytest.mark.exhaustive)]
"""Pages are made by few templates: each ninth is looked at for a commit, and all of them each night."""
# No name is looked up: what would leave the machine fails, and is recorded as it is asked for.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
# Themes fade from one look to the next: a test that looks meanwhile sees colours that no reader is left with.
STILL = """new MutationObserver((_, watch) => {
    if (!document.head) return;
    watch.disconnect();
    const style = document.createElement("style");
    style.textContent = "*, ::before, ::after { transition: none !important; animation: none !important; }";
    document.head.append(style);
}).observe(document, { childList: true, subtree: true });"""


def chromium() -> str:
    """The path of the system's Chromium. A machine without one fails the tests: they are never skipped."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert found, "no Chromium on PATH: apt-get install chromium"
    return found


@dataclass(frozen=True)
class Served:
    """A built site: its folder, and where it is served."""

    folder: Path
    url: str

    @property
    def pages(self) -> list[str]:
        """The path of every page, as it is linked."""
        found = sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*.html"))
        return [path.removesuffix("index.html") for path in found]

    @property
    def pages_with_tables(self) -> list[str]:
        """Those with a figure of ours."""
        return [path for path in self.pages if '<figure class="mongo-table"' in self.text(path)]

    @property
    def pages_with_charts(self) -> list[str]:
        """Those with a drawing."""
        return [path for path in self.pages_with_tables if '<div class="mongo-chart"' in self.text(path)]

    def file(self, path: str) -> Path:
        return self.folder / (f"{path}index.html" if path == "" or path.endswith("/") else path)

    def text(self, path: str) -> str:
        return self.file(path).read_text(encoding="utf-8")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Served]:
    """A folder, which may be made later, on a free loopback port until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield Served(folder, f"http://127.0.0.1:{server.server_address[1]}/")
        finally:
            server.shutdown()


@dataclass
class Witness:
    """What happened in a page: every request, and everything that a page without fault does not do."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, page: Page) -> Witness:
        """A witness of all that this page does from now on."""
        witness = cls()
        page.on("request", lambda request: witness.requests.append(request.url))
        page.on("pageerror", lambda error: witness.complaints.append(f"error: {error}"))
        page.on("console", lambda said: witness.complaints.append(f"{said.type}: {said.text}"))
        page.on(
            "dialog",
            lambda dialog: (witness.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()),
        )
        page.on("popup", lambda popup: witness.complaints.append(f"popup: {popup.url}"))
        return witness

    def outside(self, *own: str) -> list[str]:
        """The requests for anything but these."""
        return [url for url in self.requests if not url.startswith((*own, "data:", "blob:"))]
