"""One value of a row as the text of a cell.

Numbers are not rounded, padded or grouped unless the author asks for it in ``format``.

A value without a format is written as follows:

* A double is the shortest decimal text that reads back as the same double, as JavaScript and ``mongosh`` write it:
  ``139.8``, ``512``, ``0.000001``, ``1e-7``, ``1e+21``, ``NaN``, ``-Infinity`` (ECMA-262, Number::toString). Unlike
  there, negative zero is ``-0``.
* A 32- or 64-bit integer has all its digits. A Decimal128 has all digits that MongoDB stores, with trailing zeros.
* A date is ISO 8601 in UTC: ``2026-11-02T09:30:00Z``. It has milliseconds only if they are not 0.
* An array or a sub-document is JSON on one line, whose scalars follow the same rules.
* A regular expression is ``/^a/i``. A reference to a document is JSON.
* Any other BSON type is written as PyMongo writes it: ``Timestamp(1713870000, 1)``.
* ``null`` is ``n/a``, and a missing field is a dash. If the author gives a reason, both are ``n/a``, and the reason is
  printed under the table.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, TypeGuard
from uuid import UUID

from bson.binary import UUID_SUBTYPE, Binary
from bson.datetime_ms import DatetimeMS
from bson.dbref import DBRef
from bson.decimal128 import Decimal128
from bson.max_key import MaxKey
from bson.min_key import MinKey
from bson.regex import Regex

from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.values import MISSING, date_from_millis, is_date, is_number, millis, regex_parts
from mongo_tables.render.number_text import WIDE, number_text, round_as, round_significant, rounds, wide_for

if TYPE_CHECKING:
    from mongo_tables.directives.columns import ColumnFormat


MISSING_TEXT: Final = "—"
NULL_TEXT: Final = "n/a"
MOST_DIGITS: Final = 6
"""The number of significant digits that people write. Fractions with more digits result from arithmetic."""
MOST_AS_STORED: Final = 15
"""The number of digits of a decimal text that a double keeps. Doubles with more digits result from arithmetic."""
_MOST_OF_DECIMALS: Final = 17
LARGEST: Final = Decimal("1e300")
_SMALLEST: Final = 1 / LARGEST
"""Charts show no numbers beyond these limits, because the difference of two larger numbers may be infinite."""

_CONTROL: Final = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f"
    "\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
_LINE_END: Final = "\r\n|[\r\u2028\u2029]"


def cell_text(value: object, form: ColumnFormat | None = None) -> str:
    """Return the unescaped text of a cell, by the rules of this module and the author's format ``form``.

    Example:
        >>> cell_text(512.0)
        '512'
        >>> cell_text(None)
        'n/a'
    """
    return format_value(value, raw_or_nothing(value), form)


def format_value(value: object, raw: str, form: ColumnFormat | None) -> str:
    """Return the text of a cell as ``cell_text`` does, for a value with a known raw text."""
    if value is MISSING or value is None:
        if form is not None and (form.missing is not None or form.reason is not None):
            return NULL_TEXT if form.missing is None else form.missing
        return MISSING_TEXT if value is MISSING else NULL_TEXT
    if form is None:
        return raw
    if is_number(value):
        return number_text(raw, form, isinstance(value, int))
    return _formatted_date(value, raw, form) if form.date and is_date(value) else raw


def _formatted_date(value: Any, raw: str, form: ColumnFormat) -> str:
    """Return a date in the author's pattern and time zone, or its raw text if the pattern cannot represent it."""
    from mongo_tables.aggregation.date_formats import date_text  # Imports `zoneinfo`, which is slow.
    from mongo_tables.aggregation.dates import zone

    try:
        return date_text(millis(value), zone(form.timezone or "UTC"), form.date or "")
    except AggregationError:
        return raw


def raw_or_nothing(value: object) -> str:
    """Return ``raw_text`` of a value, or "" if it is null or missing."""
    return "" if value is MISSING or value is None else raw_text(value)


def raw_text(value: object) -> str:
    """Return the text of a value without a format, as in ``data-v`` and downloads.

    Example:
        >>> raw_text(1e21)
        '1e+21'
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        text = float.__repr__(value)
        if text.endswith(".0"):
            return text[:-2]
        # JavaScript writes fewer exponents than repr(), so texts without an exponent are the same.
        return _exponent_text(text) if "e" in text else _NOT_FINITE.get(text, text)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, datetime):
        return _date_text(value)
    if isinstance(value, (Mapping, list, tuple)):
        return json_text(value)
    return _special_text(value)


def json_text(value: object) -> str:
    """Return a value, such as an array or a sub-document, as JSON on one line. Scalars are as in cells.

    Example:
        >>> json_text({"a": [1.0, True]})
        '{"a": [1, true]}'
    """
    if isinstance(value, Mapping):
        pairs = (f"{_quote(str(name))}: {json_text(item)}" for name, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(json_text, value)) + "]"
    if value is None:
        return "null"
    return raw_text(value) if is_number(value) or isinstance(value, bool) else _quote(raw_text(value))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def is_document(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether the value is a document."""
    return type(value) not in _SCALARS and isinstance(value, Mapping)  # A ``Mapping`` check is slow.


def finite_decimal(value: object) -> Decimal | None:
    """Return a number as the decimal that its raw text shows, or None for NaN, infinities and other types."""
    number = Decimal(raw_text(value)) if is_number(value) else None
    return number if number is not None and number.is_finite() else None


def drawable(value: object) -> float | None:
    """Return a number that a drawing can show, or None for numbers that are too large, NaN and other types."""
    number = finite_decimal(value)
    if number is None or abs(number) >= LARGEST:
        return None
    return float(number) if abs(number) >= _SMALLEST else 0.0


def significant_digits(value: object) -> int:
    """Return the number of significant digits of a number with a fraction, or 0 for any other value.

    Example:
        >>> significant_digits(0.0125)
        3
    """
    if isinstance(value, float):
        if value.is_integer() or not isfinite(value):
            return 0
        number = Decimal(float.__repr__(value))
    elif isinstance(value, Decimal128):
        number = value.to_decimal()
        if not number.is_finite() or number == number.to_integral_value(context=wide_for(number)):
            return 0
    else:
        return 0
    return len(number.normalize(WIDE).as_tuple().digits)


def brief_text(value: object, form: ColumnFormat | None = None, beside: Iterable[Decimal] = ()) -> str:
    """Return a value as messages show it: rounded as in its cell, or a fraction without a format to six digits.

    ``beside``: numbers with which the message compares the value. Rounding does not move the value past any of
    them.
    """
    raw, others = raw_or_nothing(value), list(beside)
    if not is_number(value) or not (number := Decimal(raw)).is_finite():
        return cell_text(value, form)
    rounded = raw
    if form is not None and rounds(form) and not form.cell_unit_key:
        rounded = format(round_as(number, form, whole=True), "f")
    if rounded != raw and _alike(Decimal(rounded), number, others):
        return rounded
    if significant_digits(value) <= MOST_DIGITS:
        return raw
    texts = (str(round_significant(number, digits, pad=False)) for digits in range(MOST_DIGITS, len(raw)))
    return next((text for text in texts if _alike(Decimal(text), number, others)), raw)


def _alike(shown: Decimal, number: Decimal, others: Sequence[Decimal]) -> bool:
    return all((shown > one, shown < one) == (number > one, number < one) for one in others)


_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _exponent_text(text: str) -> str:
    """Return a number in Python's exponent notation as JavaScript writes it: in plain digits from 1e-6 up to 1e21."""
    mantissa, exponent = text.split("e")
    power = int(exponent)
    if -7 < power < 21:
        return format(Decimal(text), "f")
    return f"{mantissa}e{power:+d}"


def _special_text(value: object) -> str:
    if isinstance(value, (bytes, bytearray)):
        is_uuid = isinstance(value, Binary) and value.subtype == UUID_SUBTYPE and len(value) == 16
        # As in Extended JSON.
        return str(UUID(bytes=bytes(value))) if is_uuid else b64encode(value).decode("ascii")
    if isinstance(value, DatetimeMS):
        date = date_from_millis(int(value))
        # Outside Python's years 1 to 9999 a date has no calendar text.
        return f"Date({int(value)})" if isinstance(date, DatetimeMS) else _date_text(date)
    if isinstance(value, (Regex, re.Pattern)):
        return "/{}/{}".format(*regex_parts(value))
    if isinstance(value, DBRef):
        return json_text(value.as_doc())
    return type(value).__name__ if isinstance(value, (MinKey, MaxKey)) else str(value)


def _date_text(value: datetime) -> str:
    """Return a date as ISO 8601 in UTC. A date without a time zone is UTC, as PyMongo returns it."""
    moment = value.astimezone(UTC) if value.tzinfo else value
    text = moment.isoformat()[:19]
    milliseconds = moment.microsecond // 1000
    return f"{text}.{milliseconds:03d}Z" if milliseconds else f"{text}Z"


def have_more_digits(values: Iterable[object], most: int) -> bool:
    """Return whether any double has more than ``most`` significant digits, or any Decimal128 more than 17.

    Decimal128 arithmetic is exact, so that only divisions give that many digits.
    """
    for value in values:
        if isinstance(value, float):
            # The length of the text is fast to compute, and at least the number of digits.
            if len(repr(value)) > most and significant_digits(value) > most:
                return True
        elif isinstance(value, Decimal128) and significant_digits(value) > _MOST_OF_DECIMALS:
            return True
    return False


def visible(text: str) -> str:
    """Return the text with visible signs in place of invisible characters.

    Control characters become their pictures (``␀``), marks of the writing direction become escapes (``\\u202e``), half
    surrogates become U+FFFD, and all line ends become ``\\n``.
    """
    if text.isascii() and (text.isprintable() or text.replace("\n", "").isprintable()):
        return text
    return re.sub(_CONTROL, _picture, re.sub(_LINE_END, "\n", text))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"
