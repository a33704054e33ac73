"""Whether the load generator measures right: its figures beside those of a server of known behaviour.

    python -m benchmarks.measuring

Prints a line for each promise: what was found, the bar, and whether it holds. On a busy machine the server itself does
not keep its times: work whose promises do not all hold is repeated, and the command fails after five such rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from benchmarks.pretending import READS, counted, pretending
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.outcome import Outcome
from mongo_tables.runner.series import IntervalSeries, bucket
from mongo_tables.runner.slices import Slices
from mongo_tables.runner.worker import Load

ROUNDS: Final = 5
"""A neighbour that takes the processor for a moment spoils a round; what is measured wrongly is wrong in each."""
_PACED: Final = 2.5
"""Seconds of requests on a schedule."""
READ = Load("", "a", "query", READS, "s", 50)


class Promise(NamedTuple):
    """What is promised, what was found, and the least and the most that it may be."""

    what: str
    found: float
    least: float
    most: float

    @property
    def holds(self) -> bool:
        """Whether what was found is neither less nor more."""
        return self.least <= self.found <= self.most

    def __str__(self) -> str:
        """The line that is printed."""
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return f"{self.what}: {self.found:.4g} ({self.least:g} to {self.most:g}) {verdict}"


def stragglers(seconds: float) -> Iterator[Promise]:
    """10 ms a request, every 300th a second, a window opened after two seconds of load.

    By then as many connections stall as ever after: a simulation of these fifty has the speed of any window from there
    on within 0.4 % of the one that is expected.
    """
    slow = pretending(milliseconds=10, stall_every=300, stall_milliseconds=1000)
    # It stands for a server elsewhere, whose client does not give way.
    with slow as uri, WorkerPool(1, gives_way=False) as pool:
        done = pool.perform(replace(READ, uri=uri, seconds=seconds, lead=2))
        server = counted(uri, *pool.window)
    yield Promise("speed / the server's", done.inside.operations / server["requests"], 0.99, 1.01)
    # Of 300 requests 299 take 10 ms and one a second, and all what the server takes longer on a busy machine.
    each = (299 * 0.010 + 1) / 300 + server["late"] / 1e9
    yield Promise(f"speed / {50 / each:,.0f}", _speed(done) / (50 / each), 0.97, 1.03)
    yield Promise("connections in a request / 50", done.inside.busy / 1e9 / seconds / 50, 0.98, 1.001)
    yield Promise("requests that were not answered at the end", done.unfinished, 5, 50)
    yield Promise("processors that the client used", sum(done.process_cpu_seconds) / seconds, 0, 2)


def large_batches(megabytes: float) -> Iterator[Promise]:
    """Ten connections of which 20 MB a second are read, in one thread and in ten."""
    config = {
        "collection": "things", "docSizeKB": 1000, "writeBatchSize": megabytes, "totalDocsToInsert": 10**6,
    }  # fmt: skip
    with pretending(bytes_per_second=20e6) as uri, WorkerPool(1) as pool:
        seconds = max(2.0, megabytes / 3)
        load = replace(READ, workload="insert", config=config, connections=10, seconds=seconds)
        one, ten = (
            pool.perform(replace(load, uri=address)).inside.bytes
            for address in (uri, f"{uri}&socketTimeoutMS=60000")
        )
    yield Promise("one thread / ten", one / ten, 0.95, 99)


def too_high_a_rate() -> Iterator[Promise]:
    """Twice what can be done: ten connections, 10 ms a request."""
    tails = []
    with pretending(milliseconds=10) as uri, WorkerPool(1) as pool:
        for seconds in (1, 3):
            done = pool.perform(replace(READ, uri=uri, connections=10, seconds=seconds, rates=(2000.0,)))
            tails.append(_percentile(done, 0.99))
            yield Promise(
                f"{seconds} s: sent + unsent / meant",
                (done.sendings.operations + done.unsent) / 2000 / seconds,
                0.999,
                1.001,
            )
            yield Promise(
                f"{seconds} s: 99th percentile / age of the oldest",
                tails[-1] / (done.oldest_unsent / 1e9) / 1e6,
                0.8,
                1.2,
            )
    yield Promise("99th percentile of 3 s / of 1 s", tails[1] / tails[0], 2.5, 3.5)


def pacing(rate: float) -> Iterator[Promise]:
    """Requests on a schedule, beside a client that has a timer and an echo alone. Neither gives way to other work."""
    with pretending() as uri, WorkerPool(1, gives_way=False) as pool:
        done = pool.perform(replace(READ, uri=uri, connections=10, seconds=_PACED, rates=(float(rate),)))
    middle, cpu = bare(rate, _PACED)
    median = _percentile(done, 0.5)
    yield Promise("microseconds of the median", median, 0, 1000)
    yield Promise("median / a bare client's", median / middle, 0, 2)
    yield Promise("processor time / a bare client's", sum(done.process_cpu_seconds) / cpu, 0, 2)


def stopping() -> Iterator[Promise]:
    """One of fifty connections is closed, and the work is to stop."""
    with pretending(milliseconds=10, close_after=20) as uri, WorkerPool(2) as pool:
        with suppress(WorkFailed):
            pool.perform(replace(READ, uri=uri, seconds=30))
        stopped = time.monotonic_ns()
        closed = counted(uri, 0, 0)["closed_at"]
    yield Promise("seconds from the loss to the stop", (stopped - closed) / 1e9, 0, 0.5)


def reconnecting() -> Iterator[Promise]:
    """One of fifty connections is closed, and the work is to go on."""
    with pretending(milliseconds=10, close_after=20) as uri, WorkerPool(2) as pool:
        done = pool.perform(replace(READ, uri=uri, seconds=3, on_error="reconnect"))
        closes = pool.window[1]
        closed = counted(uri, 0, 0)["closed_at"]
        answered = counted(uri, closed, closes)["requests"]
    yield Promise("connections lost", done.failures.lost, 1, 1)
    yield Promise("seconds without service", done.failures.without_service / 1e9, 0.001, 1)
    yield Promise("speed after the loss / 5,000", answered / (closes - closed) * 1e9 / 5_000, 0.8, 1.01)


def reconnecting_late() -> Iterator[Promise]:
    """One of ten connections in one thread is closed, and a new one is greeted after most of the window."""
    server = pretending(milliseconds=10, close_after=20, greet_milliseconds=1800)
    with server as uri, WorkerPool(1) as pool:
        load = replace(READ, uri=uri, connections=10, seconds=2.5, on_error="reconnect")
        done = pool.perform(load)
    # Were they held up, the other nine would have a quarter of the window.
    yield Promise("speed / that of nine", done.inside.operations / (9 * 250), 0.5, 1.2)


def lengthening() -> Iterator[Promise]:
    """Five connections, 200 ms a request, and at least 15 or 2 requests in a window of 0.4 s."""
    for least, shortest, longest in ((15, 0.5, 4.2), (2, 0.399, 0.401)):
        with pretending(milliseconds=200) as uri, WorkerPool(1) as pool:
            done = pool.perform(replace(READ, uri=uri, connections=5, seconds=0.4, least=least))
        yield Promise(f"at least {least}: seconds", done.seconds, shortest, longest)
        yield Promise(f"at least {least}: requests", done.inside.requests, least - 1, 1000)


def alternating(slower: float, milliseconds: float, pairs: int, within: float) -> Iterator[Promise]:
    """Two servers take turns, of which one is so many times slower."""
    slices = Slices(round(8_000_000 * milliseconds), pairs, "s", lead=2)
    looks: list[float] = []
    with (
        pretending(milliseconds=milliseconds) as fast,
        pretending(milliseconds=milliseconds * slower) as slow,
        WorkerPool(1) as pool,
    ):
        load = replace(READ, connections=4)

        def look() -> None:
            looks.append(time.monotonic())

        one, other = pool.alternate(
            (replace(load, uri=fast), replace(load, uri=slow)), slices, opened=look, over=look
        )
    ratio = one.operations / other.operations
    yield Promise(f"speed of the first / {slower:g} of the second", ratio / slower, 1 - within, 1 + within)
    # What is looked at is the time of the slices that count.
    yield Promise("seconds looked at / counted", (looks[1] - looks[0]) / slices.counted * 1e9, 0.7, 1.3)


def work_by_amount() -> Iterator[Promise]:
    """Ten connections, one of which takes 25 times as long."""
    config = {"collection": "things", "totalDocsToInsert": 150_000, "docSizeKB": 0.1, "writeBatchSize": 100}
    with pretending(milliseconds=40, slow_milliseconds=1000) as uri, WorkerPool(2) as pool:
        done = pool.perform(replace(READ, uri=uri, workload="insert", config=config, connections=10))
        server = counted(uri, *pool.window)["documents"]
        steady = _speed_halfway(uri)
    speed = done.inside.documents / done.seconds
    yield Promise("steady part: documents / the server's", done.inside.documents / server, 0.97, 1.03)
    # These two know nothing of when the window opened and closed: they see one that has wrong ends.
    yield Promise("steady part: speed / the server's halfway", speed / steady, 0.97, 1.03)
    # Nine connections with 100 documents in 40 ms, one with 100 in a second.
    yield Promise("steady part: speed / 22,600", speed / 22_600, 0.97, 1.03)


def _speed_halfway(uri: str) -> float:
    """Documents a second that the server counted in the middle half of its time from first to last answer."""
    whole = counted(uri, 0, 0)
    quarter = (whole["last"] - whole["first"]) // 4
    middle = counted(uri, whole["first"] + quarter, whole["last"] - quarter)
    return middle["documents"] / (whole["last"] - whole["first"] - 2 * quarter) * 1e9


def memory() -> Iterator[Promise]:
    """An hour of 100 connections with 50 requests a second each, lognormal about 5 ms."""
    chance = random.Random("hour")
    connections = [
        Counter(bucket(int(1000 * chance.lognormvariate(1.6, 1.0))) for _ in range(50)) for _ in range(2000)
    ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    series = IntervalSeries(10**9)
    for second in range(3600):
        for counts in chance.choices(connections, k=100):
            series.add(second * 10**9, 50, {"read": counts})
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield Promise("MiB of an hour's series", (after - before) / 1024, 0, 4)


def bare(rate: float, seconds: float) -> tuple[float, float]:
    """Median in microseconds, and processor time, of timers and echoes without a load generator."""
    with pretending() as uri:
        return asyncio.run(
            _bare(int(uri.partition(":")[2].partition(":")[2].partition("/")[0]), rate, seconds)
        )


async def _bare(port: int, rate: float, seconds: float) -> tuple[float, float]:
    import bson

    from benchmarks.acknowledging import HEADER, OP_MSG

    body = b"\0\0\0\0\0" + bson.encode({"find": "things", "filter": {"_id": 1}, "limit": 1, "$db": "a"})
    message = HEADER.pack(16 + len(body), 1, 0, OP_MSG) + body
    took: list[int] = []

    async def connection(first: float) -> None:
        reader, writer = await asyncio.open_connection("localhost", port)
        for number in range(int(rate * seconds / 10)):
            meant = first + number * 10 / rate
            await asyncio.sleep(max(0.0, meant - time.monotonic()))
            writer.write(message)
            length = int.from_bytes(await reader.readexactly(4), "little")
            await reader.readexactly(length - 4)
            took.append(round((time.monotonic() - meant) * 1e6))
        writer.close()

    began = resource.getrusage(resource.RUSAGE_SELF)
    start = time.monotonic() + 0.05
    await asyncio.gather(*(connection(start + number / rate) for number in range(10)))
    ended = resource.getrusage(resource.RUSAGE_SELF)
    return statistics.median(took), ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def _speed(done: Outcome) -> float:
    return done.inside.operations / done.seconds


def _percentile(done: Outcome, part: float) -> float:
    ordered = sorted(took for took, count in done.latencies.items() for _ in range(count))
    return ordered[int(part * (len(ordered) - 1))]


OF_WORK: Final[dict[str, Callable[[], Iterator[Promise]]]] = {
    **{f"stalls, a window of {seconds} s": partial(stragglers, seconds) for seconds in (0.7, 2, 8)},
    **{f"batches of {megabytes} MB": partial(large_batches, megabytes) for megabytes in (1, 4, 12)},
    "twice the rate that can be done": too_high_a_rate,
    **{f"{rate} a second": partial(pacing, rate) for rate in (500, 2000)},
    "a lost connection stops": stopping,
    "a lost connection is opened again": reconnecting,
    "a lost connection is opened again late": reconnecting_late,
    "a window with few requests": lengthening,
    "turns of 40 ms": partial(alternating, 2, 5, 10, 0.3),
    "turns of 160 ms": partial(alternating, 1.2, 20, 40, 0.06),
    "work by amount": work_by_amount,
    "an hour of 100 connections": memory,
}
"""What is promised of windows, by the name of the work."""


def hold(promises: Callable[[], Iterator[Promise]]) -> bool:
    """Print the promises of one work; whether all of them hold."""
    found = list(promises())
    print(*(f"  {one}" for one in found), sep="\n", flush=True)
    return all(one.holds for one in found)


def main() -> int:
    """Print all promises; 1 when those of one work do not hold in any round."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "").parse_args()
    broken = []
    for name, promises in OF_WORK.items():
        print(name)
        if not any(hold(promises) for _ in range(ROUNDS)):
            broken.append(name)
    print(f"broken: {', '.join(broken)}" if broken else "all promises hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
