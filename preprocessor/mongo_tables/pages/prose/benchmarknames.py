"""What the benchmark of a row is called by the tool that ran it, beside the text that its table shows.

Go prints `BenchmarkJoin/plus/n=100-2` for what documents call `Join/plus/n=100-2`: the benchmark `Join/plus`, with its
parameters and the number of processors, which people leave out. pytest has `test_plus[100]` for `test_plus`. What is a
plain word, as `Split`, sentences have for other things too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mongo_tables.pages.prose.documentunits import is_benchmark

_COLUMNS: Final = ("name", "benchmark", "_id.name")
"""The fields that have a name of it."""
_NO_PLAIN_WORD: Final = re.compile(r"[a-z][A-Z]|[\W\d_]")


def list_own_names(column: str, row: Mapping[str, Any]) -> Sequence[str]:
    """All that the benchmark of a row is called, where the column is one of its names; else nothing."""
    if column not in _COLUMNS or not is_benchmark(row):
        return ()
    name, benchmark = row["name"], row.get("benchmark")
    key, parameters = row.get("_id"), row.get("parameters")
    found = [name, benchmark] if isinstance(benchmark, str) else [name]
    if isinstance(parameters, Mapping) and "gomaxprocs" in parameters:
        found.append(name.removesuffix(f"-{parameters['gomaxprocs']}"))
    full = key.get("name") if isinstance(key, Mapping) else None
    before = full.removesuffix(name) if isinstance(full, str) and full.endswith(name) else ""
    also = (*found, *(before + one for one in found if before))
    return tuple(dict.fromkeys(one for one in also if _NO_PLAIN_WORD.search(one)))
