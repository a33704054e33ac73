"""Databases that a run may change: only those that carry its marker.

A run makes its databases itself and puts one document into the collection ``mongo_tables_marker`` of each. A
database that exists without that document belongs to somebody else and is never written to nor dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from preprocessor.runner.errors import TargetError

if TYPE_CHECKING:
    from pymongo import MongoClient

MARKER = "mongo_tables_marker"
_MARK = {"_id": "mongo-tables", "purpose": "made by mongo-tables run; it may be dropped by it at any time"}


def claim(client: MongoClient[dict[str, Any]], name: str) -> None:
    """Make the database ``name`` ours, empty; raises TargetError when it exists and is not ours."""
    if _exists(client, name):
        drop(client, name)
    client[name][MARKER].insert_one(dict(_MARK))


def drop(client: MongoClient[dict[str, Any]], name: str) -> None:
    """Drop the database ``name`` if it is there; raises TargetError when it is not ours."""
    if not _exists(client, name):
        return
    if client[name][MARKER].find_one({"_id": _MARK["_id"]}) is None:
        raise TargetError(
            f"the database {name!r} exists and was not made by mongo-tables; it stays untouched",
            "rename it, or give the experiment another `database`",
        )
    client.drop_database(name)


def _exists(client: MongoClient[dict[str, Any]], name: str) -> bool:
    return name in client.list_database_names()
