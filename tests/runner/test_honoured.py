"""What a connection string asks for is done or refused."""

from __future__ import annotations

import pytest
from pymongo import MongoClient

from preprocessor.runner.errors import TargetError
from preprocessor.runner.honoured import check_options, read_concern


@pytest.mark.parametrize(
    "option", ["readPreference=secondary", "readConcernLevel=linearizable", "compressors=zlib"]
)
def test_what_the_prepared_messages_do_not_carry_is_refused_and_the_driver_does_it(option):
    with MongoClient(f"mongodb://localhost/?{option}", connect=False) as client:
        with pytest.raises(TargetError, match=option.partition("=")[0]):
            check_options(client, "wire")
        check_options(client, "pymongo")


def test_what_every_client_does_is_not_refused():
    with MongoClient(
        "mongodb://localhost/?readPreference=primary&readConcernLevel=local", connect=False
    ) as client:
        check_options(client, "wire")
        assert read_concern(client) == {"level": "local"}
