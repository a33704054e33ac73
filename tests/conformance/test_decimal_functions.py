"""The functions of Decimal128 that run offline: all 34 digits are the server's, over many arguments of all sizes.

The others (`$exp`, `$ln`, `$sin` …) differ from the server's in one of ten to one of two arguments, in the last digit.
"""

from __future__ import annotations

import random

import bson
import pymongo
import pytest
from bson.decimal128 import Decimal128
from bson.raw_bson import RawBSONDocument

from mongo_tables.aggregation import aggregate
from tests.mongod import Mongod

ARGUMENTS = [4_000, pytest.param(20_000, marks=pytest.mark.exhaustive)]


def any_decimal(chance: random.Random) -> Decimal128:
    """1 to 34 digits, near one, within forty places of it, or anywhere."""
    digits = str(chance.randrange(1, 10 ** chance.choice([1, 2, 3, 5, 10, 17, 33, 34])))
    size = chance.choice([chance.randint(-3, 3), chance.randint(-40, 40), chance.randint(-6143, 6144)])
    return Decimal128(f"{digits}E{max(min(size - len(digits), 6111), -6176)}")


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("name", ["$sqrt", "$degreesToRadians", "$radiansToDegrees"])
def test_a_function_of_a_decimal_that_runs_offline_has_all_digits_of_the_server(
    name: str, arguments: int, mongod: Mongod
) -> None:
    chance = random.Random(name)
    documents = [{"_id": number, "a": any_decimal(chance)} for number in range(arguments)]
    pipeline = [{"$sort": {"_id": 1}}, {"$project": {"value": {name: "$a"}}}]
    with pymongo.MongoClient[RawBSONDocument](mongod.uri(), document_class=RawBSONDocument) as client:
        decimals = client["decimals"]["case"]
        decimals.drop()
        decimals.insert_many([RawBSONDocument(bson.encode(one)) for one in documents])
        theirs = [row.raw for row in decimals.aggregate(pipeline)]
    ours = [bson.encode(row) for row in aggregate(documents, pipeline)]
    assert len(ours) == arguments
    assert [(one, other) for one, other in zip(ours, theirs, strict=True) if one != other] == []
