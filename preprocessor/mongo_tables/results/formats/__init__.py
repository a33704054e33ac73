"""The file formats, and the detection of a file's format.

To add the format of a tool, add a module to this package, and a row to ``FORMATS`` before the formats of plain data.
Its ``read`` takes a ``SourceFile`` and yields documents (``formats.model``). The module is imported on demand.

A file is of a tool if it has lines or keys that no other format has, wherever they are: a log may precede them, keys
may be sorted, long lists may come first. In a valid JSON text, only keys at the top count, because plain data may have
such keys further inside. In a broken JSON text, the words count, so that the reader of the tool reports the fault. All
other files are plain data. A reader refuses a file of its tool with an unknown version.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Final, NamedTuple

from mongo_tables.results.formats.model import Document, SourceFile, suffix_of

_OBJECT_IN_OBJECT: Final = rb'\s*\{\s*"(?:[^"\\]|\\.)+"\s*:\s*\{\s*"(?:[^"\\]|\\.)+"\s*:\s*'
_BENCHER: Final = re.compile(
    rb"\A" + _OBJECT_IN_OBJECT + rb'\{\s*"(?:value|lower_value|upper_value)"\s*:\s*-?[\d.]'
)
_NO_RESULTS: Final = re.compile(rb'\A\s*\{\s*"results"\s*:\s*\[\s*\]\s*\}\s*\Z')
_GO_LINE: Final = re.compile(rb"Benchmark(?![a-z])\S*[ \t]+\d+[ \t]+[\d.]\S*[ \t]+\S*[^\d\s]\S*")
_GOOS_LINE: Final = re.compile(rb"goos: \w+\r?(?:\n|$)")
GO_EVENT: Final = re.compile(
    rb'\{(?:(?=[^\n]*"Package"\s*:)[^\n]*"Action"\s*:\s*"output"|(?=[^\n]*"(?:Package|Action)"\s*:)[^\n]*"Output"\s*:)'
)
"""An event with output. It may lack one of its three keys. In that case, its reader reports the missing key."""
_YCSB_LINE: Final = re.compile(rb"\[OVERALL\], RunTime\(ms\), ")
_LIBTEST_LINE: Final = re.compile(rb"test \S.* \.\.\. bench: +[\d,.]+ ns/iter ")
_MESSAGE: Final = re.compile(rb'"reason"\s*:\s*"(?:benchmark-complete|group-complete)"')
_MEASURED: Final = re.compile(rb'\{"[^\n]*"iteration_count"\s*:[^\n]*"measured_values"\s*:')
_CARGO_MESSAGE: Final = re.compile(rb'\{"reason"\s*:\s*"(?:compiler-|build-)[a-z-]+"')


class Keys(NamedTuple):
    """The keys of a JSON file of a tool.

    If a file lacks only one of its keys, the reader of the tool reports the missing key.

    Attributes:
        needs: The keys of the object at ``path``.
        path: The path of the object (see ``SourceFile.has_keys``).
        words: The keys that a broken text must have. By default, they are ``path`` and ``needs``.
        usual: Further keys that the object usually has. Without them, no missing key is reported.
    """

    needs: tuple[str, ...]
    path: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    usual: tuple[str, ...] = ()

    def lack_one_in(self, file: SourceFile) -> bool:
        """Return whether a file has all but one of these keys."""
        keys = (*self.needs, *self.usual)
        absent = sum(f'"{key}"'.encode() not in file.seen for key in (*self.path, *keys))
        return absent < 2 and file.lacks_one_key(keys, self.path)


class Signature(NamedTuple):
    """A ``word`` that every file of a tool has, and a further test: the beginning of a line, or a function."""

    word: bytes
    test: re.Pattern[bytes] | Callable[[SourceFile], bool]


def _has_messages(file: SourceFile) -> bool:
    """Return whether the file has messages of ``cargo criterion``, or of Cargo without results of ``#[bench]``."""
    return _MESSAGE.search(file.seen) is not None or (
        file.has_line(_CARGO_MESSAGE) and not file.has_line(_LIBTEST_LINE)
    )


def _is_of_bencher(file: SourceFile) -> bool:
    """Return whether all benchmarks have measures, at least half of them with the names of Bencher."""
    inside, named = [file.value], 0
    for _ in range(3):
        if not all(isinstance(one, dict) for one in inside):
            return False
        named = sum("value" in one or "lower_value" in one for one in inside)
        count, inside = len(inside), [value for one in inside for value in one.values()]
    return 2 * named >= max(count, 1) and any(type(one) in (int, float) for one in inside)


class Format(NamedTuple):
    """A file format.

    Attributes:
        name: The name in messages.
        suffixes: The suffixes of its files, in lower case and without ``.gz``.
        module: The module of its reader.
        marks: Keys, signatures or first bytes. A file of the format has at least one of them. Without marks, the suffix
            decides.
        has_text: Whether the author may state types of columns.
        only_named: Whether such files are read only if the author names them. Most of them are settings.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    marks: tuple[Keys | Signature | bytes, ...] = ()
    has_text: bool = False
    only_named: bool = False

    def read(self, file: SourceFile) -> Iterator[Document]:
        """Return the documents of a file, in order. Raises ``ResultsError`` with file, line and column."""
        documents: Iterator[Document] = iter(import_module(f"{__name__}.{self.module}").read(file))
        return documents


FORMATS: Final = (
    Format(
        "pytest-benchmark",
        (".json",),
        "pytestbenchmark",
        (Keys(("machine_info",)), Keys(("fullname", "stats"), ("benchmarks",))),
    ),
    Format(
        "hyperfine",
        (".json",),
        "hyperfine",
        (
            Keys(("hyperfine_version",), ("metadata",)),
            Keys(
                ("command", "mean", "stddev", "system"),
                ("results",),
                words=("results", "command", "stddev"),
                usual=("median", "user", "min", "max"),
            ),
            Keys(("command", "summary", "measurements"), ("results",)),
            Signature(b'"results"', _NO_RESULTS),
        ),
    ),
    Format(
        "JMH",
        (".json",),
        "jmh",
        (Keys(("benchmark", "mode", "primaryMetric"), usual=("threads", "forks", "secondaryMetrics")),),
    ),
    Format(
        "Google Benchmark",
        (".json",),
        "googlebenchmark",
        (
            Keys(("num_cpus", "library_build_type"), ("context",)),
            Keys(("time_unit", "real_time"), ("benchmarks",), usual=("name", "cpu_time", "iterations")),
        ),
    ),
    Format(
        "Vitest",
        (".json",),
        "vitest",
        (
            Keys(("groups", "filepath"), ("files",)),
            Keys(("name", "mean"), ("files", "groups", "benchmarks"), usual=("rank", "rme", "hz")),
        ),
    ),
    Format(
        "Criterion",
        (".json", ".jsonl", ".csv"),
        "criterion",
        (
            b"group,function,value,",
            b'{"mean":{"confidence_interval":{"confidence_level"',
            b'{"sampling_mode":',
            b'{"group_id":',
            Signature(b'"reason"', _has_messages),
            Signature(b'"measured_values"', _MEASURED),
        ),
    ),
    Format("Rust benchmark", (".txt", ".out"), "libtest", (Signature(b" bench: ", _LIBTEST_LINE),)),
    Format(
        "Go benchmark",
        (".txt", ".out", ".json", ".jsonl"),
        "gobenchmark",
        (
            Signature(b'"Package"', GO_EVENT),
            Signature(b'"Action"', GO_EVENT),
            Signature(b"Benchmark", _GO_LINE),
            Signature(b"goos: ", _GOOS_LINE),
        ),
    ),
    Format("YCSB", (".txt", ".out"), "ycsb", (Signature(b"[OVERALL]", _YCSB_LINE),)),
    Format(
        "Bencher Metric Format",
        (".json",),
        "bencher",
        (
            Signature(b'value"', _BENCHER),
            Signature(b'value"', _is_of_bencher),
        ),
    ),
    Format("JSON", (".json",), "plain_json"),
    Format("JSON Lines", (".jsonl", ".ndjson", ".jsonlines"), "plain_json"),
    Format("CSV", (".csv",), "separated", has_text=True),
    Format("TSV", (".tsv", ".tab"), "separated", has_text=True),
    Format("YAML", (".yaml", ".yml"), "config_text", only_named=True),
    Format("TOML", (".toml",), "config_text", only_named=True),
    Format("Parquet", (".parquet",), "parquet"),
)
"""Every format, in the order of detection: formats of tools before plain data."""


_READ: Final = frozenset(suffix for one in FORMATS for suffix in one.suffixes)
ENDINGS: Final = tuple(suffix for one in FORMATS if not one.marks for suffix in one.suffixes)
"""The suffixes of plain data."""
ONLY_NAMED: Final = frozenset(suffix for one in FORMATS if one.only_named for suffix in one.suffixes)
"""The suffixes of files that are read only if the author names the file, not the folder."""
PLAIN: Final = frozenset(ENDINGS)


def is_readable(name: str) -> bool:
    """Return whether a file with this name can have one of the formats. The content may show otherwise."""
    return suffix_of(name) in _READ


def find_format(file: SourceFile) -> Format | None:
    """Return the format of a file by its content or, for plain data, by its suffix. Return None if it is unknown.

    Raises ``OSError`` if the file cannot be read or unpacked.
    """
    suffix = file.suffix
    seen = b"" if suffix == ".parquet" else file.seen
    for one in FORMATS:
        if not one.marks and suffix in one.suffixes:
            return one
        for mark in one.marks:
            found = False
            if isinstance(mark, Keys):
                absent = 0
                for word in mark.words or (*mark.path, *mark.needs):
                    absent += f'"{word}"'.encode() not in seen
                found = not absent and file.has_keys(mark.needs, mark.path)
                found = found or bool(mark.usual and absent < 2 and mark.lack_one_in(file))
            elif isinstance(mark, bytes):
                found = seen.startswith(mark)
            elif mark.word in seen:
                test = mark.test
                found = file.has_line(test) if isinstance(test, re.Pattern) else test(file)
            if found:
                return one
    return None
