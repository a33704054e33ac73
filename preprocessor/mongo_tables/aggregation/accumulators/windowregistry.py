"""How window functions are written and used: each gives one result for every document of a sorted partition."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mongo_tables.aggregation.accumulators.registry import State
from mongo_tables.aggregation.compiler import Scope, compile_expression
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.meter import each, spend
from mongo_tables.aggregation.sorting import SortPattern
from mongo_tables.aggregation.values import Document, Evaluate
from mongo_tables.aggregation.windows import Bounds, Documents

Results = Callable[[Sequence[Document]], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Window:
    """What stands in an output field: the function's argument, its window, the sort pattern; ``path`` ends with the
    function's name. ``written``: the window stands there, it is not the whole partition by default.
    """

    argument: Any
    bounds: Bounds
    written: bool
    sort: SortPattern | None
    scope: Scope
    path: Path

    @property
    def name(self) -> str:
        """The function's name."""
        return str(self.path[-1])

    def evaluate(self, argument: Any, *parts: str) -> Evaluate:
        """``argument``, which stands at ``parts`` below the function, compiled."""
        return compile_expression(argument, self.scope, (*self.path, *parts)).run

    def refuse_window(self) -> None:
        """Raises AggregationError when a window is written: for functions that have their own."""
        if self.written:
            raise AggregationError(f"{self.name} takes no window", self.path, 9)


Form = Callable[[Window], Results]
FORMS: dict[str, Form] = {}


def window_function(*names: str) -> Callable[[Form], Form]:
    """Registers a function ``(Window) -> Results``."""

    def register(function: Form) -> Form:
        for name in names:
            FORMS[name] = function
        return function

    return register


class Removable(Protocol):
    """A state that gives values back in the order in which it took them."""

    def add(self, value: Any) -> None:
        """Takes a value in."""

    def remove(self, value: Any) -> None:
        """Takes the oldest value, which is ``value``, out."""

    def result(self) -> Any:
        """The result over what is in."""


def growing(evaluate: Evaluate, bounds: Bounds, start: Callable[[], State]) -> Results:
    """Results over windows that begin with the partition: values only come in."""

    def run(documents: Sequence[Document]) -> Iterator[Any]:
        state, taken = start(), 0
        latest: list[Any] = []
        for ends in bounds.ends(documents):
            upto = 0 if ends is None else ends[1] + 1
            if upto < taken:
                state, taken = start(), 0
                latest.clear()
            if upto > taken or not latest:
                for document in each(documents[max(taken, ends[0] if ends else 0) : upto]):
                    state.add(evaluate(document))
                taken = upto
                latest[:] = [state.result()]
                _count(latest[0])
            yield latest[0]

    return run


def sliding(evaluate: Evaluate, bounds: Bounds, start: Callable[[], Removable]) -> Results:
    """Results over windows that move: what comes in is taken before what goes out is given back."""

    def run(documents: Sequence[Document]) -> Iterator[Any]:
        state, inside = start(), deque[Any]()
        known: tuple[int, int] | None = None
        for ends in bounds.ends(documents):
            first, last = ends or (0, -1)
            for document in each(documents[(known[1] + 1 if known else first) : last + 1]):
                inside.append(evaluate(document))
                state.add(inside[-1])
            gone = _count_leaving(known, ends)
            if ends is None and isinstance(bounds, Documents):
                gone = min(1, len(inside))
            for _ in range(min(gone, len(inside))):
                state.remove(inside.popleft())
            known = ends
            result = state.result()
            _count(result)
            yield result

    return run


def _count(result: Any) -> None:
    """Counts the work of one result: that of a list is to copy what is in the window."""
    spend(1 + (len(result) // 64 if type(result) is list else 0))


def _count_leaving(known: tuple[int, int] | None, ends: tuple[int, int] | None) -> int:
    """The number of values that leave between one window and the next."""
    if known is None:
        return 0
    return known[1] - known[0] + 1 if ends is None else ends[0] - known[0]
