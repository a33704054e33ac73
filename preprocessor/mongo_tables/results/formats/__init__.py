"""The formats of files that are read as they are: ``FORMATS``, and which of them a file has.

A format of a tool is a module beside this one and a row before those of plain data: ``module`` names the module, whose
``read`` takes a ``SourceFile`` and gives documents (``formats.model``). It is imported once a file has the format.

A tool's file is known by its first characters, and only by what nothing else has: a file that is not known for a tool's
is read as plain data. Keys are looked for in any order, since programs that sort keys write such files anew. Versions
are the business of the readers: a file that is known for a tool's and has a version that its reader does not know is
refused there, and never read as plain data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Final, NamedTuple

from mongo_tables.results.formats.model import Document, SourceFile, suffix_of

_OBJECT_IN_OBJECT: Final = r'\s*\{\s*"(?:[^"\\]|\\.)+"\s*:\s*\{\s*"(?:[^"\\]|\\.)+"\s*:\s*'
_BENCHER: Final = _OBJECT_IN_OBJECT + r'\{\s*"(?:value|lower_value|upper_value)"\s*:\s*-?[\d.]'
_NO_RESULTS: Final = r'\s*\{\s*"results"\s*:\s*\[\s*\]\s*\}\s*'
_GO: Final = r"(?m)^(?:Benchmark(?![a-z])\S*[ \t]+\d+[ \t]+[\d.]\S*[ \t]+\S*[^\d\s]\S*|goos: \w+\r?$)"
_CRITERION: Final = (
    '{"reason":"benchmark-complete"',
    '{"reason":"group-complete"',
    "group,function,value,",
    '{"mean":{"confidence_interval":{"confidence_level"',
    '{"sampling_mode":',
    '{"group_id":',
)


def _is_pytest_benchmark(head: str) -> bool:
    """Whether the file is what pytest-benchmark writes with ``--benchmark-json``."""
    first = _first_key(head)
    return first == "machine_info" or (
        first in ("benchmarks", "commit_info") and '"fullname"' in head and '"stats"' in head
    )


def _is_hyperfine(head: str) -> bool:
    """Whether the file is what hyperfine writes with ``--export-json``."""
    first = _first_key(head)
    if first in ("schema_version", "metadata", "primary_metric"):
        return '"hyperfine_version"' in head
    keys = ("command", "mean", "stddev", "system")
    return first == "results" and (
        all(f'"{key}"' in head for key in keys) or re.fullmatch(_NO_RESULTS, head) is not None
    )


def _is_jmh(head: str) -> bool:
    """Whether the file is what JMH writes with ``-rf json``."""
    listed = head.lstrip().startswith("[")
    return listed and all(f'"{key}"' in head for key in ("benchmark", "mode", "primaryMetric"))


def _is_google_benchmark(head: str) -> bool:
    """Whether the file is what Google Benchmark writes with ``--benchmark_format=json``."""
    first = _first_key(head)
    if first == "context":
        return '"num_cpus"' in head and '"library_build_type"' in head
    return first == "benchmarks" and '"time_unit"' in head and '"real_time"' in head


def _is_criterion(head: str) -> bool:
    """Whether the file is one of those that Criterion and ``cargo criterion --message-format=json`` write."""
    return head.startswith(_CRITERION) or any(f"\n{one}" in head for one in _CRITERION[:2])


def _is_bencher(head: str) -> bool:
    """Whether the file begins as the Bencher Metric Format does."""
    return 'value"' in head and re.match(_BENCHER, head) is not None


def _is_go(head: str) -> bool:
    """Whether the file has a line of Go's benchmark format."""
    return ("Benchmark" in head or head.startswith("goos:")) and re.search(_GO, head) is not None


def _is_ycsb(head: str) -> bool:
    """Whether the file has the line with which YCSB's output begins."""
    return "[OVERALL], RunTime(ms), " in head


def _first_key(head: str) -> str:
    """The first key of the object that the file is; "" where it is none."""
    begun = head.lstrip()
    if not begun.startswith("{"):
        return ""
    key = begun[1:].lstrip()
    return key[1 : key.find('"', 1)] if key.startswith('"') else ""


HEAD: Final = 16 * 2**10
"""So many bytes of a file, unpacked, are looked at to tell its format."""


class Format(NamedTuple):
    """A format of files.

    ``name`` is what messages call it, ``suffixes`` are how names of such files end, in small letters and without
    ``.gz``. ``recognise`` says by the first ``HEAD`` bytes, as text without a byte order mark, whether a file with such
    a name has this format; None where the name is enough. ``has_text`` alone: its author may state types of columns.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    recognise: Callable[[str], bool] | None = None
    has_text: bool = False

    def read(self, file: SourceFile) -> Iterator[Document]:
        """The documents of a file, in its order. Raises ``ResultsError`` with file, line and column."""
        documents: Iterator[Document] = iter(import_module(f"{__name__}.{self.module}").read(file))
        return documents


FORMATS: Final = (
    Format("pytest-benchmark", (".json",), "pytestbenchmark", _is_pytest_benchmark),
    Format("hyperfine", (".json",), "hyperfine", _is_hyperfine),
    Format("JMH", (".json",), "jmh", _is_jmh),
    Format("Google Benchmark", (".json",), "googlebenchmark", _is_google_benchmark),
    Format("Criterion", (".json", ".jsonl", ".csv"), "criterion", _is_criterion),
    Format("Go benchmark", (".txt", ".out"), "gobenchmark", _is_go),
    Format("YCSB", (".txt", ".out"), "ycsb", _is_ycsb),
    Format("Bencher Metric Format", (".json",), "bencher", _is_bencher),
    Format("JSON", (".json",), "plain_json"),
    Format("JSON Lines", (".jsonl", ".ndjson", ".jsonlines"), "plain_json"),
    Format("CSV", (".csv",), "separated", has_text=True),
    Format("TSV", (".tsv", ".tab"), "separated", has_text=True),
    Format("Parquet", (".parquet",), "parquet"),
)
"""Every format, in the order in which a file is held against them: those of tools before those of plain data."""


def is_plain(name: str) -> bool:
    """Whether the name alone says that the file holds plain data."""
    return any(suffix_of(name) in one.suffixes for one in FORMATS if one.recognise is None)


def may_be_read(name: str) -> bool:
    """Whether a file of this name can have one of the formats, which some show in their first bytes alone."""
    return any(suffix_of(name) in one.suffixes for one in FORMATS)


def find_format(name: str, head: str) -> Format | None:
    """The format of a file, by its name and its first bytes; None where it has none of them."""
    suffix = suffix_of(name)
    for one in FORMATS:
        if suffix in one.suffixes and (one.recognise is None or one.recognise(head)):
            return one
    return next((one for one in FORMATS if one.recognise is not None and one.recognise(head)), None)
