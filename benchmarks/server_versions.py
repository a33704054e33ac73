"""Compares the catalogue of operators with servers of three series: `python -m benchmarks.server_versions FOLDER`.

FOLDER has the servers that `python -m benchmarks.old_servers FOLDER` fetches. Each operator, each named argument and
each dated value of the catalogue is sent to each server, in a form whose names are read first. Prints where catalogue
and server disagree, and fails for a disagreement that is not in ``EXPLAINED``.
"""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pymongo.errors import OperationFailure

from benchmarks import old_servers
from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.catalogue import Operator
from mongo_tables.lint.versions import COMPUTED, is_newer

EXPLAINED: Final = {
    "$toHashedIndexKey": "MongoDB's definitions say 4.4",
    "$documents": "5.0 knows it and refuses it in requests",
    "$changeStreamSplitLargeEvent": "6.0 knows it and refuses it outside of change streams",
    "$listSearchIndexes": "servers outside of Atlas know the name alone",
    "$search": "for Atlas only",
    "$searchMeta": "for Atlas only",
    "$vectorSearch": "servers outside of Atlas know the name alone",
    "timeseries of $out": "the form of the whole argument is checked first",
}
"""Disagreements that stay, each with its reason."""
_ELSEWHERE: Final = (
    "$rand",
    "$box",
    "$center",
    "$centerSphere",
    "$geometry",
    "$maxDistance",
    "$minDistance",
    "$polygon",
)
"""Operators of queries that stand within others, where this program does not send them."""
_AT_TOP: Final = ("$and", "$or", "$nor", "$expr", "$jsonSchema", "$text", "$where", "$comment", "$sampleRate",
                  "$alwaysTrue", "$alwaysFalse")  # fmt: skip
_UNKNOWN: Final = re.compile(
    r"(?i)unrecognized|unknown|not recognized|extraneous|unexpected (argument|field|option)|not a valid operator"
)
_OTHER_FAULT: Final = re.compile(
    r"(?i)unrecognized value|unknown (time unit|rounding granularity)|invalid parameter: expected"
)


def pipeline_of(kind: str, name: str, argument: Any) -> list[dict[str, Any]]:
    """Return a pipeline with one use of an operator."""
    used = {name: argument}
    if kind == "stage":
        return [used]
    if kind == "expression":
        return [{"$project": {"x": used}}]
    if kind == "accumulator":
        return [{"$group": {"_id": None, "x": used}}]
    if kind == "window":
        return [{"$setWindowFields": {"sortBy": {"a": 1}, "output": {"x": used}}}]
    return [{"$match": used if name in _AT_TOP else {"a": used}}]


def probes(one: Operator) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield what is asked about an operator: its name, the version since when it is there, and a pipeline with it."""
    if one.since and one.name not in _ELSEWHERE:
        argument: Any = [] if one.kind == "expression" else {} if one.kind == "stage" else 1
        yield one.name, one.since, pipeline_of(one.kind, one.name, argument)
    arguments = catalogue.find_arguments(one.kind, one.name)
    if one.kind != "query" and catalogue.takes_named_arguments(one.kind, one.name):
        needed = {name: "$a" for name, each in arguments.items() if not each.optional}
        needed |= dict.fromkeys(one.required, "$a")
        for name, each in arguments.items():
            yield (
                f"{name} of {one.name}",
                each.since or one.since,
                pipeline_of(one.kind, one.name, {**needed, name: "$a"}),
            )
    for name, parts in (one.since_values or {}).items():
        for part, since in parts.items():
            value: Any = {"$concat": ["$a", "b"]} if part == COMPUTED else f"%Y {part}"
            given = (
                {"input": "$$ROOT"} if part == COMPUTED else {one.required[0]: "$d"} if one.required else {}
            )
            if part in arguments:  # of $lookup
                value, given = [], {"from": "case", "as": "x", "localField": "a", "foreignField": "a"}
            yield f"{part} of {one.name}", since, pipeline_of(one.kind, one.name, {**given, name: value})


def is_known(client: Any, asked: str, pipeline: list[dict[str, Any]]) -> bool:
    """Return whether a server knows what is asked about; another fault than an unknown name is no answer to that."""
    try:
        client.versions.case.aggregate(pipeline).to_list()
    except OperationFailure as error:
        message = str((error.details or {}).get("errmsg", ""))
        if asked.startswith("%"):
            return error.code != 18536
        if asked.startswith(COMPUTED):
            return error.code not in (5654600, 5654601)
        if "may not specify" in message:
            return False
        first = asked.split(" of ")[0]
        named = (
            re.search(rf"{re.escape(first)}\b", message)
            or "window function" in message
            or "operator" in message
        )
        return not (_UNKNOWN.search(message) and named) or bool(_OTHER_FAULT.search(message))
    return True


def disagreements(client: Any, version: str) -> Iterator[tuple[str, str]]:
    """Yield what the catalogue and a server disagree about, with a sentence."""
    client.versions.case.insert_one({"_id": 1, "a": 1, "d": "2024"})
    for one in catalogue.operators():
        if one.kind == "window" and is_newer("5.0", version):
            continue  # the stage around it is unknown
        for asked, since, pipeline in probes(one):
            if asked != one.name and is_newer(one.since, version):
                continue
            known = is_known(client, asked, pipeline)
            if known == is_newer(since, version):
                yield (
                    asked,
                    f"{one.kind} {asked}: since {since} in the catalogue, {version} {'has' if known else 'lacks'} it",
                )


def main() -> int:
    """Ask all servers; 1 if there is a disagreement that is not explained."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    new = 0
    for version in old_servers.PACKAGES:
        with old_servers.running(folder, version) as client:
            for asked, sentence in disagreements(client, version):
                reason = EXPLAINED.get(asked) or EXPLAINED.get(asked.split(" of ")[-1])
                new += reason is None
                print(sentence, f"({reason})" if reason else "")
    print(f"{new} disagreements that are not explained")
    return 1 if new else 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        raise SystemExit(main())
