"""The single runs behind a figure, as a table: when each began, its seed, what it measured, the document that has it.

Every run has an anchor, so that a row of the figure can lead to the runs that it was made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from preprocessor.render.anchors import row_anchors
from preprocessor.render.columns import columns_of
from preprocessor.render.html import table_html
from preprocessor.results.told import RUN_COLUMNS
from preprocessor.results.variants import variant_name
from preprocessor.specs.model import ColumnFormat

if TYPE_CHECKING:
    from preprocessor.results.provenance import Run
    from preprocessor.specs.model import TableSpec

MOST_RUNS: Final = 150
"""More than these are not listed in a page."""

Address = Callable[[Any], str]
"""Where the document with an ``_id`` can be had; "" for nowhere."""

_COLUMNS: Final[Mapping[str, tuple[str, ColumnFormat]]] = {
    "row": ("Row", ColumnFormat()),
    "number": ("Repeat", ColumnFormat()),
    **{
        name: (one.header, ColumnFormat(one.decimals, one.unit, thousands=one.thousands))
        for name, one in RUN_COLUMNS.items()
    },
    "document": ("Document", ColumnFormat()),
}
_OPTIONAL: Final = (*(name for name, one in RUN_COLUMNS.items() if one.optional), "document")
"""Columns that stand there only where a run has something to show in them."""


@dataclass(frozen=True, slots=True)
class ListedRuns:
    """The table as HTML, and the anchor of the first run of each document, by the ``repr`` of its ``_id``."""

    html: str
    anchors: Mapping[str, str]

    def behind(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """For each row the anchor of the first run behind it: of the document whose ``_id`` the row has kept.

        Only an ``_id`` that is a document itself tells: a number may be that of a group as well. "" for all others.
        """
        keys = (row.get("_id") for row in rows)
        return [self.anchors.get(repr(key), "") if isinstance(key, Mapping) else "" for key in keys]


def list_runs(spec: TableSpec, runs: Sequence[Run], address: Address) -> ListedRuns:
    """The runs behind the figure ``spec``, in their order; not too many, and at least one."""
    rows = _rows(runs)
    addresses = tuple(address(run.key) for run in runs)
    for row, to in zip(rows, addresses, strict=True):
        row |= {"document": "JSON"} if to else {}
    table = _table(spec, rows)
    columns = columns_of(table, rows)
    if table.columns[-1] == "document":
        columns[-1] = columns[-1]._replace(links=addresses)
    anchors: dict[str, str] = {}
    for run, anchor in zip(runs, row_anchors(table.id or "runs", columns), strict=True):
        anchors.setdefault(repr(run.key), anchor)
    return ListedRuns(table_html(table, rows, columns=columns), anchors)


def _table(spec: TableSpec, rows: Sequence[Mapping[str, Any]]) -> TableSpec:
    shown = [name for name in _COLUMNS if name not in _OPTIONAL or any(name in row for row in rows)]
    return replace(
        spec,
        id=f"{spec.id or 'rows'}--runs",
        title=f"Single runs of {spec.title or spec.id or 'this figure'}",
        columns=tuple(shown),
        headers=tuple(_COLUMNS[name][0] for name in shown),
        format={name: _COLUMNS[name][1] for name in shown},
        spread={},
        baseline=None,
        chart=None,
    )


def _rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    names = _row_names(runs)
    return [
        {"row": name, "number": run.number, **run.values, "errors": _errors(run.values.get("errors"))}
        for name, run in zip(names, runs, strict=True)
    ]


def _row_names(runs: Sequence[Run]) -> list[str]:
    """Name each document by the fields of its key that differ, or by all where none does."""
    keys = [run.key if isinstance(run.key, Mapping) else {"_id": run.key} for run in runs]
    names = dict.fromkeys(name for key in keys for name in key)
    differing = [name for name in names if len({repr(key.get(name)) for key in keys}) > 1]
    if "testname" in differing or not differing:
        return [", ".join(filter(None, (str(key.get("testname", "")), variant_name(key)))) for key in keys]
    return [variant_name({name: key[name] for name in differing if name in key}) for key in keys]


def _errors(errors: Any) -> Any:
    """The kinds of errors with their counts; 0 where the document says that there were none."""
    if not isinstance(errors, Mapping):
        return errors
    return ", ".join(f"{kind}: {count}" for kind, count in errors.items()) or 0
