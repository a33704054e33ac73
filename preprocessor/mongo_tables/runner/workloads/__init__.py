"""The kinds of work an experiment may do: one module each, found by the name in the experiment file.

A workload module offers what ``Workload`` says. ``config`` is everywhere the experiment's parameters with
those of the variant on top, after scaling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast, runtime_checkable

from mongo_tables.runner.errors import ExperimentError

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

Config = Mapping[str, Any]
# Named, since not each module of the package is one; what is not asked for is not imported.
NAMES = (
    "aggregate",
    "delete",
    "event_load",
    "event_reports",
    "failover",
    "flat_insert",
    "hot_update",
    "insert",
    "query",
    "reports",
    "update",
    "update_api",
    "write_timeout",
    "ycsb",
    "ycsb_load",
)


class Done(NamedTuple):
    """What a step did: operations as tables count them, documents sent or received, their BSON bytes.

    ``kind`` tells apart operations of different kinds, for example ``read`` and ``update``; their latencies are
    counted apart. ``microseconds`` is what the request took when the step did something else too, such as to wait
    for the time of the request.
    """

    operations: int
    documents: int
    bytes: int
    kind: str = ""
    microseconds: int | None = None


class Amounts(NamedTuple):
    """What a window got done, counted as in ``Done``; of a request that lies in it in part, that part."""

    operations: float
    documents: float
    bytes: float


def _take_none(most: int) -> range:
    return range(0)


@dataclass(frozen=True, slots=True)
class Share:
    """Which part of the work is a connection's: ``worker`` of ``workers``; the seed of its random numbers.

    Of work given by amount, ``take`` gives the numbers from 0 on that nobody else has, at most so many, none when it is
    done. ``prepared`` is what connections of one process make once for all of them.
    """

    worker: int
    workers: int
    seed: str
    take: Callable[[int], range] = _take_none
    prepared: dict[str, Any] = field(default_factory=dict)

    @property
    def common_seed(self) -> str:
        """The seed without the number of the connection: of what all connections have alike."""
        return self.seed.rpartition("/")[0]

    def of(self, total: int) -> int:
        """The part of ``total`` that falls to this worker; the parts of all workers add up to ``total``."""
        return total // self.workers + (1 if self.worker < total % self.workers else 0)

    def start_of(self, total: int) -> int:
        """How much of ``total`` falls to the workers before this one."""
        return self.worker * (total // self.workers) + min(self.worker, total % self.workers)


Step = Callable[[], Done | None]
"""Does one operation and says what was done; None when the share is finished."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What a run has to know of a workload; a module gives those that differ from the defaults."""

    needs: frozenset[str]
    """Names of the parameters without which it cannot be done."""
    keeps_data: bool = False
    """Whether what is loaded can serve the next window too, after ``reset``; else each window loads its own."""
    amount: str | None = None
    """The parameter that says how much is done, where any amount can be; None where time or the data limits it."""
    batched: bool = False
    """Whether a run reckons with ``writeBatchSize`` operations in each request; else with one."""
    update_functions: tuple[str, ...] = ()
    """Which values of ``updateFunction`` it knows; empty where it does not look at it, so that each may stand there."""
    grows_with: str | None = None
    """The parameter with which a window adds to what is loaded, so that ``reset`` has something to take away."""
    goes_on: bool = False
    """Whether a window goes on from what the one before it left, so that the order of variants means something."""
    and_back: bool = False
    """Whether windows differ by so much that a block has two of each, on the way there and on the way back."""
    paces_itself: bool = False
    """Whether its parameters say how often it sends, so that a run cannot say it too."""
    writes: bool = True
    """Whether a window may write, so that the members of a set have more to do than to answer."""
    whole: bool = False
    """Whether its counts are compared with what is there afterwards, so that the window is all of the work."""
    holds_members: bool = False
    """Whether it holds up members of the deployment, so that nobody else may be on it."""
    changes_primary: bool = False
    """Whether the set gets another primary meanwhile: then connections are opened again, and a window takes its course
    at ``operationsPerSecond``, as long as ``testTimeSecs`` says."""


@runtime_checkable
class Workload(Protocol):
    """What a workload module offers."""

    TRAITS: Traits

    def plan(self, config: Config) -> Done | None:
        """What the timed window does in all; None when it ends by time alone."""

    def create(self, database: Database[Any], config: Config) -> None:
        """Make the collection and its indexes, empty."""

    def preload(self, config: Config) -> Config | None:
        """The config of an insert that fills the collection before the clock starts, or None.

        Another workload than ``insert`` is named as ``workload`` in it; ``totalDocsToInsert`` is always there.
        """

    def reset(self, database: Database[Any], config: Config) -> None:
        """Bring loaded data into the state in which every window starts."""

    def report(self, done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
        """What was really done: parameters that it replaces, and the ``testResults`` of the document."""

    def open_steps(self, client: Client, config: Config, share: Share) -> Step:
        """Prepare everything that can be prepared for one connection, and give the step to repeat."""


@runtime_checkable
class Concluding(Protocol):
    """What a workload module offers beside when it looks at what a window left."""

    def conclude(self, database: Database[Any], config: Config) -> dict[str, Any]:
        """Undo what ``reset`` did to the deployment, and give further ``testResults``."""


def workload(name: str) -> Workload:
    """Give the workload with this name; raises ExperimentError when there is none."""
    if name not in NAMES:
        raise ExperimentError(f"no workload is called {name!r}", f"known: {', '.join(NAMES)}")
    return cast(Workload, import_module(f"{__name__}.{name}"))
