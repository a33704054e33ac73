"""Binary data as text and as numbers: what ``$convert`` does between ``binData`` and other types.

Every function raises ValueError with a plain message for what cannot be converted.
Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/convert/
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from typing import Any
from uuid import UUID

from bson.binary import Binary

from mongo_tables.aggregation.values import binary_parts

FORMATS = ("auto", "base64", "base64url", "hex", "utf8", "uuid")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def text(value: Any, format: str) -> str:
    """The text of binary data in a format; ``auto``: a UUID as such, anything else in base64."""
    subtype, data = binary_parts(value)
    is_uuid = subtype == 4 and len(data) == 16
    if format == "auto":
        format = "uuid" if is_uuid else "base64"
    if format == "uuid":
        if not is_uuid:
            raise ValueError("the binary data is no UUID (subtype 4, 16 bytes)")
        return str(UUID(bytes=data))
    if format == "hex":
        return data.hex().upper()
    if format == "utf8":
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError("the binary data is no UTF-8 text") from None
    if format == "base64url":
        return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")
    return base64.b64encode(data).decode("ascii")


def binary(value: str, format: str, subtype: int) -> Binary:
    """The binary data that a text in a format stands for, with the subtype."""
    if (format == "uuid") != (subtype == 4):
        raise ValueError("the format 'uuid' goes with subtype 4, and subtype 4 with it")
    if format == "uuid":
        if not _UUID.fullmatch(value):
            raise ValueError(f"'{value}' is no UUID")
        return Binary(UUID(value).bytes, 4)
    if format == "hex":
        if len(value) % 2 or re.search(r"[^0-9a-fA-F]", value):
            raise ValueError(f"'{value}' is no hexadecimal text")
        return Binary(binascii.unhexlify(value), subtype)
    if format == "utf8":
        return Binary(value.encode("utf-8"), subtype)
    if format == "auto":
        raise ValueError("the format 'auto' goes from binary data to text only")
    if format == "base64url":
        value = _pad_base64(value)
    if not _BASE64.fullmatch(value):
        raise ValueError(f"'{value}' is no {format} text")
    return Binary(base64.b64decode(value), subtype)


def _pad_base64(value: str) -> str:
    if "+" in value or "/" in value:
        raise ValueError(f"'{value}' is no base64url text")
    plain = value.replace("-", "+").replace("_", "/")
    return plain if "=" in plain else plain + "=" * (-len(plain) % 4)


def number(value: Any, floating: bool, widest: int, big: bool) -> int | float:
    """The number in binary data: two's complement of 1, 2, 4 or 8 bytes, or IEEE 754 of 4 or 8 bytes."""
    data = binary_parts(value)[1]
    if len(data) not in ((4, 8) if floating else (1, 2, 4, 8)) or len(data) > widest:
        raise ValueError(f"{len(data)} bytes are not read as this number")
    if floating:
        found: float = struct.unpack((">" if big else "<") + ("f" if len(data) == 4 else "d"), data)[0]
        return found
    return int.from_bytes(data, "big" if big else "little", signed=True)


def of_number(value: int | float, width: int, big: bool, subtype: int) -> Binary:
    """The number as binary data: int32 in 4 bytes, int64 and double in 8."""
    if isinstance(value, float):
        return Binary(struct.pack(">d" if big else "<d", value), subtype)
    return Binary(int(value).to_bytes(width, "big" if big else "little", signed=True), subtype)


def same(value: Any, subtype: int) -> Any:
    """The value, when it has this subtype."""
    if binary_parts(value)[0] != subtype:
        raise ValueError("binary data is not converted from one subtype to another")
    return value
