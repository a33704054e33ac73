"""The block under a figure of a site: where its rows come from, download links, and the single runs behind them.

The block shows one line; readers unfold the other facts, the pipeline and the runs. Search engines skip it, because a
pipeline is not a useful search result (``data-search-exclude``).

The table of runs has the start, the seed, the measured values and the document of each run. For rows that were measured
in blocks, a line combines all windows of a row in one block, because the program compares rows by blocks. Other lines
are single repeats. Each line has an anchor, to which a row of the figure can link.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from mongo_tables.aggregation.values import is_number
from mongo_tables.directives.columns import ColumnFormat
from mongo_tables.directives.row_keys import ROW_KEYS
from mongo_tables.directives.specs import TableSpec
from mongo_tables.findings.reporters import format_count
from mongo_tables.render.column import Rows
from mongo_tables.render.columns import columns_of
from mongo_tables.render.html import table_html
from mongo_tables.render.markup import row_anchors, text_html
from mongo_tables.render.provenance import (
    due_part,
    provenance_details,
    provenance_parts,
    whose_runs,
)
from mongo_tables.results.conclusions import mean_of_block, variant_name
from mongo_tables.results.provenance import RUN_COLUMNS, RunColumn

if TYPE_CHECKING:
    from mongo_tables.results.provenance import Provenance

_WIDTH: Final = 96
_JSON: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
_MOST_LINES: Final = 400
"""The largest number of lines of a table of runs: enough for a dozen rows in twenty blocks."""


class RowRepeat(NamedTuple):
    """One repeat of a measurement.

    Attributes:
        key: The ``_id`` of its result document.
        number: The number of the repeat, from 1.
        values: Those fields of ``RUN_COLUMNS`` that the document has.
        block: The number of its block, from 0; None if the row was not measured in blocks.
    """

    key: Any
    number: int
    values: Mapping[str, Any]
    block: int | None = None


Line: TypeAlias = Sequence[RowRepeat]
"""The repeats that one line of the table combines: a single repeat, or all repeats of a row in one block."""

_COLUMNS: Final[Mapping[str, RunColumn]] = {
    "row": RunColumn("Row", "The variant that was measured."),
    "block": RunColumn("Block", "The part of the campaign in which every variant was measured, from 0."),
    "number": RunColumn("Repeat", "The repeat, from 1."),
    "windows": RunColumn("Windows", "Windows of the row in the block."),
    **RUN_COLUMNS,
    "document": RunColumn("Document", "The whole result document."),
}
"""All columns of a table of runs. A column without values is omitted."""


# -- single runs --


@dataclass(frozen=True, slots=True)
class ListedRuns:
    """The runs behind all figures that have the same source rows.

    Attributes:
        at: The anchor of the figure that has the table of runs.
        html: The table, "" if there are too many runs.
        anchors: The anchor of each document's first line in the table, by the ``repr`` of the document's ``_id``.
        amount: The number of runs in words, if there are too many runs for a table.
    """

    at: str
    html: str = ""
    anchors: Mapping[str, str] = field(default_factory=dict)
    amount: str = ""

    def behind(self, rows: Rows) -> list[str]:
        """Return for each row the anchor of the first run of its result document, or "" for none.

        A row belongs to a document if both have the same ``_id``, which must be a sub-document: simpler values,
        such as numbers, may also be the ``_id`` of a group.
        """
        keys = (row.get("_id") for row in rows)
        return [self.anchors.get(repr(key), "") if isinstance(key, Mapping) else "" for key in keys]


def lines_of(runs: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Return the lines for ``Provenance.runs``, document by document and block by block."""
    lines: dict[tuple[str, int, int], list[RowRepeat]] = {}
    for document in runs:
        key, text = document["key"], repr(document["key"])
        for number, repeat in enumerate(document["repeats"], 1):
            block = repeat.get("block")
            if not isinstance(block, int):
                block = None
            place = (text, -1, number) if block is None else (text, block, 0)
            lines.setdefault(place, []).append(RowRepeat(key, number, repeat, block))
    return list(lines.values())


def amount_of(lines: Sequence[Line]) -> str:
    """Return the number of lines in words: ``160 blocks``, ``15 repeats``, or both."""
    blocks = sum(line[0].block is not None for line in lines)
    amounts = ((blocks, "block"), (len(lines) - blocks, "repeat"))
    return " and ".join(format_count(n, what) for n, what in amounts if n)


def list_runs(spec: TableSpec, lines: Sequence[Line], address: Callable[[Any], str]) -> ListedRuns:
    """Return the table of the runs behind the figure ``spec``.

    ``address`` returns the address of the document with the given ``_id``, "" for none.
    """
    at = spec.id or "rows"
    if not 0 < len(lines) <= _MOST_LINES:
        return ListedRuns(at, amount=amount_of(lines))
    several = any(len(line) > 1 for line in lines)
    keys = {id(line[0].key): line[0].key for line in lines}  # All lines of a document share its key.
    names = dict(zip(keys, _row_names([*keys.values()]), strict=True))
    links = {same: address(key) for same, key in keys.items()}
    rows = []
    for line in lines:
        first, same = line[0], id(line[0].key)
        row: dict[str, Any] = {"row": names[same]}
        row |= {"number": first.number} if first.block is None else {"block": first.block}
        row |= {"windows": len(line)} if several else {}
        row |= _measured(line)
        rows.append(row | ({"document": "JSON"} if links[same] else {}))
    shown = {
        name: column for name, column in _COLUMNS.items() if any(row.get(name) is not None for row in rows)
    }
    table = TableSpec(
        comment=spec.comment,
        file=spec.file,
        collection=spec.collection,
        pipeline=spec.pipeline,
        id=f"{at}--runs",
        title=f"Single runs of {spec.title or spec.id or 'this figure'}",
        columns=tuple(shown),
        headers=tuple(one.header for one in shown.values()),
        format={
            name: ColumnFormat(one.decimals, one.unit, thousands=one.thousands) for name, one in shown.items()
        },
    )
    columns = columns_of(table, rows)
    if "document" in shown:
        columns[-1] = columns[-1]._replace(links=tuple(links[id(line[0].key)] for line in lines))
    anchors: dict[str, str] = {}
    for line, anchor in zip(lines, row_anchors(table.id or "runs", columns), strict=True):
        anchors.setdefault(repr(line[0].key), anchor)
    meanings = {name: one.meaning for name, one in shown.items()}
    return ListedRuns(at, table_html(table, rows, meanings, columns), anchors)


def _measured(line: Line) -> dict[str, Any]:
    """Return the values of a line. Several windows are combined in the same way as for the comparison of rows."""
    if len(line) == 1:
        together = {name: value for name, value in line[0].values.items() if name in RUN_COLUMNS}
    else:
        every = {name: [run.values[name] for run in line if name in run.values] for name in RUN_COLUMNS}
        together = {name: _TOGETHER[name](found) for name, found in every.items() if found}
    errors = together.get("errors")
    if isinstance(errors, Mapping):
        # 0 if the document says that there were no errors.
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
"""For each column, the function that combines the values of several windows."""


def _row_names(keys: Sequence[Any]) -> list[str]:
    """Return a name for each document. It consists of the fields of its key in which documents differ, or else of all
    fields.
    """
    keys = [key if isinstance(key, Mapping) else {"_id": key} for key in keys]
    names = dict.fromkeys(name for key in keys for name in key)
    differing = [name for name in names if len({repr(key.get(name)) for key in keys}) > 1]
    if "testname" in differing or not differing:
        return [", ".join(filter(None, (str(key.get("testname", "")), variant_name(key)))) for key in keys]
    texts = [variant_name({name: key[name] for name in differing if name in key}) for key in keys]
    if "comment" in differing and "target" in differing:
        return [
            f"{text}, {key['target']}" if "target" in key else text
            for text, key in zip(texts, keys, strict=True)
        ]
    return texts


# -- the block --


def provenance_html(
    spec: TableSpec, source: Provenance | None, links: Mapping[str, str], runs: ListedRuns | None = None
) -> str:
    """Return the HTML block under a figure. ``links`` has the address of each download by its kind, such as CSV."""
    parts = list(_parts(source, spec.max_age)) if source else []
    for kind, to in links.items():
        name = f"{kind}: rows of {spec.title or spec.id or 'this figure'}"
        saved = f' download="{text_html(spec.id or "rows")}.{kind.lower()}"' if to.startswith("data:") else ""
        parts.append(f'<a href="{text_html(to)}"{saved} aria-label="{text_html(name)}">{kind}</a>')
    lines = ['<div class="mongo-table__source" data-search-exclude>']
    if parts:
        lines.append(f"<p>{' · '.join(parts)}</p>")
    lines += "<details>", "<summary>How it was made</summary>"
    details = provenance_details(source) if source else ()
    if details:
        lines += "<ul>", *(f"<li>{name}: {text_html(text)}</li>" for name, text in details), "</ul>"
    label, said = "Pipeline", "This pipeline over {} gives the rows:"
    if not spec.has_own_pipeline:
        label, said = "Selection", "The rows are these documents of {}:"
    lines.append(f"<p>{said.format(f'the collection <code>{text_html(spec.collection)}</code>')}</p>")
    # As the author wrote it, with the names of shared pipelines; the JSON file has their stages.
    body, rows_from = spec.comment.value, dict[str, Any]()
    for key in ROW_KEYS:
        if key in body:
            rows_from[key] = body[key]
    written = rows_from["pipeline"] if rows_from.keys() == {"pipeline"} else rows_from
    code = text_html("\n".join(_lay_out(written)) if written else _JSON(written))
    label = text_html(f"{label} of {spec.title or spec.id or 'this figure'}")
    lines.append(f'<pre tabindex="0" role="group" aria-label="{label}"><code>{code}</code></pre>')
    if source and runs:
        whose = text_html(whose_runs(source.sets))
        if runs.html and runs.at != (spec.id or "rows"):
            at = text_html(runs.at)
            lines.append(f'<p><a href="#{at}">An earlier figure</a> lists the single runs.</p>')
        elif runs.html:
            lines += f"<p>The single runs behind the rows{whose}:</p>", runs.html
        elif runs.amount:
            lines.append(f"<p>The rows come from {runs.amount}{whose}, too many to list here.</p>")
    return "\n".join([*lines, "</details>", "</div>"])


def _parts(source: Provenance, max_age: int | None) -> Iterator[str]:
    """Yield the parts of the visible line as HTML. The due day of a new measurement is an element that scripts can
    read.
    """
    due = source.due(max_age)
    for part in provenance_parts(source, due):
        text = text_html(part)
        is_due = due is not None and part == due_part(due)
        yield f'<time class="mongo-table__due" datetime="{due}">{text}</time>' if is_due else text


def _lay_out(value: dict[str, Any] | list[Any], indent: str = "") -> Iterator[str]:
    """Yield the lines of an object or an array as JSON. A part that fits on one line, such as a stage, is not split."""
    names = [f"{_JSON(name)}: " for name in value] if isinstance(value, dict) else [""] * len(value)
    parts = value.values() if isinstance(value, dict) else value
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield opening
    for left, (name, part) in enumerate(zip(names, parts, strict=True), 1 - len(value)):
        begin, end = f"{indent}  {name}", "," if left else ""
        line = f"{begin}{_JSON(part)}{end}"
        if len(line) > _WIDTH and part and isinstance(part, (dict, list)):
            line = begin + "\n".join(_lay_out(part, f"{indent}  ")) + end
        yield line
    yield indent + closing
