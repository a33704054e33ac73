"""Which fields a stage reads and which it computes, by its text alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mongo_tables.aggregation.fields import NO_EXPRESSION, Gives, Parts, effect_of, paths_in, record_of

Stage = Mapping[str, Any]


def operator_of(stage: Stage) -> tuple[str, Any]:
    """The name of a stage and what stands behind it."""
    ((name, body),) = stage.items()
    return name, body


def fields_read(stage: Stage) -> list[str]:
    """The dotted paths of the incoming documents that a stage names, each once, in the order of its text.

    What it cannot know (a sub-pipeline's own reading, a path that is computed) it leaves out.
    """
    effect = effect_of(*operator_of(stage))
    read = list(effect.reads)
    for field in effect.fields:
        read += [field.parts] if field.becomes == "kept" and field.place is not None else field.reads
    return _dotted(read)


def _dotted(paths: Iterable[Parts]) -> list[str]:
    """The paths as texts, each once, without those that are none."""
    texts = dict.fromkeys(map(".".join, paths))
    return [path for path in texts if path and not path.startswith("$")]


def fields_guarded(stage: Stage) -> set[str]:
    """The fields that a stage reads only where ``$ifNull`` has something else for a document without them."""
    name, body = operator_of(stage)
    computed = [field.expression for field in effect_of(name, body).fields]
    return {path for path in _find_guarded([body, *computed]) if path}


def _find_guarded(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "$ifNull" and isinstance(inner, list):
                yield from map(".".join, paths_in(inner[:-1]))
            yield from _find_guarded(inner)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _find_guarded(item)


def path_of(value: str) -> str:
    """The path of a field path expression such as ``$a.b`` or ``$$ROOT.a``; "" for any other text."""
    return ".".join(next(paths_in(value), ()))


def fields_computed(stage: Stage) -> dict[str, Any]:
    """The fields that a stage computes, document by document, with the expression of each: dotted path → expression."""
    name, body = operator_of(stage)
    record = record_of(name)
    if record is None or record.gives is not Gives.EACH:
        return {}
    fields = effect_of(name, body).fields
    return {
        ".".join(field.parts): field.expression for field in fields if field.expression is not NO_EXPRESSION
    }


def fields_named(stage: Stage) -> list[str]:
    """The fields that a stage writes and reads, those that it writes first: what somebody wants to see of its rows."""
    effect = effect_of(*operator_of(stage))
    written = [field.parts for field in effect.fields if field.becomes == "made" and field.place is not None]
    return list(dict.fromkeys([*_dotted(written), *fields_read(stage)]))
