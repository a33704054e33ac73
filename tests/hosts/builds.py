"""Builds of the sample site in a process of their own, and what a reader sees in the pages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from tests import forked

SAMPLE = Path(__file__).parent / "sample"


def sample(folder: Path) -> Path:
    """A copy of the sample site that a test may change."""
    return Path(shutil.copytree(SAMPLE, folder / "sample", ignore=shutil.ignore_patterns(".*")))


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "NO_MKDOCS_2_WARNING": "1", "SOURCE_DATE_EPOCH": "1767225600", **extra}


def build(
    site: Path, *options: str, program: str = "mkdocs", **extra: str
) -> subprocess.CompletedProcess[str]:
    if program == forked.MKDOCS:
        return forked.completed(program, ["build", *options], site, environment(**extra))
    return subprocess.run(
        [sys.executable, "-m", program, "build", *options],
        cwd=site,
        env=environment(**extra),
        capture_output=True,
        text=True,
        timeout=120,
    )


def build_twice(site: Path) -> None:
    """Build twice; both must give the same files."""
    built = []
    for _ in range(2):
        done = build(site, "--strict")
        assert done.returncode == 0, done.stderr
        built.append(files(site / "site"))
    assert built[0] == built[1]


@dataclass
class Reader(HTMLParser):
    """The tables of a page as lists of rows of cell texts, tags and attributes that were met, and comments."""

    tables: list[list[list[str]]] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    comments: list[str] = field(default_factory=list)
    _in_cell: bool = False

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._in_cell = True
        elif tag == "br" and self._in_cell:
            self.tables[-1][-1][-1] += "\n"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            cell = self.tables[-1][-1][-1]
            # Blanks behind a line break are not shown.
            self.tables[-1][-1][-1] = cell + (data.lstrip(" ") if cell.endswith("\n") else data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def article(page: Path) -> str:
    """The part of a built page that came from Markdown."""
    html = page.read_text(encoding="utf-8")
    return html[html.index("<article") : html.index("</article>")]


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a built site by its path, except the sitemap's compressed copy (it holds a time)."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "sitemap.xml.gz"
    }


def error_lines(output: str) -> list[str]:
    return re.findall(r"^ERROR +-  mongo-tables: (.*)$", output, re.MULTILINE)
