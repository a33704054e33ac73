"""Faults in an experiment file, each with its line.

``tomllib`` does not report the positions of values. So this module finds the table headers and keys that begin lines. A
value inside an inline table or an array has the position of the key of that table or array.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from math import isfinite
from typing import Any

from mongo_tables.directives.schemas.validation import validator
from mongo_tables.findings.finding import Finding, did_you_mean
from mongo_tables.runner import MARKER
from mongo_tables.runner.workloads import workload
from mongo_tables.runner.workloads.queries import faults, leaves

Path = tuple[str | int, ...]

_HEADER = re.compile(r"""\s*(\[\[?)\s*([\w.\- "']+?)\s*\]""")
_KEY = re.compile(r"""\s*([\w\-]+|"[^"]*"|'[^']*')\s*=""")
_LONG_TEXT = re.compile(r"(\"\"\"|\'\'\').*?\1", re.DOTALL)


def places(text: str) -> dict[Path, tuple[int, int]]:
    """Return line and column, from 1, of every table and of every key that begins a line.

    Example:
        >>> places("[t]\\nb = 2")[("t", "b")]
        (2, 1)
    """
    found: dict[Path, tuple[int, int]] = {(): (1, 1)}
    counts: Counter[Path] = Counter()
    table: Path = ()
    without_long_texts = _LONG_TEXT.sub(lambda match: "\n" * match[0].count("\n"), text)
    for number, line in enumerate(without_long_texts.split("\n"), 1):
        place = number, len(line) - len(line.lstrip()) + 1
        if header := _HEADER.match(line):
            table = ()
            for name in header[2].split("."):
                # A table inside an array of tables belongs to the last element of the array so far.
                parent = (*table, counts[table] - 1) if counts[table] else table
                table = (*parent, name.strip("\"' "))
            found.setdefault(table, place)
            if header[1] == "[[":
                counts[table] += 1
                table = (*table, counts[table] - 1)
                found[table] = place
        elif key := _KEY.match(line):
            found[(*table, key[1].strip("\"'"))] = place
    return found


def nearest(found: dict[Path, tuple[int, int]], path: Path) -> tuple[int, int]:
    """Return the position of the value at ``path``, or of the innermost container whose position is known."""
    while path not in found:
        path = path[:-1]
    return found[path]


LANGUAGE = frozenset({"query", "pipeline"})
"""Parameters in MongoDB's query language, in which infinity and NaN are meaningful."""
_LEAST, _MOST = -(2**63), 2**63 - 1


def unstorable(data: Any) -> Iterator[tuple[Path, str, str]]:
    """Yield the path, a message and a hint for each value that MongoDB cannot store or no run can use."""
    for path, value in leaves(data):
        if isinstance(value, float) and not isfinite(value) and LANGUAGE.isdisjoint(path):
            yield path, f"{value} cannot be used in a measurement", "give a finite number"
        elif isinstance(value, int) and not _LEAST <= value <= _MOST:
            yield path, f"{value} has more than 64 bits", "give a smaller number, which MongoDB can store"
        elif isinstance(value, time) or (isinstance(value, date) and not isinstance(value, datetime)):
            yield (
                path,
                f"{value} is not a date with a time",
                "write a date with a time, such as 2020-01-31T00:00:00Z",
            )


RULE = "MT150"
_WHERE = re.compile(r" \(at line (\d+), column (\d+)\)")


def parse(text: str, file: str) -> tuple[dict[str, Any], list[Finding]]:
    """Parse an experiment file. Return its content and its faults.

    ``file`` is the name in error messages. The content is valid only if there are no faults.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return {}, [_not_toml(str(error), file)]
    except RecursionError:
        return {}, [_not_toml("its values are nested too deeply", file)]
    except ValueError:  # Python refuses to convert integers with too many digits
        return {}, [_not_toml("a number has thousands of digits", file)]
    found = places(text)
    problems = list(_against_schema(data)) or [*unstorable(data), *_against_workload(data)]
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
            known = error.schema.get("properties", {})
            for key in (key for key in error.instance if key not in known):
                hint = did_you_mean(key, known) or f"known: {', '.join(sorted(known))}"
                yield (*path, key), f"{key} has no effect here", hint
        else:
            name = ".".join(map(str, path)) or "the file"
            message = "two entries are equal" if error.validator == "uniqueItems" else error.message
            is_word = error.validator == "enum" and isinstance(error.instance, str)
            near = did_you_mean(error.instance, error.validator_value) if is_word else ""
            yield path, f"{name}: {message}", near or str(error.schema.get("description", ""))


def _against_workload(data: Mapping[str, Any]) -> Iterator[_Problem]:
    for number, variant in enumerate(data["variants"]):
        config = {**data["parameters"], **variant}
        name = variant.get("workload", data["workload"])
        yield from _missing(name, config, ("variants", number))
        yield from _alone(name, data["workload"], ("variants", number, "workload"))
        if "database" in variant:
            yield ("variants", number, "database"), "a variant cannot have its own database", ""
    for path, values in _parameter_tables(data["parameters"], data["variants"]):
        yield from _unfit(values.get("workload", data["workload"]), values, path)
        for name in LANGUAGE:
            for inner, message, hint in faults(values.get(name), (name,)):
                yield (*path, *inner), message, hint
    for path, number in _variants_named(data):
        if number > len(data["variants"]):
            yield path, f"unknown variant {number}", "variants are counted from 1"
    yield from _contrasts(data.get("contrasts", ()), data.get("baseline", 1))
    yield from _scaling(data)
    for number, entry in enumerate(data.get("full_size", ())):
        if entry["counter"] not in data.get("fingerprint", ()):
            yield ("full_size", number, "counter"), "no row has this counter", "name it in fingerprint, too"
    rows = data.get("published", {}).get("rows", ())
    if 0 < len(rows) < len(data["variants"]) and not any("variant" in row for row in rows):
        message = f"{len(rows)} published rows for {len(data['variants'])} variants"
        yield (
            ("published",),
            message,
            "write an empty row for a variant without figures, or name the variants",
        )


def _variants_named(data: Mapping[str, Any]) -> Iterator[tuple[Path, int]]:
    """Yield the path and the value of each number that refers to a variant in the file."""
    yield ("baseline",), data.get("baseline", 1)
    for number, contrast in enumerate(data.get("contrasts", ())):
        yield from ((("contrasts", number, end), contrast[end]) for end in ("variant", "with"))
    for number, entry in enumerate(data.get("full_size", ())):
        yield ("full_size", number, "variants"), max(entry.get("variants", [1]))
    for number, row in enumerate(data.get("published", {}).get("rows", ())):
        yield ("published", "rows", number, "variant"), row.get("variant", number + 1)


def _parameter_tables(
    shared: Mapping[str, Any], variants: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the path and the parameters of ``shared``, and then of each variant.

    Shared parameters that all variants override are left out.
    """
    yield (
        ("parameters",),
        {name: value for name, value in shared.items() if not all(name in variant for variant in variants)},
    )
    for number, variant in enumerate(variants):
        yield ("variants", number), variant


def _missing(name: str, config: Mapping[str, Any], path: Path) -> Iterator[_Problem]:
    """Yield a problem if the ``config`` of the variant at ``path`` lacks parameters that the workload needs."""
    needs = _needs(name) | ({"customers"} if config.get("idType") == "BUSINESS_ID" else set())
    # The number of records follows from the requested working set.
    missing = sorted(needs - config.keys() - ({"recordcount"} if "workingSetRatio" in config else set()))
    if missing:
        hint = "give it here, or for all variants in [parameters]"
        yield path, f"the workload {name} needs {', '.join(missing)}", hint
    if "workingSetRatio" in config and "recordcount" not in needs:
        message = f"the workload {name} has no records whose number could follow from the size of the cache"
        yield path, message, "leave out workingSetRatio, or use the workload ycsb"


def _alone(name: str, shared: str, path: Path) -> Iterator[_Problem]:
    """Yield a problem if windows of the variant's workload and of the ``shared`` workload cannot alternate."""
    for one in {name, shared} if name != shared else ():
        kind = workload(one)
        if kind.goes_on or kind.paces_itself or kind.and_back or kind.holds_members or kind.changes_primary:
            message = f"the workload {one} has its own order or rate"
            yield path, message, "give it a separate experiment"


def _unfit(name: str, values: Mapping[str, Any], path: Path) -> Iterator[_Problem]:
    """Yield the values with which the workload cannot run, or which it would ignore."""
    if values.get("initialDocsToInsert") == 0 and "initialDocsToInsert" in _needs(name):
        message = f"the workload {name} works on documents that exist before its window"
        yield (*path, "initialDocsToInsert"), message, "give 1 or more"
    function, known = values.get("updateFunction"), workload(name).update_functions
    if function and known and function not in known:
        hint = f"use {' or '.join(known)}"
        yield (*path, "updateFunction"), f"the workload {name} does not support {function}", hint
    if "operationsPerSecond" in values and workload(name).paces_itself:
        message = f"the workload {name} has its own rates"
        yield (*path, "operationsPerSecond"), message, "leave it out"
    if values.get("collection") == MARKER:
        yield (
            (*path, "collection"),
            f"{MARKER} is the collection that marks databases of runs",
            "name another collection",
        )


def _needs(name: str) -> frozenset[str]:
    return workload(name).needs | {"database", "collection", "numberOfThreads"}


def _contrasts(contrasts: Sequence[Mapping[str, int]], baseline: int) -> Iterator[_Problem]:
    seen: set[int] = set()
    for number, contrast in enumerate(contrasts):
        one, other = contrast["variant"], contrast["with"]
        if baseline in (one, other) or one == other:
            message = f"variants {one} and {other} are compared even without this contrast"
            yield ("contrasts", number), message, "name another variant, or leave it out"
        elif one in seen:
            message = f"variant {one} has a contrast already"
            yield (
                ("contrasts", number),
                message,
                f"exchange `variant` and `with` in one of the two contrasts of variant {one}, or remove this contrast",
            )
        seen.add(one)


def _scaling(data: Mapping[str, Any]) -> Iterator[_Problem]:
    places = (data["parameters"], *data["variants"])
    for name in data.get("scaled", ()):
        if not any(name.partition(".")[0] in values for values in places):
            yield (
                ("scaled",),
                f"there is no parameter {name} to scale",
                "set it in [parameters] or in a variant",
            )
    for name in data.get("least", {}):
        numbers = all(isinstance(values.get(name, 0), int | float) for values in places)
        if name not in data.get("scaled", ()) or not numbers:
            yield ("least", name), f"{name} is not a number that --scale makes smaller", "name it in scaled"
