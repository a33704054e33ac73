"""Lines of Rust's ``#[bench]``: ``test join ... bench:       2,043.12 ns/iter (+/- 33.50) = 480 MB/s``.

libtest (https://doc.rust-lang.org/unstable-book/library-features/test.html) prints them, and so does Criterion with
``--output-format bencher``. libtest prints the median and the range of the samples, Criterion an estimate and half of
its interval. The line does not say which tool printed it, so the statistics have no names. Other lines are skipped,
except those of a failure, after which results may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mongo_tables.results.formats.benchmark import (
    AGAIN,
    SECONDS,
    TIME,
    Benchmark,
    RunOrigin,
    make_documents,
    shift,
)
from mongo_tables.results.formats.model import SourceFile

TOOL: Final = "Rust benchmark"
_BEGUN: Final = re.compile(r"test (\S.*?) +\.\.\. bench:")
_LINE: Final = re.compile(
    r"test (\S.*?) +\.\.\. bench: +([\d,]+(?:\.\d+)?) ns/iter \(\+/- ([\d,]+(?:\.\d+)?)\)(?: = ([\d,]+) MB/s)?\s*"
)
_LIKE_RESULT: Final = re.compile(r".*(?: bench: +[\d,.]+| [\d,.]+ ns/iter \()")
_MEASURED: Final = re.compile(r"test result: .* (\d+) measured;")
"""The last line of a run of libtest."""
FAILURE: Final = re.compile(
    r"thread '.*' (?:\(\d+\) )?panicked at .+|error(?:\[E\d+\])?: .+|test .+ \.\.\. FAILED|test result: FAILED.*"
)
"""A line that Rust, Cargo or libtest prints on a failure."""


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Yield a document for the time of each benchmark, and for its throughput if it has one."""
    found: list[Benchmark] = []
    count = 0
    for number, line in enumerate(file.lines(), 1):
        if FAILURE.fullmatch(said := line.strip()):
            raise file.refuse(f"the run failed, so results may be missing: {said}", number, 1, AGAIN)
        if measured := _MEASURED.match(line):
            if int(measured[1]) != count:
                message = f"the run measured {measured[1]} benchmarks, but the file has {count}"
                raise file.refuse(message, number, 1, AGAIN)
            count = 0
        if not (begun := _BEGUN.match(line)):
            if _LIKE_RESULT.match(line):
                raise file.refuse(
                    "the line looks like a result of libtest, but is malformed", number, 1, AGAIN
                )
            continue
        count += 1
        parts = _LINE.fullmatch(line)
        if parts is None or not line.endswith("\n"):
            raise file.refuse(f"the result of {begun[1]!r} is cut off", number, 1, AGAIN)
        found += _read_result(*parts.groups())
    return make_documents(file, RunOrigin(TOOL), found)


def _read_result(key: str, time: str, deviation: str, throughput: str | None) -> Iterator[Benchmark]:
    suite, _, name = key.rpartition("::")
    suite = suite or TOOL
    value, around = (shift(text.replace(",", ""), -9) for text in (time, deviation))
    yield Benchmark(suite, key, TIME, SECONDS, name, better="lower", value=value, extra={"deviation": around})
    if throughput:
        speed = shift(throughput.replace(",", ""), 6)
        yield Benchmark(suite, key, "throughput", "B/s", name, better="higher", value=speed)
