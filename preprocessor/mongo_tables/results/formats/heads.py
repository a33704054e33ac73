"""By which first characters the files of benchmark tools are known; each function takes the head of a file.

Only what nothing else has is taken: a file that is not known for a tool's is read as plain data. Keys are looked for in
any order, since programs that sort keys write such files anew. Versions are the business of the readers: a file that is
known for a tool's and has a version that its reader does not know is refused there, and never read as plain data.
"""

from __future__ import annotations

import re
from typing import Final

_OBJECT_IN_OBJECT: Final = r'\s*\{\s*"(?:[^"\\]|\\.)+"\s*:\s*\{\s*"(?:[^"\\]|\\.)+"\s*:\s*'
_BENCHER: Final = _OBJECT_IN_OBJECT + r'\{\s*"(?:value|lower_value|upper_value)"\s*:\s*-?[\d.]'
_NO_RESULTS: Final = r'\s*\{\s*"results"\s*:\s*\[\s*\]\s*\}\s*'
_GO: Final = r"(?m)^(?:Benchmark(?![a-z])\S*[ \t]+\d+[ \t]+[\d.]\S*[ \t]+\S*[^\d\s]\S*|goos: \w+\r?$)"
HEADER_OF_CRITERION: Final = "group,function,value,"
_CRITERION: Final = (
    '{"reason":"benchmark-complete"',
    '{"reason":"group-complete"',
    HEADER_OF_CRITERION,
    '{"mean":{"confidence_interval":{"confidence_level"',
    '{"sampling_mode":',
    '{"group_id":',
)


def is_pytest_benchmark(head: str) -> bool:
    """Whether the file is what pytest-benchmark writes with ``--benchmark-json``."""
    first = _first_key(head)
    return first == "machine_info" or (
        first in ("benchmarks", "commit_info") and '"fullname"' in head and '"stats"' in head
    )


def is_hyperfine(head: str) -> bool:
    """Whether the file is what hyperfine writes with ``--export-json``."""
    first = _first_key(head)
    if first in ("schema_version", "metadata", "primary_metric"):
        return '"hyperfine_version"' in head
    keys = ("command", "mean", "stddev", "system")
    return first == "results" and (
        all(f'"{key}"' in head for key in keys) or re.fullmatch(_NO_RESULTS, head) is not None
    )


def is_jmh(head: str) -> bool:
    """Whether the file is what JMH writes with ``-rf json``."""
    listed = head.lstrip().startswith("[")
    return listed and all(f'"{key}"' in head for key in ("benchmark", "mode", "primaryMetric"))


def is_google_benchmark(head: str) -> bool:
    """Whether the file is what Google Benchmark writes with ``--benchmark_format=json``."""
    first = _first_key(head)
    if first == "context":
        return '"num_cpus"' in head and '"library_build_type"' in head
    return first == "benchmarks" and '"time_unit"' in head and '"real_time"' in head


def is_criterion(head: str) -> bool:
    """Whether the file is one of those that Criterion and ``cargo criterion --message-format=json`` write."""
    return head.startswith(_CRITERION) or any(f"\n{one}" in head for one in _CRITERION[:2])


def is_bencher(head: str) -> bool:
    """Whether the file begins as the Bencher Metric Format does."""
    return 'value"' in head and re.match(_BENCHER, head) is not None


def is_go(head: str) -> bool:
    """Whether the file has a line of Go's benchmark format."""
    return ("Benchmark" in head or head.startswith("goos:")) and re.search(_GO, head) is not None


def is_ycsb(head: str) -> bool:
    """Whether the file has the line with which YCSB's output begins."""
    return "[OVERALL], RunTime(ms), " in head


def _first_key(head: str) -> str:
    """The first key of the object that the file is; "" where it is none."""
    begun = head.lstrip()
    if not begun.startswith("{"):
        return ""
    key = begun[1:].lstrip()
    return key[1 : key.find('"', 1)] if key.startswith('"') else ""
