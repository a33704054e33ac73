"""Documents that remember where removed fields stood.

The server keeps the place of a field that a stage removed, or computed as missing: when a later stage sets it
again, it stands there and not at the end. ``Placed`` documents carry this from stage to stage; they are otherwise
plain documents without those fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mongo_tables.aggregation.values import MISSING, Document


class OrderedDocument(dict[str, Any]):
    """A document with ``places``: the names of its fields and of the removed ones, in order."""

    __slots__ = ("places",)

    places: dict[str, Any]


def open_places(document: Mapping[str, Any]) -> Document:
    """A copy that may be changed; removed fields are MISSING and keep their places."""
    if type(document) is OrderedDocument:
        return {**document.places, **document}
    return {**document}


def close_places(document: Document) -> Document:
    """The document without the fields that are MISSING; it remembers their places."""
    for value in document.values():
        if value is MISSING:
            return without_missing(document)
    return document


def without_missing(document: Document) -> Document:
    """Like ``close_places``, for a document in which a field is known to be MISSING."""
    kept = {name: value for name, value in document.items() if value is not MISSING}
    return with_places(kept, document)


def with_places(document: Document, names: Iterable[str]) -> Document:
    """The document with the places of ``names``, which hold all its own names in its order."""
    found = OrderedDocument(document)
    found.places = dict.fromkeys(names.places if isinstance(names, OrderedDocument) else names, MISSING)
    return found
