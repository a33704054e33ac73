"""Which fields a stage reads and which it computes, by its text alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from preprocessor.aggregation.fieldpaths import paths_in

Stage = Mapping[str, Any]

_COMPUTING = ("$set", "$addFields", "$project")
_OF_EXPRESSIONS = frozenset(
    {
        *("$set", "$addFields", "$group", "$bucket", "$bucketAuto", "$sortByCount"),
        *("$replaceRoot", "$replaceWith", "$redact", "$setWindowFields"),
    }
)


def operator_of(stage: Stage) -> tuple[str, Any]:
    """The name of a stage and what stands behind it."""
    ((name, body),) = stage.items()
    return name, body


def fields_read(stage: Stage) -> list[str]:
    """The dotted paths of the incoming documents that a stage names, each once, in the order of its text.

    What it cannot know (a sub-pipeline's own reading, a path that is computed) it leaves out.
    """
    name, body = operator_of(stage)
    return list(dict.fromkeys(path for path in _read(name, body) if path and not path.startswith("$")))


def _read(name: str, body: Any) -> Iterator[str]:
    if name == "$match":
        yield from _of_query(body)
    elif name == "$project" and isinstance(body, Mapping):
        yield from _of_projection(body, "")
    elif name == "$sort" and isinstance(body, Mapping):
        yield from (key for key, order in body.items() if not isinstance(order, Mapping))
    elif name == "$unwind":
        yield from _of_expression(body.get("path") if isinstance(body, Mapping) else body)
    elif name == "$lookup" and isinstance(body, Mapping):
        yield from (body["localField"],) if isinstance(body.get("localField"), str) else ()
        yield from _of_expression(body.get("let"))
    elif name == "$graphLookup" and isinstance(body, Mapping):
        yield from _of_expression(body.get("startWith"))
    elif name in _OF_EXPRESSIONS:
        yield from _of_expression(body)


def _of_query(query: Any) -> Iterator[str]:
    if not isinstance(query, Mapping):
        return
    for key, condition in query.items():
        if key == "$expr":
            yield from _of_expression(condition)
        elif key in ("$and", "$or", "$nor") and isinstance(condition, list):
            for part in condition:
                yield from _of_query(part)
        elif not key.startswith("$"):
            yield key


def _of_projection(body: Mapping[str, Any], above: str) -> Iterator[str]:
    for key, value in body.items():
        path = f"{above}{key}"
        if isinstance(value, bool | int | float):
            yield from (path,) if value else ()
        elif isinstance(value, Mapping) and value and not next(iter(value)).startswith("$"):
            yield from _of_projection(value, f"{path}.")
        else:
            yield from _of_expression(value)


def _of_expression(value: Any) -> Iterator[str]:
    yield from map(".".join, paths_in(value))


def fields_guarded(stage: Stage) -> set[str]:
    """The fields that a stage reads only where ``$ifNull`` has something else for a document without them."""
    _, body = operator_of(stage)
    guarded = set(_find_guarded(body))
    return {path for path in guarded if path}


def _find_guarded(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "$ifNull" and isinstance(inner, list):
                yield from _of_expression(inner[:-1])
            yield from _find_guarded(inner)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _find_guarded(item)


def path_of(value: str) -> str:
    """The path of a field path expression such as ``$a.b`` or ``$$ROOT.a``; "" for any other text."""
    return next(_of_expression(value), "")


def fields_computed(stage: Stage) -> dict[str, Any]:
    """The fields that a stage computes, document by document, with the expression of each: dotted path → expression."""
    name, body = operator_of(stage)
    if name not in _COMPUTING or not isinstance(body, Mapping):
        return {}
    return dict(_find_computed(body, "", switches=name == "$project"))


def _find_computed(body: Mapping[str, Any], above: str, *, switches: bool) -> Iterator[tuple[str, Any]]:
    for key, value in body.items():
        if isinstance(value, Mapping) and value and not next(iter(value)).startswith("$"):
            yield from _find_computed(value, f"{above}{key}.", switches=switches)
        elif not (switches and isinstance(value, bool | int | float)):
            yield f"{above}{key}", value


def fields_named(stage: Stage) -> list[str]:
    """The fields that a stage writes and reads, those that it writes first: what somebody wants to see of its rows."""
    name, body = operator_of(stage)
    written = list(fields_computed(stage))
    if name == "$group" and isinstance(body, Mapping):
        written = list(body)
    elif name == "$count" and isinstance(body, str):
        written = [body]
    return list(dict.fromkeys([*written, *fields_read(stage)]))
