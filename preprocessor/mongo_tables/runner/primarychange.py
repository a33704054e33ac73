"""A window in which the replica set gets another primary: by a step-down, or because the primary is killed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.errors import KEPT, WorkFailed
from mongo_tables.runner.goodbye import close_beside
from mongo_tables.runner.load import Crew
from mongo_tables.runner.measure import Measurement, measure
from mongo_tables.runner.target import LocalTarget, Machine
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import failover

if TYPE_CHECKING:
    from pymongo import MongoClient

    Member = MongoClient[dict[str, Any]]

STEP_DOWN_SECONDS = 10
"""For so long the old primary does not stand for election."""
LONGEST_SECONDS = 60.0
_LOOK_SECONDS = 0.005


class _Change(threading.Thread):
    """Has the primary step down or killed at its time, and sees when another member takes writes."""

    def __init__(self, target: LocalTarget, members: Sequence[Member], config: Mapping[str, Any]) -> None:
        super().__init__(daemon=True)
        self._target = target
        self._members = members
        self._config = config
        self.primary = _primary(members)
        self._opens = 0.0
        self.seconds: float | None = None
        """From the event to the new primary."""
        self.failure = ""

    def begin(self, opens: int) -> None:
        """Start the clock of the event: the window opened at that moment, in nanoseconds."""
        self._opens = opens / 1e9
        self.start()

    def run(self) -> None:
        time.sleep(max(0.0, self._opens + self._config["eventAfterSecs"] - time.monotonic()))
        began = time.monotonic()
        try:
            self._act()
        except Exception as error:  # a thread by itself would keep it
            self.failure = f"{type(error).__name__}: {error}"
            return
        others = [one for number, one in enumerate(self._members) if number != self.primary]
        while time.monotonic() - began < LONGEST_SECONDS:
            if any(map(_takes_writes, others)):
                self.seconds = time.monotonic() - began
                return
            time.sleep(_LOOK_SECONDS)

    def _act(self) -> None:
        if self._config["event"] == "kill":
            self._target.kill_member(self.primary)
        else:
            self._members[self.primary].admin.command("replSetStepDown", STEP_DOWN_SECONDS)


def measure_change(
    target: LocalTarget, crew: Crew, load: Load, machine: Machine, progress: Callable[[int], None]
) -> Measurement:
    """Do the work of ``load`` while the primary changes.

    Counters of the server are those of a member that is no primary before, so that one that ends is not missed, and no
    difference is taken between two servers. Raises WorkFailed when no member became primary.
    """
    with ExitStack() as held:
        members = target.members()
        for member in members:
            held.callback(close_beside, member)  # one of them may be killed
        change = _Change(target, members, load.config)
        watched = members[(change.primary + 1) % len(members)]

        def look(done: int) -> None:
            if not change.is_alive() and not change.ident:
                change.begin(crew.window[0])
            progress(done)

        measurement = measure(watched, crew, load, machine, look)
        change.join()
    if change.seconds is None:
        raise WorkFailed(f"no other member became primary {change.failure}".rstrip(), KEPT)
    return replace(measurement, conclusion={"secondsToNewPrimary": change.seconds})


def conclude(client: Member, load: Load, measurement: Measurement) -> Measurement:
    """The measurement with what the documents tell, which the new primary has."""
    told = failover.conclude(client[load.database], load.config)
    counted = measurement.outcome.latencies_by_kind
    acknowledged = sum(sum(counts.values()) for kind, counts in counted.items() if kind.startswith("write"))
    lost = count_lost(told, acknowledged, failed=sum(measurement.outcome.errors.values()))
    del told["failuresTold"]
    return replace(
        measurement,
        conclusion={**measurement.conclusion, **told, "acknowledged": acknowledged, "lostAcknowledged": lost},
    )


def count_lost(told: Mapping[str, Any], acknowledged: int, failed: int) -> int | None:
    """The acknowledged writes that are not there, at least; None where one could be missing that nothing shows.

    ``told`` is what documents tell, ``acknowledged`` and ``failed`` are what clients counted: writes, and requests.
    """
    # What is missing behind the last document of a connection is seen by the number alone.
    lost = max(int(told["lostAcknowledged"]), acknowledged - told["found"] + told["failedButApplied"])
    # A write that failed there may have been done, and makes up in the number for one that was lost.
    return None if not lost and failed > told["failuresTold"] else lost


def _primary(members: Sequence[Member]) -> int:
    """The number of the member that takes writes, as soon as one does; raises WorkFailed when none does."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < deadline:
        for number, member in enumerate(members):
            if _takes_writes(member):
                return number
        time.sleep(_LOOK_SECONDS)
    raise WorkFailed("no member takes writes", KEPT)


def _takes_writes(member: Member) -> bool:
    from pymongo.errors import PyMongoError

    with suppress(PyMongoError):
        return bool(member.admin.command("hello")["isWritablePrimary"])
    return False
