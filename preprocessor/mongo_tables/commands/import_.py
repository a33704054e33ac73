"""``mongo-tables import``: the output of benchmark tools as documents of a fixture folder."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mongo_tables.commands.file_changes import find_fixture_folder, print_report
from mongo_tables.files.folders import list_some
from mongo_tables.findings.reporters import escape_control_chars, format_count
from mongo_tables.findings.usage import require_extra
from mongo_tables.results.benchmark_results import leave_samples_out, merge_runs, read_benchmarks
from mongo_tables.results.file_source import FileSource, hold
from mongo_tables.results.model import unusable
from mongo_tables.results.pull import pull

_SHOWN: Final = 3
_OF_SEVERAL: Final = re.compile(r"[*?\[\],=]|://")
"""Characters of a pattern, a list or a connection string."""


def run(arguments: Namespace) -> int:
    """Write the documents. Print a line for each file, the unknown facts, and the changes. Return 0."""
    documents = _read_files(arguments.files, arguments)
    if arguments.without_samples:
        documents = [leave_samples_out(one) for one in documents]
    folder = Path(arguments.folder or find_fixture_folder(arguments.site))
    source = FileSource(", ".join(arguments.files), read=lambda: [hold(arguments.name, documents)])
    report = pull(source, folder, {arguments.name: arguments.name}, dry_run=arguments.dry_run)
    for line in _say_unknown(documents):
        print(escape_control_chars(line))
    print_report(report, dry_run=arguments.dry_run)
    return 0


def _read_files(files: Sequence[str], arguments: Namespace) -> list[dict[str, Any]]:
    """Return the documents of all files.

    Raises ResultsError if a file cannot be read, or if a benchmark is in two files. Raises CommandError if intervals
    are needed and cannot be computed.
    """
    said: dict[str, Any] = {}
    if arguments.date:
        said["start_time"] = arguments.date
    if arguments.commit:
        said["commit"] = {"id": arguments.commit}
    runs = []
    for file in files:
        # A results source would treat the name of a missing file as a fixture folder.
        if not _OF_SEVERAL.search(file) and not Path(file).exists():
            raise unusable(f"the file {file} does not exist", "name a file that a benchmark tool wrote")
        runs.append(
            [one | {key: said[key] for key in said if key not in one} for one in read_benchmarks(file)]
        )
        tools = dict.fromkeys(one.get("versions", {}).get("harness") or one["tool"] for one in runs[-1])
        print(escape_control_chars(f"{file}: {', '.join(tools)}, {format_count(len(runs[-1]), 'document')}"))
    if arguments.reference is not None:
        require_extra("import --reference", "runner", "scipy")
        return merge_runs(runs, arguments.reference)
    homes: dict[str, str] = {}
    for file, run in zip(files, runs, strict=True):
        for one in run:
            first = homes.setdefault(repr(one["_id"]), file)
            if first != file:
                raise unusable(
                    f"{file}: {one['_id']['name']!r} is in {first} as well",
                    "store each run in its own --results FOLDER, or compare the runs with --reference",
                )
    return [one for run in runs for one in run]


def _say_unknown(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line about missing dates, and a line about failed benchmarks."""
    if undated := [one for one in documents if "start_time" not in one]:
        names = ", ".join(dict.fromkeys(one["tool"] for one in undated))
        told = "without --date, figures have no line of origin and no history"
        yield f"{names} does not write the time of measurement: {told}"
    failed = dict.fromkeys(f"{one['_id']['name']}: {one['failed']}" for one in documents if "failed" in one)
    if failed:
        yield f"failed: {list_some(list(failed), _SHOWN, '; ')}"
