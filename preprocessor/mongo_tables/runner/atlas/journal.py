"""What a run does on Atlas, written down before it is done: whoever finds it knows what may be there.

A line for each action, in a file of its own for each run, on disk before the request is sent. It holds names and no
secret. The file goes with the last of what it names; one whose process has ended is that of a killed run.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from mongo_tables.files.environment import read_variable
from mongo_tables.runner.atlas.clock import Clock, iso
from mongo_tables.runner.errors import RunnerError
from mongo_tables.runner.owningprocess import OwningProcess, this_process

_SUFFIX: Final = ".jsonl"


def folder() -> Path:
    """Where journals are: by the XDG Base Directory Specification among what a program remembers."""
    return (
        Path(read_variable("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "mongo-tables" / "atlas"
    )


class Journal:
    """That of one target of a run, in one project."""

    def __init__(self, project: str, clock: Clock, run: str) -> None:
        """``run`` is the name that its clusters have in their tag."""
        self.run = run
        self.project = project
        self._clock = clock
        self._path = folder() / f"{self.run}-{uuid4().hex[:6]}{_SUFFIX}"
        self.begun = False
        """Whether something may have been made: nothing is that was not written down."""
        self.fault = ""
        """Why something was removed that is not written down; "" where nothing was."""

    @property
    def is_there(self) -> bool:
        """Whether a sweep finds it."""
        return self.begun and self._path.is_file()

    def note(self, action: str, **what: str) -> None:
        """Write down what is about to be made or changed.

        Raises RunnerError where that fails, and then it is not to be done.
        """
        try:
            self._add(action, what)
        except OSError as error:
            raise RunnerError(
                f"nothing is made on Atlas that cannot be written down in {self._path.parent}: {error.strerror}",
                "XDG_STATE_HOME names another place",
            ) from None

    def note_removal(self, action: str, **what: str) -> None:
        """Write down what is about to be removed: it is, also where that fails, since it costs money."""
        try:
            self._add(action, what)
        except OSError as error:
            self.fault = (
                f"what is removed on Atlas cannot be written down in {self._path.parent}: {error.strerror}"
            )

    def end(self) -> None:
        """Nothing of what it names is there any more."""
        with suppress(OSError):
            self._path.unlink()

    def _add(self, action: str, what: Mapping[str, str]) -> None:
        line: dict[str, Any] = {"do": action, **what, "at": iso(self._clock.now())}
        if not self.begun:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            head = {"run": self.run, "project": self.project, "process": asdict(this_process())}
            self._write(head, os.O_CREAT | os.O_EXCL)
            self.begun = True
        self._write(line, 0)

    def _write(self, line: Mapping[str, Any], flags: int) -> None:
        """Add the line, or nothing: one that was cut off would make another of the next, and no sweep could read it."""
        content = (json.dumps(line) + "\n").encode()
        held = os.open(self._path, os.O_WRONLY | os.O_APPEND | flags, 0o600)
        try:
            before = os.fstat(held).st_size
            if os.write(held, content) < len(content):
                os.ftruncate(held, before)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(held)
        finally:
            os.close(held)


@dataclass(frozen=True, slots=True)
class Found:
    """A journal that is there: whose it is, and what it says was done."""

    path: Path = field(repr=False)
    run: str
    project: str
    process: OwningProcess
    actions: tuple[Mapping[str, Any], ...]

    @property
    def is_left(self) -> bool:
        """Whether its run has ended on this machine, and can remove nothing any more."""
        return self.process.is_here and not self.process.runs

    def named(self, action: str) -> list[str]:
        """The names of what such an action was about."""
        return list(dict.fromkeys(str(one["name"]) for one in self.actions if one.get("do") == action))


def found() -> Iterator[Found]:
    """All journals of this user; one that was cut off within its first line made nothing."""
    for path in sorted(folder().glob(f"*{_SUFFIX}")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            head, *actions = _lines(path.read_text("utf-8"))
            yield Found(path, head["run"], head["project"], OwningProcess(**head["process"]), tuple(actions))


def _lines(text: str) -> Iterator[Mapping[str, Any]]:
    """What is on the lines; the last may be cut off, and then what it names was not done."""
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)
