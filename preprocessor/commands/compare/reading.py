"""The rows of a run, or what a benchmark tool wrote, from where somebody says that they are."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, Final

from preprocessor.results.conclusions import block_speeds
from preprocessor.results.model import Limits
from preprocessor.results.revisions import on_disk
from preprocessor.runner.addresses import shown
from preprocessor.runner.errors import RunnerError
from preprocessor.runner.store import open_store

_HINT: Final = (
    "a folder has them in results/NAME.jsonl; tables over other documents are compared by mongo-tables diff"
)


def read_rows(where: str, names: Sequence[str] | None) -> list[dict[str, Any]]:
    """The rows of these experiments, else of all, from a folder, a folder at a revision, or a database.

    Raises RunnerError where there are none, or where intervals cannot be computed.
    """
    with on_disk(where) as place, closing(open_store(place, Limits().connect_ms)) as store:
        rows = [row for name in names or store.experiments() for row in store.rows(name)]
    if not rows:
        raise RunnerError(f"no rows of `mongo-tables run` in {shown(where)}", _HINT)
    measured = [row for row in rows if isinstance(row.get("_id"), Mapping) and "testname" in row["_id"]]
    if not measured:
        raise RunnerError(f"{shown(where)} has documents, but none that `mongo-tables run` wrote", _HINT)
    _check_installed(measured)
    return measured


def _check_installed(rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise RunnerError where an interval is to be computed and what computes it is not there."""
    if any(map(block_speeds, rows)) and importlib.util.find_spec("scipy") is None:
        hint = "pip install 'mkdocs-mongo-tables[runner]'"
        raise RunnerError("what computes intervals is not installed: scipy", hint)
