"""The section that a set-up adds to a page: a sentence with a value, and a table with a computed column and a chart.

A part is kept only if ``check`` has no finding about it. Users delete the parts that they do not want.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.values import is_number
from mongo_tables.build import Report, build
from mongo_tables.commands.init.columns import LARGE, format_comment
from mongo_tables.commands.init.draft import DRAFT, Proposal
from mongo_tables.directives.columns import column_headers, field_words
from mongo_tables.directives.comments import keep_in_comment
from mongo_tables.directives.keywords import keyword_like
from mongo_tables.directives.specs import TableSpec
from mongo_tables.lint.shape.units import COUNTED, find_base_unit
from mongo_tables.results.answers import Answers
from mongo_tables.results.extended_json import write_value
from mongo_tables.results.row_names import choose_telling, leaves
from mongo_tables.site.disk import snapshot_of
from mongo_tables.site.numbers.text import read_heading

_PERIODS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_PARAMETERS: Final = "parameters."
"""The prefix of the paths of a benchmark's parameters."""
_COUNTS: Final = {find_base_unit(one) for one in COUNTED} - {"iteration"} | {"n", "count", "item"}
"""Names of counts, in the singular, without iterations: the time next to their number is often the time of one."""
_WHOLE_TIMES: Final = frozenset({"time", "duration", "elapsed", "total", "took", "wall", "runtime"})
"""Words in the name of a total time, which is neither an average nor a percentile."""
_TIME: Final = (("second", 1),)
"""The dimension of a time, as powers of base units."""
_WIDE: Final = 50
"""The ratio of the largest to the smallest value above which a linear axis hides small values."""
_MOST_DRAWN: Final = 40
"""The maximum number of rows of a chart."""
_LONGEST: Final = 60
"""The maximum number of characters of a name in a sentence."""
_WITH_UNIT: Final = re.compile(r"(?:(.*) )?\(([^()]+)\)")
_TWO_HYPHENS: Final = r"-\u002d"
"""Two hyphens in JSON, the second one as an escape."""
_KEYS: Final = (
    "id", "collection", "rows", "pipeline", "where", "compute", "columns", "headers", "sort", "format", "baseline",
    "chart", "ignore",
)  # fmt: skip
"""The keys of a comment, in order."""

Body = Mapping[str, Any]


class Section(NamedTuple):
    """The sentence, or "", and the comment of the table. ``has`` lists the parts of the section in words."""

    sentence: str
    table: str
    has: Sequence[str]


def propose_section(asked: Answers, proposal: Proposal) -> Section:
    """Return the proposed table with the further parts that have no findings."""

    def judge(body: Body, sentence: str = "") -> Report:
        page = f"{sentence}\n\n{format_comment(proposal.keyword, body)}\n"
        return build(snapshot_of({DRAFT: page}), asked)

    def fits(body: Body, sentence: str = "") -> bool:
        return not any(one.file == DRAFT for one in judge(body, sentence).findings)

    body, has, sentence = proposal.body, [f"a table of `{proposal.collection}`"], ""
    (spec,) = judge(body).pages[0].specs
    rows = asked.by_key[spec.key] if isinstance(spec, TableSpec) else []
    if isinstance(rows, list) and rows and (table := _read(body, rows)):
        has += ["its computed column `change`"] if "compute" in body else []
        for what, drafts in (("a computed column", _compute(table)), ("a chart", _draw(table))):
            wholes = ({**body, **added} for added in drafts)
            tried = ({key: whole[key] for key in _KEYS if whole.get(key)} for whole in wholes)
            if found := next(filter(fits, tried), None):
                body = found
                has.append(what)
        said = _say(table, keyword_like(proposal.keyword, "value"))
        if fits(body, said):
            sentence = said
            has.insert(0, "a sentence with a value")
    return Section(sentence, format_comment(proposal.keyword, body), has)


@dataclass(frozen=True, slots=True)
class _TableDraft:
    """A table to extend.

    Attributes:
        body: The keys of its comment.
        rows: The values of each row, by path.
        names: The paths that name rows.
        measure: The path of the measured value.
        seconds: The unit of the measure in seconds, or 0 if it is not a time.
    """

    body: Body
    rows: Sequence[Mapping[str, Any]]
    names: Sequence[str]
    measure: str
    seconds: float

    @property
    def told(self) -> Sequence[str]:
        """Return the columns that name a row in a sentence, including ``name``."""
        return [path for path in self.body["columns"] if path in (*self.names, "name")]

    def first(self, paths: Sequence[str]) -> Mapping[str, Any]:
        """Return the values of the first row in Extended JSON, by path."""
        return {path: json.loads(write_value(self.rows[0].get(path))) for path in paths}

    @property
    def amounts(self) -> list[float]:
        """Return the positive values of the measure, sorted."""
        values = (row[self.measure] for row in self.rows if is_number(row.get(self.measure)))
        return sorted(one for one in map(float, values) if one > 0)

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the header of each column, by path."""
        columns = self.body["columns"]
        return dict(zip(columns, self.body.get("headers", column_headers(columns)), strict=True))


def _read(body: Body, rows: Sequence[Mapping[str, Any]]) -> _TableDraft | None:
    """Return the table to extend, or None if it has no column of numbers."""
    flat = [dict(leaves(row)) for row in rows]
    columns = [path for path in body["columns"] if path not in body.get("compute", ())]
    kinds = {path: {type(row[path]) for row in flat if row.get(path) is not None} for path in columns}
    numbers = [path for path in columns if all(is_number(row.get(path, 0) or 0) for row in flat)]
    texts = [path for path in columns if kinds[path] <= {str, datetime} or path.startswith(_PARAMETERS)]
    texts.sort(key=lambda path: path != "name")
    times = {path: seconds for path in numbers if (seconds := _seconds_of(path, body))}
    whole = [path for path in numbers if float not in kinds[path] and path not in times]
    names = choose_telling(flat, texts)
    names += choose_telling(flat, whole, names)
    measures = [path for path in numbers if path not in (*names, *texts)]
    measures.sort(key=lambda path: (path not in times, path in whole))
    found = (_TableDraft(body, flat, names or texts[:1], one, times.get(one, 0)) for one in measures)
    return next(found, None)


def _seconds_of(path: str, body: Body) -> float:
    """Return the unit of a column in seconds, or 0 if it is not a time."""
    unit = body.get("format", {}).get(path, {}).get("duration") or path.rpartition(".")[2]
    return next((one.factor for one in read_heading(unit).units if one.powers == _TIME), 0)


# -- a computed column --


def _compute(table: _TableDraft) -> Iterator[Body]:
    """Yield computed columns: a rate if the measure is a time, or else the change from the first row.

    If a column counts something, such as operations, the rate is that count per unit of time.
    """
    body, amounts = table.body, table.amounts
    if "compute" in body or "comparison" in body["columns"] or not amounts:
        return
    if table.seconds:
        counted = _find_count(table)
        middle = table.seconds if counted else amounts[len(amounts) // 2] * table.seconds
        period = next((name for name, seconds in _PERIODS.items() if seconds >= middle), "day")
        name, factor = f"per_{period}", _PERIODS[period] / table.seconds
        over, header = f"{factor:.15g}", f"Per {period}"
        if counted:
            words = field_words(counted.rpartition(".")[2])
            over = _operand(counted) if factor == 1 else f"{over} * {_operand(counted)}"
            header = f"{words}/s" if period == "second" else f"{words} per {period}"
        form: dict[str, Any] = {"missing": "–"} if len(amounts) < len(table.rows) else {}
        form |= {"significant": 3, "thousands": True} if counted or factor / amounts[0] >= LARGE else {}
        yield {
            "compute": {name: f"{over} / {_operand(table.measure)}"},
            "columns": [*body["columns"], name],
            "headers": [*table.headers.values(), header],
            "format": body.get("format", {}) | ({name: form} if form else {}),
        }
    elif len(table.rows) > 1:
        first = table.first(table.names)
        header = f"Change from {', '.join(str(one) for one in first.values() if isinstance(one, str | int))}"
        yield {
            "baseline": {"row": first or 1, "column": table.measure, "header": header.removesuffix(" from ")}
        }


def _find_count(table: _TableDraft) -> str:
    """Return the field with the number of operations in the measured time, or ""."""
    words = {*field_words(table.measure.rpartition(".")[2]).lower().split()}
    if not {one for one in words if not read_heading(one).units} <= _WHOLE_TIMES:
        return ""
    for path in table.rows[0]:  # also fields without a column, which are the same in all rows
        values = [row.get(path, "") for row in table.rows]
        is_whole = all(is_number(one) and float(one).is_integer() for one in values)
        last = field_words(path.rpartition(".")[2]).split()[-1:]
        if is_whole and path != table.measure and find_base_unit("".join(last)) in _COUNTS:
            return path
    return ""


def _operand(path: str) -> str:
    return path if re.fullmatch(r"[a-z_]\w*", path) else f"'{path}'"


# -- a chart --


def _draw(table: _TableDraft) -> Iterator[Body]:
    """Yield charts of the measure, the clearest first."""
    if not 1 < len(table.rows) <= _MOST_DRAWN or not 0 < len(table.names) <= len(("x", "series")):
        return
    # Prefer a number for the axis. Of several names, the last one has the most distinct values.
    scales = [path for path in table.names if not any(isinstance(row.get(path), str) for row in table.rows)]
    x = (scales or table.names)[-1]
    others = [path for path in table.names if path != x]
    axes = {"x": x, "y": table.measure, **({"series": others[0]} if others else {})}
    amounts = table.amounts
    if len(amounts) == len(table.rows) and amounts[-1] > _WIDE * amounts[0]:
        yield {"chart": {"mark": "line" if scales else "dot", "log": "y", **axes}}
    yield {"chart": {"mark": "line" if scales else "bar", **axes}}


# -- a sentence --


def _say(table: _TableDraft, keyword: str) -> str:
    """Return a sentence with the first value of the measure."""
    where = {"where": first} if (first := table.first(table.told)) else {}
    written = json.dumps({"table": table.body["id"], "column": table.measure, **where}, ensure_ascii=False)
    # GitHub shows a comment in a sentence if it contains two hyphens.
    comment = f"<!-- {keyword}: {keep_in_comment(written).replace('--', _TWO_HYPHENS)} -->"
    header = table.headers[table.measure]
    label, unit = found.groups() if (found := _WITH_UNIT.fullmatch(header)) else (header, "")
    if not unit and read_heading(header).units and " " not in header:
        label, unit = "", header.lower() if table.seconds and len(header) > len("min") else header
    has_unit = {"duration", "unit"} & table.body.get("format", {}).get(table.measure, {}).keys()
    value = f"{comment} {unit}" if unit and not has_unit else comment
    subject = ", ".join(filter(None, (_name(table, path) for path in table.told)))
    if table.seconds:
        return f"{subject or 'It'} takes {value}."
    return f"{' of '.join(filter(None, [label, subject])) or 'It has'}: {value}."


def _name(table: _TableDraft, path: str) -> str:
    """Return the text of a name for a sentence, or "" if the name does not fit into a sentence."""
    value = table.rows[0].get(path)
    if isinstance(value, str):
        fits = value == value.strip() and value.isprintable() and "`" not in value
        whose = "" if re.search(r"[^\W\d]", value) else f"{table.headers[path]} "  # for example, a version
        return f"{whose}`{value}`" if fits and 0 < len(value) <= _LONGEST else ""
    return f"{value:%Y-%m-%d}" if isinstance(value, datetime) else f"{table.headers[path]} {value}"
