"""How accumulators are written and used, by `$group`, `$bucket`, `$setWindowFields` and the rest.

An accumulator is compiled from its argument into an ``Accumulator``: what to evaluate for each document, and
a factory of states. A state takes values one after the other and gives the result at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.compiler import Scope, compile_expression
from mongo_tables.aggregation.errors import AggregationError, NotOffline, Path
from mongo_tables.aggregation.sizes import memory_of
from mongo_tables.aggregation.values import MISSING, Document, Evaluate


class State(Protocol):
    """The state of an accumulator for one group (or one window)."""

    def add(self, value: Any) -> None:
        """Takes the value of one more document: a bson value or MISSING."""

    def result(self) -> Any:
        """The result over what was added so far: a bson value or MISSING; more may be added after."""


class Extending(State, Protocol):
    """A state that also takes the values of several documents at once, and refuses none."""

    def extend(self, values: Sequence[Any]) -> None:
        """Takes the values in their order."""


class Keeping:
    """A state that keeps the values it takes. ``last``: what the last one brought, MISSING for nothing."""

    last: Any = MISSING

    def measure_growth(self, count: int) -> int:
        """About how many bytes all such states grew by with ``count`` documents, the last of which came to this."""
        return 0 if self.last is MISSING else count * memory_of(self.last)


class Accumulator(NamedTuple):
    """A compiled accumulator: ``evaluate`` gives a document's value, ``start`` a new state for such values.

    ``start`` takes the group's key where that is a document, else an empty document: the root that parameters
    such as ``n`` of ``$firstN`` are evaluated on. Most ignore it. ``extends``: its states are ``Extending`` ones.
    """

    evaluate: Evaluate
    start: Callable[[Document], State]
    extends: bool = False


Form = Callable[[Any, Scope, Path], Accumulator]
_FORMS: dict[str, Form] = {}


def form(*names: str) -> Callable[[Form], Form]:
    """Registers a function ``(argument, scope, path) -> Accumulator``: for those with named arguments."""

    def register(function: Form) -> Form:
        for name in names:
            _FORMS[name] = function
        return function

    return register


def accumulator(*names: str) -> Callable[[type[Any]], type[Any]]:
    """Registers a class of states for accumulators that take one expression: ``@accumulator("$sum")``.

    The class is called without arguments for every group. An AggregationError that its ``add`` or ``result``
    raises without a path gets the accumulator's.
    """

    def register(state: type[Any]) -> type[Any]:
        def compile_form(argument: Any, scope: Scope, path: Path) -> Accumulator:
            evaluate = compile_expression(argument, scope, path).run
            return Accumulator(evaluate, lambda _: state(), hasattr(state, "extend"))

        for name in names:
            _FORMS[name] = compile_form
        return state

    return register


def compile_accumulator(spec: Any, scope: Scope, path: Path) -> Accumulator:
    """The accumulator of ``{"$sum": "$x"}``, as it stands beside a field name in `$group`.

    Raises AggregationError for what the server refuses, NotOffline for what needs a server.
    """
    if not isinstance(spec, Mapping):
        raise AggregationError("a field of a group is computed by an accumulator: {$sum: ...}", path, 40234)
    if len(spec) != 1:
        raise AggregationError(f"a field of a group has one accumulator, not {len(spec)}", path, 40238)
    ((name, argument),) = spec.items()
    entry = catalogue.find("accumulator", name)
    if entry is None:
        raise AggregationError(
            f"there is no accumulator '{name}'",
            (*path, name),
            15952,
            unknown=name,
            known=catalogue.names("accumulator"),
        )
    if entry.refused:
        raise NotOffline(entry.why_not_offline, (*path, name))
    if isinstance(argument, list | tuple):
        raise AggregationError(f"{name} takes one expression here, not a list of them", (*path, name), 40237)
    return compile_by_name(name, argument, scope, (*path, name))


def compile_by_name(name: str, argument: Any, scope: Scope, path: Path) -> Accumulator:
    """The accumulator ``name``, which the catalogue has, of its argument; ``path`` ends with the name.

    For windows, too, where a list is an expression as well.
    """
    if name not in _FORMS:
        import_module(f"mongo_tables.aggregation.accumulators.{catalogue.get('accumulator', name).family}")
    return _FORMS[name](argument, scope, path)
