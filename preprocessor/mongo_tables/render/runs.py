"""The single runs behind a figure, as a table: when each began, its seed, what it measured, the document that has it.

A line is a block where rows were measured in blocks: the windows that a row has in it together, because conclusions
are drawn from blocks. Otherwise it is one repeat. Every line has an anchor, so that a row of the figure can lead to
the runs that it was made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

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

Line: TypeAlias = Sequence[Run]
"""The windows of one line, in their order: of one row, and of one block where there are blocks."""

_PLAIN: Final = ColumnFormat()
_COLUMNS: Final[Mapping[str, tuple[str, str, ColumnFormat]]] = {
    "row": ("Row", "The variant that was measured.", _PLAIN),
    "block": ("Block", "The part of the campaign in which every variant was measured, from 0.", _PLAIN),
    "number": ("Repeat", "The repeat, from 1.", _PLAIN),
    "windows": ("Windows", "Windows of the row in the block.", _PLAIN),
    **{
        name: (one.header, one.meaning, ColumnFormat(one.decimals, one.unit, thousands=one.thousands))
        for name, one in RUN_COLUMNS.items()
    },
    "document": ("Document", "The whole result document.", _PLAIN),
}
"""The header, the meaning and the format of each."""
_OPTIONAL: Final = {
    *("block", "number", "windows", "document"),
    *(name for name, one in RUN_COLUMNS.items() if one.optional),
}
"""Columns that stand there only where a run has something to show in them."""


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


def list_runs(spec: TableSpec, lines: Sequence[Line], address: Callable[[Any], str]) -> ListedRuns:
    """The lines behind the figure ``spec``, in their order; not too many, and at least one.

    ``address`` says where the document with an ``_id`` can be had; "" for nowhere.
    """
    several = any(len(line) > 1 for line in lines)
    addresses = tuple(address(line[0].key) for line in lines)
    rows = []
    for name, line, to in zip(_row_names([line[0].key for line in lines]), lines, addresses, strict=True):
        first = line[0]
        row: dict[str, Any] = {"row": name}
        row |= {"number": first.number} if first.block is None else {"block": first.block}
        row |= {"windows": len(line)} if several else {}
        row |= _measured(line)
        rows.append(row | ({"document": "JSON"} if to else {}))
    shown = [name for name in _COLUMNS if name not in _OPTIONAL or any(name in row for row in rows)]
    table = replace(
        spec,
        id=f"{spec.id or 'rows'}--runs",
        title=f"Single runs of {spec.title or spec.id or 'this figure'}",
        columns=tuple(shown),
        headers=tuple(_COLUMNS[name][0] for name in shown),
        format={name: _COLUMNS[name][2] for name in shown},
        spread={},
        baseline=None,
        chart=None,
        totals={},
        group_rows=None,
        header_groups=(),
        page_size=None,
        pieces={},
    )
    columns = columns_of(table, rows)
    if shown[-1] == "document":
        columns[-1] = columns[-1]._replace(links=addresses)
    anchors: dict[str, str] = {}
    for line, anchor in zip(lines, row_anchors(table.id or "runs", columns), strict=True):
        anchors.setdefault(repr(line[0].key), anchor)
    meanings = {name: meaning for name, (_, meaning, _) in _COLUMNS.items()}
    return ListedRuns(table_html(table, rows, columns=columns, meanings=meanings), anchors)


def _measured(line: Line) -> dict[str, Any]:
    """The figures of a line: those of its window, or of its windows together, as conclusions are drawn from them."""
    if len(line) == 1:
        together = dict(line[0].values)
    else:
        every = {name: [run.values[name] for run in line if name in run.values] for name in RUN_COLUMNS}
        together = {name: _TOGETHER[name](found) for name, found in every.items() if found}
    errors = together.get("errors")
    if isinstance(errors, Mapping):
        # The kinds of errors with their counts; 0 where the document says that there were none.
        errors = ", ".join(f"{kind}: {count}" for kind, count in errors.items()) or 0
    return {**together, "errors": errors}


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
