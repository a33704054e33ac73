"""Queries and aggregations from a template, repeated until the window's time is over.

In a template, ``RANDINT(a,b)`` means a random whole number from a - 1 to b - 1. So ``RANDINT(1,n)`` is the number of
one of n documents or groups, which count from 0. ``RANDINTLIST(a,b,n)`` means a list of n different such numbers. A
request that does not find exactly ``limit`` documents is an error.
"""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import bson
from bson.int64 import Int64

from mongo_tables.runner.errors import UnexpectedReply
from mongo_tables.runner.workloads import REQUESTS, Config, Done, Share, Step, Workload, make_collection
from mongo_tables.runner.workloads.updates import load_numbered

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.wire.client import WireClient

RANGE = re.compile(r"(RANDINT(?:LIST)?)\((\d+),(\d+)(?:,(\d+))?\)")
_LARGEST_INT = 2**31 - 1
_INT, _LONG = struct.Struct("<i"), struct.Struct("<q")
_Pack = Callable[[bytearray, int, int], None]
_Number = tuple[_Pack, int, int, int]
_List = tuple[_Pack, Sequence[int], range]
_MEANT = re.compile(r"\s*RANDINT", re.IGNORECASE)


def encoder(template: Mapping[str, Any], chance: random.Random) -> Callable[[], bytes]:
    """Return a function that returns the BSON of the template with new random numbers from ``chance``.

    The template is encoded once. Every number of a range has the same size in BSON, so each call only writes the
    numbers into the encoded template.
    """
    # The template is the value of a field, because the encoder would move a top-level ``_id`` to the front.
    filled = (map_leaves(template, partial(_fill, number=number)) for number in (0, 1))
    zeros, ones = (bson.encode({"": one})[6:-1] for one in filled)
    places = [place for place, (zero, one) in enumerate(zip(zeros, ones, strict=True)) if zero != one]
    body = bytearray(zeros)
    texts = (RANGE.fullmatch(text) for _, text in leaves(template) if isinstance(text, str))
    numbers, lists = _spread(filter(None, texts), places)
    draw, sample = chance.random, chance.sample

    def encode() -> bytes:
        for pack, place, first, width in numbers:
            pack(body, place, first + int(draw() * width))
        for pack, here, among in lists:
            for place, number in zip(here, sample(among, len(here)), strict=True):
                pack(body, place, number)
        return bytes(body)

    return encode


def _spread(ranges: Iterable[re.Match[str]], places: Sequence[int]) -> tuple[list[_Number], list[_List]]:
    """Return the offsets of each single number with its range, and the offsets of each list with its range."""
    numbers: list[_Number] = []
    lists: list[_List] = []
    place = iter(places)
    for match in ranges:
        among = range(int(match[2]) - 1, int(match[3]))
        pack = (_INT if among.stop <= _LARGEST_INT else _LONG).pack_into
        if match[4]:
            lists.append((pack, list(islice(place, int(match[4]))), among))
        else:
            numbers.append((pack, next(place), among.start, len(among)))
    return numbers, lists


def _fill(leaf: Any, number: int) -> Any:
    match = RANGE.fullmatch(leaf) if isinstance(leaf, str) else None
    if match is None:
        return leaf
    value = number if int(match[3]) <= _LARGEST_INT else Int64(number)
    return [value] * int(match[4]) if match[4] else value


def map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return the value with the result of ``change`` in place of each scalar inside it."""
    if isinstance(value, Mapping):
        return {key: map_leaves(inner, change) for key, inner in value.items()}
    return [map_leaves(inner, change) for inner in value] if isinstance(value, list) else change(value)


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the path and the value of each scalar inside a value, in order."""
    if not isinstance(value, Mapping | list):
        yield path, value
        return
    for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
        yield from leaves(inner, (*path, key))


def faults(template: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Yield the path, a description and a hint for each invalid random number. ``path`` is the path of the template."""
    for at, text in leaves(template, path):
        if isinstance(text, str) and _MEANT.match(text) and (reason := _fault(text)):
            yield (
                at,
                f"{text!r} {reason}",
                "write RANDINT(first,last), or RANDINTLIST(first,last,count) for a list",
            )


def _fault(text: str) -> str:
    match = RANGE.fullmatch(text)
    if match is None:
        return "is not a random number"
    name, first, last, count = match.groups()
    if (name == "RANDINTLIST") != (count is not None):
        return "needs a count" if count is None else "has a count, which only a list has"
    width = int(last) - int(first) + 1
    if int(first) < 1 or width < 1:
        return "is an empty range, or begins below 1"
    if count is not None and not 1 <= int(count) <= width:
        return f"cannot give {count} different numbers, because its range has only {width}"
    return ""


class QueryWorkload(Workload, name="query"):
    """The workload of queries for numbered documents in groups."""

    needs = frozenset(
        {"initialDocsToInsert", "docSizeKB", "writeBatchSize", "groupSize", "query", "limit", "testTimeSecs"}
    )
    keeps_data = True
    writes = False
    result = "nQueries"

    def create(self, database: Database[Any], config: Config) -> None:
        """Create an empty collection with an index on the group, and an index on the group and the place in it."""
        make_collection(database, config, ["group"])
        database[config["collection"]].create_index([("group", 1), ("group_seq_i", 1)])

    def preload(self, config: Config) -> Config:
        """Return an insert of ``initialDocsToInsert`` numbered documents in groups of ``groupSize``."""
        return {**load_numbered(config), "groupSize": config["groupSize"]}

    def server_counts(self, config: Config) -> Mapping[str, float]:
        """Return the counter of returned documents, divided by ``limit``, the number that each query returns."""
        return {"metrics.document.returned": 1 / config["limit"]} if config["limit"] else REQUESTS

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Encode the template. Return a step that sends one query and fetches all results."""
        selector = encoder(config["query"], random.Random(share.seed))
        limit, skip = config["limit"], config.get("skip", 0)
        done = Done(1, limit, 0)

        def step() -> Done:
            nonlocal done
            found, size = client.find(selector(), limit, skip)
            if found != limit:
                raise UnexpectedReply(f"a query found {found} documents, but {limit} were expected")
            if size != done.bytes:  # this is rare, because the projection leaves no fields
                done = Done(1, limit, size)
            return done

        return step


class Aggregate(QueryWorkload, name="aggregate"):
    """The workload of aggregations over the same documents as ``query``."""

    needs = QueryWorkload.needs - {"query"} | {"pipeline"}

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Encode the template. Return a step that sends one pipeline and fetches all results."""
        # An array is a document whose field names are indexes.
        stages = {str(place): stage for place, stage in enumerate(config["pipeline"])}
        pipeline = encoder(stages, random.Random(share.seed))
        limit = config["limit"]

        def step() -> Done:
            found, size = client.aggregate(pipeline())
            if found != limit:
                raise UnexpectedReply(f"a pipeline gave {found} documents, but {limit} were expected")
            return Done(1, found, size)

        return step
