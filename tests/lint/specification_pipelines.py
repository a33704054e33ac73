"""What a check says of the example pipelines in MongoDB's own definitions, which are not part of this project.

A command, not a part of the suite: ``python -m tests.outside specifications FOLDER -s`` prints the counts. ``FOLDER`` is
that of mql-specifications, with its folder ``definitions``.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import bson.json_util
import pymongo
import yaml
from pymongo.errors import OperationFailure

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.catalogue import OperatorKind
from mongo_tables.aggregation.uses import list_uses
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.versions import is_newer
from mongo_tables.results.answers import Answers
from mongo_tables.site.pages import read_page
from release.serverversions import TABLE, write_table
from tests.judged import report_on
from tests.mongod import Mongod
from tests.outside import outside_folder

SERVERS = ("4.4", "5.0", "6.0", "7.0", "8.0", "8.2")
REFUSED = ("MT201", "MT312")
"""What is refused on purpose: what writes, runs code or tells of a server, and what files cannot answer."""


class Example(NamedTuple):
    """A pipeline of the definition of an operator, and documents as its schema has them."""

    operator: str
    since: str
    name: str
    pipeline: list[Any]
    collection: str
    document: dict[str, Any]


class _Loader(yaml.SafeLoader):
    """Reads values of BSON as Extended JSON."""


def _tagged(name: str, wrap: Any) -> None:
    def construct(loader: Any, node: Any) -> Any:
        plural = isinstance(node, yaml.SequenceNode)
        return wrap(*(loader.construct_sequence(node) if plural else [loader.construct_scalar(node)]))

    _Loader.add_constructor(f"!bson_{name}", construct)


def _date(text: str) -> dict[str, Any]:
    if text.isdigit():
        return {"$date": {"$numberLong": text}}
    time = datetime.fromisoformat(text)
    return {"$date": (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat().replace("+00:00", "Z")}


_tagged("utcdatetime", _date)
_tagged("regex", lambda text, flags="": {"$regularExpression": {"pattern": text, "options": flags}})
_tagged("binary", lambda text: {"$binary": {"base64": text, "subType": "00"}})
_tagged("decimal128", lambda text: {"$numberDecimal": text})
_tagged("int64", lambda text: {"$numberLong": text})

_VALUES: Mapping[str, Any] = {
    "Number": 4,
    "Int32": 4,
    "Long": {"$numberLong": "4"},
    "Double": 4.5,
    "Decimal128": {"$numberDecimal": "4.5"},
    "String": "four",
    "Boolean": True,
    "Date": {"$date": "2026-01-31T00:00:00Z"},
    "ObjectId": {"$oid": "65a000000000000000000001"},
    "Timestamp": {"$timestamp": {"t": 4, "i": 1}},
    "Binary": {"$binary": {"base64": base64.b64encode(b"four").decode(), "subType": "00"}},
    "Null": None,
}


def _value(types: list[Any]) -> Any:
    """A value of the first of some types."""
    first = types[0] if types else {"bsonType": "Null"}
    if first["bsonType"] == "Document":
        return _document(first.get("fields", {}))
    if first["bsonType"] == "Array":
        return [_value([inner]) for inner in first.get("types", [])]
    return _VALUES.get(first["bsonType"])


def _document(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(field.get("types", [])) for name, field in fields.items()}


@cache
def examples() -> tuple[Example, ...]:
    found = tuple(_read_examples())
    assert found, f"{outside_folder()} has no definitions with pipelines that have a schema"
    return found


def _read_examples() -> Iterator[Example]:
    for file in sorted((outside_folder() / "definitions").glob("*/*.yaml")):
        written = yaml.load(file.read_text("utf-8"), _Loader)
        for test in written.get("tests", ()):
            if "pipeline" in test and isinstance(test.get("schema"), dict):
                collection, fields = next(iter(test["schema"].items()))
                name = f"{file.parent.name}/{file.stem}: {test['name']}"
                since, pipeline = str(written["minVersion"]), test["pipeline"]
                yield Example(written["name"], since, name, pipeline, collection, _document(fields))


def judged(example: Example, folder: Path, server: str = "") -> list[Finding]:
    """What a check without a run says of the pipeline in a comment; its columns are none of the example."""
    place = folder / example.collection
    place.mkdir(exist_ok=True)
    (place / "a.jsonl").write_text(json.dumps({"_id": 1, **example.document}) + "\n")
    body = {
        "collection": example.collection,
        "pipeline": example.pipeline,
        "columns": ["_id"],
        "headers": ["Id"],
    }
    text = f"<!-- MONGO_TABLE: {json.dumps(body).replace('--', '-' + chr(92) + 'u002d')} -->"
    build = report_on(
        Answers(str(folder), server=server),
        read_page(text, "page.md", lambda _: None),
        needs="nothing",
        server=server,
    )
    start = text.index('"columns"')
    found = [one for one in build.findings if one.column < start]
    (place / "a.jsonl").unlink()
    place.rmdir()
    return found


def test_the_table_of_versions_is_what_the_definitions_say() -> None:
    assert TABLE.read_text("utf-8") == write_table(outside_folder() / "definitions")


def test_no_pipeline_has_a_false_error_and_no_operator_is_unknown(mongod: Mongod, tmp_path: Path) -> None:
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    false = []
    for example in examples():
        errors = [one for one in judged(example, tmp_path) if one.severity == "error"]
        wrong = [one for one in errors if one.rule not in REFUSED]
        reasons.update(f"{one.rule} {one.message}" for one in errors)
        if wrong and not refused_by_server(example, mongod):
            false += [f"{example.name}: {one.rule} {one.message}" for one in wrong]
        outcomes["refused by a server as well" if wrong else "refused on purpose" if errors else "sound"] += 1
    print(f"\n{len(examples())} pipelines with a schema: {dict(outcomes)}")
    print(*(f"  {count:3} {reason}" for reason, count in sorted(reasons.items())), sep="\n")
    print(*false, sep="\n")
    assert false == []
    assert not any("there is no" in reason for reason in reasons)


def refused_by_server(example: Example, mongod: Mongod) -> bool:
    """Whether a server refuses the pipeline on a collection, as a comment has it: some examples are of none."""
    pipeline = bson.json_util.loads(json.dumps(example.pipeline))
    with pymongo.MongoClient[dict[str, Any]](mongod.uri()) as client:
        try:
            client.specifications[example.collection].aggregate(pipeline).to_list()
        except OperationFailure:
            return True
    return False


def test_every_operator_that_is_newer_than_the_server_is_named(tmp_path: Path) -> None:
    silent: Counter[str] = Counter()
    for server in SERVERS:
        named = used = 0
        for example in examples():
            errors = judged(example, tmp_path, server)
            if any(one.rule in ("MT201", "MT301") for one in errors):
                silent[server] += 1  # Of what cannot be run anywhere nothing else is told.
                continue
            told = {one.message.split("`")[1] for one in errors if one.rule == "MT314"}
            newer = {
                use.name for use in list_uses(example.pipeline) if _came_after(use.kind, use.name, server)
            }
            missing = _defined_after(example, server) - told
            assert newer <= told and not missing, (example.name, server, newer - told, missing)
            named, used = named + len(told), used + len(newer)
        print(
            f"\nserver {server}: {used} newer operators, {named} names told, {silent[server]} pipelines refused"
        )


def _came_after(kind: OperatorKind, name: str, server: str) -> bool:
    operator = catalogue.find(kind, name)
    return operator is not None and is_newer(operator.since, server)


def _defined_after(example: Example, server: str) -> set[str]:
    """The operator whose example it is, where its definition is of a newer version and it stands in the pipeline.

    Read from the definition and looked for as text, not by what is tested. What the catalogue corrects is left out.
    """
    corrected = any(
        operator is not None and not is_newer(operator.since, server)
        for operator in (catalogue.find(kind, example.operator) for kind in catalogue.KINDS)
    )
    is_used = f'"{example.operator}":' in json.dumps(example.pipeline)
    return {example.operator} if is_used and is_newer(example.since, server) and not corrected else set()
