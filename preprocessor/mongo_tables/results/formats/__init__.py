"""File formats that are read directly: ``FORMATS``, and the detection of a file's format.

To add the format of a tool, add a module to this package and a row before those of plain data. ``module`` names the
module, whose ``read`` takes a ``SourceFile`` and yields documents (``formats.model``). It is imported when a file has
the format.

The whole content identifies a tool's file, by lines or keys that no other format has, wherever they are: logs may
precede them, keys may be sorted, long lists may come first. A sound JSON text is identified by its keys at the top,
because plain data may have such keys further inside; a broken one by its words, so that its reader reports the fault.
All other files are read as plain data. Versions are the readers' concern: a reader refuses a file of its tool with an
unknown version, and the file is never read as plain data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Final, NamedTuple

from mongo_tables.results.formats.model import Document, SourceFile, suffix_of

_OBJECT_IN_OBJECT: Final = rb'\s*\{\s*"(?:[^"\\]|\\.)+"\s*:\s*\{\s*"(?:[^"\\]|\\.)+"\s*:\s*'
_BENCHER: Final = re.compile(_OBJECT_IN_OBJECT + rb'\{\s*"(?:value|lower_value|upper_value)"\s*:\s*-?[\d.]')
_NO_RESULTS: Final = re.compile(rb'\s*\{\s*"results"\s*:\s*\[\s*\]\s*\}\s*')
_GO_LINE: Final = re.compile(rb"Benchmark(?![a-z])\S*[ \t]+\d+[ \t]+[\d.]\S*[ \t]+\S*[^\d\s]\S*")
_GOOS_LINE: Final = re.compile(rb"goos: \w+\r?(?:\n|$)")
GO_EVENT: Final = re.compile(rb'\{(?=[^\n]*"Package"\s*:)[^\n]*"Action"\s*:\s*"output"[^\n]*\}')
_YCSB_LINE: Final = re.compile(rb"\[OVERALL\], RunTime\(ms\), ")
_LIBTEST_LINE: Final = re.compile(rb"test \S.* \.\.\. bench: +[\d,.]+ ns/iter ")
_MESSAGE: Final = re.compile(rb'"reason"\s*:\s*"(?:benchmark-complete|group-complete)"')
_CARGO_MESSAGE: Final = re.compile(rb'\{"reason"\s*:\s*"(?:compiler-|build-)[a-z-]+"')
_CRITERION: Final = (
    b"group,function,value,",
    b'{"mean":{"confidence_interval":{"confidence_level"',
    b'{"sampling_mode":',
    b'{"group_id":',
)


def _is_pytest_benchmark(file: SourceFile) -> bool:
    """Return whether the file is from pytest-benchmark's ``--benchmark-json``."""
    return file.has_keys([b'"machine_info"'], needs=["machine_info"]) or file.has_keys(
        [b'"fullname"', b'"stats"'], "benchmarks", needs=["fullname", "stats"]
    )


def _is_hyperfine(file: SourceFile) -> bool:
    """Return whether the file is from hyperfine's ``--export-json``."""
    version, run = "hyperfine_version", ["command", "mean", "stddev", "system"]
    return (
        file.has_keys([version.encode()], "metadata", needs=[version])
        or file.has_keys([b'"results"', b'"command"', b'"stddev"'], "results", needs=run)
        or _NO_RESULTS.fullmatch(file.seen[:99]) is not None
    )


def _is_jmh(file: SourceFile) -> bool:
    """Return whether the file is from JMH's ``-rf json``."""
    run = ["benchmark", "mode", "primaryMetric"]
    return file.has_keys([b'"primaryMetric"', b'"mode"'], needs=run)


def _is_google_benchmark(file: SourceFile) -> bool:
    """Return whether the file is from Google Benchmark's ``--benchmark_format=json``."""
    context, run = ["num_cpus", "library_build_type"], ["time_unit", "real_time"]
    return file.has_keys([f'"{key}"'.encode() for key in context], "context", needs=context) or file.has_keys(
        [f'"{key}"'.encode() for key in run], "benchmarks", needs=run
    )


def _is_vitest(file: SourceFile) -> bool:
    """Return whether the file is from ``vitest bench --outputJson``."""
    return file.has_keys([b'"groups"', b'"filepath"'], "files", needs=["groups", "filepath"])


def _is_criterion(file: SourceFile) -> bool:
    """Return whether the file is from Criterion or ``cargo criterion``, or has Cargo's messages."""
    return (
        file.seen.startswith(_CRITERION)
        or (b'"reason"' in file.seen and _MESSAGE.search(file.seen) is not None)
        or (file.has_line(_CARGO_MESSAGE) and not _is_libtest(file))
    )


def _is_libtest(file: SourceFile) -> bool:
    """Return whether the file has a line of Rust's ``#[bench]``, as Criterion's ``--output-format bencher`` has."""
    return file.has_line(_LIBTEST_LINE)


def _is_bencher(file: SourceFile) -> bool:
    """Return whether the file begins like the Bencher Metric Format."""
    return _BENCHER.match(file.seen) is not None


def _is_go(file: SourceFile) -> bool:
    """Return whether the file has a line of Go's benchmark format, or events of ``go test -json``."""
    has_events = b'"Package"' in file.seen and file.has_line(GO_EVENT)
    return has_events or file.has_line(_GO_LINE) or file.has_line(_GOOS_LINE)


def _is_ycsb(file: SourceFile) -> bool:
    """Return whether the file has the first line of YCSB's figures."""
    return file.has_line(_YCSB_LINE)


class Format(NamedTuple):
    """A file format.

    ``name`` is its name in messages. ``suffixes`` are the suffixes of such files, in lower case and without ``.gz``.
    ``recognise`` decides by the content whether a file has this format, whatever it is called; None if the suffix is
    enough. ``has_text``: the author may state column types. ``only_named``: most such files are settings, so a folder
    of results does not include them.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    recognise: Callable[[SourceFile], bool] | None = None
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
    Format("Vitest", (".json",), "vitest", _is_vitest),
    Format("Criterion", (".json", ".jsonl", ".csv"), "criterion", _is_criterion),
    Format("Rust benchmark", (".txt", ".out"), "libtest", _is_libtest),
    Format("Go benchmark", (".txt", ".out", ".json", ".jsonl"), "gobenchmark", _is_go),
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
    """Return whether only the name marks plain data."""
    return any(suffix_of(name) in one.suffixes for one in FORMATS if one.recognise is None)


def may_be_read(name: str) -> bool:
    """Return whether a file of this name can have one of the formats, some of which only the content shows."""
    return any(suffix_of(name) in one.suffixes for one in FORMATS)


def is_in_folder(name: str) -> bool:
    """Return whether a folder of results includes a file of this name."""
    return not any(suffix_of(name) in one.suffixes for one in FORMATS if one.only_named)


def find_format(file: SourceFile) -> Format | None:
    """Return the format of a file, by its content, then by its name, or None if it has no known format.

    Raises ``OSError`` if the file cannot be read or unpacked.
    """
    tools = () if file.suffix == ".parquet" else (one for one in FORMATS if one.recognise is not None)
    plain = (one for one in FORMATS if one.recognise is None and file.suffix in one.suffixes)
    return next((one for one in tools if one.recognise and one.recognise(file)), next(plain, None))
