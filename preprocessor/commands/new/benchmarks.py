"""What the first table of benchmarks shows: one measure of each and the parameters that differ, in the order of names.

Measuring again must not change the table but in its figures: rows in the order of their values change places, and a
standard deviation is another one each time, farther than any ``tolerance``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from preprocessor.specs.fieldwords import field_words

_FIELDS: Final = ("name", "benchmark", "metric", "unit", "value", "tool")
"""What every document of a benchmark has, whichever tool measured it."""
PARAMETERS: Final = "parameters"
"""The field of a benchmark that holds what it was run with."""
_BENCHMARK: Final = "benchmark"
"""The name without parameters: in that with them, 10 stands before 9."""
_MOST_PARAMETERS: Final = 3
_SECONDS: Final = "s"
"""The unit of all times, whichever tool measured them."""

Documents = Sequence[Mapping[str, Any]]


class Suggestion(NamedTuple):
    """A table: which documents it selects, field → value; its columns with their headers; what it is sorted by.

    ``durations`` has the unit of each column whose values are shown in the unit of time that fits them.
    """

    where: Mapping[str, Any]
    columns: Sequence[str]
    headers: Sequence[str]
    sort: Sequence[str]
    durations: Mapping[str, str] = MappingProxyType({})


def suggest_for_benchmarks(documents: Documents) -> Suggestion | None:
    """The table of the measure that comes first; None where the documents are no benchmarks."""
    if not documents or not all(name in one for one in documents for name in _FIELDS):
        return None
    metric = documents[0]["metric"]
    shown = [one for one in documents if one["metric"] == metric]
    units = list(dict.fromkeys(str(one["unit"]) for one in shown))
    is_time = units == [_SECONDS]
    unit = f" ({units[0]})" if len(units) == 1 and units[0] and not is_time else ""
    differing = _differing(shown)
    columns = {"name": "Benchmark"}
    columns |= {f"{PARAMETERS}.{name}": field_words(name) for name in differing}
    columns["value"] = f"{field_words(metric)}{unit}"
    columns |= {"unit": "Unit"} if len(units) > 1 else {}
    return Suggestion(
        {"metric": metric} if len(shown) < len(documents) else {},
        list(columns),
        list(columns.values()),
        [_BENCHMARK, *(name for name in columns if name.startswith(PARAMETERS))] if differing else ["_id"],
        {"value": _SECONDS} if is_time else {},
    )


def _differing(documents: Documents) -> list[str]:
    """The parameters whose values are not the same everywhere."""
    names = dict.fromkeys(name for one in documents for name in one.get(PARAMETERS, {}))
    different = (name for name in names if len({*_values(documents, name)}) > 1 and "." not in name)
    return list(different)[:_MOST_PARAMETERS]


def _values(documents: Documents, name: str) -> Iterator[str]:
    for one in documents:
        yield repr(one.get(PARAMETERS, {}).get(name))
