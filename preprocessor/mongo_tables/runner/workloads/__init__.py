"""The workloads of experiments: classes in the modules of this package, which register themselves by name.

In all of them, ``config`` is the experiment's parameters with those of the variant on top, after scaling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from mongo_tables.findings.usage import CommandError

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.wire.client import WireClient

Config = Mapping[str, Any]


class Done(NamedTuple):
    """The result of a step: operations as tables count them, documents sent or received, their BSON bytes.

    ``kind`` distinguishes kinds of operations, for example ``read`` and ``update``; their latencies are counted
    separately. ``microseconds`` is the time of the request if the step also did something else, such as waiting for
    its start time.
    """

    operations: int
    documents: int
    bytes: int
    kind: str = ""
    microseconds: int | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """A connection's part of the work, ``worker`` of ``workers``, and the seed of its random numbers.

    For work given by amount, ``take`` returns the next numbers, from 0 on, for this connection only: at most
    ``most``, none when the work is done. ``prepared`` holds what the connections of one process prepare once for all.
    """

    worker: int
    workers: int
    seed: str
    take: Callable[[int], range] = lambda most: range(0)
    prepared: dict[str, Any] = field(default_factory=dict)

    @property
    def common_seed(self) -> str:
        """Return the seed without the number of the connection, for data common to all connections."""
        return self.seed.rpartition("/")[0]


Step = Callable[[], Done | None]
"""Does one operation and returns the result, or None when the share is finished."""

REQUESTS: Final[Mapping[str, float]] = {
    "opLatencies.reads.ops": 1,
    "opLatencies.writes.ops": 1,
    "opcounters.getmore": -1,  # other members copy the oplog
}
"""The reads and writes that a server answered for clients, as the sum of its counters with these factors."""
INSERTS: Final[Mapping[str, float]] = {"opcounters.insert": 1}
"""The documents that a server inserted."""

_KINDS: dict[str, Workload] = {}


class Workload:
    """A kind of work. Subclasses override what differs from work on an empty collection that time ends.

    Class attributes hold the properties that a run needs.
    """

    needs: ClassVar[frozenset[str]]
    """The names of the required parameters."""
    keeps_data: ClassVar[bool] = False
    """Whether loaded data can serve the next window too, after ``reset``; otherwise each window loads its own."""
    amount: ClassVar[str | None] = None
    """The parameter with the amount of work, if any amount is possible; None if time or the data limits it."""
    counted: ClassVar[str | None] = None
    """The parameter that a row has with the operations that were done, from which tables compute speeds."""
    result: ClassVar[str | None] = None
    """The name of the operations in ``testResults``, if they are there."""
    indexed: ClassVar[str] = ""
    """The name, without their numbers, of the fields of which the first ``nSecondaryIndexes`` have an index."""
    first_index: ClassVar[int] = 1
    """The number of the first of these fields."""
    batched: ClassVar[bool] = False
    """Whether requests have ``writeBatchSize`` operations; otherwise one."""
    update_functions: ClassVar[tuple[str, ...]] = ()
    """The valid values of ``updateFunction``; empty if it is ignored, so that any value is valid."""
    grows_with: ClassVar[str | None] = None
    """The parameter with which a window adds to the loaded data, so that ``reset`` must remove it."""
    goes_on: ClassVar[bool] = False
    """Whether a window continues from the state of the previous one, so that the order of variants matters."""
    and_back: ClassVar[bool] = False
    """Whether windows vary so much that a block has two of each, forwards and backwards."""
    paces_itself: ClassVar[bool] = False
    """Whether its parameters set the rate, so that the run's options cannot."""
    writes: ClassVar[bool] = True
    """Whether a window may write, so that the members of a set do more than answer."""
    whole: ClassVar[bool] = False
    """Whether its counts are compared with the data afterwards, so that the window is all of the work."""
    holds_members: ClassVar[bool] = False
    """Whether it locks members of the deployment, so that it must have the deployment for itself."""
    changes_primary: ClassVar[bool] = False
    """Whether the primary changes during the window: connections are then reopened, and the window runs at
    ``operationsPerSecond`` for ``testTimeSecs``."""

    def __init_subclass__(cls, name: str = "") -> None:
        """Register the workload. A class without a name is a common base."""
        if name:
            _KINDS[name] = cls()

    def plan(self, config: Config) -> Done | None:
        """Return the total work of the timed window, or None if it ends by time only."""
        return None

    def request_bytes(self, config: Config) -> float:
        """Return the bytes of the documents that a request writes, or 0 if they are too few to matter."""
        return 0.0

    def create(self, database: Database[Any], config: Config) -> None:
        """Create the collection and its indexes, empty."""
        count = config.get("nSecondaryIndexes", 0) if self.indexed else 0
        make_collection(database, config, [f"{self.indexed}{self.first_index + one}" for one in range(count)])

    def preload(self, config: Config) -> Config | None:
        """Return the config of an insert that fills the collection before the clock starts, or None.

        Its ``workload`` names a workload other than ``insert``; ``totalDocsToInsert`` is always present.
        """
        return None

    def plan_load(self, config: Config) -> Done | None:
        """Return the total work of that insert, or None without one."""
        first = self.preload(config)
        return workload(first.get("workload", "insert")).plan(first) if first else None

    def reset(self, database: Database[Any], config: Config) -> None:
        """Bring loaded data into the state in which every window starts."""

    def server_counts(self, config: Config) -> Mapping[str, float]:
        """Return the counters of ``serverStatus`` that add up to the operations, with their factors.

        Empty if no counter has them.
        """
        return INSERTS if self.batched else REQUESTS

    def report(self, operations: float, documents: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the real work: parameters to replace, and the ``testResults`` of the document."""
        replaced = {self.counted: operations} if self.counted else {}
        return replaced, {self.result: operations} if self.result else {}

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Prepare everything possible for one connection, and return the step to repeat."""
        raise NotImplementedError

    def conclude(self, database: Database[Any], config: Config) -> dict[str, Any]:
        """Undo what ``reset`` did to the deployment, and return more ``testResults`` from the state after a window."""
        return {}


def make_collection(database: Database[Any], config: Config, indexed: Sequence[str] = ()) -> None:
    """Drop and create the collection, with an index on each of these fields."""
    collection = database[config["collection"]]
    collection.drop()
    database.create_collection(config["collection"])
    for name in indexed:
        collection.create_index([(name, 1)])


@cache
def workloads() -> Mapping[str, Workload]:
    """Return all workloads by name, sorted."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return dict(sorted(_KINDS.items()))


def workload(name: str) -> Workload:
    """Return the workload with this name. Raise CommandError if there is none."""
    known = workloads()
    if name not in known:
        raise CommandError(f"there is no workload {name!r}", f"known: {', '.join(known)}")
    return known[name]
