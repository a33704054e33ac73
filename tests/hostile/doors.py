"""Every door of the program, each time in a process of its own that may take only so much time and memory.

The processes are forked from one that has imported everything: what an attack is given is the time of the work alone.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

MEMORY: Final = 1_500_000_000
"""Bytes of address space that a process may have, all that it has loaded included."""
LARGEST_FILE: Final = 200_000_000
SECONDS: Final = 30.0
"""Longer than any attack may take, on a machine that has other things to do as well."""
BUILD: Final = "build"
DOORS: Final[Mapping[str, Sequence[str]]] = {
    "check": ("check", "docs", "--prose"),
    "render": ("render", "docs/index.md"),
    "explain": ("explain", "docs/index.md"),
    "pull": ("pull", "fixtures", "c", "--to", "copied"),
    "diff": ("diff", "sound", "fixtures", "docs"),
    "new": ("new", "c"),
    BUILD: (BUILD, "--quiet"),
}
"""What each door is asked in a project of ``projects``."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_COMMAND: Final = re.compile(r"^(?:::(?!error file=|warning file=|notice file=)\w|##\[)", re.MULTILINE)
_PRELOADED: Final = (
    "bson", "jsonschema", "markdown", "markdown_it", "mkdocs.__main__", "mkdocs.commands.build", "pymongo",
    "preprocessor.aggregation", "preprocessor.cli", "preprocessor.commands.check.checking",
    "preprocessor.commands.explain.choosing", "preprocessor.commands.render.writing", "preprocessor.pages.build",
    "preprocessor.results.fixtures",
    "preprocessor.results.mongodb", "preprocessor.site.plugin", "tests.hostile.doors",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Done:
    """How a process ended: ``status`` None when it had to be ended, as it took too long."""

    status: int | None
    out: str
    err: str
    seconds: float

    def check(self) -> None:
        """Assert what holds whatever was attacked: an end in time and in words, and nothing that a reader obeys."""
        said = (self.out + self.err).replace("\r\n", "\n")
        assert self.status is not None, f"it hangs: {said[-500:]}"
        assert "Traceback" not in said, said[-3000:]
        assert "MemoryError" not in said, said[-3000:]
        assert self.status in (0, 1, 2), f"{self.status}: {said[-1000:]}"
        assert not (found := _CONTROL.search(said)), repr(said[max(0, found.start() - 80) : found.end() + 20])
        assert not (found := _COMMAND.search(said)), repr(said[found.start() : found.start() + 100])


def enter(arguments: Sequence[str], folder: Path, seconds: float = SECONDS, **variables: str) -> Done:
    """Go through a door in the folder: ``mongo-tables`` with the arguments, or a build by MkDocs."""
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "COLUMNS": "100", **variables}
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    with tempfile.TemporaryDirectory() as place:
        files = Path(place, "out"), Path(place, "err")
        process = context.Process(target=_enter, args=(list(arguments), folder, files, environment))
        process.start()
        began = time.monotonic()
        process.join(seconds)
        if process.is_alive():
            process.kill()
            process.join()
            status = None
        else:
            status = process.exitcode
        out, err = (file.read_bytes().decode(errors="replace") if file.exists() else "" for file in files)
    return Done(status, out, err, time.monotonic() - began)


def _enter(arguments: list[str], folder: Path, files: tuple[Path, Path], environment: dict[str, str]) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    _point(0, os.open(os.devnull, os.O_RDONLY))
    for number, file in enumerate(files, 1):
        _point(number, os.open(file, os.O_WRONLY | os.O_CREAT))
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), "utf-8", write_through=True)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os._exit(_status(arguments))


def _status(arguments: list[str]) -> int:
    try:
        return int(_called(arguments) or 0)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(bool(error.code))
    except BaseException:
        traceback.print_exc()
        return 1


def _called(arguments: list[str]) -> Any:
    if arguments[0] == BUILD:
        from mkdocs.__main__ import cli

        return cli(arguments)
    from preprocessor.cli import main

    sys.argv = ["mongo-tables", *arguments]
    return main()


def _point(number: int, opened: int) -> None:
    os.dup2(opened, number)
    os.close(opened)
