"""The first few of a sort, in the server's order: of what sorts equal, too.

A sort with a limit that it reaches is a heap sort on the server, which is not stable. These are the heap operations
of its standard library, so that ties come in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Row = tuple[Any, Any]  # sort key, document


def first_sorted(rows: Iterable[Row], most: int) -> list[Row]:
    """The ``most`` rows with the least keys, sorted."""
    heap: list[Row] = []
    for row in rows:
        if len(heap) < most:
            heap.append(row)
            if len(heap) == most:
                _make_heap(heap)
        elif row[0] < heap[0][0]:
            _pop(heap, most)
            heap[-1] = row
            _rise(heap, most - 1, 0, row)
    if len(heap) < most:
        return sorted(heap, key=lambda row: row[0])
    for length in range(most, 1, -1):
        _pop(heap, length)
    return heap


def _make_heap(heap: list[Row]) -> None:
    for place in range((len(heap) - 2) // 2, -1, -1):
        _sink(heap, place, len(heap), heap[place])


def _pop(heap: list[Row], length: int) -> None:
    """Moves the greatest row of the first ``length`` behind the others."""
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
