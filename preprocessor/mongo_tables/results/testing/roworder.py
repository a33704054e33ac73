"""Whether a pipeline decides the order of its rows; where it does not, no two servers need share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mongo_tables.aggregation.fields import Order, record_of
from mongo_tables.aggregation.ordering import Key, key


def is_ordered(pipeline: Sequence[Mapping[str, Any]]) -> bool:
    """Whether rows come in an order of the pipeline's own: behind its last stage that has a say, they are sorted.

    Documents come as they are stored, groups and unions in any order. ``pipeline`` is one that has run.
    """
    ordered = False
    for stage in pipeline:
        ((name, argument),) = stage.items()
        record = record_of(name)
        if record is None:
            continue
        if record.single(argument):
            ordered = True
        elif (order := record.order(argument)) is not Order.KEPT:
            ordered = order is Order.SORTED
    return ordered


def row_key(row: Mapping[str, Any], text: str) -> tuple[Key, str]:
    """By what rows without an order are put into one: as a server sorts documents, equal ones by their text."""
    return key(row), text
