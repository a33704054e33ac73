"""The collections of a results source as tables, for texts that have no tables of their own.

A document is a row and a scalar field a column; entries of lists inside a document are rows of another table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from math import isfinite, log10
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation.values import is_number
from mongo_tables.directives.columns import field_words
from mongo_tables.directives.row_paths import find_rows, rows_stages
from mongo_tables.lint.shape.units import Unit, find_base_unit, of_name, select_measured
from mongo_tables.render.values import raw_text
from mongo_tables.results.model import Query
from mongo_tables.results.row_names import ORDER, is_benchmark
from mongo_tables.site.numbers.tables import HAS_LETTER, TELLING, Cell, Names, Table, group_alike, name_row
from mongo_tables.site.numbers.text import (
    RATIO,
    Heading,
    Notation,
    Precision,
    normalized,
    read_heading,
    read_numbers,
)

if TYPE_CHECKING:
    from mongo_tables.results.model import ResultsSource

Document = Mapping[str, Any]

_AT_HAND: Final = 10_000
"""The most documents of a collection, or entries of a list, that a query returns."""
_LOOKED_AT: Final = 50
_LONGEST: Final = 8
"""The most words of a name: longer texts are remarks."""
_MEANINGS: Final[Mapping[str, str]] = {
    "pct": "%", "percentage": "%", "usd": "$", "eur": "€", "rps": "requests/s", "qps": "queries/s",
    "tps": "transactions/s", "msec": "ms", "usec": "µs", "nanos": "ns", "micros": "µs", "kb": "KB", "mb": "MB",
    "gb": "GB", "tb": "TB", "kib": "KiB", "mib": "MiB", "gib": "GiB", "b": "B",
}  # fmt: skip
"""Words of field names that mean a unit which is written otherwise."""
_RATIOS: Final = frozenset({"ratio", "factor", "speedup", "share", "fraction", "rate"})
_NO_UNITS: Final = frozenset({"min", "h"})
"""Last words of field names that are no units: ``min`` is a minimum."""
_COUNTS: Final = frozenset({"count", "total", "number", "n", "failed"})
_MEASURES: Final = ("time", "throughput")
"""The measures of benchmarks that a number is about if its sentence names none."""
_APART: Final = ("parameters.", "extra.", "_id.")
"""Fields that do not have the unit of the document around them."""


def read_collections(source: ResultsSource) -> list[Table]:
    """Return a table of each collection, and of each list or map inside its documents.

    Raises ResultsError for a source that cannot be read. Of a database, the first documents are read.
    """
    found = [table for name in source.collections() for table in _read_collection(source, name)]
    cells = sum(len(table.cells) for table in found)
    telling = max(TELLING, 2 + int(log10(cells or 1)))
    return [replace(table, telling=telling) for table in found]


def _read_collection(source: ResultsSource, name: str) -> Iterator[Table]:
    local = source.local
    documents: Sequence[Document] = (
        local.documents(name) if local else source.aggregate(Query(name, ({"$limit": _AT_HAND},)))
    )
    paths = list(dict.fromkeys(path for one in documents[:_LOOKED_AT] for path in find_rows(one)))
    benchmarks = _by_measure(documents)
    for measure, own in benchmarks.items():
        is_main = measure == next((one for one in _MEASURES if one in benchmarks), measure)
        yield _table_of(f"{name} {measure}", own, measure=measure, is_main=is_main)
    if benchmarks:
        return
    yield _table_of(name, documents, tuple(f"{path.partition('.*')[0]}." for path in paths))
    around = {name for one in documents for name in one}
    for path in paths:
        rows = source.aggregate(Query(name, (*rows_stages(path), {"$limit": _AT_HAND})))
        # What surrounds a list names its entries, but its figures are those of the document.
        entries = [
            {key: one for key, one in row.items() if key not in around or isinstance(one, str)}
            for row in rows
        ]
        yield _table_of(f"{name} {path}", entries)


def _by_measure(documents: Sequence[Document]) -> Mapping[str, Sequence[Document]]:
    """Return the documents of benchmarks by what they measure, or none for others."""
    found: dict[str, list[Document]] = {}
    for one in documents if all(map(is_benchmark, documents)) else ():
        found.setdefault(str(one["_id"]["metric"]), []).append(one)
    return found


def _table_of(
    title: str,
    documents: Sequence[Document],
    without: tuple[str, ...] = (),
    measure: str = "",
    is_main: bool = True,
) -> Table:
    rows = [dict(_leaves(document, without)) for document in documents]
    paths = {path: at for at, path in enumerate(dict.fromkeys(path for row in rows for path in row))}
    headings = tuple(read_field(path) for path in paths)
    cells = [
        cell
        for at, row in enumerate(rows)
        for path, value in row.items()
        if (cell := _read_cell(row, path, value, at, paths[path], headings[paths[path]]))
    ]
    return Table(
        tuple(cells),
        group_alike(cells),
        headings,
        rows=Names.of(_name_rows(rows)),
        columns=Names.of(_name_column(path, measure) for path in paths),
        naming=0,
        size=len(rows),
        labels=tuple(measure if measure and path == "value" else path for path in paths),
        title=title,
        main=paths.get("value") if measure else None,
        is_main=is_main,
    )


def _leaves(value: Document, without: tuple[str, ...] = (), path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted path and value of each scalar field, at any depth."""
    for name, one in value.items():
        if name == ORDER or f"{path}{name}.".startswith(without or ("\0",)):
            continue
        if isinstance(one, Mapping):
            yield from _leaves(one, without, f"{path}{name}.")
        elif isinstance(one, str) or is_number(one):
            yield f"{path}{name}", one


def _read_cell(row: Document, path: str, value: Any, at: int, column: int, heading: Heading) -> Cell | None:
    if isinstance(value, str) or path in ("_id", "_key") or path.startswith("_id."):
        return None
    text = raw_text(value)
    read = read_numbers(f"{abs(Decimal(text)):f}", Notation()) if isfinite(float(text)) else []
    if not read:
        return None
    units = heading.units or (() if heading.nouns else _units_beside(row, path))
    if units == (RATIO,) and heading.words.split()[-1:] == ["rate"] and read[0].value > 1:
        units = ()  # such as a rate in per cent, or per second
    exact = replace(read[0], precisions=(Precision(0.0, read[0].precisions[0].digits),))
    return Cell(exact, units, at, column, is_first=True)


def _units_beside(row: Document, path: str) -> tuple[Unit, ...]:
    """Return the units that a field ``unit`` names, beside a number or around it."""
    parts = path.split(".")[:-1]
    if field_words(path.rpartition(".")[2]).lower().split()[-1] in _COUNTS:
        return ()
    around = range(len(parts), -1 if not path.startswith(_APART) else len(parts) - 1, -1)
    for depth in around:
        for name in ("unit", "units"):
            said = row.get(".".join([*parts[:depth], name]))
            if isinstance(said, str) and (units := read_heading(f"({said})").units):
                return units
    return ()


def _name_rows(rows: Sequence[Document]) -> Iterator[list[str]]:
    """Yield the names of each row: its texts, without those that all rows share, and its parameters."""
    named = [[name for path, value in row.items() for name in _names_of(path, value)] for row in rows]
    shared = set[str]().union(*named[:1]).intersection(*named[1:]) if len(rows) > 1 else set()
    for names in named:
        own = (name for name in dict.fromkeys(names) if name not in shared)
        yield [name for name in own if len(name) > 1 and name.count(" ") < _LONGEST]


def _names_of(path: str, value: Any) -> Iterable[str]:
    if not isinstance(value, str):
        last = path.rpartition(".")[2]
        return name_row([raw_text(value)], [last]) if path.startswith("parameters.") else ()
    if not HAS_LETTER.search(value) or path.rpartition(".")[2] in ("unit", "units"):
        return ()
    return normalized(value), normalized(value.replace("_", " ").replace("-", " "))


def _name_column(path: str, measure: str) -> Iterator[str]:
    """Yield the names of a column: each part of its path, as it is and in words; what the value of a benchmark is."""
    for part in path.split(".") if not measure or path != "value" else (measure,):
        words = read_field(part).words
        yield from dict.fromkeys(name for name in (normalized(part), words) if len(name) > 1)


@lru_cache(maxsize=2048)
def read_field(path: str) -> Heading:
    """Parse the name of a field as a column header. The unit may come from a field around it.

    Example:
        >>> heading = read_field("latency.median_ms")
        >>> heading.words, heading.units[0].factor
        ('median', 0.001)
    """
    *around, last = path.split(".")
    own = _read_name(last)
    units = own.units
    for part in reversed(around) if not own.nouns else ():
        units = units or _read_name(part).units
    return Heading(own.words, units, own.nouns)


def _read_name(name: str) -> Heading:
    """Parse one part of a path: ``median_ms``, ``ops_per_sec``, or a header of CSV such as ``Time (ms)``."""
    words = field_words(name).lower().split()
    last = words[-1]
    if last in _RATIOS:
        return Heading(" ".join(words), (RATIO,), frozenset())
    if last not in _NO_UNITS | _COUNTS and name != "x":
        if units := read_heading(name).units:
            return Heading(read_heading(name).words if name[-1] in ")]" else "", units, frozenset())
        named = tuple(unit for unit in of_name(name) if select_measured(unit))
        for tail in (max(words.index("per") - 1, 0) if "per" in words else -1, -1):
            unit = " ".join(_MEANINGS.get(word, word) for word in words[tail:])
            if units := named or read_heading(f"({unit})").units:
                return Heading(" ".join(words[:tail]), units, frozenset())
    nouns = {find_base_unit(one) for one in words if one[-1] == "s" and len(one) > len("abc")}
    nouns |= {find_base_unit(words[-2])} if last in _COUNTS and len(words) > 1 else set()
    return Heading(" ".join(words), (), frozenset(nouns))
