"""Complaints about an experiment file, each with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from preprocessor.findings import Finding
from preprocessor.runner.tomlplaces import Path, nearest, places
from preprocessor.runner.validation import validator
from preprocessor.runner.workloads import workload
from preprocessor.runner.workloads.templates import faults

RULE = "MT150"
_WHERE = re.compile(r" \(at line (\d+), column (\d+)\)")


def parse(text: str, file: str) -> tuple[dict[str, Any], list[Finding]]:
    """Give what an experiment file says, and everything that is wrong with it.

    ``file`` is the name to show. The first part is only of use when there are no findings.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return {}, [_not_toml(str(error), file)]
    found = places(text)
    problems = list(_against_schema(data)) or list(_against_workload(data))
    return data, sorted(
        Finding(file, *nearest(found, path), RULE, "error", message, hint) for path, message, hint in problems
    )


def _not_toml(message: str, file: str) -> Finding:
    where = _WHERE.search(message)
    line, column = (int(where[1]), int(where[2])) if where else (0, 0)
    return Finding(file, line, column, RULE, "error", f"not TOML: {_WHERE.sub('', message)}")


_Problem = tuple[Path, str, str]


def _against_schema(data: Mapping[str, Any]) -> Iterator[_Problem]:
    for error in validator("experiment").iter_errors(data):
        path = tuple(error.absolute_path)
        if error.validator == "additionalProperties" and isinstance(error.instance, Mapping):
            yield from _unknown(path, error.instance, error.schema.get("properties", {}))
        else:
            name = ".".join(map(str, path)) or "the file"
            yield path, f"{name}: {error.message}", str(error.schema.get("description", ""))


def _unknown(path: Path, given: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[_Problem]:
    from difflib import get_close_matches

    for key in given:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"
            yield (*path, key), f"{key} means nothing here", hint


def _against_workload(data: Mapping[str, Any]) -> Iterator[_Problem]:
    needs = workload(data["workload"]).NEEDS | {"database", "collection", "numberOfThreads"}
    for number, variant in enumerate(data["variants"]):
        given = variant.keys() | data["parameters"].keys()
        # How many records there are follows from the working set that is asked for.
        missing = sorted(needs - given - ({"recordcount"} if "workingSetRatio" in given else set()))
        if missing:
            hint = "give it here, or for all variants in [parameters]"
            yield ("variants", number), f"the workload {data['workload']} needs {', '.join(missing)}", hint
        if "workingSetRatio" in given and "recordcount" not in needs:
            message = f"the workload {data['workload']} has no records that could follow the cache"
            yield ("variants", number), message, "leave out workingSetRatio; the workload ycsb knows it"
        if "database" in variant:
            yield ("variants", number, "database"), "a variant has no database of its own", ""
    for name in data.get("least", {}):
        if name not in data.get("scaled", ()):
            yield ("least", name), f"--scale does not touch {name}", "name it in scaled, or leave it out here"
    yield from _random_numbers(("parameters",), data["parameters"])
    for number, variant in enumerate(data["variants"]):
        yield from _random_numbers(("variants", number), variant)
    yield from _published(data.get("published", {}).get("rows"), len(data["variants"]))


def _published(rows: Sequence[Mapping[str, Any]] | None, variants: int) -> Iterator[_Problem]:
    if rows is None:
        return
    if len(rows) != variants and not any("variant" in row for row in rows):
        message = f"{len(rows)} published rows for {variants} variants"
        hint = "an empty [[published.rows]] stands for a variant without figures, or rows name their variant"
        yield ("published",), message, hint
        return
    for number, row in enumerate(rows):
        named = row.get("variant", number + 1)
        if named > variants:
            where = ("published", "rows", number, *(("variant",) if "variant" in row else ()))
            message = f"published figures of variant {named}, and there are {variants}"
            yield where, message, "variant counts from 1; 0 is for figures that belong to none"


def _random_numbers(path: Path, values: Mapping[str, Any]) -> Iterator[_Problem]:
    for name in ("query", "pipeline"):
        for inner, message, hint in faults(values.get(name), (name,)):
            yield (*path, *inner), message, hint
