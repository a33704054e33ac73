"""Signs of life that a run gives while it works, so that another does not take its database for one that was left."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mongo_tables.runner import ownership

if TYPE_CHECKING:
    from pymongo import MongoClient

BEAT_SECONDS = 60.0
"""Between two signs; ``ownership.ALIVE_SECONDS`` has time for some of them."""


class Heartbeat:
    """Gives a sign before windows, and in those that are long, until it is stopped."""

    def __init__(self, client: MongoClient[dict[str, Any]], database: str, run: str) -> None:
        """The database was claimed just now."""
        self._client = client
        self._database = database
        self._run = run
        self._last = time.monotonic()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat_until_stopped, daemon=True)
        self._thread.start()

    def beat(self) -> None:
        """Give a sign now, while nothing is measured, if the next would fall into what comes."""
        if time.monotonic() - self._last >= BEAT_SECONDS / 2:
            self._beat()

    def stop(self) -> None:
        """Give no more of them."""
        self._stopped.set()

    def _beat_until_stopped(self) -> None:
        while not self._stopped.wait(max(0.0, self._last + BEAT_SECONDS - time.monotonic())):
            if time.monotonic() - self._last >= BEAT_SECONDS:
                self._beat()

    def _beat(self) -> None:
        from pymongo.errors import PyMongoError

        self._last = time.monotonic()
        with suppress(PyMongoError):  # whoever works there sees what is wrong
            ownership.give_sign(self._client, self._database, self._run)
