"""What the first table of benchmarks shows: one measure of each, the parameters that differ, the fastest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from preprocessor.specs.fieldwords import field_words

_FIELDS: Final = ("name", "metric", "unit", "value", "tool")
"""What every document of a benchmark has, whichever tool measured it."""
PARAMETERS: Final = "parameters"
"""The field of a benchmark that holds what it was run with."""
_MOST_PARAMETERS: Final = 3
_SPREAD: Final = "stddev"

Documents = Sequence[Mapping[str, Any]]


class Suggestion(NamedTuple):
    """A table: which documents it selects, field → value; its columns with their headers; what it is sorted by."""

    where: Mapping[str, Any]
    columns: Sequence[str]
    headers: Sequence[str]
    sort: Sequence[str]


def suggest_for_benchmarks(documents: Documents) -> Suggestion | None:
    """The table of the measure that comes first; None where the documents are no benchmarks."""
    if not documents or not all(name in one for one in documents for name in _FIELDS):
        return None
    metric = documents[0]["metric"]
    shown = [one for one in documents if one["metric"] == metric]
    units = list(dict.fromkeys(str(one["unit"]) for one in shown))
    unit = f" ({units[0]})" if len(units) == 1 and units[0] else ""
    columns = {"name": "Benchmark"}
    columns |= {f"{PARAMETERS}.{name}": field_words(name) for name in _differing(shown)}
    columns["value"] = f"{field_words(metric)}{unit}"
    columns |= {_SPREAD: f"Standard deviation{unit}"} if all(_SPREAD in one for one in shown) else {}
    columns |= {"unit": "Unit"} if len(units) > 1 else {}
    greatest_first = "-" if shown[0].get("better") == "higher" else ""
    names = [name for name in columns if name == "name" or name.startswith(PARAMETERS)]
    return Suggestion(
        {"metric": metric} if len(shown) < len(documents) else {},
        list(columns),
        list(columns.values()),
        [f"{greatest_first}value", *names],
    )


def _differing(documents: Documents) -> list[str]:
    """The parameters whose values are not the same everywhere."""
    names = dict.fromkeys(name for one in documents for name in one.get(PARAMETERS, {}))
    different = (name for name in names if len({*_values(documents, name)}) > 1 and "." not in name)
    return list(different)[:_MOST_PARAMETERS]


def _values(documents: Documents, name: str) -> Iterator[str]:
    for one in documents:
        yield repr(one.get(PARAMETERS, {}).get(name))
