"""The kinds of work an experiment may do: classes in the modules of this package, which register themselves by name.

``config`` is everywhere the experiment's parameters with those of the variant on top, after scaling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from mongo_tables.runner.errors import ExperimentError

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

Config = Mapping[str, Any]


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


@dataclass(frozen=True, slots=True)
class Share:
    """Which part of the work is a connection's: ``worker`` of ``workers``; the seed of its random numbers.

    Of work given by amount, ``take`` gives the numbers from 0 on that nobody else has, at most so many, none when it is
    done. ``prepared`` is what connections of one process make once for all of them.
    """

    worker: int
    workers: int
    seed: str
    take: Callable[[int], range] = lambda most: range(0)
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

_KINDS: dict[str, Workload] = {}


class Workload:
    """A kind of work; a class says how it differs from work on an empty collection that time ends.

    What a run has to know of it are attributes of the class.
    """

    needs: ClassVar[frozenset[str]]
    """Names of the parameters without which it cannot be done."""
    keeps_data: ClassVar[bool] = False
    """Whether what is loaded can serve the next window too, after ``reset``; else each window loads its own."""
    amount: ClassVar[str | None] = None
    """The parameter that says how much is done, where any amount can be; None where time or the data limits it."""
    batched: ClassVar[bool] = False
    """Whether a run reckons with ``writeBatchSize`` operations in each request; else with one."""
    update_functions: ClassVar[tuple[str, ...]] = ()
    """Which values of ``updateFunction`` it knows; empty where it does not look at it, so that each may stand there."""
    grows_with: ClassVar[str | None] = None
    """The parameter with which a window adds to what is loaded, so that ``reset`` has something to take away."""
    goes_on: ClassVar[bool] = False
    """Whether a window goes on from what the one before it left, so that the order of variants means something."""
    and_back: ClassVar[bool] = False
    """Whether windows differ by so much that a block has two of each, on the way there and on the way back."""
    paces_itself: ClassVar[bool] = False
    """Whether its parameters say how often it sends, so that a run cannot say it too."""
    writes: ClassVar[bool] = True
    """Whether a window may write, so that the members of a set have more to do than to answer."""
    whole: ClassVar[bool] = False
    """Whether its counts are compared with what is there afterwards, so that the window is all of the work."""
    holds_members: ClassVar[bool] = False
    """Whether it holds up members of the deployment, so that nobody else may be on it."""
    changes_primary: ClassVar[bool] = False
    """Whether the set gets another primary meanwhile: then connections are opened again, and a window takes its course
    at ``operationsPerSecond``, as long as ``testTimeSecs`` says."""

    def __init_subclass__(cls, name: str = "") -> None:
        """Register the workload; a class without a name is what others have in common."""
        if name:
            _KINDS[name] = cls()

    def plan(self, config: Config) -> Done | None:
        """What the timed window does in all; None when it ends by time alone."""
        return None

    def create(self, database: Database[Any], config: Config) -> None:
        """Make the collection and its indexes, empty."""
        make_collection(database, config)

    def preload(self, config: Config) -> Config | None:
        """The config of an insert that fills the collection before the clock starts, or None.

        Another workload than ``insert`` is named as ``workload`` in it; ``totalDocsToInsert`` is always there.
        """
        return None

    def reset(self, database: Database[Any], config: Config) -> None:
        """Bring loaded data into the state in which every window starts."""

    def report(self, done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
        """What was really done: parameters that it replaces, and the ``testResults`` of the document."""
        return {}, {}

    def open_steps(self, client: Client, config: Config, share: Share) -> Step:
        """Prepare everything that can be prepared for one connection, and give the step to repeat."""
        raise NotImplementedError

    def conclude(self, database: Database[Any], config: Config) -> dict[str, Any]:
        """Undo what ``reset`` did to the deployment, and give further ``testResults`` from what a window left."""
        return {}


def make_collection(database: Database[Any], config: Config, indexed: Sequence[str] = ()) -> None:
    """The collection, anew and empty, with an index on each of these fields."""
    collection = database[config["collection"]]
    collection.drop()
    database.create_collection(config["collection"])
    for name in indexed:
        collection.create_index([(name, 1)])


@cache
def workloads() -> Mapping[str, Workload]:
    """All workloads by their names, sorted."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return dict(sorted(_KINDS.items()))


def workload(name: str) -> Workload:
    """Give the workload with this name; raises ExperimentError when there is none."""
    known = workloads()
    if name not in known:
        raise ExperimentError(f"no workload is called {name!r}", f"known: {', '.join(known)}")
    return known[name]
