"""Holds the evaluator against a real server, on generated pipelines: ``python -m tests.conformance.differential``.

Every disagreement is printed with the smallest documents and pipeline that show it, ready to become a case file.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import bson
from bson import json_util
from bson.decimal128 import Decimal128
from bson.raw_bson import RawBSONDocument
from hypothesis import HealthCheck, Phase, given, seed, settings
from pymongo import MongoClient
from pymongo.errors import OperationFailure

from preprocessor.aggregation import AggregationError, NotOffline, aggregate
from tests import mongod
from tests.conformance.generator import documents
from tests.conformance.pipelines import pipelines

Outcome = tuple[str, Any]


def evaluated(docs: list[dict[str, Any]], pipeline: list[dict[str, Any]]) -> Outcome:
    """What the evaluator says: ``("rows", BSON of each row)``, ``("error", why)`` or ``("not offline", why)``."""
    try:
        rows = aggregate(docs, pipeline, collections={"case": docs})
        return "rows", [bson.encode(row) for row in rows]
    except NotOffline as error:
        return "not offline", str(error)
    except AggregationError as error:
        return "error", str(error)


_ANY_DATE: bson.CodecOptions[dict[str, Any]] = bson.CodecOptions(
    datetime_conversion=bson.codec_options.DatetimeConversion.DATETIME_AUTO
)
# Messages of the server may cut a character in two.
_RAW = bson.CodecOptions(document_class=RawBSONDocument, unicode_decode_error_handler="replace")


class Server:
    """A real server with one collection, filled anew for every case."""

    def __init__(self, uri: str) -> None:
        self._database = MongoClient[dict[str, Any]](uri).get_database("differential")

    def answer(self, docs: list[dict[str, Any]], pipeline: list[dict[str, Any]]) -> Outcome:
        """What the server says of the same documents and pipeline."""
        case = self._database.case
        case.delete_many({})
        case.insert_many([dict(one) for one in docs])
        try:
            return "rows", [row.raw for row in case.with_options(codec_options=_RAW).aggregate(pipeline)]
        except OperationFailure as error:
            return "error", f"{error.code}: {error.details and error.details.get('errmsg')}"


def agree(ours: Outcome, theirs: Outcome) -> bool:
    """Whether both give the same bytes, or both fail. What is refused offline is no disagreement."""
    if ours[0] == "not offline":
        return True
    if "rows" not in (ours[0], theirs[0]):
        return True
    return ours == theirs or (ours[0] == theirs[0] and _plain(ours[1]) == _plain(theirs[1]))


def _plain(rows: list[bytes]) -> list[bytes]:
    """The rows with one NaN for all: its sign and payload are the processor's affair."""
    return [bson.encode(_one_nan(bson.decode(row, _ANY_DATE))) for row in rows]


def _one_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _one_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_one_nan(inner) for inner in value]
    return math.nan if isinstance(value, float) and value != value else value


_TRANSCENDENTAL = {
    f"${name}"
    for name in """exp ln log log10 pow sqrt sin cos tan asin acos atan atan2 asinh acosh atanh sinh cosh tanh
    stdDevPop stdDevSamp""".split()
}


def known_difference(docs: list[dict[str, Any]], pipeline: list[dict[str, Any]], ours: Outcome) -> str:
    """Why this case may be answered differently without being wrong; empty when it should not.

    The evaluator follows 8.0: https://www.mongodb.com/docs/manual/release-notes/8.0-compatibility/ and the
    documentation of the operators; 6.0 is the newest server that tests can start.
    """
    operators, kinds = set(_operators(pipeline)), {type(leaf) for leaf in _leaves([docs, pipeline])}
    if "$add" in operators and {float, Decimal128} <= kinds:
        return "$add of double and Decimal128: 8.0 converts the double to 15 digits"
    if "$add" in operators and {float, datetime} <= kinds:
        return "$add of a date and a double: 8.0 rounds the milliseconds away from zero"
    if operators & {"$toString", "$convert"} and (float in kinds or operators & {"$divide", "$avg"}):
        return "text of a double: 8.0 prints the shortest that reads back, 6.0 fifteen digits"
    if operators & _TRANSCENDENTAL and (Decimal128 in kinds or operators & {"$toDecimal", "$convert"}):
        return "transcendental functions of a Decimal128: the server's library is off by some units in the last digit"
    if "$dateToString" in operators:
        return "$dateToString without a format: 8.0 drops the Z where a time zone is given"
    if ours[0] == "error" and any("$match" in stage for stage in pipeline[2:]):
        return "the server may move a $match before the stage that fails, which then meets no document"
    return ""


def _operators(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key.startswith("$"):
                yield key
            yield from _operators(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _operators(inner)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value


def stored(docs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The documents as a server gives them back: types as BSON keeps them."""
    return [bson.decode(bson.encode(one), _ANY_DATE) for one in docs]


def compare(server: Server, examples: int, chosen: int, seen: Counter[str]) -> None:
    """Runs ``examples`` generated cases; raises AssertionError with the smallest disagreement."""

    @seed(chosen)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(documents(), pipelines())
    def case(docs: list[dict[str, Any]], pipeline: list[dict[str, Any]]) -> None:
        docs = stored(docs)
        ours, theirs = evaluated(docs, pipeline), server.answer(docs, pipeline)
        if not agree(ours, theirs) and (reason := known_difference(docs, pipeline, ours)):
            seen[f"known to differ ({reason})"] += 1
            return
        seen[ours[0]] += 1
        assert agree(ours, theirs), described(docs, pipeline, ours, theirs)

    case()


def described(
    docs: list[dict[str, Any]], pipeline: list[dict[str, Any]], ours: Outcome, theirs: Outcome
) -> str:
    """A disagreement, in canonical Extended JSON."""

    def text(value: Any) -> str:
        return json_util.dumps(value, json_options=json_util.CANONICAL_JSON_OPTIONS)

    def shown(outcome: Outcome) -> str:
        kind, what = outcome
        return (
            f"{kind} {text([bson.decode(row, _ANY_DATE) for row in what])}"
            if kind == "rows"
            else f"{kind} {what}"
        )

    case = f'{{"documents": {text(docs)},\n "pipeline": {text(pipeline)}}}'
    return f"{case}\nevaluator: {shown(ours)}\nserver:    {shown(theirs)}"


def main() -> int:
    """Starts a server, compares, says what was compared; 1 when anything disagreed."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--examples", type=int, default=20_000, help="generated pipelines (default: 20000)")
    options.add_argument("--seed", type=int, default=0, help="first seed; each thousand examples has its own")
    options.add_argument("--keep-going", action="store_true", help="go on after a disagreement")
    arguments = options.parse_args()
    seen: Counter[str] = Counter()
    disagreements, begun = 0, time.monotonic()
    with mongod.running() as running:
        server = Server(running.uri())
        for part in range(max(1, arguments.examples // 1000)):
            try:
                compare(server, min(1000, arguments.examples), arguments.seed + part, seen)
            except (AssertionError, ExceptionGroup) as error:
                disagreements += 1
                print(f"seed {arguments.seed + part}: {error}\n", flush=True)
                if not arguments.keep_going:
                    break
    counts = "; ".join(f"{number} {kind}" for kind, number in sorted(seen.items()))
    print(f"{sum(seen.values())} pipelines compared in {time.monotonic() - begun:.0f} s: {counts}")
    print(f"{disagreements} disagreements")
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
