"""The single runs behind a figure, as a table: when each began, its seed, what it measured, the document that has it.

A line is a block where rows were measured in blocks: the windows that a row has in it together, because conclusions
are drawn from blocks. Otherwise it is one repeat. Every line has an anchor, so that a row of the figure can lead to
the runs that it was made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.directives.column_format import ColumnFormat
from mongo_tables.render.anchors import row_anchors
from mongo_tables.render.columns import columns_of
from mongo_tables.render.table_html import table_html
from mongo_tables.render.values import is_number
from mongo_tables.results.conclusions import mean_of_block, variant_name
from mongo_tables.results.provenance import RUN_COLUMNS, Run

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec

MOST_LINES: Final = 400
"""More than these are not listed in a page: a dozen rows in twenty blocks are, all experiments of a site are not."""

Address = Callable[[Any], str]
"""Where the document with an ``_id`` can be had; "" for nowhere."""

_COLUMNS: Final[Mapping[str, tuple[str, ColumnFormat]]] = {
    "row": ("Row", ColumnFormat()),
    "block": ("Block", ColumnFormat()),
    "number": ("Repeat", ColumnFormat()),
    "windows": ("Windows", ColumnFormat()),
    **{
        name: (one.header, ColumnFormat(one.decimals, one.unit, thousands=one.thousands))
        for name, one in RUN_COLUMNS.items()
    },
    "document": ("Document", ColumnFormat()),
}
_MEANINGS: Final[Mapping[str, str]] = {
    "row": "The variant that was measured.",
    "block": "The part of the campaign in which every variant was measured, from 0.",
    "number": "The repeat, from 1.",
    "windows": "Windows of the row in the block.",
    **{name: one.meaning for name, one in RUN_COLUMNS.items()},
    "document": "The whole result document.",
}
_OPTIONAL: Final = (
    *("block", "number", "windows", "document"),
    *(name for name, one in RUN_COLUMNS.items() if one.optional),
)
"""Columns that stand there only where a run has something to show in them."""


Line = Sequence[Run]
"""The windows of one line, in their order: of one row, and of one block where there are blocks."""


@dataclass(frozen=True, slots=True)
class ListedRuns:
    """The table as HTML, and the anchor of the first line of each document, by the ``repr`` of its ``_id``."""

    html: str
    anchors: Mapping[str, str]

    def behind(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """For each row the anchor of the first run behind it: of the document whose ``_id`` the row has kept.

        Only an ``_id`` that is a document itself tells: a number may be that of a group as well. "" for all others.
        """
        keys = (row.get("_id") for row in rows)
        return [self.anchors.get(repr(key), "") if isinstance(key, Mapping) else "" for key in keys]


def lines_of(runs: Iterable[Run]) -> list[Line]:
    """The lines of a list of these runs; those of a document stand together, its blocks in their order."""
    lines: dict[tuple[str, int, int], list[Run]] = {}
    for run in runs:
        place = (run.block, 0) if run.block is not None else (-1, run.number)
        lines.setdefault((repr(run.key), *place), []).append(run)
    return list(lines.values())


def amount_of(lines: Sequence[Line]) -> str:
    """``160 blocks``, ``15 repeats``, or both."""
    blocks = sum(line[0].block is not None for line in lines)
    amounts = ((blocks, "block"), (len(lines) - blocks, "repeat"))
    return " and ".join(f"{n:,} {what}{'' if n == 1 else 's'}" for n, what in amounts if n)


def list_runs(spec: TableSpec, lines: Sequence[Line], address: Address) -> ListedRuns:
    """The lines behind the figure ``spec``, in their order; not too many, and at least one."""
    rows = _rows(lines)
    addresses = tuple(address(line[0].key) for line in lines)
    for row, to in zip(rows, addresses, strict=True):
        row |= {"document": "JSON"} if to else {}
    table = _table(spec, rows)
    columns = columns_of(table, rows)
    if table.columns[-1] == "document":
        columns[-1] = columns[-1]._replace(links=addresses)
    anchors: dict[str, str] = {}
    for line, anchor in zip(lines, row_anchors(table.id or "runs", columns), strict=True):
        anchors.setdefault(repr(line[0].key), anchor)
    return ListedRuns(table_html(table, rows, columns=columns, meanings=_MEANINGS), anchors)


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
        totals={},
        group_rows=None,
        header_groups=(),
        page_size=None,
        pieces={},
    )


def _rows(lines: Sequence[Line]) -> list[dict[str, Any]]:
    names = _row_names([line[0].key for line in lines])
    several = any(len(line) > 1 for line in lines)
    return [
        {"row": name, **_place(line[0]), **({"windows": len(line)} if several else {}), **_measured(line)}
        for name, line in zip(names, lines, strict=True)
    ]


def _place(run: Run) -> dict[str, int]:
    return {"number": run.number} if run.block is None else {"block": run.block}


def _measured(line: Line) -> dict[str, Any]:
    """The figures of a line: those of its window, or of its windows together, as conclusions are drawn from them."""
    values = [run.values for run in line]
    if len(values) == 1:
        return {**values[0], "errors": _errors(values[0].get("errors"))}
    every = {name: [each[name] for each in values if name in each] for name in RUN_COLUMNS}
    together = {name: _TOGETHER[name](found) for name, found in every.items() if found}
    return {**together, "errors": _errors(together.get("errors"))}


def _mean_speed(speeds: Sequence[Any]) -> Any:
    known = [float(each) for each in speeds if is_number(each)]
    return mean_of_block(known) if known else None


def _sum(values: Sequence[Any]) -> Any:
    return sum(each for each in values if is_number(each))


def _add_errors(every: Sequence[Any]) -> dict[str, Any]:
    total: Counter[str] = Counter()
    for errors in every:
        total.update(errors if isinstance(errors, Mapping) else {})
    return dict(total)


_TOGETHER: Final[Mapping[str, Callable[[Sequence[Any]], Any]]] = {
    "start_time": lambda values: values[0],
    "duration": _sum,
    "operations": _sum,
    "operations_per_second": _mean_speed,
    "errors": _add_errors,
    "seed": lambda values: ", ".join(map(str, values)),
}
"""What the values of several windows of a block are together, for each column."""


def _row_names(keys: Sequence[Any]) -> list[str]:
    """Name each document by the fields of its key that differ, or by all where none does."""
    keys = [key if isinstance(key, Mapping) else {"_id": key} for key in keys]
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
