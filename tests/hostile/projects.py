"""A small site whose page, documents or surroundings are hostile: what the doors are tried on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

SOUND: Final = '{"_id": 1, "a": "x", "n": 3}\n{"_id": 2, "a": "y", "n": 5}\n'
CONFIG: Final = """\
site_name: Hostile
theme: {name: null, custom_dir: theme}
docs_dir: docs
plugins:
  - mongo-tables:
      results: fixtures
      documents: c
"""
SECRET: Final = "topsecret-outside"


def comment(pipeline: Any, **keys: Any) -> str:
    """A table of the columns ``a`` and ``n`` of the collection ``c``; ``keys`` replace what it has."""
    body = {"id": "t", "collection": "c", "pipeline": pipeline, "columns": ["a", "n"], "headers": ["A", "N"]}
    written = json.dumps({**body, **keys}).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!-- MONGO_TABLE: {written} -->\n"


TABLE: Final = comment([{"$sort": {"_id": 1}}])


@dataclass(frozen=True)
class Project:
    """An attack: what of a sound project is not sound.

    ``files`` are written over it, by path; ``arranged`` does what files cannot: links, pipes. ``refused``: every door
    that reads the pages must fail. ``doors`` are those that it is tried on; none named: all.
    """

    name: str
    page: str | bytes = TABLE
    documents: str | bytes = SOUND
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    arranged: Callable[[Path], object] = lambda folder: None
    refused: bool = False
    doors: tuple[str, ...] = ()

    def make(self, folder: Path) -> Path:
        """Write the project below ``folder``, beside a secret that is none of its business; give its folder."""
        project = folder / "project"
        _write(folder / "outside" / "secret.txt", f"{SECRET}\n")
        _write(folder / "outside" / "secret.jsonl", f'{{"_id": 1, "a": "{SECRET}", "n": 1}}\n')
        files = {
            "mkdocs.yml": CONFIG,
            "theme/main.html": "<!doctype html>\n{{ page.content }}\n",
            "docs/index.md": self.page,
            "fixtures/c/c.jsonl": self.documents,
            "sound/c/c.jsonl": SOUND,
            **self.files,
        }
        for path, content in files.items():
            _write(project / path, content)
        self.arranged(project)
        return project


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)


def listed(folder: Path) -> dict[str, bytes | str]:
    """Everything in a folder: files with their content, links with where they lead, of the rest the kind alone."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = f"link to {path.readlink()}"
        else:
            found[str(path)] = path.read_bytes() if path.is_file() else "no file"
    return found
