"""Provenance of the rows of a figure: the result documents behind it, their dates, machines and programs.

The query reads the same documents as the pipeline: it begins with the pipeline's leading stages that only choose
documents, and ends with one ``$group`` by all provenance fields. Documents that were measured alike give one row, so
the size of the answer depends on the differences and not on the number of documents. Only fields that documents have
appear in it. Another query for each ``$lookup`` of the pipeline asks the same of the documents that it adds.

A document is a benchmark result by its shape: its ``_id`` is a document with a string ``testname``, and its
``start_time`` is a date. Every result document has both (``schemas/result.schema.json``), and other documents rarely
do. It has figures of others if ``published`` is a document and ``source`` a string (``schemas/published.schema.json``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation.fields import NO_EXPRESSION, Gives, Order, effect_of, record_of
from mongo_tables.files.memo import digest_of
from mongo_tables.results.model import Query

if TYPE_CHECKING:
    from mongo_tables.results.model import Rows


RESULTS: Final = "results"
"""The collection that runs write their rows to."""
LOCAL: Final = "local"
"""The target that the program starts itself."""
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
    "published": ("date", "measured", "version", "source"),
}
"""The provenance fields of each part of a document, in order; an empty list means the whole part."""

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
"""The fields that describe how two sources were measured: name → path, in display order."""


class RunColumn(NamedTuple):
    """A field of a run as a column: header, meaning and format."""

    header: str
    meaning: str
    unit: str | None = None
    decimals: int | None = None
    thousands: bool | None = None


RUN_COLUMNS: Final[Mapping[str, RunColumn]] = {
    "start_time": RunColumn("Began (UTC)", "When the first window of the line began."),
    "duration": RunColumn("Window", "How long was measured.", unit="ms", thousands=True),
    "operations": RunColumn("Operations", "Operations that were done in the window.", thousands=True),
    "operations_per_second": RunColumn(
        "Speed", "Operations a second in the window.", unit="operations/s", decimals=1, thousands=True
    ),
    "errors": RunColumn("Errors", "Operations that failed in the window."),
    "seed": RunColumn("Seed", "The number that the random values of the window began with."),
}
"""The columns that are shown of each run: the fields of ``repeats``."""


MARKS: Final = ("_id.testname", "start_time")
"""The fields that identify a result."""
IS_RESULT: Final[Mapping[str, Any]] = {
    "$and": [{"$eq": [{"$type": "$_id.testname"}, "string"]}, {"$eq": [{"$type": "$start_time"}, "date"]}]
}
"""The same test as an expression of the aggregation language, for callers without documents on this machine."""


def is_result(document: Mapping[str, Any]) -> bool:
    """Return whether the document is a benchmark result."""
    key = document.get("_id")
    named = isinstance(key, Mapping) and isinstance(key.get("testname"), str)
    return named and isinstance(document.get("start_time"), datetime)


def expects_results(part: Any) -> bool:
    """Return whether a pipeline is written for results: it reads the name of their test, which only results have."""
    if isinstance(part, str):
        return part.lstrip("$") == MARKS[0]
    if isinstance(part, Mapping):
        return MARKS[0] in part or any(map(expects_results, part.values()))
    return isinstance(part, (list, tuple)) and any(map(expects_results, part))


_BY_FIELD: Final = ("experiment", "campaign", "client", "servers", "commit")
"""Parts that differ between documents, although the fields that are shown do not."""
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
    """Return the stage that groups documents by all their provenance.

    ``dates``: only by whether they are results.
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
        if part in _BY_FIELD:  # Cheap if documents do not have the part.
            fields: dict[str, str] = {}
            for name in names:
                fields[name] = f"${part}.{name}"
            told[part] = {"$cond": [{"$eq": [{"$type": f"${part}"}, "object"]}, fields, "$$REMOVE"]}
    # The source is beside the document about the figures.
    published = {
        "date": "$published.date",
        "measured": "$published.measured",
        "version": "$published.version",
    }
    told[_PUBLISHED] = {"$cond": [_IS_PUBLISHED, {**published, "source": "$source"}, "$$REMOVE"]}
    # The fields of each pooled campaign that are shown; its ratio differs for every row.
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

    ``sets`` has each distinct set of provenance values, by part of the document and name of the field, including those
    of documents that a ``$lookup`` adds. ``documents`` is the number of the other documents with provenance. ``first``
    and ``last`` are the dates of the oldest and the newest document, None if no document has one; documents without
    provenance count here as well, to measure their age. ``results``: every document is a benchmark result. ``runs`` has
    the ``key`` and the ``repeats`` of each measured document, in the order in which they began. What is written about
    it is kept by its identity, because equal values may be written differently: 8 and 8.0.
    """

    sets: tuple[Mapping[str, Any], ...]
    documents: int
    first: datetime | None = None
    last: datetime | None = None
    runs: tuple[Mapping[str, Any], ...] = ()
    results: bool = True

    def due(self, max_age: int | None) -> date | None:
        """Return the last day on which the newest document is at most ``max_age`` days old.

        None without a date or a limit.
        """
        if self.last is None or max_age is None:
            return None
        try:
            return self.last.date() + timedelta(days=max_age)
        except OverflowError:  # Beyond the calendar: never due.
            return None


class SourceQuery(Query):
    """The query for the provenance of a figure. Its last stage is the ``$group``, which only reads."""

    @cached_property
    def key(self) -> str:
        """A digest of the choice of documents and of the names of what is asked of them."""
        asked = self.pipeline[-1]["$group"]
        return digest_of(*asked, Query(self.collection, self.pipeline[:-1], self.let).key)

    @property
    def expressions(self) -> tuple[Any, ...]:
        """The choice of documents."""
        return self.pipeline[:-1], self.let


def source_query(
    collection: str, pipeline: Sequence[Mapping[str, Any]], let: Mapping[str, Any], *, dates: bool = False
) -> SourceQuery:
    """Return the query for the provenance of a figure. Figures that start from the same documents share it.

    ``dates``: only for the dates of the documents.
    """
    return SourceQuery(collection, (*choice(pipeline), _group(dates)), let)


def joined_queries(
    collection: str, pipeline: Sequence[Mapping[str, Any]], let: Mapping[str, Any]
) -> Mapping[str, Query]:
    """Return for each ``$lookup`` the query for the provenance of the documents that it adds, by its key."""
    found = {}
    for number, stage in enumerate(pipeline):
        lookup = stage.get("$lookup")
        if isinstance(lookup, Mapping) and "from" in lookup:
            if "pipeline" in lookup:
                lookup = {**lookup, "pipeline": [*choice(lookup["pipeline"])]}
            added = f"${lookup['as']}"
            group = {name: value for name, value in _group(False)["$group"].items() if name != "runs"}
            stages = {"$lookup": lookup}, {"$unwind": added}, {"$replaceWith": added}, {"$group": group}
            query = Query(collection, (*pipeline[:number], *stages), let)
            found[query.key] = query
    return found


def choice(pipeline: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the leading stages that decide which documents there are. They keep all provenance fields.

    Stages that add other fields are included, because a later choice may need these fields.
    """
    length = 0
    between: list[tuple[str, Any]] = []  # stages that matter only if another choice follows
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
    """Return whether a stage only computes fields that the provenance does not show."""
    effect = effect_of(name, argument)
    return not effect.only and not any(
        one.expression is NO_EXPRESSION or one.parts[0] in _READ for one in effect.fields
    )


def provenance_of(
    groups: Rows, joined: Sequence[Mapping[str, Any]] = (), *, asked: bool = False
) -> Provenance | None:
    """Return the provenance in the answer to a ``source_query``, or None if the documents are unknown.

    It exists for benchmark results, for published figures and, if the author ``asked`` for it, for all documents.
    ``joined`` are the answers to ``joined_queries``.
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
    """Return the fields of each part that are shown, without fields that have no value and parts that have no field.

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
    """Return the start of the first repeat, as a text that sorts like the date."""
    starts = [repeat.get("start_time") for repeat in document["repeats"][:1]]
    return (
        "".join(start.isoformat() for start in starts if isinstance(start, datetime)),
        repr(document["key"]),
    )
