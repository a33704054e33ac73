"""What the first table of benchmarks shows: one measure of each and the parameters that differ, in the order of names.

The measure is the time, else the throughput, else the one that most benchmarks have of those that are better high or
low. Benchmarks that failed are left out: their figures are those of work that was not done.

Measuring again must not change the table but in its figures: rows in the order of their values change places, and a
standard deviation is another one each time, farther than any ``tolerance``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mongo_tables.directives.headers import field_words
from mongo_tables.files.text import list_some

_FIELDS: Final = ("name", "benchmark", "metric", "unit", "value", "tool")
"""What every document of a benchmark has, whichever tool measured it."""
PARAMETERS: Final = "parameters"
"""The field of a benchmark that holds what it was run with."""
_BENCHMARK: Final = "benchmark"
"""The name without parameters: in that with them, 10 stands before 9."""
_MOST_PARAMETERS: Final = 3
_LISTED: Final = 5
_SECONDS: Final = "s"
"""The unit of all times, whichever tool measured them."""
_MAIN: Final = ("time", "throughput")
"""The measures that a table is made of first, as every format calls them."""
_AVERAGE: Final = "average"
"""It stands in the name of the measure that sums up the others beside it, as in YCSB's latencies."""
_FAILED: Final = "failed"
_NOT_FAILED: Final[Mapping[str, Any]] = MappingProxyType({_FAILED: {"$exists": False}})

Documents = Sequence[Mapping[str, Any]]


class Suggestion(NamedTuple):
    """A table: which documents it selects, field → value; its columns with their headers; what it is sorted by.

    ``durations`` has the unit of each column whose values are shown in the unit of time that fits them, ``remarks``
    what is not in the table.
    """

    where: Mapping[str, Any]
    columns: Sequence[str]
    headers: Sequence[str]
    sort: Sequence[str]
    durations: Mapping[str, str] = MappingProxyType({})
    remarks: Sequence[str] = ()


def suggest_for_benchmarks(documents: Documents) -> Suggestion | None:
    """The table of the main measure of what did not fail, or of all where everything did.

    None where the documents are no benchmarks.
    """
    if not documents or not all(name in one for one in documents for name in _FIELDS):
        return None
    sound = [one for one in documents if _FAILED not in one] or documents
    metric = _choose_measure(sound)
    of_metric = [one for one in documents if one["metric"] == metric]
    shown = [one for one in sound if one["metric"] == metric]
    units = list(dict.fromkeys(str(one["unit"]) for one in shown))
    is_time = units == [_SECONDS]
    unit = f" ({units[0]})" if len(units) == 1 and units[0] and not is_time else ""
    differing = _differing(shown)
    columns = {"name": "Benchmark"}
    columns |= {f"{PARAMETERS}.{name}": field_words(name) for name in differing}
    columns["value"] = f"{field_words(metric)}{unit}"
    columns |= {"unit": "Unit"} if len(units) > 1 else {}
    return Suggestion(
        {
            **({"metric": metric} if len(of_metric) < len(documents) else {}),
            **(_NOT_FAILED if len(shown) < len(of_metric) else {}),
        },
        list(columns),
        list(columns.values()),
        [_BENCHMARK, *(name for name in columns if name.startswith(PARAMETERS))] if differing else ["_id"],
        {"value": _SECONDS} if is_time else {},
        [*_say_others(documents, metric), *_say_failed(of_metric)],
    )


def _choose_measure(documents: Documents) -> str:
    """The main measure: time, throughput, else that of most benchmarks; of equal ones an average, or the first."""
    counted = Counter(str(one["metric"]) for one in documents)
    judged = {str(one["metric"]) for one in documents if one.get("better")}
    named = next((name for name in _MAIN if name in counted), None)
    return named or max(counted, key=lambda name: (name in judged, counted[name], _AVERAGE in name.lower()))


def _say_others(documents: Documents, metric: str) -> Iterator[str]:
    """Which measures there are besides, and how one of them is shown."""
    others = list(dict.fromkeys(str(one["metric"]) for one in documents if one["metric"] != metric))
    if others:
        chosen = json.dumps({"metric": others[0]}, ensure_ascii=False)
        yield f'shown is `{metric}`; there are {list_some(others, _LISTED)}: `"where": {chosen}` shows one'


def _say_failed(documents: Documents) -> Iterator[str]:
    """Which benchmarks of the measure that is shown failed."""
    failed = [str(one["name"]) for one in documents if _FAILED in one]
    if failed:
        told = "all of them failed" if len(failed) == len(documents) else "left out, since they failed"
        yield f"{told}: {list_some(failed, _LISTED)}"


def _differing(documents: Documents) -> list[str]:
    """The parameters whose values are not the same everywhere."""
    names = dict.fromkeys(name for one in documents for name in one.get(PARAMETERS, {}))
    different = (name for name in names if len({*_values(documents, name)}) > 1 and "." not in name)
    return list(different)[:_MOST_PARAMETERS]


def _values(documents: Documents, name: str) -> Iterator[str]:
    for one in documents:
        yield repr(one.get(PARAMETERS, {}).get(name))
