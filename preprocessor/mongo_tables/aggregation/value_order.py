"""The server's order of values of all types, for ``$sort``, ``$lt``, ``$max``, ``$group`` and sets.

``key(value)`` returns a tuple that Python compares and hashes as the server compares and groups: numbers by
value across types, strings by code point (byte order of UTF-8), documents field by field.

Source: https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/

The module also has sort patterns, such as ``{"a.b": 1, "c": -1}``, as `$sort`, `$setWindowFields` and `$top` read them.

A document with an array on the path has a sort key for each element, as in an index. It is sorted by the key that comes
first in the pattern's order: the key of the smallest element if the part ascends, of the largest if it descends.
Missing counts as null; an empty array comes before null.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/sort/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from functools import cmp_to_key
from operator import eq, itemgetter
from types import NoneType
from typing import Any, NamedTuple

from bson.dbref import DBRef
from bson.decimal128 import Decimal128
from bson.int64 import Int64

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path
from mongo_tables.aggregation.limits import begin_comparison, count_array, spend_parts
from mongo_tables.aggregation.values import (
    DOCUMENT,
    MISSING,
    Document,
    binary_parts,
    is_date,
    is_nan,
    is_nullish,
    is_number,
    millis,
    regex_parts,
    type_order,
)

Key = tuple[Any, ...]
NAN: Key = (10, 0, 0)
"""The key of NaN of any type: before all other numbers."""
_KEY = 100  # the bytes of a key


def _number_key(value: Any) -> Key:
    """Return a key that puts NaN first and orders other numbers by exact value. Python compares int, float and
    Decimal exactly.
    """
    return NAN if is_nan(value) else (10, 1, value.to_decimal() if isinstance(value, Decimal128) else value)


def key(value: Any) -> Key:
    """Return a hashable tuple for ``value`` that sorts in the server's order.

    ``1``, ``Int64(1)``, ``1.0`` and ``Decimal128("1.0")`` have equal keys, as they are equal on the server.
    """
    kind = type(value)
    if kind is str:
        return 15, value
    if kind is int or kind is float:
        return (10, 1, value) if value == value else NAN
    if value is None:
        return (5,)
    if kind is datetime:
        return 45, millis(value)
    if inner := _key_of(kind):
        begin_comparison()
        return inner(value)
    order = type_order(value)
    if order == 10:
        return _number_key(value)
    if order == 15:
        return 15, str(value)
    if order == 20 or order == 25:
        begin_comparison()
        return _document_key(value) if order == 20 else _array_key(value)
    return _other_key(order, value)


def _document_key(value: Any) -> Key:
    # Field by field: type of the value, then name, then value (BSONObj::woCompare); a prefix comes first.
    pairs = value.as_doc().items() if isinstance(value, DBRef) else value.items()
    spend_parts(len(pairs))
    keys: list[Key] = []
    for name, item in pairs:
        kind = type(item)
        if kind is str:
            keys.append((15, name, item))
        elif kind is int:
            keys.append((10, name, (10, 1, item)))
        else:
            found = _key_of(kind, key)(item)
            keys.append((found[0], name, found[1] if found[0] == 15 else found))
    return 20, tuple(keys)


def _array_key(value: Any) -> Key:
    count_array(len(value), _KEY)
    spend_parts(len(value))
    return 25, tuple([_key_of(type(item), key)(item) for item in value])


# Nested documents and arrays: their parts count with the parts of the outermost value.
_INNER: dict[type, Callable[[Any], Key]] = {
    dict: _document_key,
    list: _array_key,
    paths.OrderedDocument: _document_key,
}
_key_of = _INNER.get


def _other_key(order: int, value: Any) -> Key:
    if is_date(value):
        return 45, millis(value)
    if order == 30:
        subtype, data = binary_parts(value)
        # Subtype 2 repeats the length in four bytes inside the value.
        return 30, len(data) + 4 * (subtype == 2), subtype, data
    if order == 35:
        return 35, value.binary
    if order == 40:
        return 40, bool(value)
    if order == 47:
        return 47, value.time, value.inc
    if order == 50:
        return 50, *regex_parts(value)
    if order == 60:
        return 60, str(value)
    if order == 65:
        return 65, str(value), key(value.scope)
    return (order,)


def compare(left: Any, right: Any) -> int:
    """Return -1, 0 or 1, as the server's ``$cmp`` orders two values (missing before null).

    Example:
        >>> compare(2, 1.5), compare(1, "a")
        (1, -1)
    """
    a, b = key(left), key(right)
    return (a > b) - (a < b)


_Descending = cmp_to_key(lambda a, b: (a < b) - (a > b))  # type: ignore[operator]

PLAIN_NUMBERS = frozenset({int, float, Int64})
"""The classes of numbers that Python compares as the server does, except NaN."""


def smallest(values: Sequence[Any]) -> Any:
    """Return the smallest value that is not null or missing, or None without such a value. Of equal values, return
    the first.

    Example:
        >>> smallest([3, None, 2.5])
        2.5
    """
    return _outermost(min, values)


def largest(values: Sequence[Any]) -> Any:
    """Return the largest value that is not null or missing, or None without such a value. Of equal values, return the
    first.
    """
    return _outermost(max, values)


def _outermost(choose: Callable[..., Any], values: Sequence[Any]) -> Any:
    kinds = set(map(type, values))
    if NoneType in kinds:
        kinds.remove(NoneType)
        values = [value for value in values if value is not None]
    if kinds <= PLAIN_NUMBERS:
        total = sum(values)  # A NaN among the values makes the sum NaN, which does not equal itself.
        if total == total:  # Python orders these numbers as the server does.
            return choose(values, default=None)
    return choose((value for value in values if not is_nullish(value)), key=key, default=None)


Row = tuple[Any, Any]  # sort key, document


def first_sorted(rows: Iterable[Row], most: int) -> list[Row]:
    """Return the ``most`` rows with the smallest keys, sorted."""
    heap: list[Row] = []
    for row in rows:
        if len(heap) < most:
            heap.append(row)
            if len(heap) == most:
                for place in range((most - 2) // 2, -1, -1):
                    _sink(heap, place, most, heap[place])
        elif row[0] < heap[0][0]:
            _pop(heap, most)
            heap[-1] = row
            _rise(heap, most - 1, 0, row)
    if len(heap) < most:
        return sorted(heap, key=lambda row: row[0])
    for length in range(most, 1, -1):
        _pop(heap, length)
    return heap


def _pop(heap: list[Row], length: int) -> None:
    """Move the largest of the first ``length`` rows to their end."""
    if length > 1:
        row, heap[length - 1] = heap[length - 1], heap[0]
        _sink(heap, 0, length - 1, row)


def _sink(heap: list[Row], place: int, length: int, row: Row) -> None:
    top = child = place
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if heap[child][0] < heap[child - 1][0]:
            child -= 1
        heap[place] = heap[child]
        place = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * (child + 1)
        heap[place] = heap[child - 1]
        place = child - 1
    _rise(heap, place, top, row)


def _rise(heap: list[Row], place: int, top: int, row: Row) -> None:
    while place > top and heap[(place - 1) // 2][0] < row[0]:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = row


NOTHING: Key = (0,)
"""The key of MISSING."""
EMPTY: Key = (0,)
"""The key of an empty array in a sort: BSON's undefined, after MinKey and before null."""
_MOST_PARTS = 32


class SortKey(NamedTuple):
    """One part of a sort pattern: a dotted path and its direction."""

    path: tuple[str, ...]
    descending: bool


class SortPattern(NamedTuple):
    """A parsed sort pattern.

    ``by_id``: the pattern sorts only by ``_id``, whose index treats an array like any other value.
    """

    parts: tuple[SortKey, ...]
    by_id: bool = False

    def keys(self, document: Any) -> tuple[Key, ...]:
        """Return the document's sort key: for each part of the pattern a key, which does not depend on the direction.

        Raises:
            AggregationError: If the document has two parallel arrays on the pattern's paths.
        """
        found = []
        for part in self.parts:
            value, _ = paths.along(document, part.path)
            if type(value) is list and not self.by_id:
                keys: list[tuple[Key, ...]] = []
                nothing = [MISSING] * len(self.parts)
                _expand([part.path for part in self.parts], nothing, document, nothing, keys)
                return min(keys, key=self.direct_keys)
            found.append(key(None if value is MISSING else value))
        return tuple(found)

    def direct_keys(self, keys: Sequence[Key]) -> tuple[Any, ...]:
        """Combine ``keys`` into one value that compares in the pattern's directions."""
        return tuple(
            _Descending(one) if part.descending else one for part, one in zip(self.parts, keys, strict=True)
        )

    def first(self, documents: Iterable[Document], most: int) -> list[Document]:
        """Return the first ``most`` documents in order. Equal documents are in the server's order."""
        rows = ((self.direct_keys(self.keys(document)), document) for document in documents)
        return [document for _, document in first_sorted(rows, most)]

    def sort(self, documents: Sequence[Document]) -> list[Document]:
        """Return the documents in order. The sort is stable."""
        columns: list[Sequence[Any]] = []
        for part in self.parts:
            first, rest = part.path[0], part.path[1:]
            try:  # nearly always all documents have the field
                values = list(map(itemgetter(first), documents))
            except KeyError:
                values = [document.get(first, MISSING) for document in documents]
            if rest:
                values = [paths.along(value, rest)[0] for value in values]
            kinds = set(map(type, values))
            if list in kinds and not self.by_id:
                columns = list(zip(*map(self.keys, documents), strict=True))
                break
            # Only numbers without NaN, or only texts, need no keys, which would take more memory than most
            # documents.
            if kinds == {str} or (kinds <= PLAIN_NUMBERS and all(map(eq, values, values))):
                columns.append(values)
            else:
                columns.append([key(None if value is MISSING else value) for value in values])
        order = list(range(len(documents)))
        for part, column in zip(reversed(self.parts), reversed(columns), strict=True):
            order.sort(key=column.__getitem__, reverse=part.descending)
        return list(map(documents.__getitem__, order))


def parse(argument: Any, path: Path, name: str = "$sort") -> SortPattern:
    """Parse a sort pattern. Raises AggregationError if the server refuses it."""
    if not isinstance(argument, DOCUMENT):
        raise AggregationError(f"{name} requires a document of fields and directions", path, 15973)
    if not argument:
        raise AggregationError(f"{name} needs at least one field", path, 15976)
    parts = []
    saying = f"the directions of {name} must be 1 (ascending) or -1 (descending)"
    for dotted, way in argument.items():
        where = (*path, dotted)
        if isinstance(way, DOCUMENT):
            if "$meta" not in way:
                raise AggregationError(saying, where, 17312)
            raise NotOffline(f"{name} by $meta requires scores that exist only on a server", where)
        if not is_number(way):
            raise AggregationError(saying, where, 15974)
        # The server rounds a Decimal128 and truncates a double.
        of_decimal = isinstance(way, Decimal128)
        exact, rounding = (way.to_decimal(), None) if of_decimal else (Decimal(way), ROUND_DOWN)
        if not exact.is_finite() or exact.to_integral_value(rounding) not in (-1, 1):
            raise AggregationError(saying, where, 15975)
        parts.append(SortKey(paths.split(dotted, where), exact < 0))
    if len(parts) > _MOST_PARTS:
        raise AggregationError(f"{name} accepts at most {_MOST_PARTS} fields", path, 13103)
    return SortPattern(tuple(parts), by_id=list(argument) == ["_id"])


# Documents with arrays: the algorithm of the server's BtreeKeyGenerator, as one recursion.

_Paths = list[tuple[str, ...]]


def _expand(
    ways: _Paths, fixed: list[Any], value: Any, positional: list[Any], keys: list[tuple[Key, ...]]
) -> None:
    """Append to ``keys`` a sort key for each array element in ``value``.

    ``ways``: for each part of the pattern, the rest of the path that is not followed yet. ``fixed``: the values found
    so far. ``positional``: what ``_position`` returned for each path in the enclosing array.
    """
    ways, fixed = list(ways), list(fixed)
    array: Any = None
    in_array: list[int] = []
    unembedded = True
    for index, way in enumerate(ways):
        if not way:
            continue
        found, ways[index], nested = _next(value, way, positional[index])
        if type(found) is list:
            if array is not None and array is not found:
                raise AggregationError("cannot sort by two parallel arrays", code=2)
            array = found
            in_array.append(index)
            unembedded = unembedded and not nested
        else:
            fixed[index], ways[index] = found, ()
    if array is None:
        keys.append(
            tuple(item if item is EMPTY else key(None if item is MISSING else item) for item in fixed)
        )
        return
    positions = [_position(array, way) if way else MISSING for way in ways]
    for item in array or [EMPTY]:
        for index in in_array:
            if not ways[index]:
                fixed[index] = item if unembedded or item is EMPTY else array
        _expand(ways, fixed, item, positions, keys)


def _position(array: list[Any], way: tuple[str, ...]) -> Any:
    """Return the array element that the number at the start of a path selects, and the rest of the path.

    Return MISSING if the path does not start with the number of an element.
    """
    number = way[0]
    if not (number.isascii() and number.isdigit()) or (number[0] == "0" and number != "0"):
        return MISSING
    return (array[int(number)], way[1:]) if int(number) < len(array) else MISSING


def _next(value: Any, way: tuple[str, ...], positional: Any) -> tuple[Any, tuple[str, ...], bool]:
    """Follow a path to its end or to the first array on it.

    Return the value there, the rest of the path, and whether the array is directly inside another array.
    """
    named = isinstance(value, DOCUMENT) and way[0] in value
    if positional is not MISSING:
        if named:
            message = f"'{way[0]}' is both an array index and a field of its elements"
            raise AggregationError(message, code=16746)
        item, rest = positional
        found, left = paths.along(item, rest)
        return found, left, type(item) is list
    if not named:
        return MISSING, (), False
    found, left = paths.along(value[way[0]], way[1:])
    return found, left, False
