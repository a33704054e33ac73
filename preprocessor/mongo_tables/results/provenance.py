"""Provenance of the rows of a figure: the documents behind it, with their dates, machines and programs.

The query for the provenance reads the same documents as the pipeline. It begins with the first stages of the pipeline
that only choose documents, and ends with one ``$group`` by all provenance fields. Documents that were measured in the
same way give one row, so the size of the answer does not depend on the number of documents. For each ``$lookup`` of the
pipeline, another query reads the provenance of the documents that the stage adds.

A document is a benchmark result if its ``_id`` is a document with a string ``testname``, and its ``start_time`` is a
date. Every result has both (``schemas/result.schema.json``), and other documents rarely do. A document has figures of
another publisher if ``published`` is a document and ``source`` a string (``schemas/published.schema.json``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation.fields import (
    NO_EXPRESSION,
    WHOLE,
    Gives,
    Order,
    Parts,
    effect_of,
    overlap,
    record_of,
)
from mongo_tables.files.memo import digest_of
from mongo_tables.results.model import Query

if TYPE_CHECKING:
    from mongo_tables.results.model import Rows


RESULTS: Final = "results"
"""The collection that runs write their rows to."""
LOCAL: Final = "local"
"""The name of the target that the program starts itself."""
IN_PROVENANCE: Final[Mapping[str, Sequence[str]]] = {
    "versions": ("server", "product", "driver", "runtime", "harness"),
    "topology": ("kind", "members", "cache_gb", "place", "program", "settings"),
    "hardware": ("cpu", "cores", "memory_gib"),
    "servers": ("members",),
    "bench_config": ("atlasInstanceType",),
    "experiment": ("name", "scale", "seconds", "profile", "repeats", "seed", "target"),
    "campaign": ("id", "start", "blocks"),
    "campaigns": ("each", "differs"),
    "client": ("connections",),
    "commit": ("id", "branch", "dirty"),
    "write_concern": (),
    "published": (),
}
"""The provenance fields in each part of a document, in order. An empty list means the whole part."""

COMPARED: Final[Mapping[str, str]] = {
    "test": "experiment.name",
    "experiment digest": "experiment.digest",
    "scale": "experiment.scale",
    "profile": "experiment.profile",
    "server": "versions.server",
    "product": "versions.product",
    "driver": "versions.driver",
    "runtime": "versions.runtime",
    "harness": "versions.harness",
    "processor": "hardware.cpu",
    "processors": "hardware.cores",
    "memory (GiB)": "hardware.memory_gib",
    "kernel": "hardware.kernel",
    "processor of the servers": "servers.members.cpu",
    "processors of the servers": "servers.members.cores",
    "memory of the servers (GiB)": "servers.members.memory_gib",
    "members": "topology.members",
    "cache (GiB)": "topology.cache_gb",
    "place": "topology.place",
    "program": "topology.program",
    "settings of the servers": "topology.settings",
    "instance": "bench_config.atlasInstanceType",
    "scheduling of the client": "client.scheduling",
    "commit": "commit.id",
    "write concern": "write_concern.w",
}
"""The fields that describe how two sources were measured, by name and in the order of display."""


class RunColumn(NamedTuple):
    """A field of a run as a column: its header, its meaning and its format."""

    header: str
    meaning: str
    unit: str | None = None
    decimals: int | None = None
    thousands: bool | None = None


RUN_COLUMNS: Final[Mapping[str, RunColumn]] = {
    "start_time": RunColumn("Began (UTC)", "When the window began; of several windows, the first one."),
    "duration": RunColumn("Window", "The length of the window.", unit="ms", thousands=True),
    "operations": RunColumn("Operations", "The number of operations in the window.", thousands=True),
    "operations_per_second": RunColumn(
        "Speed", "Operations a second in the window.", unit="operations/s", decimals=1, thousands=True
    ),
    "errors": RunColumn("Errors", "The number of operations that failed in the window."),
    "seed": RunColumn("Seed", "The seed of the random values in the window."),
}
"""The columns of the list of runs: fields of ``repeats``."""


MARKS: Final = ("_id.testname", "start_time")
"""The fields that identify a result."""
IS_RESULT: Final[Mapping[str, Any]] = {
    "$and": [{"$eq": [{"$type": "$_id.testname"}, "string"]}, {"$eq": [{"$type": "$start_time"}, "date"]}]
}
"""The condition of ``is_result`` as an expression of the aggregation language, for documents on a server."""


def is_result(document: Mapping[str, Any]) -> bool:
    """Return whether the document is a benchmark result."""
    key = document.get("_id")
    named = isinstance(key, Mapping) and isinstance(key.get("testname"), str)
    return named and isinstance(document.get("start_time"), datetime)


def expects_results(part: Any) -> bool:
    """Return whether a pipeline is written for results, because it reads ``_id.testname``, which only results have."""
    if isinstance(part, str):
        return part.lstrip("$") == MARKS[0]
    if isinstance(part, Mapping):
        return MARKS[0] in part or any(map(expects_results, part.values()))
    return isinstance(part, (list, tuple)) and any(map(expects_results, part))


_BY_FIELD: Final = ("experiment", "campaign", "client", "servers", "commit")
"""Parts that are grouped only by the shown fields, because their other fields differ between documents."""
_READ: Final = frozenset((*IN_PROVENANCE, "_id", "start_time", "repeats"))
TOLD_BY: Final = frozenset((*IN_PROVENANCE, "start_time"))
"""A document without any of these fields has no provenance."""
_SHAPED: Final = "is_result"
_PUBLISHED: Final = "published"
_IS_PUBLISHED: Final = {
    "$and": [{"$eq": [{"$type": "$published"}, "object"]}, {"$eq": [{"$type": "$source"}, "string"]}]
}


@cache
def _group(dates: bool) -> Mapping[str, Any]:
    """Return the stage that groups documents by their provenance.

    With ``dates``, there are only two groups, results and other documents, with their dates.
    """
    group: dict[str, Any] = {
        "_id": {_SHAPED: IS_RESULT},
        "first": {"$min": "$start_time"},
        "last": {"$max": "$start_time"},
        "documents": {"$sum": 1},
    }
    if dates:
        return {"$group": group}
    told: dict[str, Any] = {}
    for part, names in IN_PROVENANCE.items():
        told[part] = f"${part}"
        if part in _BY_FIELD:  # Computed only for documents that have the part.
            fields: dict[str, str] = {}
            for name in names:
                fields[name] = f"${part}.{name}"
            told[part] = {"$cond": [{"$eq": [{"$type": f"${part}"}, "object"]}, fields, "$$REMOVE"]}
    published = {
        "date": "$published.date",
        "measured": "$published.measured",
        "version": "$published.version",
    }
    told[_PUBLISHED] = {"$cond": [_IS_PUBLISHED, {**published, "source": "$source"}, "$$REMOVE"]}
    # Only the shown fields of each pooled campaign, because its ratio differs for every row.
    pooled = {"id": "$$this.id", "start": "$$this.start", "blocks": "$$this.blocks"}
    each = {"$map": {"input": "$campaigns.each", "in": pooled}}
    campaigns = {"each": each, "differs": "$campaigns.differs"}
    told["campaigns"] = {"$cond": [{"$isArray": "$campaigns.each"}, campaigns, "$$REMOVE"]}
    repeat = {"block": "$$this.block"}
    for name in RUN_COLUMNS:
        repeat[name] = f"$$this.{name}"
    runs = {"key": "$_id", "repeats": {"$map": {"input": "$repeats", "in": repeat}}}
    pushed = {"$push": {"$cond": [{"$isArray": "$repeats"}, runs, "$$REMOVE"]}}
    return {"$group": {**group, "_id": {**told, _SHAPED: IS_RESULT}, "runs": pushed}}


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    """The provenance of the documents behind a figure.

    Two objects are never equal, because equal values may be written differently: 8 and 8.0.

    Attributes:
        sets: The distinct sets of provenance values, each by part of the document and name of the field. They include
            the sets of documents that a ``$lookup`` adds.
        documents: The number of documents with provenance, without those that a ``$lookup`` adds.
        first: The date of the oldest document, or None if no document has a date.
        last: The date of the newest document. If there is no provenance, the dates of all documents count.
        runs: The ``key`` and the ``repeats`` of each measured document, in the order in which they began.
        results: Whether every document is a benchmark result.
    """

    sets: tuple[Mapping[str, Any], ...]
    documents: int
    first: datetime | None = None
    last: datetime | None = None
    runs: tuple[Mapping[str, Any], ...] = ()
    results: bool = True

    def due(self, max_age: int | None) -> date | None:
        """Return the last day on which the newest document is at most ``max_age`` days old.

        Return None without a date or a limit.
        """
        if self.last is None or max_age is None:
            return None
        try:
            return self.last.date() + timedelta(days=max_age)
        except OverflowError:  # Beyond the calendar: never due.
            return None


class SourceQuery(Query):
    """The query for the provenance of a figure."""

    @cached_property
    def key(self) -> str:
        """A digest of the stages that choose documents, and of the names of the queried fields."""
        asked = self.pipeline[-1]["$group"]
        return digest_of(*asked, Query(self.collection, self.pipeline[:-1], self.let).key)

    @property
    def expressions(self) -> tuple[Any, ...]:
        """The stages that choose documents, and the variables. The last stage is not written by authors."""
        return self.pipeline[:-1], self.let


def source_query(
    collection: str, pipeline: Sequence[Mapping[str, Any]], let: Mapping[str, Any], *, dates: bool = False
) -> SourceQuery:
    """Return the query for the provenance of a figure, which is equal for figures of the same documents.

    With ``dates``, it queries only the dates of the documents.
    """
    return SourceQuery(collection, (*choice(pipeline), _group(dates)), let)


def joined_queries(
    collection: str, pipeline: Sequence[Mapping[str, Any]], let: Mapping[str, Any]
) -> Mapping[str, Query]:
    """Return a query for each ``$lookup``, by its key. It reads the provenance of the documents that the stage adds."""
    found = {}
    for number, stage in enumerate(pipeline):
        lookup = stage.get("$lookup")
        if isinstance(lookup, Mapping) and "from" in lookup:
            read = (path for field in effect_of("$lookup", lookup).fields for path in field.reads)
            stages = (*_needed_stages(pipeline[:number], read), *_joined_once(lookup))
            group = {name: value for name, value in _group(False)["$group"].items() if name != "runs"}
            query = Query(collection, (*stages, {"$group": group}), let)
            found[query.key] = query
    return found


def _joined_once(lookup: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the stages that return the documents of a join. Documents with equal join values are joined once."""
    values: dict[str, Any] = {}
    join = {"from": lookup["from"], "as": "added"}
    if variables := lookup.get("let"):
        values["let"] = variables
        join["let"] = {name: f"$_id.let.{name}" for name in variables}
    if "localField" in lookup:
        values["local"] = f"${lookup['localField']}"
        join |= {"localField": "_id.local", "foreignField": lookup["foreignField"]}
    if "pipeline" in lookup:
        join["pipeline"] = [*choice(lookup["pipeline"])]
    return {"$group": {"_id": values}}, {"$lookup": join}, {"$unwind": "$added"}, {"$replaceWith": "$added"}


def _needed_stages(
    pipeline: Sequence[Mapping[str, Any]], read: Iterable[Parts]
) -> Sequence[Mapping[str, Any]]:
    """Return the stages on which the values at the paths ``read`` depend. Omit stages that only add other fields."""
    needed = set(read)
    kept = []
    for stage in reversed(pipeline):
        ((name, argument),) = stage.items()
        effect = effect_of(name, argument)
        record = record_of(name)
        adds_fields = record is not None and record.gives is Gives.EACH and not effect.only
        if adds_fields and not any(overlap(field.parts, path) for field in effect.fields for path in needed):
            continue
        kept.append(stage)
        if effect.only:
            needed = {field.parts for field in effect.fields if field.becomes == "kept"}
        needed.update(effect.reads, *(field.reads for field in effect.fields))
        if any(field.branch is not None for field in effect.fields):
            needed.add(WHOLE)
    return kept[::-1]


def choice(pipeline: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the first stages of a pipeline, which choose documents and keep all provenance fields.

    Stages that add other fields are included only if a later stage that chooses documents may need these fields.
    """
    length = 0
    between: list[tuple[str, Any]] = []  # stages that are included only if another choice follows
    for number, stage in enumerate(pipeline, 1):
        ((name, argument),) = stage.items()
        record = record_of(name)
        if record is None or record.order is Order.CHANCE:
            break
        if record.gives is Gives.EACH:
            between.append((name, argument))
        elif record.gives is Gives.OTHERS:
            break
        elif record.order is Order.KEPT:
            if not all(_keeps_provenance(*one) for one in between):
                break
            length, between = number, []
    return pipeline[:length]


def _keeps_provenance(name: str, argument: Any) -> bool:
    """Return whether a stage only adds fields that the provenance does not show."""
    effect = effect_of(name, argument)
    return not effect.only and not any(
        one.expression is NO_EXPRESSION or one.parts[0] in _READ for one in effect.fields
    )


def provenance_of(
    groups: Rows, joined: Sequence[Mapping[str, Any]] = (), *, asked: bool = False
) -> Provenance | None:
    """Return the provenance in the answer to a ``source_query``, or None if there is none.

    It covers benchmark results, published figures and, if the author ``asked`` for it, all documents. ``joined`` are
    the answers to ``joined_queries``.
    """
    results = [group for group in groups if group["_id"].get(_SHAPED)]
    telling = groups if asked else results
    every = [
        group
        for group in (*groups, *joined)
        if asked or group["_id"].get(_SHAPED) or _PUBLISHED in group["_id"]
    ]
    told = {repr(one): one for group in every if (one := _select_told_fields(group["_id"]))}
    sets = tuple(dict(sorted(told.items())).values())
    known = [
        day
        for group in every or groups
        for day in (group["first"], group["last"])
        if isinstance(day, datetime)
    ]
    if not (sets or known):
        return None
    measured = [document for group in telling for document in group.get("runs", ())]
    return Provenance(
        sets=sets,
        documents=sum(group["documents"] for group in telling),
        first=min(known, default=None),
        last=max(known, default=None),
        runs=tuple(sorted(measured, key=_began)),
        results=len(results) == len(groups) > 0,
    )


def _select_told_fields(parts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the fields of each part that are shown and have a value.

    A target that is not local is shown without the names of its hosts.
    """
    found = {}
    for part, names in IN_PROVENANCE.items():
        value = parts.get(part)
        if isinstance(value, Mapping):
            wanted = names or tuple(value)
            found[part] = {name: value[name] for name in wanted if value.get(name) is not None}
    if "target" in (experiment := found.get("experiment", {})):
        experiment["target"] = LOCAL if experiment["target"] == LOCAL else "remote"
    return {part: fields for part, fields in found.items() if fields}


def _began(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return a sort key: the start of the first repeat, then the ``_id``."""
    starts = [repeat.get("start_time") for repeat in document["repeats"][:1]]
    return (
        "".join(start.isoformat() for start in starts if isinstance(start, datetime)),
        repr(document["key"]),
    )
