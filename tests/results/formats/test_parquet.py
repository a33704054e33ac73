"""Parquet: the types of the file are those of the documents, and what is said where it cannot be read."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from bson.decimal128 import Decimal128
from pyarrow import parquet

from mongo_tables.files.process import install_command
from tests.results.formats import documents, fault, written


def stored(folder: Path, **columns: Any) -> Path:
    path = folder / "bench.parquet"
    parquet.write_table(pa.table(columns), path)
    return path


def test_values_have_the_types_of_the_file(tmp_path: Path) -> None:
    moment = datetime(2026, 1, 31, 12, 0, 0, 123456)
    path = stored(
        tmp_path,
        n=pa.array([1, None], pa.int64()),
        half=pa.array([0.5, 1.5], pa.float16()),
        name=pa.array(["a", "b"]).dictionary_encode(),
        at=pa.array([moment, moment], pa.timestamp("ns", "Europe/Berlin")),
        day=pa.array([date(2026, 1, 31)] * 2),
        price=pa.array([Decimal("1.20")] * 2),
        ok=[True, False],
        nothing=pa.nulls(2),
        inner=[{"p": Decimal("0.5"), "list": [1, 2], "at": moment}] * 2,
    )
    first, second = documents(path)
    when = datetime(2026, 1, 31, 12, 0, 0, 123000)
    assert first == {
        "n": 1,
        "half": 0.5,
        "name": "a",
        "at": when,
        "day": datetime(2026, 1, 31),
        "price": Decimal128("1.20"),
        "ok": True,
        "nothing": None,
        "inner": {"p": Decimal128("0.5"), "list": [1, 2], "at": when},
    }
    assert second["n"] is None


def test_a_dot_in_a_name_leads_nowhere(tmp_path: Path) -> None:
    assert documents(stored(tmp_path, **{"p99": [1], "p99.9": [2]})) == [{"p99": 1, "p99_9": 2}]


def test_an_unsigned_number_beyond_64_bits_keeps_its_digits(tmp_path: Path) -> None:
    path = stored(tmp_path, n=pa.array([2**64 - 1], pa.uint64()))
    assert documents(path) == [{"n": Decimal128(str(2**64 - 1))}]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"t": pa.array([time(1, 2)])}, "bench.parquet: the column `t` has the type time64[us]"),
        (
            {"m": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))},
            "bench.parquet: the column `m` has the type",
        ),
        ({"a.b": [1], "a_b": [2]}, "bench.parquet: two columns are named `a_b`"),
        ({"p": pa.array([Decimal("1" * 50)])}, "bench.parquet: a decimal number has more than 34 digits"),
    ],
)
def test_what_no_document_can_hold_is_told(tmp_path: Path, columns: dict[str, Any], said: str) -> None:
    assert fault(stored(tmp_path, **columns)).startswith(said)


@pytest.mark.parametrize("kept", [0, 3, 40, -30])
def test_a_file_that_is_cut_off_is_told(tmp_path: Path, kept: int) -> None:
    content = stored(tmp_path, n=[1, 2, 3]).read_bytes()
    told = fault(written(tmp_path, "bench.parquet", content[:kept]))
    assert told.startswith("bench.parquet: ")
    assert "\n" not in told


def test_another_file_with_its_ending_is_told(tmp_path: Path) -> None:
    assert fault(written(tmp_path, "bench.parquet", "a,b\n1,2\n" * 9)).startswith(
        "bench.parquet: not Parquet: "
    )


def test_types_of_columns_are_those_of_the_file_alone(tmp_path: Path) -> None:
    assert "has its own types" in fault(stored(tmp_path, n=[1]), n="text")


def test_without_its_library_one_line_says_what_to_install(tmp_path: Path) -> None:
    path = stored(tmp_path, n=[1])
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from mongo_tables.results.model import Query\n"
        "from mongo_tables.results.opening import open_source\n"
        "from mongo_tables.results.model import ResultsError\n"
        "try: open_source(sys.argv[1]).aggregate(Query('bench', ()))\n"
        "except ResultsError as error: print(error.message, '|', error.hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        f"{path}: reading Parquet needs pyarrow, which is not installed | {install_command('parquet')}\n"
    )
