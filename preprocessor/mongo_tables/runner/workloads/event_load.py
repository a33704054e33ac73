"""Events come into a version of the schema, in bulk writes of upserts, as they do before a load test.

``totalDocsToInsert`` is the number of events; ``version`` says how they are stored. The events are those of the
generator's twenty clocks, which the connections share, so that the data does not depend on their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mongo_tables.runner.clients import UnexpectedReply
from mongo_tables.runner.eventschemas import VERSIONS, Version
from mongo_tables.runner.eventschemas.events import CLOCKS, FIRST_DAY, Event, loading
from mongo_tables.runner.workloads import Amounts, Config, Done, Share, Step, Traits

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

TRAITS = Traits(needs=frozenset({"version", "totalDocsToInsert", "writeBatchSize"}))


def plan(config: Config) -> Done:
    """An upsert for each event, at the size of the first of all."""
    events = int(config["totalDocsToInsert"])
    one = Event(1, FIRST_DAY, {"approved": 1})
    return Done(events, events, events * len(encoded(VERSIONS[config["version"]], one)))


def create(database: Database[Any], config: Config) -> None:
    """An empty collection with the version's index and options."""
    version = VERSIONS[config["version"]]
    collection = database[config["collection"]]
    collection.drop()
    database.create_collection(config["collection"], **version.options)
    if version.unique:
        # Named, because the name is a field of the result, and one with dots cannot be read.
        collection.create_index([(field, 1) for field in version.unique], unique=True, name="key_and_date")


def preload(config: Config) -> None:
    """Nothing: the events are brought in while the clock runs."""
    return


def reset(database: Database[Any], config: Config) -> None:
    """Nothing: the collection is made anew for every window."""


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """How many events were brought in."""
    return {"totalDocsToInsert": done.operations}, {}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """A step makes a batch of events and writes it."""
    version = VERSIONS[config["version"]]
    clocks = range(share.worker, CLOCKS, share.workers)
    batches = loading(config["totalDocsToInsert"], share.common_seed, config["writeBatchSize"], clocks)

    def step() -> Done | None:
        events = next(batches, None)
        return None if events is None else send(client, [encoded(version, event) for event in events])

    return step


def send(client: Client, statements: list[bytes], kind: str = "") -> Done:
    """Send the statements with one request; raises when one of them neither matched nor upserted."""
    written = client.update_each(statements)
    if written != len(statements):
        raise UnexpectedReply(f"{written} of {len(statements)} events were written")
    return Done(written, written, sum(map(len, statements)), kind)


def encoded(version: Version, event: Event) -> bytes:
    """The statement that brings the event in, as BSON."""
    import bson

    statement = version.statement(event)
    return bson.encode({"q": statement.selector, "u": statement.update, "upsert": True})
