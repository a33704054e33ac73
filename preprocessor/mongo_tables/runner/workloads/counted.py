"""Numbered documents, with a counter or in groups, which other workloads work on: how they come to be there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mongo_tables.runner.workloads import Config

if TYPE_CHECKING:
    from pymongo.database import Database


def create(database: Database[Any], config: Config) -> None:
    """An empty collection without secondary indexes."""
    database[config["collection"]].drop()
    database.create_collection(config["collection"])


def preload(config: Config) -> Config:
    """An insert of ``initialDocsToInsert`` documents with ``_id`` 0, 1, 2, … and ``count: 0``."""
    return {
        "collection": config["collection"],
        "totalDocsToInsert": config["initialDocsToInsert"],
        "docSizeKB": config["docSizeKB"],
        "writeBatchSize": config["writeBatchSize"],
        "idType": "SEQUENCE",
    }
