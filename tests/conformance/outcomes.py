"""What the evaluator and a real server say of a case, in a form that can be compared byte for byte."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bson
from bson import json_util
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient
from pymongo.errors import OperationFailure

from mongo_tables.aggregation import AggregationError, NotOffline, aggregate

Documents = list[dict[str, Any]]
Outcome = tuple[str, Any]
"""``("rows", BSON of each row)``, ``("error", why)`` or ``("not offline", why)``.

A row's BSON is that of a document around it: of an outer document PyMongo would move the ``_id``.
"""

_ANY_DATE: bson.CodecOptions[dict[str, Any]] = bson.CodecOptions(
    datetime_conversion=bson.codec_options.DatetimeConversion.DATETIME_AUTO
)
# Messages of the server may cut a character in two.
_RAW = bson.CodecOptions(document_class=RawBSONDocument, unicode_decode_error_handler="replace")


@dataclass(frozen=True, slots=True)
class Case:
    """A generated case and both answers."""

    documents: Documents
    pipeline: Documents
    let: Mapping[str, Any]
    ours: Outcome
    theirs: Outcome


def evaluated(
    documents: Documents, pipeline: Documents, let: Mapping[str, Any], joined: Documents | None = None
) -> Outcome:
    """What the evaluator says; ``joined`` is what joins read, if not the documents."""
    try:
        case = documents if joined is None else joined
        rows = aggregate(documents, pipeline, collections={"case": case}, variables=let)
        return "rows", encoded(rows)
    except NotOffline as error:
        return "not offline", str(error)
    except AggregationError as error:
        return "error", str(error)


class Server:
    """A real server with one collection, filled anew for every case."""

    def __init__(self, uri: str) -> None:
        self._database = MongoClient[dict[str, Any]](uri).get_database("differential")

    def answer(self, documents: Documents, pipeline: Documents, let: Mapping[str, Any]) -> Outcome:
        """What the server says of the same documents, pipeline and variables."""
        case = self._database.case
        case.delete_many({})
        case.insert_many([dict(one) for one in documents])
        try:
            rows = case.with_options(codec_options=_RAW).aggregate(pipeline, let=let)
            return "rows", [bson.encode({"": row}) for row in rows]
        except OperationFailure as error:
            return "error", f"{error.code}: {error.details and error.details.get('errmsg')}"


def stored(documents: Documents) -> Documents:
    """The documents as a server gives them back: types as BSON keeps them."""
    return [bson.decode(bson.encode(one), _ANY_DATE) for one in documents]


def decoded(rows: list[bytes]) -> Documents:
    """The rows of an outcome."""
    return [bson.decode(row, _ANY_DATE)[""] for row in rows]


def same(ours: Outcome, theirs: Outcome) -> bool:
    """Whether both give the same bytes, or both fail. What is refused offline is no disagreement."""
    if ours[0] == "not offline":
        return True
    if "rows" not in (ours[0], theirs[0]):
        return True
    return ours == theirs or (ours[0] == theirs[0] and plain(ours[1]) == plain(theirs[1]))


def encoded(rows: Documents) -> list[bytes]:
    """The rows as an outcome has them."""
    return [bson.encode({"": row}) for row in rows]


def plain(rows: list[bytes]) -> list[bytes]:
    """The rows with one NaN for all: its sign and payload are the processor's affair."""
    return encoded(_one_nan(decoded(rows)))


def _one_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _one_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_one_nan(inner) for inner in value]
    return math.nan if isinstance(value, float) and value != value else value


def described(case: Case) -> str:
    """A disagreement, in canonical Extended JSON, ready to become a case file."""

    def text(value: Any) -> str:
        return json_util.dumps(value, json_options=json_util.CANONICAL_JSON_OPTIONS)

    def shown(outcome: Outcome) -> str:
        kind, what = outcome
        return f"{kind} {text(decoded(what)) if kind == 'rows' else what}"

    question = (
        f'"documents": {text(case.documents)},\n "let": {text(case.let)},\n "pipeline": {text(case.pipeline)}'
    )
    return f"{{{question}}}\nevaluator: {shown(case.ours)}\nserver:    {shown(case.theirs)}"
