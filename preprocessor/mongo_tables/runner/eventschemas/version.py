"""What a version of the schema is: an ``_id``, a statement for an event, pipelines for a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mongo_tables.runner.eventschemas.events import Event

Pipeline = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Statement:
    """An upsert of one document: whom it selects, and what it does, as operators or as a pipeline."""

    selector: Mapping[str, Any]
    update: Mapping[str, Any] | Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the schema.

    ``statement`` brings an event in, ``pipelines`` gives the report on a key (its number) up to a date: one pipeline
    for each range of ``reports.YEARS``, or one for all. ``unique`` are the fields of a unique index beside the one on
    ``_id``, ``options`` those of the collection.
    """

    name: str
    statement: Callable[[Event], Statement]
    pipelines: Callable[[int, datetime], list[Pipeline]]
    unique: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
