"""The formats of files that are read as they are: ``FORMATS``, and which of them a file has.

A format of a tool is a module beside this one and a row before those of plain data: ``module`` names the module, whose
``read`` takes a ``SourceFile`` and gives documents (``formats.model``). It is imported once a file has the format.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Final, NamedTuple

from mongo_tables.results.formats import heads
from mongo_tables.results.formats.model import Document, SourceFile, suffix_of

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
    Format("pytest-benchmark", (".json",), "pytestbenchmark", heads.is_pytest_benchmark),
    Format("hyperfine", (".json",), "hyperfine", heads.is_hyperfine),
    Format("JMH", (".json",), "jmh", heads.is_jmh),
    Format("Google Benchmark", (".json",), "googlebenchmark", heads.is_google_benchmark),
    Format("Criterion", (".json", ".jsonl", ".csv"), "criterion", heads.is_criterion),
    Format("Go benchmark", (".txt", ".out"), "gobenchmark", heads.is_go),
    Format("YCSB", (".txt", ".out"), "ycsb", heads.is_ycsb),
    Format("Bencher Metric Format", (".json",), "bencher", heads.is_bencher),
    Format("JSON", (".json",), "plainjson"),
    Format("JSON Lines", (".jsonl", ".ndjson", ".jsonlines"), "jsonlines"),
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
