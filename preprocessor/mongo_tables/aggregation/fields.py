"""Records of the effect of each stage on fields and on the order of documents.

The module of a stage defines the record and registers it with the stage (``pipelines.stage``). The linter and
``explain`` use the records. The stages are those of
https://www.mongodb.com/docs/manual/reference/operator/aggregation-pipeline/.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from importlib import import_module
from operator import eq
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.aggregation import catalogue

Parts = tuple[str, ...]
"""The names of a dotted path."""
Place = tuple[str | int, ...]
"""A position in the argument of a stage."""

WHOLE: Final[Parts] = ()
"""The whole document, or any field of it."""
NO_EXPRESSION: Final = object()


class Field(NamedTuple):
    """The effect of a stage on a field that it names.

    Attributes:
        place: The position of the field's name, or None for a field that the stage adds by default.
        expression: The expression that computes the field, if ``becomes`` is "made".
        takes: The paths that the stage reads for this field, in addition to those in ``expression``.
        branch: The sub-pipeline whose rows become the field's value (``$facet``).
    """

    parts: Parts
    place: Place | None
    becomes: Literal["made", "kept", "dropped"] = "made"
    expression: Any = NO_EXPRESSION
    takes: tuple[Parts, ...] = ()
    branch: Sequence[Any] | None = None

    @property
    def reads(self) -> Iterator[Parts]:
        """Yield the paths that the stage reads for the field."""
        yield from self.takes
        yield from paths_in(self.expression)


class Effect(NamedTuple):
    """The effect of one stage, as written, on fields.

    ``reads``: the paths that the stage always reads. ``fields``: the fields that the stage names, in text order.
    ``only``: the stage drops all other fields.
    """

    reads: tuple[Parts, ...] = ()
    fields: tuple[Field, ...] = ()
    only: bool = False


class Gives(Enum):
    """The output documents of a stage."""

    EACH = "each"  # one for each input document, in the same order
    BY_PLACE = "by place"  # input documents, chosen by position
    CHOSEN = "chosen"  # input documents, chosen or ordered otherwise
    OTHERS = "others"  # other documents


class Order(Enum):
    """The order of the output documents of a stage."""

    KEPT = "kept"  # that of the input
    SORTED = "sorted"  # set by the stage
    CHANCE = "chance"  # undefined
    PARTITIONS = "partitions"  # defined only within partitions


class StageRecord(NamedTuple):
    """The effect of a stage, by its argument.

    Attributes:
        order_by: If the order of the output depends on the argument, a function that returns the order for an argument.
        single: A function that returns whether the stage returns at most one document for an argument. None means
            never.
        adds: Whether the stage may return more documents than it gets.
        rank: The position of the stage among the stages that the server's slot-based engine runs (see ``pipelines``);
            0 if that engine does not run it.
        watched: Whether the limits are already checked for the output, so that ``limits.held_blocks`` is not needed.
    """

    effect: Callable[[Any], Effect]
    gives: Gives = Gives.OTHERS
    order: Order = Order.KEPT
    order_by: Callable[[Any], Order] | None = None
    single: Callable[[Any], bool] | None = None
    adds: bool = False
    rank: int = 0
    watched: bool = False


RECORDS: Final[dict[str, StageRecord]] = {}
"""The record of each imported stage, by name."""
_ANYTHING: Final = Effect(reads=(WHOLE,))


def record_of(name: str) -> StageRecord | None:
    """Return the record of a stage, or None for an unknown stage.

    For a stage that runs only on a server, the record knows only the order of the output.
    """
    if name not in RECORDS:
        entry = catalogue.find("stage", name)
        if entry is None:
            return None
        if entry.refused:
            single = entry.order == "single"
            kept = Order.KEPT if single or not entry.order else Order(entry.order)
            return StageRecord(lambda _: _ANYTHING, order=kept, single=lambda _: single, adds=True)
        import_module(f"mongo_tables.aggregation.{entry.family}")
    return RECORDS[name]


def effect_of(name: str, argument: Any) -> Effect:
    """Return the effect of a stage on fields. An unknown or malformed stage may read and change anything."""
    record = record_of(name)
    try:
        return record.effect(argument) if record else _ANYTHING
    except (AttributeError, LookupError, TypeError, ValueError):
        return _ANYTHING


def split_path(dotted: str) -> Parts:
    """Return the names of a dotted path."""
    return tuple(dotted.split("."))


def overlap(one: Parts, other: Parts) -> bool:
    """Return whether two paths are equal, or one is a field within the other.

    Example:
        >>> overlap(("a", "b"), ("a",)), overlap(("a", "b"), ("a", "c"))
        (True, False)
    """
    return all(map(eq, one, other))


# Inputs of expressions and queries.


def paths_in(expression: Any) -> Iterator[Parts]:
    """Yield the document fields that an expression reads, in the order of its text, with repetitions.

    Yield ``WHOLE`` if the expression reads the document itself, or has an operator that may read other fields than
    its operands.

    Example:
        >>> list(paths_in({"$add": ["$a.b", {"$max": "$c"}]}))
        [('a', 'b'), ('c',)]
    """
    if isinstance(expression, str):
        if expression.startswith("$$"):
            name, _, rest = expression[2:].partition(".")
            if name in ("ROOT", "CURRENT"):
                yield split_path(rest) if rest else WHOLE
        elif expression.startswith("$"):
            yield split_path(expression[1:])
    elif isinstance(expression, Mapping):
        for key, value in expression.items():
            if key in ("$literal", "$const"):
                continue
            # Without `input`, `$getField` reads the document.
            given = key == "$getField" and isinstance(value, Mapping) and "input" in value
            if key.startswith("$") and key not in catalogue.operand_readers() and not given:
                yield WHOLE
            if key == "sortBy" and isinstance(value, Mapping):
                yield from map(split_path, value)
            yield from paths_in(value)
    elif isinstance(expression, (list, tuple)):
        for value in expression:
            yield from paths_in(value)


_OF_QUERIES: Final = frozenset({"$and", "$or", "$nor"})
_OF_NO_FIELD: Final = frozenset({"$comment", "$sampleRate", "$alwaysTrue", "$alwaysFalse"})


class Condition(NamedTuple):
    """A condition on a field, or an operator such as ``$expr``, with its position in the query."""

    key: str
    value: Any
    place: Place


def conditions_in(query: Any, place: Place = ()) -> Iterator[Condition]:
    """Yield the conditions of a query in text order, including conditions in ``$and``, ``$or`` and ``$nor``."""
    for key, value in query.items() if isinstance(query, Mapping) else ():
        here = (*place, key)
        if key in _OF_QUERIES and isinstance(value, (list, tuple)):
            for number, one in enumerate(value):
                yield from conditions_in(one, (*here, number))
        else:
            yield Condition(key, value, here)


def paths_in_query(condition: Any) -> Iterator[Parts]:
    """Yield the fields that a query reads, in the order of its text."""
    for key, value, _ in conditions_in(condition):
        if key == "$expr":
            yield from paths_in(value)
        elif not key.startswith("$"):
            yield split_path(key)
        elif key not in _OF_NO_FIELD:
            yield WHOLE


# Helpers for stages with similar arguments.


def is_nested(value: Any) -> bool:
    """Return whether a value in ``$set`` or ``$project`` is a document of fields, and not an expression."""
    return isinstance(value, Mapping) and bool(value) and not next(iter(value)).startswith("$")


def leaves(
    argument: Mapping[str, Any], above: Parts = (), place: Place = ()
) -> Iterator[tuple[Parts, Place, Any]]:
    """Yield the fields that ``$set`` or ``$project`` names, each with its position and value."""
    for name, value in argument.items():
        parts, here = (*above, *split_path(name)), (*place, name)
        if is_nested(value):
            yield from leaves(value, parts, here)
        else:
            yield parts, here, value
