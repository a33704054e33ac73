"""The seal around the core of the program is tight, and open again afterwards."""

from __future__ import annotations

import io
import locale
import os
import posix
import random
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.seal import sealed


@pytest.mark.parametrize(
    ("look", "arguments"),
    [
        *((one, ["a"]) for one in (open, io.open, os.stat, os.lstat, os.listdir, os.scandir, os.path.exists)),
        *((one, ["a"]) for one in (os.path.getmtime, os.path.realpath, os.readlink)),
        *((one, ["a", os.O_RDONLY]) for one in (os.open, os.access)),
        *(
            (getattr(Path("a"), name), [])
            for name in ("open", "read_text", "stat", "exists", "is_file", "resolve")
        ),
        *(
            (one, [])
            for one in (lambda: [*os.walk(".")], lambda: [*Path().iterdir()], lambda: [*Path().glob("*")])
        ),
        *(
            (one, [])
            for one in (os.getcwd, Path.cwd, lambda: "HOME" in os.environ, lambda: os.environ["HOME"])
        ),
        *((one, ["HOME"]) for one in (os.getenv, os.environ.get)),
        *((one, []) for one in (time.time, time.time_ns, time.localtime, time.gmtime, time.ctime)),
        *((one, []) for one in (time.perf_counter, time.process_time)),
        *((one, []) for one in (date.today, datetime.now, datetime.today, datetime.utcnow)),
        *(
            (one, [given])
            for one, given in ((lambda form: time.strftime(form), "%Y"), (datetime.now, UTC), (os.urandom, 1))
        ),
        *((one, [given]) for one, given in ((subprocess.run, "true"), (os.system, "true"), (time.sleep, 0))),
        (socket.create_connection, [("::1", 9)]),
        *((one, []) for one in (socket.gethostname, locale.getlocale, uuid.uuid1, uuid.uuid4)),
        *((one, []) for one in (random.random, random.Random, os.environ.copy, lambda: len(os.environ))),
        *((one, []) for one in (lambda: posix.environ[b"HOME"], lambda: os.environb[b"HOME"])),
        *((one, []) for one in (type("Moment", (datetime,), {}).now, type("Day", (date,), {}).today)),
        *((one, []) for one in (lambda: datetime.fromtimestamp(0), datetime(2026, 1, 1).astimezone)),
        *((one, []) for one in (lambda: [*map(os.stat, "a")], lambda: next(iter(time.time, None)))),
        (lambda: sorted("a", key=os.stat), []),
    ],
)
def test_the_seal_holds(
    look: Callable[..., object], arguments: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AssertionError, match="while a site is computed"), sealed(monkeypatch):
        look(*arguments)


@pytest.mark.parametrize(
    "look",
    [
        lambda: suppress_all(os.stat, "a"),
        lambda: suppress_all(threading.Thread(target=id, args=(1,)).start),
    ],
)
def test_the_seal_holds_for_errors_that_are_caught_and_for_threads(
    look: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AssertionError, match="while a site is computed"), sealed(monkeypatch):
        look()


def suppress_all(look: Callable[..., object], *arguments: object) -> None:
    with suppress(Exception, AssertionError):
        look(*arguments)


def test_computing_is_free_within_the_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    with sealed(monkeypatch):
        assert os.path.normpath(Path("a") / ".." / "b") == "b"
        assert datetime(2026, 1, 1, tzinfo=UTC).strftime("%Y") == "2026"
        assert random.Random(1).random() == random.Random(1).random()
    assert Path().exists()
    assert random.random() != random.random()


def test_threads_that_others_have_left_read_what_they_like(monkeypatch: pytest.MonkeyPatch) -> None:
    read, is_sealed = [], threading.Event()

    def look() -> None:
        is_sealed.wait()
        read.append((Path().exists(), time.time() > 0, "PATH" in os.environ, time.strftime("%Y") > "2000"))

    thread = threading.Thread(target=look)
    thread.start()
    with sealed(monkeypatch):
        is_sealed.set()
        thread.join()
    assert read == [(True, True, True, True)]
