"""The content of a first table, chosen from its documents, and the text of its comment.

For benchmarks, the table shows one measure and the parameters that differ, sorted by name. The measure is the time,
else the throughput, else the most frequent measure that says whether higher or lower values are better. Failed
benchmarks are omitted, because they did not do their work.

A new measurement should change only figures of the table. So rows are not sorted by measured values, which would change
their order, and standard deviations are not shown, because they vary more than any ``tolerance`` allows.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.values import is_number, type_name
from mongo_tables.directives.columns import column_headers, field_words, short_names
from mongo_tables.directives.comments import keep_in_comment
from mongo_tables.directives.row_keys import read_sort
from mongo_tables.directives.row_paths import KEY, VALUE
from mongo_tables.directives.schemas import load
from mongo_tables.files.folders import list_some
from mongo_tables.lint.shape import values as shapes
from mongo_tables.render.values import raw_text
from mongo_tables.results.provenance import is_result
from mongo_tables.results.row_names import (
    COLUMN,
    ORDER,
    are_apart,
    choose_telling,
    find_naming_fields,
    leaves,
    order_of,
)
from mongo_tables.site.numbers.text import name_with_unit

Documents = Sequence[Mapping[str, Any]]
Stages = Sequence[Mapping[str, Any]]

MOST_COLUMNS = 6
"""The maximum number of columns of a table that fits on a page."""

_CROWD = 8
"""The maximum number of fields of an inner document that readers may want to see."""

_SCALARS = frozenset({"int", "long", "double", "decimal", "string", "bool", "date"})
_MEASURED = frozenset({"double", "decimal"})
"""The types of measured fields, whose values differ in each run."""

NUMBERS: Final = shapes.NUMBERS | shapes.NULL
LARGE: Final = 10_000
"""The smallest number with separators between thousands."""
_PLURAL: Final = re.compile(r".*[a-z](?<![sui])s")

_DAY = "%Y-%m-%d"
_MIDNIGHT = "T00:00:00Z"
"""The end of a date without a time of day."""

_FIELDS: Final = ("name", "benchmark", "metric", "unit", "value", "tool")
"""The fields that every benchmark document has, for all tools."""
_PARAMETERS: Final = "parameters"
"""The field of a benchmark with its parameters."""
_BENCHMARK: Final = "benchmark"
"""The field with the name without parameters, for sorting: in full names, 10 comes before 9."""
_FILE: Final = "_id.file"
_SUITE: Final = "_id.testname"
_START: Final = "start_time"
_AROUND: Final = {_SUITE: "Suite", _FILE: "File"}
"""The fields that group benchmarks, with their headers. Their columns come before the column of the name."""
_MOST_PARAMETERS: Final = 3
_LISTED: Final = 5
_SECONDS: Final = "s"
"""The unit of all times, for all tools."""
_MAIN: Final = ("time", "throughput")
"""The preferred measures of a table. All formats of benchmark tools have these names."""
_AVERAGE: Final = "average"
"""A part of the name of a preferred measure, as in YCSB's latencies."""
_FAILED: Final = "failed"
_ENVIRONMENT: Final = {"runtime": "versions.runtime", "cpu": "hardware.cpu"}
"""The fields that must be equal in runs that are compared."""
_SAVED_RUN: Final = re.compile(r"[^/]+/\d{4}_[^/]+")
"""The names of files in which pytest-benchmark saves runs, in a folder for each Python and machine."""
_CHANGE: Final = {"compute": {"change": "value / before - 1"}}
_NOT_FAILED: Final[Mapping[str, Any]] = MappingProxyType({_FAILED: {"$exists": False}})


@dataclass(frozen=True, slots=True)
class CandidateField:
    """A field that can be a column.

    ``everywhere`` is true if all documents have a value. ``values`` are its values as texts.
    """

    path: str
    types: tuple[str, ...]
    everywhere: bool
    values: tuple[str, ...]

    @property
    def distinct(self) -> int:
        """The number of distinct values in the documents."""
        return len(set(self.values))


def find_candidates(documents: Documents) -> list[CandidateField]:
    """Return the fields of the first two levels with numbers, texts, dates, true or false, in order."""
    found: dict[str, list[Any]] = {}
    for document in documents:
        for path, value in leaves(document):
            found.setdefault(path, []).append(value)
    return [one for path, values in found.items() if (one := _candidate(path, values, len(documents)))]


def _candidate(path: str, values: list[Any], documents: int) -> CandidateField | None:
    types = sorted({type_name(value) for value in values})
    present = [value for value in values if value is not None]
    if not present or not set(types) <= {*_SCALARS, "null"} or not COLUMN.fullmatch(path):
        return None
    everywhere = len(present) == documents
    return CandidateField(path, tuple(types), everywhere, tuple(map(raw_text, present)))


def suggest_columns(fields: Sequence[CandidateField], documents: Documents) -> list[str]:
    """Return the paths of up to six columns: fields that differ between documents, such as fields that identify them.

    A field is omitted if another field has the same values. A field at the top level is omitted if most documents lack
    it. A field of an inner document is omitted if some documents lack it, or if the inner document has many fields,
    such as the state of a server. If no field differs, return the first fields.
    """
    among = Counter(one.path.rpartition(".")[0] for one in fields if "." in one.path)
    near = [one for one in fields if among[one.path.rpartition(".")[0]] <= _CROWD] or list(fields)
    near = [one for one in near if not _is_counted(one)] or near
    filled = sum(document.get(VALUE, 0) is not None for document in documents)  # the other entries are null
    half = len(documents) / 2
    usual = [
        one for one in near if len(one.values) >= filled or ("." not in one.path and len(one.values) >= half)
    ] or near
    different = [one for one in usual if one.distinct > 1 or len(one.values) < filled] or usual
    unlike: dict[tuple[str, ...], CandidateField] = {}
    for one in different:
        unlike.setdefault(one.values, one)
    paths = [one.path for one in unlike.values()]
    needed = [path for path in find_naming_fields(documents, paths[:MOST_COLUMNS]) if path in paths]
    return (
        [*paths[: MOST_COLUMNS - len(needed)], *needed]
        if len(needed) < MOST_COLUMNS
        else needed[:MOST_COLUMNS]
    )


def _is_counted(one: CandidateField) -> bool:
    """Return whether the field only numbers the documents of a plain file or the elements of a list."""
    pairs = pairwise(("0", *one.values))
    is_number = set(one.types) <= {"int", "long"}
    if one.path.rpartition(".")[2] == KEY:
        return is_number  # the number in a list
    is_number = is_number and one.path in ("_id", "_id.number")
    return is_number and all(value in ("1", str(int(before) + 1)) for before, value in pairs)


def list_left_out(documents: Documents, fields: Sequence[CandidateField], paths: Sequence[str]) -> list[str]:
    """Return the fields of the documents that are not in ``paths``."""
    known = {ORDER, *(one.path.partition(".")[0] for one in fields)}
    others = dict.fromkeys(name for document in documents for name in document if name not in known)
    return [*(one.path for one in fields if one.path not in paths), *others]


def propose_orders(
    paths: Sequence[str], fields: Sequence[CandidateField]
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield columns and sort keys, the best for readers first. The last proposals order all rows, by ``_id``.

    Rows are never sorted by measured fields, because each measurement would change their order.
    """
    measured = {one.path for one in fields if _MEASURED & set(one.types)}
    places = sorted((one for one in fields if one.path.endswith(KEY)), key=lambda one: -len(one.path))
    if places and _is_counted(places[-1]):
        yield list(paths), [one.path for one in places]  # the entries of a list have an order
    stable = [path for path in paths if path not in measured]
    # The first column, then the columns of ``_id``, which distinguish rows.
    first = list(dict.fromkeys([*paths[:1], *(path for path in paths if path.startswith("_id."))]))
    wider = [*paths[: MOST_COLUMNS - 1], "_id"]
    texts = [one.path for one in fields if one.path in stable and "string" in one.types]
    for sort in (first if measured.isdisjoint(first) else [], texts, stable, ["_id"]):
        if sort:
            yield list(paths), sort
    if "_id" not in paths:
        yield wider, [*(path for path in stable if path in wider), "_id"]
        yield wider, ["_id"]


def choose_formats(
    paths: Sequence[str], fields: Iterable[CandidateField], chosen: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return the formats ``chosen``, with texts for missing values, formats of days, and separators of thousands."""
    known = {one.path: one for one in fields}
    formats: dict[str, Mapping[str, Any]] = {}
    for path in paths:
        form, one = dict(chosen.get(path, {})), known.get(path)
        if one and not one.everywhere:
            # Parameters and texts are given, not measured.
            is_given = path.startswith(f"{_PARAMETERS}.") or "string" in one.types
            form["missing"] = "–" if is_given else "not measured"
        if one and set(one.types) <= {"date", "null"} and all(day.endswith(_MIDNIGHT) for day in one.values):
            form["date"] = _DAY
        if one and path not in chosen and set(one.types) <= NUMBERS and max(map(float, one.values)) >= LARGE:
            form["thousands"] = True
        if form:
            formats[path] = form
    return formats


def propose_headers(
    paths: Sequence[str], documents: Documents, numbers: Sequence[str] = (), rows: str = ""
) -> list[str]:
    """Return a header for each path: title and unit from the schema of results, or the field's name in words.

    A field in ``numbers`` may have a unit at the end of its name. ``rows`` is the list or map whose entries are the
    rows. The header of an entry's key or name is the singular of the name of this list or map: ``Benchmark`` for
    ``benchmarks.*``.
    """
    known = load("result")
    described = all(name in document for name in known.get("required", ()) for document in documents)
    headers = []
    for path, short, words in zip(paths, short_names(paths), column_headers(paths), strict=True):
        entries = (rows.removesuffix(".*") if path == KEY else path).removesuffix(f".{KEY}")
        entries = entries.removesuffix(".name").rpartition(".")[2]
        if path.endswith((KEY, ".name")) and _PLURAL.fullmatch(entries):
            words = re.sub("ie$", "y", field_words(entries[:-1]))
        elif path.endswith(KEY):
            words = "Name"
        elif path in numbers:
            words = name_with_unit(short)
        headers.append((_describe_in_schema(path, known) if described else "") or words)
    return headers


def _describe_in_schema(path: str, schema: Mapping[str, Any]) -> str:
    place: Mapping[str, Any] = schema
    for part in path.split("."):
        place = place.get("properties", {}).get(part, {})
    unit = f" ({place['unit']})" if "unit" in place else ""
    return f"{place['title']}{unit}" if "title" in place else ""


def make_body(
    collection: str,
    where: Mapping[str, Any],
    columns: Sequence[str],
    headers: Sequence[str],
    formats: Mapping[str, Mapping[str, Any]],
    sort: Sequence[str],
    ignore: Mapping[str, str] | None = None,
    *,
    rows: str | None = None,
    name: str = "",
    newest_run: Stages = (),
) -> dict[str, Any]:
    """Return the keys of the comment of a table.

    Args:
        collection: The collection.
        where: The query that selects documents, with values in Extended JSON.
        columns: The paths of the columns.
        headers: The headers, which are written only if they differ from the defaults.
        formats: The formats of columns.
        sort: The paths to sort by; ``-`` before a path means descending.
        ignore: The ids of rules to ignore, with reasons.
        rows: The path of a list inside each document.
        name: The id of the table.
        newest_run: The stages that select the newest run, and add the values of the previous one.
    """
    body: dict[str, Any] = {"id": name} if name else {}
    body["collection"] = collection
    body |= {"rows": rows} if rows else {}
    if newest_run:
        matched = [{"$match": dict(where)}] if where else []
        body |= {"pipeline": [*matched, *newest_run, {"$sort": read_sort(list(sort))}]} | _CHANGE
    body |= {"where": dict(where)} if where and not newest_run else {}
    body["columns"] = list(columns)
    body |= {"headers": list(headers)} if tuple(headers) != column_headers(columns) else {}
    body |= {"sort": sort[0] if len(sort) == 1 else list(sort)} if not newest_run else {}
    body |= {"format": formats} if formats else {}
    return body | ({"ignore": dict(ignore)} if ignore else {})


def format_comment(keyword: str, body: Mapping[str, Any]) -> str:
    """Return the text of a comment, with a line for each key and for each stage of a pipeline."""
    lines = []
    for key, value in body.items():
        stages = ",\n".join(f"    {_json(stage)}" for stage in value) if key == "pipeline" else ""
        lines.append(f"  {_json(key)}: " + (f"[\n{stages}\n  ]" if stages else _json(value)))
    text = keep_in_comment("{\n" + ",\n".join(lines) + "\n}")
    return f"<!-- {keyword}: {text} -->"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# -- benchmarks --


class FirstTable(NamedTuple):
    """The content of a first table.

    ``where`` selects its documents. ``remarks`` are messages about content that the table lacks. If the documents are
    of successive runs, the table shows the newest one: ``newest`` is its date, ``newest_run`` has the stages.
    """

    where: Mapping[str, Any]
    columns: Sequence[str]
    headers: Sequence[str]
    sort: Sequence[str]
    formats: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    remarks: Sequence[str] = ()
    newest: datetime | None = None
    newest_run: Stages = ()


def suggest_for_benchmarks(documents: Documents) -> FirstTable | None:
    """Return a table of the main measure of successful benchmarks, or None if the documents are not benchmarks.

    If all benchmarks failed, the table shows all of them.
    """
    if not documents or not all(name in one for one in documents for name in _FIELDS):
        return None
    sound = [one for one in documents if _FAILED not in one] or documents
    metric = _choose_measure(sound)
    of_metric = [one for one in documents if one["metric"] == metric]
    every = [one for one in sound if one["metric"] == metric]
    runs = _dates_of_runs(every)
    newest = max(runs, default=None)
    shown = [one for one in every if newest in (None, one.get(_START))]
    units = list(dict.fromkeys(str(one["unit"]) for one in shown))
    is_time = units == [_SECONDS]
    unit = f" ({units[0]})" if len(units) == 1 and units[0] and not is_time else ""
    parameters = [f"{_PARAMETERS}.{name}" for name in _differing(shown)]
    others = find_naming_fields(shown, ["name", *parameters])
    suites = {(one[_BENCHMARK], dict(leaves(one)).get(_SUITE)) for one in shown}
    is_shared = len({name for name, _ in suites}) < len(suites)
    before = [path for path in _AROUND if path in others or (is_shared and path == _SUITE)]
    behind = [*parameters, *(path for path in others if path not in _AROUND)]
    names = [*before, _BENCHMARK, *behind]
    if len({one[_BENCHMARK] for one in shown}) == len(shown) and not find_naming_fields(shown, behind):
        # A name that contains the parameter, such as `python3.9 -c pass`, sorts letter by letter.
        names = [*before, *behind]
    ties = ["_id"] if find_naming_fields(shown, names) else []
    sort = [*names, *ties] if behind or order_of(_FILE, shown) != _FILE else ["_id"]
    columns = {path: _AROUND[path] for path in before} | {"name": "Benchmark"}
    columns |= {path: field_words(path.rpartition(".")[2]) for path in behind}
    columns["value"] = f"{field_words(metric)}{unit}"
    columns |= {"unit": "Unit"} if len(units) > 1 else {}
    columns |= {"change": "Change"} if newest else {}
    return FirstTable(
        {
            **({"metric": metric} if len(of_metric) < len(documents) else {}),
            **(_NOT_FAILED if len(every) < len(of_metric) else {}),
        },
        list(columns),
        list(columns.values()),
        sort,
        {
            **({"value": {"duration": _SECONDS}} if is_time else {}),
            **({"change": {"percent": True, "decimals": 1, "missing": "new"}} if newest else {}),
        },
        [
            *(_say_newest(every, shown, len(runs)) if newest else ()),
            *_say_others(documents, metric),
            *_say_failed(of_metric),
        ],
        newest,
        _newest_run(every) if newest else (),
    )


def _newest_run(documents: Documents) -> Stages:
    """Return the stages that select the newest run, and add ``before``: the benchmark's value in the previous run.

    Only runs with the same environment are compared, as far as the documents name it.
    """
    known = {path for one in documents for path, _ in leaves(one)}
    environment = {name: f"${path}" for name, path in _ENVIRONMENT.items() if path in known}
    group = {"suite": "$_id.testname", "name": "$name", **environment}
    before = {"before": {"$shift": {"output": "$value", "by": -1}}}
    return (
        {"$setWindowFields": {"partitionBy": group, "sortBy": {_START: 1}, "output": before}},
        {"$setWindowFields": {"output": {"newest": {"$max": f"${_START}"}}}},
        {"$match": {"$expr": {"$eq": [f"${_START}", "$newest"]}}},
    )


def _say_newest(documents: Documents, shown: Documents, runs: int) -> Iterator[str]:
    if runs == 1:
        yield "the table shows the only run; after the next run, it will also show the change"
        return
    found = [[dict(leaves(one)).get(path) for path in _ENVIRONMENT.values()] for one in (*shown, *documents)]
    varies = any(one != found[0] for one in found)
    told = f" ({', '.join(str(one) for one in found[0] if one)})" if varies else ""
    same = " with the same runtime and processor" if varies else ""
    yield f"the table shows the newest of {runs} runs{told}, and the change since the previous run{same}"


def _dates_of_runs(documents: Documents) -> set[datetime]:
    """Return the dates of successive runs in the files of a folder, or an empty set for other documents."""
    runs = {
        (str(one["_id"].get("file", "")), one.get(_START))
        for one in documents
        if isinstance(one["_id"], Mapping)
    }
    folders = {name.rpartition("/")[0] for name, _ in runs}
    dates = {date for _, date in runs if isinstance(date, datetime)}
    are_saved = all(_SAVED_RUN.fullmatch(name) for name, _ in runs)
    is_series = len(runs) == len(dates) == len({name for name, _ in runs})
    is_series = is_series and (are_saved or len(folders) == 1 < len(runs))
    return dates if is_series else set()


def _choose_measure(documents: Documents) -> str:
    """Return the measure to show: time or throughput, or else the most frequent measure."""
    counted = Counter(str(one["metric"]) for one in documents)
    judged = {str(one["metric"]) for one in documents if one.get("better")}
    named = max(_MAIN, key=lambda name: counted[name])
    if named in counted:
        return named
    return max(counted, key=lambda name: (name in judged, counted[name], _AVERAGE in name.lower()))


def _say_others(documents: Documents, metric: str) -> Iterator[str]:
    others = list(dict.fromkeys(str(one["metric"]) for one in documents if one["metric"] != metric))
    if others:
        chosen = json.dumps({"metric": others[0]}, ensure_ascii=False)
        listed = list_some(others, _LISTED)
        yield f'the table shows `{metric}`; other measures are {listed}: `"where": {chosen}` shows one'


def _say_failed(documents: Documents) -> Iterator[str]:
    failed = [str(one["name"]) for one in documents if _FAILED in one]
    if failed:
        told = "all benchmarks failed" if len(failed) == len(documents) else "left out, because they failed"
        yield f"{told}: {list_some(failed, _LISTED)}"


def _differing(documents: Documents) -> list[str]:
    parameters = [one.get(_PARAMETERS, {}) for one in documents]
    names = dict.fromkeys(name for one in parameters for name in one if "." not in name)
    different = (name for name in names if len({repr(one.get(name)) for one in parameters}) > 1)
    return list(different)[:_MOST_PARAMETERS]


# -- rows of `run` --

_TEST: Final = "testname"
_TARGET: Final = "target"
_LABEL: Final = "comment"
"""The parameter with the name of a variant in words."""
_ORDER: Final = "order"
_SPEED: Final = {"unit": "operations/s", "decimals": 0, "thousands": True}


def suggest_for_runs(documents: Documents) -> FirstTable | None:
    """Return a table of the first experiment, or None if the documents are not rows of a run."""
    if not documents or not all(is_result(one) and "median" in one.get("speed", {}) for one in documents):
        return None
    tests = list(dict.fromkeys(str(one["_id"][_TEST]) for one in documents))
    rows = [one for one in documents if one["_id"][_TEST] == tests[0]]
    names, sort = _choose_names([one["_id"] for one in rows])
    columns = {f"_id.{name}": text for name, text in zip(names, column_headers(names), strict=True)}
    columns["speed.median"] = "Speed"
    if all("comparison" in one for one in rows):
        columns["comparison"] = "Compared with the reference"
    remarks = [
        f"the table shows `{tests[0]}`; other experiments are {list_some(tests[1:], _LISTED)}: "
        f'`"where": {{"_id.testname": "{tests[1]}"}}` shows one'
    ] if len(tests) > 1 else []  # fmt: skip
    return FirstTable(
        {"_id.testname": tests[0]} if len(tests) > 1 else {},
        list(columns),
        list(columns.values()),
        [f"_id.{name}" for name in sort] or ["_id"],
        {"speed.median": _SPEED},
        remarks,
    )


def _choose_names(keys: Sequence[Mapping[str, Any]]) -> tuple[Sequence[str], Sequence[str]]:
    """Return as few parameters as necessary to distinguish the variants, and the parameters to sort by."""
    own = [key for key in keys if key.get(_TARGET) == keys[0].get(_TARGET)]
    targets = [_TARGET] if len(own) < len(keys) else []
    names = [name for name in own[0] if not any(isinstance(key.get(name), Mapping | list) for key in own)]
    numbers = [name for name in names if all(is_number(key.get(name)) for key in own)]
    named = choose_telling(own, [_LABEL, *(name for name in names if name not in (_LABEL, _ORDER))])
    sort = choose_telling(own, [_ORDER, *(name for name in numbers if name != _ORDER)])
    return [*targets, *(named or names)], [*targets, *sort] if sort and are_apart(own, sort) else []
