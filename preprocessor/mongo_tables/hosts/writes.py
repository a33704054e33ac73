"""New results in a database, for a preview: a file that is touched when the database was written to.

MkDocs watches files. So the database is asked every few seconds for a sign that changes with every write, which costs
it next to nothing, and a file is touched when the sign is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Final

SECONDS: Final = 2.0
"""Between two looks."""


@contextmanager
def sign_of_writes(writes: Callable[[], str | None], seconds: float = SECONDS) -> Iterator[Path]:
    """A file that changes when ``writes`` gives another sign than before, for as long as the context lasts."""
    with TemporaryDirectory(prefix="mongo-tables-") as folder:
        file, ended = Path(folder, "writes"), Event()
        file.touch()
        Thread(target=_look, args=(writes, file, seconds, ended), daemon=True).start()
        try:
            yield file
        finally:
            ended.set()


def _look(writes: Callable[[], str | None], file: Path, seconds: float, ended: Event) -> None:
    before = writes()
    while not ended.wait(seconds):
        now = writes()
        if now != before and not ended.is_set():
            before = now
            file.touch()
