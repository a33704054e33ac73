"""Programs in processes of their own, forked from one that has imported them: they take the time of their work alone.

Who promises something of how a program starts (its imports, options of the interpreter) starts it by ``subprocess``.
"""

from __future__ import annotations

import atexit
import io
import multiprocessing
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemBytecodeCache

from mongo_tables import cli

MKDOCS: Final = "mkdocs"
MONGO_TABLES: Final = "mongo-tables"
_PRELOADED: Final = (
    "bson", "jsonschema", "markdown", "markdown_it", "mkdocs.__main__", "mkdocs.commands.build",
    "markdown.extensions.admonition", "markdown.extensions.md_in_html", "markdown.extensions.tables",
    "mkdocs.config.defaults", "mkdocs.contrib.search", "pygments.formatters.html", "pygments.lexers.data",
    "pymdownx.details", "pymdownx.highlight", "pymdownx.superfences", "pymdownx.tabbed", "pymongo",
    "mongo_tables.aggregation", "mongo_tables.cli", "mongo_tables.commands.check.pages", "mongo_tables.commands.explain.terminal",
    "mongo_tables.lsp.server",
    "mongo_tables.site.build", "mongo_tables.results.file_source",
    "mongo_tables.results.mongodb", "mongo_tables.hosts.mkdocs_plugin", "tests.forked",
)  # fmt: skip


def run(
    program: str,
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    limits: Mapping[int, int] | None = None,
) -> tuple[int | None, str, str, float]:
    """Status, output, errors and seconds of a program; the status is None where it had to be ended.

    ``limits`` are those of the process, by their names in ``resource``.
    """
    context = _context()
    with tempfile.TemporaryDirectory() as place:
        files = Path(place, "out"), Path(place, "err")
        given = (program, list(arguments), folder, files, dict(environment), dict(limits or {}), _templates())
        process = context.Process(target=_enter, args=given)
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
    return status, out, err, time.monotonic() - began


def served(arguments: Sequence[str], constants: Mapping[str, Any]) -> tuple[BaseProcess, socket.socket]:
    """A `mongo-tables` that reads and writes a socket, as a language server does; the other end of it.

    ``constants`` are set in modules of the program before it begins, by their full names.
    """
    ours, theirs = socket.socketpair()
    process = _context().Process(target=_serve, args=(list(arguments), Path.cwd(), theirs, dict(constants)))
    process.start()
    theirs.close()
    return process, ours


def called(function: Callable[..., Any], *arguments: Any, folder: Path) -> Any:
    """What a function returns in a process of its own, whose working folder is ``folder``."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = _context().Process(target=_answer, args=(sender, folder, function, arguments))
    process.start()
    sender.close()
    returned, answer = receiver.recv()
    process.join()
    assert returned, answer
    return answer


def _answer(sender: Connection, folder: Path, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
    os.chdir(folder)
    for number in (1, 2):
        _point(number, os.open(os.devnull, os.O_WRONLY))
    try:
        sender.send((True, function(*arguments)))
    except BaseException:
        sender.send((False, traceback.format_exc()))


def _serve(arguments: list[str], folder: Path, connected: socket.socket, constants: dict[str, Any]) -> None:
    os.chdir(folder)
    for number in (0, 1):
        os.dup2(connected.fileno(), number)
    connected.close()
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False))
    for name, value in constants.items():
        module, _, constant = name.rpartition(".")
        setattr(sys.modules[module], constant, value)
    os._exit(_status(MONGO_TABLES, arguments))


def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    return context


def completed(
    program: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """What ``subprocess.run`` gives; with it, where the environment has something for the interpreter."""
    module = {MKDOCS: "mkdocs", MONGO_TABLES: "mongo_tables.cli"}[program]
    command = [sys.executable, "-m", module, *arguments]
    if any(
        name.startswith("PYTHON") and os.environ.get(name) != value for name, value in environment.items()
    ):
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    status, out, err, _ = run(program, arguments, folder, environment, seconds)
    if status is None:
        raise subprocess.TimeoutExpired(command, seconds, out, err)
    return subprocess.CompletedProcess(command, status, out, err)


@cache
def _templates() -> str:
    """A folder for compiled templates, for as long as the tests run: compiling them is half of a small build."""
    folder = tempfile.mkdtemp(prefix="templates-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _enter(
    program: str,
    arguments: list[str],
    folder: Path,
    files: tuple[Path, Path],
    environment: dict[str, str],
    limits: dict[int, int],
    templates: str,
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    _point(0, os.open(os.devnull, os.O_RDONLY))
    for number, file in enumerate(files, 1):
        _point(number, os.open(file, os.O_WRONLY | os.O_CREAT))
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), "utf-8", write_through=True)
    for limit, most in limits.items():
        resource.setrlimit(limit, (most, most))
    if program == MKDOCS:
        _keep_compiled(templates)
    os._exit(_status(program, arguments))


def _status(program: str, arguments: list[str]) -> int:
    try:
        return int(_call(program, arguments) or 0)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(bool(error.code))
    except BaseException:
        traceback.print_exc()
        return 1


def _call(program: str, arguments: list[str]) -> Any:
    sys.argv = [program, *arguments]
    if program == MKDOCS:
        from mkdocs.__main__ import cli as mkdocs

        return mkdocs()
    return cli.main()


def _point(number: int, opened: int) -> None:
    os.dup2(opened, number)
    os.close(opened)


class _Compiled(FileSystemBytecodeCache):
    """Compiled templates; what an environment makes of the same text differs by its settings."""

    def get_source_checksum(self, source: str) -> str:
        return super().get_source_checksum(source + self.settings)

    def get_bucket(self, environment: Environment, *others: Any) -> Any:
        filters = {name: str(getattr(one, "jinja_pass_arg", "")) for name, one in environment.filters.items()}
        names = (
            "block_start_string",
            "variable_start_string",
            "comment_start_string",
            "trim_blocks",
            "lstrip_blocks",
        )
        settings = [getattr(environment, name) for name in names]
        self.settings = repr([sorted(environment.extensions), sorted(filters.items()), *settings])
        return super().get_bucket(environment, *others)


def _keep_compiled(folder: str) -> None:
    initialize = Environment.__init__

    def with_cache(self: Environment, *arguments: Any, **named: Any) -> None:
        initialize(self, *arguments, **named)
        self.bytecode_cache = self.bytecode_cache or _Compiled(folder)

    Environment.__init__ = with_cache  # type: ignore[method-assign]
