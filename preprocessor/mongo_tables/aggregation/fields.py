"""What each stage reads, writes and keeps of its documents, and in what order they come: one record a stage.

A record stands in the module of its stage, beside what runs it, and is registered with it (``compiler.stage``).
Whatever asks what a stage does to fields or to the order of documents asks here: which fields are decoded and copied,
what a linter finds unused, what an explanation shows. The language:
https://www.mongodb.com/docs/manual/reference/operator/aggregation-pipeline/.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from importlib import import_module
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.aggregation import catalogue

Parts = tuple[str, ...]
"""The names of a dotted path."""
Place = tuple[str | int, ...]
"""Where something stands in the argument of a stage."""

WHOLE: Final[Parts] = ()
"""The whole document, or any field of it."""
NO_EXPRESSION: Final = object()


class Field(NamedTuple):
    """What becomes of a field that a stage names.

    ``place``: where it is named; None where the stage has it without being told. Of a field that is made,
    ``expression``: what its value is computed by; ``takes``: other paths that are read for it; ``branch``: the
    sub-pipeline over the same documents whose rows are the value. ``always``: what is read for it is read also where
    nothing uses the field.
    """

    parts: Parts
    place: Place | None
    becomes: Literal["made", "kept", "dropped"] = "made"
    expression: Any = NO_EXPRESSION
    takes: tuple[Parts, ...] = ()
    branch: Sequence[Any] | None = None
    always: bool = False

    @property
    def reads(self) -> Iterator[Parts]:
        """What is read for it."""
        yield from self.takes
        yield from paths_in(self.expression)


class Effect(NamedTuple):
    """What one stage, as it is written, does to fields.

    ``reads``: what it reads whatever becomes of its fields. ``fields``: those that it names, in the order of its text.
    ``only``: no other field goes on.
    """

    reads: tuple[Parts, ...] = ()
    fields: tuple[Field, ...] = ()
    only: bool = False


class Gives(Enum):
    """Which documents a stage gives: one of each in the same order, some by their place, some or all as they are."""

    EACH = "each"
    BY_PLACE = "by place"
    CHOSEN = "chosen"
    OTHERS = "others"


class Order(Enum):
    """In what order: as they came, by what the stage sorts, by nothing, by nothing but within each partition."""

    KEPT = "kept"
    SORTED = "sorted"
    CHANCE = "chance"
    PARTITIONS = "partitions"


class StageRecord(NamedTuple):
    """What a stage does, by its argument.

    ``single``: whether it gives one document at most. ``adds``: it may give more documents than come in. ``rank``: the
    step of a query that it can be taken into, ahead of the engine proper (see ``optimizer``); 0 where none can.
    ``watched``: it makes documents only of those that come in, whose number is watched already.
    """

    effect: Callable[[Any], Effect]
    gives: Gives = Gives.OTHERS
    order: Callable[[Any], Order] = lambda argument: Order.KEPT
    single: Callable[[Any], bool] = lambda argument: False
    adds: bool = False
    rank: int = 0
    watched: bool = False


_RECORDS: dict[str, StageRecord] = {}
_ANYTHING: Final = Effect(reads=(WHOLE,))


def register_record(name: str, record: StageRecord) -> None:
    """Keeps the record of a stage."""
    _RECORDS[name] = record


def record_of(name: str) -> StageRecord | None:
    """The record of a stage; None of one that there is not. Of what no file can answer nothing but order is known."""
    if name not in _RECORDS:
        entry = catalogue.find("stage", name)
        if entry is None:
            return None
        if entry.refused:
            single = entry.order == "single"
            kept = Order.KEPT if single or not entry.order else Order(entry.order)
            return StageRecord(lambda _: _ANYTHING, order=lambda _: kept, single=lambda _: single, adds=True)
        import_module(f"mongo_tables.aggregation.{entry.family}")
    return _RECORDS[name]


def effect_of(name: str, argument: Any) -> Effect:
    """The effect of a stage on fields; an unknown or malformed stage may read and change anything."""
    record = record_of(name)
    try:
        return record.effect(argument) if record else _ANYTHING
    except (AttributeError, LookupError, TypeError, ValueError):
        return _ANYTHING


def split_path(dotted: str) -> Parts:
    """The names of a dotted path."""
    return tuple(dotted.split("."))


# What expressions and queries read.


def paths_in(expression: Any) -> Iterator[Parts]:
    """The fields of the document that an expression reads, in the order of its text, repeated as they are there.

    ``WHOLE`` where it takes the document itself, or by an operator that is not known to read what it is given alone.
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
            # `$getField` reads the document where it is given no other.
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
    """What a query asks of a field, or by an operator such as ``$expr``, and the place of that in the query."""

    key: str
    value: Any
    place: Place


def conditions_in(query: Any, place: Place = ()) -> Iterator[Condition]:
    """The conditions of a query at a place, through ``$and``, ``$or`` and ``$nor``, in the order of its text."""
    for key, value in query.items() if isinstance(query, Mapping) else ():
        here = (*place, key)
        if key in _OF_QUERIES and isinstance(value, (list, tuple)):
            for number, one in enumerate(value):
                yield from conditions_in(one, (*here, number))
        else:
            yield Condition(key, value, here)


def paths_in_query(condition: Any) -> Iterator[Parts]:
    """The fields that a query reads, in the order of its text."""
    for key, value, _ in conditions_in(condition):
        if key == "$expr":
            yield from paths_in(value)
        elif not key.startswith("$"):
            yield split_path(key)
        elif key not in _OF_NO_FIELD:
            yield WHOLE


# How stages that are written alike say what they do.


def is_nested(value: Any) -> bool:
    """Whether a value in ``$set`` or ``$project`` is a document of fields, and not an expression."""
    return isinstance(value, Mapping) and bool(value) and not next(iter(value)).startswith("$")


def leaves(
    argument: Mapping[str, Any], above: Parts = (), place: Place = ()
) -> Iterator[tuple[Parts, Place, Any]]:
    """The fields that ``$set`` or ``$project`` names, each with where, and what stands for it."""
    for name, value in argument.items():
        parts, here = (*above, *split_path(name)), (*place, name)
        if is_nested(value):
            yield from leaves(value, parts, here)
        else:
            yield parts, here, value


# What whole pipelines read.


class ReadsAnything(Exception):
    """A pipeline may read any field; the message says by what."""


def paths_read(pipeline: Iterable[Any], taken: Sequence[Parts] | None = None) -> list[Parts]:
    """Every path that a pipeline can read, so that documents without all others give the same rows.

    Of rows that are still documents ``taken`` is taken; None: the whole. A field that a stage writes counts as read,
    because its place among the other fields is seen in the rows. Raises ``ReadsAnything``.
    """
    paths: list[Parts] = [("_id",)]
    for stage in pipeline:
        if not isinstance(stage, Mapping) or len(stage) != 1:
            raise ReadsAnything("a stage is malformed")
        ((name, argument),) = stage.items()
        record, effect = record_of(name), effect_of(name, argument)
        found = [*effect.reads, *(path for field in effect.fields for path in field.reads)]
        if record is None or WHOLE in found:
            root = next(filter(_WHOLE_DOCUMENTS.__contains__, _texts(argument)), "")
            raise ReadsAnything(f"{root} is the whole document" if root else f"{name} may read every field")
        if not effect.only or record.gives is Gives.EACH:
            found += [field.parts for field in effect.fields]
        for field in effect.fields:
            found += paths_read(field.branch) if field.branch is not None else ()
        paths += found
        if effect.only:
            return paths
    if taken is None:
        raise ReadsAnything("the rows are whole documents")
    return [*paths, *taken]


_WHOLE_DOCUMENTS: Final = frozenset({"$$ROOT", "$$CURRENT"})


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)
