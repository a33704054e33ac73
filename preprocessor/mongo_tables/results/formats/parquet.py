"""Parquet, read with pyarrow; https://parquet.apache.org/docs/file-format/.

Values have the types of the file. A null stays null, and a timestamp becomes a date in UTC, to the millisecond.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from bson.decimal128 import Decimal128

from mongo_tables.files.folders import shorten
from mongo_tables.files.process import install_command
from mongo_tables.results.formats.model import Document, SourceFile, field_names, find_repeated

try:
    import pyarrow
    from pyarrow import types
    from pyarrow.parquet import ParquetFile
except ImportError:  # the extra ``parquet`` is not installed
    pyarrow = None

_AT_ONCE: Final = 4096


def read(file: SourceFile) -> Iterator[Document]:
    """Yield a document for each row. Raises ``ResultsError`` for an unreadable file or type."""
    if pyarrow is None:
        raise file.refuse(
            "reading Parquet needs pyarrow, which is not installed", hint=install_command("parquet")
        )
    try:
        with ParquetFile(pyarrow.BufferReader(file.content)) as opened:
            yield from _rows(file, opened)
    except pyarrow.ArrowException as error:
        raise file.refuse(f"not Parquet: {str(error).splitlines()[0]}") from None
    except ArithmeticError:
        raise file.refuse("a decimal number has more than 34 digits, which a document cannot store") from None


def _rows(file: SourceFile, opened: ParquetFile) -> Iterator[Document]:
    schema = opened.schema_arrow
    names = field_names(schema.names)
    if (repeated := find_repeated(names)) is not None:
        raise file.refuse(f"two columns are named `{shorten(names[repeated])}`")
    for column in schema:
        if not _is_read(column.type):
            raise file.refuse(
                f"the column `{shorten(column.name)}` has the type {column.type}, which a document cannot store"
            )
    kinds = [_plain(kind) for kind in schema.types]
    decimals = [number for number, kind in enumerate(kinds) if "decimal" in str(kind)]
    for batch in opened.iter_batches(_AT_ONCE):
        columns = [
            column.cast(kind, safe=False).to_pylist()
            for column, kind in zip(batch.columns, kinds, strict=True)
        ]
        for number in decimals:
            columns[number] = [_with_decimals(value) for value in columns[number]]
        yield from (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def _is_read(kind: pyarrow.DataType) -> bool:
    """Return whether BSON has a type for the values of an Arrow type."""
    if types.is_struct(kind):
        return all(_is_read(field.type) for field in kind)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_dictionary(kind):
        return _is_read(kind.value_type)
    plain = (
        types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_date,
        types.is_timestamp, types.is_string, types.is_large_string, types.is_binary, types.is_large_binary,
    )  # fmt: skip
    return any(is_one(kind) for is_one in plain)


def _plain(kind: pyarrow.DataType) -> pyarrow.DataType:
    """Return the Arrow type whose Python values ``bson`` accepts: times in milliseconds and UTC, no dictionaries."""
    if types.is_date(kind) or types.is_timestamp(kind):
        return pyarrow.timestamp("ms")
    if types.is_float16(kind):
        return pyarrow.float32()
    if types.is_dictionary(kind):
        return _plain(kind.value_type)
    if types.is_list(kind) or types.is_large_list(kind):
        return pyarrow.list_(_plain(kind.value_type))
    if types.is_struct(kind):
        return pyarrow.struct([field.with_type(_plain(field.type)) for field in kind])
    return kind


def _with_decimals(value: Any) -> Any:
    """Return the value with BSON's decimals in place of Python's."""
    if isinstance(value, Decimal):
        return Decimal128(value)
    if isinstance(value, dict):
        return {name: _with_decimals(inner) for name, inner in value.items()}
    return [_with_decimals(inner) for inner in value] if isinstance(value, list) else value
