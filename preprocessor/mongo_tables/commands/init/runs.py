"""The first table of rows of ``mongo-tables run``: the variants, their speed, and the comparison with the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from mongo_tables.aggregation.values import is_number
from mongo_tables.commands.init.columns import Documents, FirstTable
from mongo_tables.directives.headers import column_headers
from mongo_tables.files.text import list_some
from mongo_tables.results.provenance import is_result

_TEST: Final = "testname"
_TARGET: Final = "target"
_LABEL: Final = "comment"
"""The parameter that names a variant in words."""
_ORDER: Final = "order"
_LISTED: Final = 5
_SPEED: Final = {"unit": "operations/s", "decimals": 0, "thousands": True}


def suggest_for_runs(documents: Documents) -> FirstTable | None:
    """Return the table of the first experiment, or None if the documents are not rows of a run."""
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
    """Return the parameters that name a variant, the fewest that do, and those that order the rows."""
    own = [key for key in keys if key.get(_TARGET) == keys[0].get(_TARGET)]
    targets = [_TARGET] if len(own) < len(keys) else []
    names = [name for name in own[0] if not any(isinstance(key.get(name), Mapping | list) for key in own)]
    numbers = [name for name in names if all(is_number(key.get(name)) for key in own)]
    named = _fewest([_LABEL], own) or _fewest([name for name in names if name != _ORDER], own)
    sort = _fewest([_ORDER], own) or _fewest(numbers, own)
    return [*targets, *(named or names)], [*targets, *sort] if sort else []


def _fewest(names: Sequence[str], keys: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    """Return the fewest of the names, the first ones preferred, in which no two keys agree, or nothing."""

    def tell_apart(some: Sequence[str]) -> bool:
        return len({repr([key.get(name) for name in some]) for key in keys}) == len(keys)

    if not tell_apart(names):  # Without this, as many subsets would be tried as there are.
        return ()
    subsets = (some for count in range(1, len(names) + 1) for some in combinations(names, count))
    return next(filter(tell_apart, subsets), ())
