"""The rows of a run, or what a benchmark tool wrote, from where somebody says that they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from mongo_tables.commands.installed import require_intervals
from mongo_tables.results.benchmarkfiles import read_benchmarks
from mongo_tables.results.benchmarks import list_processes
from mongo_tables.results.comparison import name_row
from mongo_tables.results.conclusions import block_speeds
from mongo_tables.results.model import Limits, ResultsError
from mongo_tables.results.opening import is_uri
from mongo_tables.results.revisions import on_disk
from mongo_tables.results.rowcheck import find_row_fault
from mongo_tables.runner.connection_strings import shown
from mongo_tables.runner.errors import RunnerError
from mongo_tables.runner.store import open_store

_HINT: Final = (
    "a folder has them in results/NAME.jsonl; tables over other documents are compared by mongo-tables diff"
)


def read_rows(where: str, names: Sequence[str] | None) -> list[dict[str, Any]]:
    """The rows of these experiments, else of all, from a folder, a folder at a revision, or a database.

    A file, and a folder without rows of a run, has those of benchmark tools. Raises RunnerError where there are none,
    where one has not the shape that conclusions need, and where intervals cannot be computed.
    """
    with on_disk(where) as place:
        rows = [] if Path(place).is_file() else _read_stored(place, names)
        if not rows and not is_uri(place) and Path(place).exists():
            rows = _read_benchmarks(place, names)
    if not rows:
        raise RunnerError(f"no rows of `mongo-tables run` in {shown(where)}", _HINT)
    measured = [row for row in rows if isinstance(row.get("_id"), Mapping) and "testname" in row["_id"]]
    if not measured:
        raise RunnerError(f"{shown(where)} has documents, but none that `mongo-tables run` wrote", _HINT)
    _check_shape(measured, where)
    _check_installed(measured)
    return measured


def _read_stored(place: str, names: Sequence[str] | None) -> list[dict[str, Any]]:
    with closing(open_store(place, Limits().connect_ms)) as store:
        return [row for name in names or store.experiments() for row in store.rows(name)]


def _read_benchmarks(place: str, names: Sequence[str] | None) -> list[dict[str, Any]]:
    """The benchmarks in a file or folder; raises RunnerError for a file that cannot be read."""
    try:
        found = read_benchmarks(place)
    except ResultsError as error:
        if Path(place).is_file():
            raise RunnerError(error.message, error.hint) from None
        return []  # A folder: what it lacks is told of runs as well.
    return [row for row in found if not names or row["_id"]["testname"] in names]


def _check_shape(rows: Sequence[Mapping[str, Any]], where: str) -> None:
    """Raise RunnerError for the first row that nothing can be concluded from, by its name."""
    for row in rows:
        if fault := find_row_fault(row):
            hint = "measure it again, take the row as it was measured, or leave it out with --experiment"
            raise RunnerError(f"{shown(where)}: {name_row(row)}: {fault}", hint)


def _check_installed(rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise RunnerError where an interval is to be computed and what computes it is not there."""
    if any(block_speeds(row) or list_processes(row) for row in rows):
        require_intervals("compare")
