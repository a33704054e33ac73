"""Keys and ``_id``s: a key of 32 bytes, and after it the digits of a day, a month or a quarter.

Decimal digits are read as hexadecimal ones, so that bytes sort as dates do.
"""

from __future__ import annotations

from datetime import datetime

KEY_BYTES = 32


def key_text(key: int) -> str:
    """The key as 64 upper-case hexadecimal digits."""
    return f"{key:0{2 * KEY_BYTES}X}"


def key_bytes(key: int) -> bytes:
    """The same digits as 32 bytes."""
    return key.to_bytes(KEY_BYTES, "big")


def day_id(key: int, day: datetime) -> bytes:
    """Key and YYYYMMDD: 36 bytes."""
    return key_bytes(key) + bytes.fromhex(f"{day:%Y%m%d}")


def month_id(key: int, day: datetime) -> bytes:
    """Key and YYYYMM: 35 bytes."""
    return key_bytes(key) + bytes.fromhex(f"{day:%Y%m}")


def quarter_id(key: int, day: datetime) -> bytes:
    """Key, year and quarter, 01 to 04: 35 bytes."""
    return key_bytes(key) + bytes.fromhex(f"{day.year:04}{(day.month + 2) // 3:02}")
