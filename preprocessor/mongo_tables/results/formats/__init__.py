"""File formats that are read directly: ``FORMATS``, and the detection of a file's format.

To add the format of a tool, add a module to this package and a row before those of plain data. ``module`` names the
module, whose ``read`` takes a ``SourceFile`` and yields documents (``formats.model``). It is imported when a file has
the format.

The first characters identify a tool's file, by a feature that no other format has; all other files are read as plain
data. The order of keys does not matter, because other programs rewrite such files with sorted keys. Versions are the
readers' concern: a reader refuses a file of its tool with an unknown version, and the file is never read as plain data.
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
    """Return whether the file is from pytest-benchmark's ``--benchmark-json``."""
    first = _first_key(head)
    return first == "machine_info" or (
        first in ("benchmarks", "commit_info") and '"fullname"' in head and '"stats"' in head
    )


def _is_hyperfine(head: str) -> bool:
    """Return whether the file is from hyperfine's ``--export-json``."""
    first = _first_key(head)
    if first in ("schema_version", "metadata", "primary_metric"):
        return '"hyperfine_version"' in head
    keys = ("command", "mean", "stddev", "system")
    return first == "results" and (
        all(f'"{key}"' in head for key in keys) or re.fullmatch(_NO_RESULTS, head) is not None
    )


def _is_jmh(head: str) -> bool:
    """Return whether the file is from JMH's ``-rf json``."""
    listed = head.lstrip().startswith("[")
    return listed and all(f'"{key}"' in head for key in ("benchmark", "mode", "primaryMetric"))


def _is_google_benchmark(head: str) -> bool:
    """Return whether the file is from Google Benchmark's ``--benchmark_format=json``."""
    first = _first_key(head)
    if first == "context":
        return '"num_cpus"' in head and '"library_build_type"' in head
    return first == "benchmarks" and '"time_unit"' in head and '"real_time"' in head


def _is_criterion(head: str) -> bool:
    """Return whether the file is from Criterion or ``cargo criterion --message-format=json``."""
    return head.startswith(_CRITERION) or any(f"\n{one}" in head for one in _CRITERION[:2])


def _is_bencher(head: str) -> bool:
    """Return whether the file begins like the Bencher Metric Format."""
    return 'value"' in head and re.match(_BENCHER, head) is not None


def _is_go(head: str) -> bool:
    """Return whether the file has a line of Go's benchmark format."""
    return ("Benchmark" in head or head.startswith("goos:")) and re.search(_GO, head) is not None


def _is_ycsb(head: str) -> bool:
    """Return whether the file has the first line of YCSB's output."""
    return "[OVERALL], RunTime(ms), " in head


def _first_key(head: str) -> str:
    """Return the first key of the object in the file; "" if it is not an object."""
    begun = head.lstrip()
    if not begun.startswith("{"):
        return ""
    key = begun[1:].lstrip()
    return key[1 : key.find('"', 1)] if key.startswith('"') else ""


HEAD: Final = 16 * 2**10
"""The number of unpacked bytes that format detection reads."""


class Format(NamedTuple):
    """A file format.

    ``name`` is its name in messages. ``suffixes`` are the suffixes of such files, in lower case and without ``.gz``.
    ``recognise`` decides from the first ``HEAD`` bytes, as text without a byte order mark, whether a file with such a
    suffix has this format; None if the suffix is enough. ``has_text``: the author may state column types.
    ``only_named``: most such files are settings, so a folder of results does not include them.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    recognise: Callable[[str], bool] | None = None
    has_text: bool = False
    only_named: bool = False

    def read(self, file: SourceFile) -> Iterator[Document]:
        """Return the documents of a file, in order. Raises ``ResultsError`` with file, line and column."""
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
    Format("YAML", (".yaml", ".yml"), "config_text", only_named=True),
    Format("TOML", (".toml",), "config_text", only_named=True),
    Format("Parquet", (".parquet",), "parquet"),
)
"""Every format, in the order of detection: those of tools before those of plain data."""


def is_plain(name: str) -> bool:
    """Return whether the name alone marks plain data."""
    return any(suffix_of(name) in one.suffixes for one in FORMATS if one.recognise is None)


def may_be_read(name: str) -> bool:
    """Return whether a file of this name can have one of the formats, some of which only the first bytes show."""
    return any(suffix_of(name) in one.suffixes for one in FORMATS)


def is_in_folder(name: str) -> bool:
    """Return whether a folder of results includes a file of this name."""
    return not any(suffix_of(name) in one.suffixes for one in FORMATS if one.only_named)


def find_format(name: str, head: str) -> Format | None:
    """Return the format of a file, by its name and its first bytes; None if it has no known format."""
    suffix = suffix_of(name)
    for one in FORMATS:
        if suffix in one.suffixes and (one.recognise is None or one.recognise(head)):
            return one
    return next((one for one in FORMATS if one.recognise is not None and one.recognise(head)), None)
