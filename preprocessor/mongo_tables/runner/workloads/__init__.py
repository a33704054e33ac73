"""The workloads of experiments: classes in the modules of this package, which register themselves by name.

``config`` always means the scaled parameters of a variant: the experiment's parameters, overridden by the variant's.
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
    """The result of a step: operations as tables count them, the documents sent or received, and their BSON bytes.

    ``kind`` is the kind of the operations, for example ``read`` or ``update``; latencies are counted by kind.
    ``microseconds`` is the time of the request alone, if the step also did something else, such as waiting.
    """

    operations: int
    documents: int
    bytes: int
    kind: str = ""
    microseconds: int | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """A connection's part of the work. The connection has the number ``worker`` of ``workers``, and its own seed.

    If the work ends after an amount, ``take`` reserves the next units of work for this connection and returns their
    numbers: at most ``most``, and none when no work is left. ``prepared`` holds data that the connections of a process
    prepare once and share.
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
"""A function that does one operation and returns the result, or None when the connection's work is finished."""

REQUESTS: Final[Mapping[str, float]] = {
    "opLatencies.reads.ops": 1,
    "opLatencies.writes.ops": 1,
    "opcounters.getmore": -1,  # other members copy the oplog
}
"""The server's counters, with factors, that add up to the reads and writes answered for clients."""
INSERTS: Final[Mapping[str, float]] = {"opcounters.insert": 1}
"""The server's counter of inserted documents."""

_KINDS: dict[str, Workload] = {}


class Workload:
    """A kind of work. Its class attributes and methods tell a run how to do it.

    The base class describes work on an empty collection until a time is over; subclasses override the differences.
    """

    needs: ClassVar[frozenset[str]]
    """The names of the required parameters."""
    keeps_data: ClassVar[bool] = False
    """Whether windows share the loaded data, which ``reset`` restores. Otherwise each window loads its own data."""
    amount: ClassVar[str | None] = None
    """The parameter with the amount of work, or None if the work ends by time or with its data."""
    counted: ClassVar[str | None] = None
    """The parameter whose value rows replace by the number of operations done. Tables compute speeds from it."""
    result: ClassVar[str | None] = None
    """The field of ``testResults`` that has the number of operations, or None if no field has it."""
    indexed: ClassVar[str] = ""
    """The name, without the number, of the fields that may be indexed. The first ``nSecondaryIndexes`` are indexed."""
    first_index: ClassVar[int] = 1
    """The number of the first field that may be indexed."""
    batched: ClassVar[bool] = False
    """Whether a request has ``writeBatchSize`` operations. Otherwise it has one operation."""
    update_functions: ClassVar[tuple[str, ...]] = ()
    """The valid values of ``updateFunction``, or empty if the parameter is ignored."""
    grows_with: ClassVar[str | None] = None
    """The parameter that makes a window add documents to the loaded data, which ``reset`` must remove."""
    goes_on: ClassVar[bool] = False
    """Whether a window continues from the state of the previous window, so that the order of variants matters."""
    and_back: ClassVar[bool] = False
    """Whether windows vary so much that a block measures each twice: in its order, and in the reverse order."""
    paces_itself: ClassVar[bool] = False
    """Whether the parameters set the rate, so that the run's options cannot."""
    writes: ClassVar[bool] = True
    """Whether a window may write, which also makes secondaries work."""
    whole: ClassVar[bool] = False
    """Whether the window must contain all of the work, because its counts are compared with the final data."""
    holds_members: ClassVar[bool] = False
    """Whether the workload locks or stops members. Only a deployment that the run itself started permits this."""
    changes_primary: ClassVar[bool] = False
    """Whether the primary changes during the window. Connections are then reopened; no option shortens the window."""

    def __init_subclass__(cls, name: str = "") -> None:
        """Register the workload. A class without a name is a common base."""
        if name:
            _KINDS[name] = cls()

    def plan(self, config: Config) -> Done | None:
        """Return the total work of the window, or None if only time ends it."""
        return None

    def request_bytes(self, config: Config) -> float:
        """Return the bytes of the documents that a request writes, or 0 if they are negligible."""
        return 0.0

    def create(self, database: Database[Any], config: Config) -> None:
        """Create the empty collection and its indexes."""
        count = config.get("nSecondaryIndexes", 0) if self.indexed else 0
        make_collection(database, config, [f"{self.indexed}{self.first_index + one}" for one in range(count)])

    def preload(self, config: Config) -> Config | None:
        """Return the config of the load that fills the collection before the window, or None if it starts empty.

        The config has ``totalDocsToInsert``; its ``workload`` is ``insert`` by default.
        """
        return None

    def plan_load(self, config: Config) -> Done | None:
        """Return the total work of the load before the window, or None if there is no such load."""
        first = self.preload(config)
        return workload(first.get("workload", "insert")).plan(first) if first else None

    def reset(self, database: Database[Any], config: Config) -> None:
        """Restore the loaded data to the state in which every window starts."""

    def server_counts(self, config: Config) -> Mapping[str, float]:
        """Return counters of ``serverStatus`` with factors: the operations are their weighted sum. Empty if unknown."""
        return INSERTS if self.batched else REQUESTS

    def report(self, operations: float, documents: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the work that was done: the parameters to replace in the row, and the ``testResults`` of the row."""
        replaced = {self.counted: operations} if self.counted else {}
        return replaced, {self.result: operations} if self.result else {}

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Prepare everything possible for one connection. Return the step that it repeats."""
        raise NotImplementedError

    def conclude(self, database: Database[Any], config: Config) -> dict[str, Any]:
        """Undo what ``reset`` changed in the deployment. Return more ``testResults`` from the data after a window."""
        return {}


def make_collection(
    database: Database[Any], config: Config, indexed: Sequence[str] = (), **options: Any
) -> None:
    """Drop and create the collection, with these options and an index on each field of ``indexed``."""
    collection = database[config["collection"]]
    collection.drop()
    database.create_collection(config["collection"], **options)
    for name in indexed:
        collection.create_index([(name, 1)])


@cache
def workloads() -> Mapping[str, Workload]:
    """Return all workloads by name, sorted."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return dict(sorted(_KINDS.items()))


def workload(name: str) -> Workload:
    """Return the workload with this name. Raises CommandError if there is no such workload."""
    known = workloads()
    if name not in known:
        raise CommandError(f"there is no workload {name!r}", f"known: {', '.join(known)}")
    return known[name]
