"""Whether the load generator measures right: its figures beside those of a server of known behaviour.

    python -m benchmarks.measuring

Prints a line for each promise: what was found, the bar, and whether it holds; fails when one does not. On a machine
that is busy otherwise the server itself does not keep its times, and promises fail that hold on a quiet one.
"""

from __future__ import annotations

import asyncio
import random
import resource
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.pretending import READS, counted, pretending
from preprocessor.runner.errors import WorkFailed
from preprocessor.runner.load import Outcome, WorkerPool
from preprocessor.runner.series import Series, bucket
from preprocessor.runner.worker import Load

READ = Load("", "a", "query", READS, "s", 50, "wire")
TRUE_SPEED = 3_750
Promise = tuple[str, float, float, float]
"""What is promised, what was found, and its least and most."""


def stragglers() -> Iterator[Promise]:
    """10 ms a request, every 300th a second, windows opened after five seconds of load."""
    slow = pretending(milliseconds=10, stall_every=300, stall_milliseconds=1000)
    # It stands for a server elsewhere, whose client does not give way.
    with slow as uri, WorkerPool(1, gives_way=False) as pool:
        for seconds in (0.7, 2, 8):
            done = pool.perform(replace(READ, uri=uri, seconds=seconds, lead=5))
            server = counted(uri, *pool.window)["requests"]
            yield f"{seconds} s: speed / the server's", done.window.operations / server, 0.99, 1.01
            yield f"{seconds} s: speed / {TRUE_SPEED}", _speed(done) / TRUE_SPEED, 0.97, 1.03


def large_batches() -> Iterator[Promise]:
    """Ten connections of which 20 MB a second are read, in one thread and in ten."""
    for megabytes in (1, 4, 12):
        config = {
            "collection": "things", "docSizeKB": 1000, "writeBatchSize": megabytes, "totalDocsToInsert": 10**6,
        }  # fmt: skip
        with pretending(bytes_per_second=20e6) as uri, WorkerPool(1) as pool:
            load = replace(READ, workload="insert", config=config, connections=10, seconds=4)
            one, ten = (
                pool.perform(replace(load, uri=address)).window.bytes
                for address in (uri, f"{uri}&socketTimeoutMS=60000")
            )
        yield f"batches of {megabytes} MB: one thread / ten", one / ten, 0.95, 99


def too_high_a_rate() -> Iterator[Promise]:
    """Twice what can be done: ten connections, 10 ms a request."""
    with pretending(milliseconds=10) as uri, WorkerPool(1) as pool:
        done = pool.perform(replace(READ, uri=uri, connections=10, seconds=3, rates=(2000.0,)))
    yield "sent + unsent / meant", (done.paced.sent + done.paced.unsent) / 6000, 0.999, 1.001
    yield (
        "99th percentile / age of the oldest",
        _percentile(done, 0.99) / done.paced.oldest_unsent / 1e6,
        0.8,
        1.2,
    )


def pacing() -> Iterator[Promise]:
    """500 and 2,000 a second beside a client that has a timer and an echo alone."""
    for rate in (500, 2000):
        with pretending() as uri, WorkerPool(1) as pool:
            done = pool.perform(replace(READ, uri=uri, connections=10, seconds=4, rates=(float(rate),)))
        middle, cpu = bare(rate, 4)
        median = _percentile(done, 0.5)
        yield f"{rate}/s: microseconds of the median", median, 0, 1000
        yield f"{rate}/s: median / a bare client's", median / middle, 0, 2
        yield f"{rate}/s: processor time / a bare client's", sum(done.process_cpu_seconds) / cpu, 0, 2


def losses() -> Iterator[Promise]:
    """One of fifty connections is closed."""
    with pretending(milliseconds=10, close_after=20) as uri, WorkerPool(2) as pool:
        try:
            pool.perform(replace(READ, uri=uri, seconds=30))
        except WorkFailed:
            stopped = time.monotonic_ns() - counted(uri, 0, 0)["closed_at"]
            yield "seconds from the loss to the stop", stopped / 1e9, 0, 0.5
    with pretending(milliseconds=10, close_after=20) as uri, WorkerPool(2) as pool:
        done = pool.perform(replace(READ, uri=uri, seconds=3, on_error="reconnect"))
        yield "connections lost", done.lost, 1, 1
        yield "seconds without service", done.without_service, 0.001, 1


def work_by_amount() -> Iterator[Promise]:
    """Ten connections, one of which takes 25 times as long."""
    config = {"collection": "things", "totalDocsToInsert": 300_000, "docSizeKB": 0.1, "writeBatchSize": 100}
    with pretending(milliseconds=20, slow_milliseconds=500) as uri, WorkerPool(2) as pool:
        done = pool.perform(replace(READ, uri=uri, workload="insert", config=config, connections=10))
        server = counted(uri, *pool.window)["documents"]
    yield "steady part: documents / the server's", done.window.documents / server, 0.97, 1.03


def memory() -> Iterator[Promise]:
    """An hour of 100 connections with 50 requests a second each, lognormal about 5 ms."""
    chance = random.Random("hour")
    connections = [
        Counter(bucket(int(1000 * chance.lognormvariate(1.6, 1.0))) for _ in range(50)) for _ in range(2000)
    ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    series = Series(10**9)
    for second in range(3600):
        for counts in chance.choices(connections, k=100):
            series.add(second * 10**9, 50, {"read": counts})
    yield (
        "MiB of an hour's series",
        (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
        0,
        64,
    )


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
    return done.window.operations / done.seconds


def _percentile(done: Outcome, part: float) -> float:
    ordered = sorted(took for took, count in done.latencies.items() for _ in range(count))
    return ordered[int(part * (len(ordered) - 1))]


def main() -> int:
    """Print all promises; 1 when one does not hold."""
    broken = 0
    for promises in (stragglers, large_batches, too_high_a_rate, pacing, losses, work_by_amount, memory):
        print((promises.__doc__ or "").strip())
        for what, found, least, most in promises():
            holds = least <= found <= most
            broken += not holds
            print(
                f"  {what}: {found:.4g} ({least:g} to {most:g}) {'holds' if holds else 'DOES NOT HOLD'}",
                flush=True,
            )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
