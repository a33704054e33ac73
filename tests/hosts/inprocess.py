"""Builds of small sites within the process of the tests: many of them take seconds only."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort

from tests.hosts.plugins.smallsite import Seen, read

CONFIG = "site_name: Small\nsite_url: https://example.org/\ntheme:\n  name: mkdocs\n"
ROWS = '{"_id": 1, "a": "x", "n": 3}\n{"_id": 2, "a": "y", "n": 5}\n'


@dataclass(frozen=True)
class Outcome:
    """Whether a build came to its end, what was logged, and how many pipelines were run for it."""

    done: bool
    log: str

    @property
    def pipelines_run(self) -> int:
        return int(re.findall(r"(\d+) pipelines run", self.log)[-1])

    @property
    def warnings(self) -> list[str]:
        return re.findall(r"^WARNING mongo-tables: (.*)$", self.log, re.MULTILINE)

    @property
    def errors(self) -> list[str]:
        return re.findall(r"^ERROR mongo-tables: (.*)$", self.log, re.MULTILINE)


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def built(folder: Path, *, preview: bool = False, strict: bool = False) -> Outcome:
    """Build the site in a folder, as ``mkdocs build`` does, or the first time as ``mkdocs serve`` does."""
    # Plugins with an event for the start are kept for as long as the process lasts, which is one build otherwise:
    # a build of another test would go on as this preview.
    kept = dict(MkDocsConfig._schema)["plugins"].plugin_cache
    kept.clear()
    with _logged() as lines:
        config = load_config(str(folder / "mkdocs.yml"), strict=strict)
        config.plugins.on_startup(command="serve" if preview else "build", dirty=False)
        try:
            build(config, serve_url="http://127.0.0.1/" if preview else None)
            done = True
        except Abort:
            done = False
        finally:
            config.plugins.on_shutdown()
            kept.clear()
    return Outcome(done, "\n".join(lines))


@contextmanager
def _logged() -> Iterator[list[str]]:
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(f"{record.levelname} {record.getMessage()}")  # type: ignore[method-assign]
    log = logging.getLogger("mkdocs")
    before = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    try:
        yield lines
    finally:
        log.removeHandler(handler)
        log.level, log.propagate = before


def table(name: str, least: int = 0, pipeline: str = "") -> str:
    stages = pipeline or json.dumps([{"$match": {"n": {"$gte": least}}}, {"$sort": {"_id": 1}}])
    keys = f'"id": "{name}", "collection": "r", "pipeline": {stages}'
    return f'<!-- MONGO_TABLE: {{{keys}, "columns": ["a", "n"], "headers": ["Kind", "Trains"]}} -->'


def value(of: str, column: str = "n", row: str = "y") -> str:
    return f'<!-- MONGO_VALUE: {{"table": "{of}", "where": {{"a": "{row}"}}, "column": "{column}"}} -->'


def html(folder: Path, page: str) -> str:
    return (folder / "site" / page).read_text(encoding="utf-8")


def seen(folder: Path, page: str) -> Seen:
    """What readers of a page see of its figures."""
    return read(html(folder, page))
