"""Rules about ``$unwind``: documents that it drops, and values that it repeats before they are summed."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from bson import ObjectId

from mongo_tables.aggregation.catalogue import names_with
from mongo_tables.aggregation.fields import Parts, paths_in, split_path
from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.documents import Documents, leading_match
from mongo_tables.lint.rule_context import Row, RuleContext, quote, rule

MOST_ROWS: Final = 20_000
"""The largest number of rows that are made of the documents; beyond it the rules are silent."""


class Unwind(NamedTuple):
    """An ``$unwind`` at the start of a pipeline, and what it did to the documents.

    ``dropped``: the number of documents by the reason, ``missing``, ``null`` or ``empty``; ``total``: the number of
    documents before. ``repeats``: whether a document has several elements.
    """

    place: int
    parts: Parts
    total: int
    dropped: Mapping[str, int]
    repeats: bool

    @property
    def name(self) -> str:
        """The path of the array, as it is written."""
        return ".".join(self.parts)


@rule("MT439", "MT440", of="documents", needs=("$unwind",))
def find_effects_of_unwinds(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """Yield what the ``$unwind`` stages at the start of a pipeline drop or repeat unnoticed.

    Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/unwind/
    """
    unwinds = _unwinds(subject.spec, documents)
    yield from _find_dropped_documents(subject, unwinds)
    yield from _find_repeated_values(subject, unwinds)


def _find_dropped_documents(subject: RuleContext, unwinds: Sequence[Unwind]) -> Iterator[Finding]:
    """MT439: documents without an element are in no row, and nothing says so."""
    for unwind in unwinds:
        if unwind.dropped:
            why = " and ".join(f"{reason} in {count}" for reason, count in sorted(unwind.dropped.items()))
            lost, name = sum(unwind.dropped.values()), unwind.name
            keep = {"$unwind": {"path": f"${name}", "preserveNullAndEmptyArrays": True}}
            yield subject.in_pipeline(
                "MT439",
                (unwind.place, "$unwind"),
                f"{lost} of {unwind.total} documents are dropped here: `{name}` is {why}",
                f"{json.dumps(keep)} keeps them; a `$match` before it says that they are left out",
            )


_SUMMING: Final = names_with("skips texts", "accumulator")


def _find_repeated_values(subject: RuleContext, unwinds: Sequence[Unwind]) -> Iterator[Finding]:
    """MT440: an ``$unwind`` repeats the other fields of a document, and a ``$group`` adds up the copies."""
    spec = subject.spec
    place = unwinds[-1].place + 1 if unwinds else 0
    group = spec.pipeline[place].get("$group") if unwinds and place < len(spec.pipeline) else None
    if not isinstance(group, Mapping):
        return
    keys = set(paths_in(group.get("_id")))
    unwinds = [one for one in unwinds if one.repeats and not _reads(keys, one.parts)]
    for name, value in group.items():
        operator = next(iter(value), "") if isinstance(value, Mapping) else ""
        if operator not in _SUMMING:
            continue
        read = set(paths_in(value[operator]))
        last = max((number for number, one in enumerate(unwinds) if _reads(read, one.parts)), default=-1)
        repeating = unwinds[last + 1 :] if read else unwinds[1:]
        if repeating:
            what = quote(".".join(parts) for parts in sorted(read)) if read else f"`{unwinds[0].name}`"
            yield subject.in_pipeline(
                "MT440",
                (place, "$group", name),
                f"`{operator}` gets {what} once for each element of {quote(one.name for one in repeating)}, because "
                "the `$unwind` repeats it",
                "group before the `$unwind`, or compute it from the array, with `$size`, `$sum` or `$reduce`",
                key=True,
            )


def _reads(paths: set[Parts], parts: Parts) -> bool:
    """Return whether one of the paths is the array, leads to it, or leads into it."""
    return any(path[: len(parts)] == parts or parts[: len(path)] == path for path in paths)


def _unwinds(spec: PipelineSpec, documents: Documents) -> list[Unwind]:
    """Return the ``$unwind`` stages that follow the ``$match`` and the joins at the start, as far as they are known."""
    passing = documents.of(spec)
    rows: Sequence[Row] = passing.documents if passing.complete else ()
    found: list[Unwind] = []
    for place, stage in enumerate(spec.pipeline[(start := len(leading_match(spec.pipeline))) :], start):
        if "$lookup" in stage and (joined := _join(rows, stage["$lookup"], documents)) is not None:
            rows = joined
            continue
        argument = stage.get("$unwind")
        options = argument if isinstance(argument, Mapping) else {"path": argument}
        path = options.get("path")
        if not rows or not isinstance(path, str) or options.get("includeArrayIndex"):
            break
        parts, keeps = split_path(path[1:]), bool(options.get("preserveNullAndEmptyArrays"))
        made: list[Row] = []
        dropped: Counter[str] = Counter()
        for row in rows:
            elements, reason = _elements(row, parts)
            if reason and not keeps:
                dropped[reason] += 1
            made += [_replaced(row, parts, one) for one in elements] or ([row] if keeps else [])
            if len(made) > MOST_ROWS:
                return found
        repeats = len(made) > len(rows) - dropped.total()
        found.append(Unwind(place, parts, len(rows), dropped, repeats))
        rows = made
    return found


def _join(rows: Sequence[Row], argument: Any, documents: Documents) -> list[Row] | None:
    """Return the rows of a ``$lookup`` by two plain values, or None for any other ``$lookup``."""
    keys = ("from", "localField", "foreignField", "as")
    named = [argument.get(key) if isinstance(argument, Mapping) else None for key in keys]
    if not all(isinstance(one, str) and "." not in one for one in named) or len(argument) != len(keys):
        return None
    collection, local, foreign, name = map(str, named)
    others = documents.passing(collection, (), {})
    found: dict[str, list[Row]] = defaultdict(list)
    for one in others.documents:
        found[repr(one.get(foreign))].append(one)
    plain = all(isinstance(row.get(local), (str, int, float, ObjectId)) for row in rows)
    return (
        [{**row, name: found.get(repr(row[local]), [])} for row in rows]
        if plain and others.complete
        else None
    )


def _elements(row: Row, parts: Parts) -> tuple[Sequence[Any], str]:
    """Return what an ``$unwind`` makes rows of, and the reason if there is nothing."""
    value: Any = row
    for part in parts:
        value = value.get(part, MISSING) if isinstance(value, Mapping) else MISSING
    if value is MISSING:
        return (), "missing"
    if value is None:
        return (), "null"
    if isinstance(value, (list, tuple)):
        return value, "" if value else "empty"
    return (value,), ""


def _replaced(row: Row, parts: Parts, value: Any) -> Row:
    """Return a copy of a document with another value at a path that it has."""
    inner = value if len(parts) == 1 else _replaced(row[parts[0]], parts[1:], value)
    return {**row, parts[0]: inner}
