"""The time by which a cluster is waited for and paid for."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class Clock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """The moment, in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Wait so long."""
        time.sleep(seconds)


def iso(moment: datetime) -> str:
    """The moment as Atlas reads and writes it, in whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
