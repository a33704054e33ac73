"""Which fields a pipeline uses, seen from its end: what is shown, and what is read on the way to it.

The pipeline is gone through backwards. A field is live where a later stage reads it or the table shows it; what
makes a field that is not live could be left out without any reader noticing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mongo_tables.aggregation.fields import WHOLE, Effect, Field, Parts, effect_of, split_path
from mongo_tables.lint.shape.expressions import Path

Live = frozenset[Parts]


class Unused(NamedTuple):
    """A field that nothing uses: where it is made, and whether it is computed there or only carried on."""

    path: Path
    name: str
    computed: bool


class Usage(NamedTuple):
    """``unused``: what is made for nothing, in the order of the pipeline. ``read``: fields of the collection."""

    unused: tuple[Unused, ...]
    read: Live


def usage(pipeline: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> Usage:
    """Which parts of a pipeline are used when ``columns`` of its rows are shown."""
    return _usage(pipeline, frozenset(map(split_path, columns)))


def _usage(pipeline: Sequence[Mapping[str, Any]], live: Live) -> Usage:
    unused: list[Unused] = []
    live = frozenset(map(_without_places, live))
    for index in range(len(pipeline) - 1, -1, -1):
        ((name, argument),) = pipeline[index].items()
        effect = effect_of(name, argument)
        unused = [*_find_unused(effect, live, (index, name)), *unused]
        live = _live_before(effect, live)
    return Usage(tuple(unused), live)


def is_live(parts: Parts, live: Live) -> bool:
    """Whether anything at, above or below the path is used."""
    return any(one[: len(parts)] == parts[: len(one)] for one in live)


def _without_places(parts: Parts) -> Parts:
    """The path as far as it may not lead to an element of an array by its place."""
    for number, name in enumerate(parts):
        if name.isdigit():
            return parts[:number]
    return parts


def _find_unused(effect: Effect, live: Live, path: Path) -> Iterable[Unused]:
    for field in effect.fields:
        if field.becomes != "dropped" and not field.always and not is_live(field.parts, live):
            place = (*path, *(field.place or ()))
            yield Unused(place, ".".join(field.parts), computed=field.becomes == "made")


def _live_before(effect: Effect, live: Live) -> Live:
    """What is live before a stage; of a dotted path that it makes the path too, as an array above has it many times."""
    found = set(effect.reads)
    for field in effect.fields:
        if field.becomes == "kept":
            found |= _below(field.parts, live)
        elif field.always or is_live(field.parts, live):
            found.update(field.reads, _read_by_branch(field, live))
            found |= {field.parts} if len(field.parts) > 1 else set()
    found = set(map(_without_places, found))
    if not effect.only:
        written = {field.parts[0] for field in effect.fields if len(field.parts) == 1}
        found |= {one for one in live if one == WHOLE or one[0] not in written}
    return frozenset(found)


def _below(parts: Parts, live: Live) -> Live:
    """The live paths at or below ``parts``; ``parts`` itself where something above it is live."""
    found = (one if len(one) >= len(parts) else parts for one in live)
    return frozenset(one for one in found if one[: len(parts)] == parts)


def _read_by_branch(field: Field, live: Live) -> Live:
    """The fields that a sub-pipeline reads when its rows become a field."""
    if field.branch is None:
        return frozenset()
    shown = frozenset(one[len(field.parts) :] for one in _below(field.parts, live))
    return _usage(field.branch, shown).read
