"""Numbers as text and text as numbers: what ``$toString`` prints and what ``$toDouble``, ``$toInt`` … read.

The text of a double is the shortest that reads back as the same double, in MongoDB 8 as in Python; before 8.0 it had
six digits. Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/convert/
"""

from __future__ import annotations

import decimal
import math
import re
import sys
from decimal import Decimal

from mongo_tables.aggregation.numbers import CONTEXT

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]++\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_NAN = re.compile(r"[+-]?nan(?:\([0-9A-Za-z_]*\))?", re.IGNORECASE)
_PLAIN_NAN = re.compile(r"[+-]?nan", re.IGNORECASE)
_INFINITY = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)


def double_text(value: float) -> str:
    """The text of a double: ``1``, ``0.1``, ``1e+16``, ``-0``, ``NaN``, ``-Infinity``."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    return text.removesuffix(".0")


def read_integer(text: str, base: int = 10) -> int | None:
    """The integer that ``text`` is, or None. No space around it, no separators."""
    if base == 10:
        # Longer than any int64; and Python refuses to read thousands of digits.
        digits = text.lstrip("+-0")
        if len(digits) > 19 or not _INTEGER.fullmatch(text):
            return None
        return -int(digits or 0) if text.startswith("-") else int(digits or 0)
    sign, digits = (text[:1], text[1:]) if text[:1] in ("+", "-") else ("", text)
    if base == 16 and digits[:2] in ("0x", "0X"):
        digits = digits[2:]
    allowed = "0123456789abcdef"[:base]
    if not digits or any(letter not in allowed for letter in digits.lower()):
        return None
    return int(sign + digits, base)


def read_double(text: str) -> float | None:
    """The double that ``text`` is, or None for what the server (C's ``strtod``) refuses.

    Refused: what does not fit, and what falls below the smallest normal double and is rounded there.
    """
    if _DECIMAL.fullmatch(text):
        value = float(text)
        if math.isinf(value) or (abs(value) < sys.float_info.min and not _exact(text, value)):
            return None
        return value
    if infinity := _INFINITY.fullmatch(text):
        return -math.inf if infinity[1] == "-" else math.inf
    if _NAN.fullmatch(text):
        return -math.nan if text.startswith("-") else math.nan
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return None
    return None


def _exact(text: str, value: float) -> bool:
    mantissa = text.lower().partition("e")[0]
    if not mantissa.strip("+-.0"):
        return True
    return value != 0 and Decimal(text) == Decimal(value)


def read_decimal(text: str) -> Decimal | None:
    """The Decimal128 that ``text`` is, cut off to 34 digits, or None for what does not fit or is no number."""
    if infinity := _INFINITY.fullmatch(text):
        return Decimal("-Infinity" if infinity[1] == "-" else "Infinity")
    if _PLAIN_NAN.fullmatch(text):
        return Decimal("NaN")
    if not _DECIMAL.fullmatch(text):
        return None
    mantissa, _, exponent = text.lower().partition("e")
    if len(exponent) > 12:
        if mantissa.strip("+-.0"):
            return None
        exponent = exponent[:12]
    context = CONTEXT.copy()
    # The server cuts off what a string has beyond 34 digits.
    context.rounding = decimal.ROUND_DOWN
    context.clear_flags()
    value = context.create_decimal(f"{mantissa}e{exponent or 0}")
    if context.flags[decimal.Overflow] or context.flags[decimal.Underflow] or not value.is_finite():
        return None
    return value
