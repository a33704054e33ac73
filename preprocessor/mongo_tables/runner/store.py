"""Stores for result documents: files of Extended JSON lines, or a database.

``results`` has one row for each variant of each experiment. Replaced rows move to ``results_history``, so that no
measurement is lost. ``published`` has the figures that others published for the variants. ``parameters`` has the
effects of the parameters' sizes, ``calibration`` the results of calibrations, and ``history`` the speed of each row
from campaign to campaign. ``results_runs`` (``.runs`` in a folder) has the progress of unfinished runs.

Writes are atomic: a file is written under a temporary name and renamed, and the old row is in the history before the
new one replaces it.
"""

from __future__ import annotations

import json
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import bson
from bson.codec_options import CodecOptions
from pymongo import MongoClient
from pymongo.errors import ConnectionFailure, PyMongoError

from mongo_tables.directives.schemas.validation import validator
from mongo_tables.files import atomic
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.extended_json import write_line
from mongo_tables.results.file_documents import fixture_documents
from mongo_tables.results.file_listing import ResultsFile
from mongo_tables.results.mongodb import error_of_server, explain_failure
from mongo_tables.results.pooling import FIELD, FINGERPRINT
from mongo_tables.results.provenance import RESULTS
from mongo_tables.results.source_text import URI_HINT
from mongo_tables.runner.connection_strings import PATIENCE_MS, driver_fault, used
from mongo_tables.runner.errors import KEPT, shown

HISTORY = "results_history"
_REPLACED: Final = "start_time"
"""An additional field in the ``_id`` of a replaced row."""
PUBLISHED = "published"
PARAMETERS = "parameters"
CALIBRATION = "calibration"
SERIES = "history"
RUNS = "results_runs"
DEFAULT_DATABASE = "mongo_tables"

Document = Mapping[str, Any]
T = TypeVar("T")
_GROUPS: Final = {
    RESULTS: "_id.testname",
    HISTORY: "_id.testname",
    PUBLISHED: "testname",
    PARAMETERS: "testname",
    CALIBRATION: "workload",
    SERIES: "experiment",
}
"""For each collection, the field that names the experiment or workload of a document."""
_MEANT = re.compile(r"^\s*mongodb(\+srv)?:|://", re.IGNORECASE)
"""The pattern of a text that is probably a mistyped connection string."""
_OPTIONS: CodecOptions[dict[str, Any]] = CodecOptions(tz_aware=True)


class Store(ABC):
    """A store for result documents."""

    @abstractmethod
    def experiments(self) -> list[str]:
        """Return the names of the experiments that have rows, sorted."""

    @abstractmethod
    def documents(self, collection: str, name: str, ids: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        """Return the documents of an experiment or workload in a collection, in order. ``ids`` limits the selection."""

    @abstractmethod
    def write(
        self, collection: str, name: str, documents: Sequence[Document], gone: Sequence[Any] = ()
    ) -> None:
        """Write documents over stored ones with the same ``_id``. Then remove documents with an ``_id`` in ``gone``."""

    @abstractmethod
    def progress(self, experiment: str, window: str = "") -> dict[str, Any] | None:
        """Return the window of an unfinished run by its key, or the state of the run if ``window`` is "".

        Return None if there is no such document.
        """

    @abstractmethod
    def keep_progress(self, experiment: str, document: Document, window: str = "") -> None:
        """Store a measured window under its key, or the state of the run if ``window`` is ""."""

    @abstractmethod
    def forget_progress(self, experiment: str) -> None:
        """Delete the state of a run with all its windows."""

    def keeps_in(self, database: str) -> bool:
        """Return whether rows are in a database of this name on any deployment.

        Addresses do not count, because different addresses may lead to the same deployment.
        """
        return False

    def close(self) -> None:  # noqa: B027 - files need none
        """Close connections."""

    def rows(self, experiment: str) -> list[dict[str, Any]]:
        """Return the rows of an experiment in ``results``, in order."""
        return self.documents(RESULTS, experiment)

    def replaced_rows(self, experiment: str) -> list[dict[str, Any]]:
        """Return the replaced rows of an experiment, with their original ``_id``."""
        return [
            {**row, "_id": {name: value for name, value in row["_id"].items() if name != _REPLACED}}
            for row in self.documents(HISTORY, experiment)
        ]

    def put(self, *rows: Document) -> None:
        """Write rows. Older rows with the same ``_id`` move to the history."""
        for name in dict.fromkeys(row["_id"]["testname"] for row in rows):
            new = [row for row in rows if row["_id"]["testname"] == name]
            old = self.documents(RESULTS, name, [row["_id"] for row in new])
            # A resumed run may write the same row again, which must not get into the history.
            measured = list(map(_only_measured, new))
            self._remember(name, [row for row in old if _only_measured(row) not in measured])
            self.write(RESULTS, name, new)

    def retire(self, experiment: str, keep: Sequence[Document]) -> int:
        """Move the rows whose ``_id`` is not in ``keep`` to the history. Return their number."""
        old = [row for row in self.rows(experiment) if row.get("_id") not in keep]
        self._remember(experiment, old)
        if old:
            self.write(RESULTS, experiment, [], [row.get("_id") for row in old])
        return len(old)

    def publish(self, experiment: str, documents: Sequence[Document], collection: str = PUBLISHED) -> None:
        """Replace all documents of the experiment in the collection by ``documents``. A second call changes nothing."""
        self._replace_all(collection, experiment, self.documents(collection, experiment), documents)

    def put_history(self, experiment: str, of: str, documents: Sequence[Document]) -> None:
        """Replace the documents of the experiment in ``history`` that have the kind ``of``: speeds or ratios."""
        old = [one for one in self.documents(SERIES, experiment) if one["_id"]["of"] == of]
        self._replace_all(SERIES, experiment, old, documents)

    def _replace_all(
        self, collection: str, name: str, old: Sequence[Document], documents: Sequence[Document]
    ) -> None:
        new = [one["_id"] for one in documents]
        gone = [one["_id"] for one in old if one["_id"] not in new]
        if documents or gone:
            self.write(collection, name, documents, gone)

    def _remember(self, experiment: str, rows: Sequence[Document]) -> None:
        """Add the rows to the history, except those that it already has."""
        past = list(map(_historic, rows))
        known = [row["_id"] for row in self.documents(HISTORY, experiment, [row["_id"] for row in past])]
        if new := [row for row in past if row["_id"] not in known]:
            self.write(HISTORY, experiment, new)


class FileStore(Store):
    """A folder with files ``COLLECTION/NAME.jsonl``, by experiment or workload. The first write creates the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def experiments(self) -> list[str]:
        """Return the names of the files in ``results``, sorted."""
        return sorted(path.stem for path in (self._folder / RESULTS).glob("[!.]*.jsonl"))

    def documents(self, collection: str, name: str, ids: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        """Read the documents from the file."""
        path = self._folder / collection / f"{name}.jsonl"
        found = _decoded(path) if path.exists() else []
        return [one for one in found if ids is None or one.get("_id") in ids]

    def write(
        self, collection: str, name: str, documents: Sequence[Document], gone: Sequence[Any] = ()
    ) -> None:
        """Rewrite the file, or remove it if no document is left. New documents come last."""
        path = self._folder / collection / f"{name}.jsonl"
        kept: list[Document] = [one for one in self.documents(collection, name) if one.get("_id") not in gone]
        for document in documents:
            places = [place for place, one in enumerate(kept) if one.get("_id") == document["_id"]]
            if places:
                kept[places[0]] = document
            else:
                kept.append(document)
        if len(kept) == len(documents):
            kept = list(documents)  # in the given order
        if not kept:
            path.unlink(missing_ok=True)
            return
        _write(path, "".join(write_line(bson.encode(row)) + "\n" for row in kept))

    def progress(self, experiment: str, window: str = "") -> dict[str, Any] | None:
        """Read ``.runs/NAME.jsonl``, or ``.runs/NAME/WINDOW.jsonl``."""
        path = self._progress_path(experiment, window)
        return _decoded(path)[0] if path.exists() else None

    def keep_progress(self, experiment: str, document: Document, window: str = "") -> None:
        """Write the file."""
        _write(self._progress_path(experiment, window), write_line(bson.encode(document)) + "\n")

    def forget_progress(self, experiment: str) -> None:
        """Remove the files, and the folder if it is empty."""
        path = self._progress_path(experiment)
        shutil.rmtree(path.with_suffix(""), ignore_errors=True)
        path.unlink(missing_ok=True)
        with suppress(OSError):
            path.parent.rmdir()

    def _progress_path(self, experiment: str, window: str = "") -> Path:
        # Names of collections do not begin with a dot, so pages do not see this folder.
        name = f"{experiment}/{window}" if window else experiment
        return self._folder / ".runs" / f"{name}.jsonl"


class DatabaseStore(Store):
    """The database that the connection string names or, if it names none, ``mongo_tables``."""

    def __init__(self, uri: str, patience_ms: int) -> None:
        """``patience_ms`` is the timeout in milliseconds for the selection of a server."""
        self._uri, self._patience_ms = uri, patience_ms
        self._client: MongoClient[dict[str, Any]] = MongoClient(
            uri, tz_aware=True, serverSelectionTimeoutMS=patience_ms
        )
        self._database = self._client.get_default_database(DEFAULT_DATABASE)

    def experiments(self) -> list[str]:
        """Return the names of experiments in the rows, sorted."""
        return sorted(self._plainly(lambda: self._database[RESULTS].distinct(_GROUPS[RESULTS])))

    def documents(self, collection: str, name: str, ids: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        """Query the documents, in natural order."""
        asked = {_GROUPS[collection]: name} if ids is None else {"_id": {"$in": list(ids)}}
        return self._plainly(lambda: list(self._database[collection].find(asked)))

    def write(
        self, collection: str, name: str, documents: Sequence[Document], gone: Sequence[Any] = ()
    ) -> None:
        """Replace the documents one by one, then remove those in ``gone``. No document is missing meanwhile."""
        held = self._database[collection]

        def change() -> None:
            for document in documents:
                held.replace_one({"_id": document["_id"]}, document, upsert=True)
            if gone:
                held.delete_many({"_id": {"$in": list(gone)}})

        self._plainly(change)

    def progress(self, experiment: str, window: str = "") -> dict[str, Any] | None:
        """Read a document of ``results_runs``."""
        key = {"experiment": experiment, "window": window}
        found = self._plainly(lambda: self._database[RUNS].find_one({"_id": key}))
        return found and found["document"]

    def keep_progress(self, experiment: str, document: Document, window: str = "") -> None:
        """Write a document of ``results_runs``."""
        kept = {"_id": {"experiment": experiment, "window": window}, "document": document}
        self._plainly(lambda: self._database[RUNS].replace_one({"_id": kept["_id"]}, kept, upsert=True))

    def forget_progress(self, experiment: str) -> None:
        """Delete the documents of the experiment in ``results_runs``."""
        self._plainly(lambda: self._database[RUNS].delete_many({"_id.experiment": experiment}))

    def keeps_in(self, database: str) -> bool:
        """Return whether the database of the rows has this name."""
        return self._database.name == database

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _plainly(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except ConnectionFailure as error:
            cause = error_of_server(error, self._client)
        except PyMongoError as error:
            fault = driver_fault(error, self._uri)
            raise CommandError(f"the results database {shown(self._uri)}: {fault}") from None
        # Not inside ``except``, where the driver's exception, which may contain the URI, would become the context.
        raise explain_failure(cause, self._uri, self._patience_ms, 0, None)


def open_store(where: str, patience_ms: int = PATIENCE_MS) -> Store:
    """Open a folder, or the database of a connection string. Raises CommandError if that is impossible."""
    if where.startswith(("mongodb://", "mongodb+srv://")):
        return used(where, "the results database", lambda: DatabaseStore(where, patience_ms))
    if _MEANT.search(where):
        # A folder of that name would contain the password.
        raise CommandError(f"{shown(where)!r} is neither a folder nor a connection string", URI_HINT)
    return FileStore(Path(where))


def check_document(name: str, document: Document) -> None:
    """Raise CommandError if a document does not match the schema ``name``, such as ``result``."""
    # The schemas describe the published form, which is Extended JSON.
    published = json.loads(write_line(bson.encode(document)))
    error = next(iter(validator(name).iter_errors(published)), None)
    if error is not None:
        raise CommandError(f"a {name} document is wrong at {error.json_path}: {error.message[:300]}")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, text.encode("utf-8"))
    except OSError as error:
        hint = f"{KEPT}; --output names another place"
        raise CommandError(f"cannot write {path}: {error.strerror}", hint) from None


def _decoded(path: Path) -> list[dict[str, Any]]:
    documents = fixture_documents(path, ResultsFile(path, path.parent.parent).read())
    return [bson.decode(bson.encode(one), _OPTIONS) for one in documents]


def _only_measured(row: Document) -> bytes:
    """Return the BSON of a row without the fields that are computed from this row and other rows."""
    return bson.encode({name: value for name, value in row.items() if name not in (FIELD, FINGERPRINT)})


def _historic(row: Document) -> dict[str, Any]:
    """Return the row for the history. Its ``_id`` also has the start time, which distinguishes it from later rows.

    Rows written by hand may have an ``_id`` that is not a document.
    """
    key = row.get("_id")
    named = key if isinstance(key, Mapping) else {"_id": key}
    return {**row, "_id": {**named, _REPLACED: row.get("start_time")}}
