"""Which fields a pipeline uses, seen from its end: what is shown, and what is read on the way to it.

The pipeline is gone through backwards. A field is live where a later stage reads it or the table shows it; what
makes a field that is not live could be left out without any reader noticing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from preprocessor.aggregation.fieldpaths import Parts, paths_in
from preprocessor.lint.shape.expressions import Path
from preprocessor.lint.shape.stages import is_flag, is_nested, keeps

Live = frozenset[Parts]

EVERYTHING: Final[Live] = frozenset({()})


class Unused(NamedTuple):
    """A field that nothing uses: where it is made, and whether it is computed there or only carried on."""

    path: Path
    name: str
    computed: bool


class Usage(NamedTuple):
    """``unused``: what is made for nothing, in the order of the pipeline. ``read``: fields of the collection."""

    unused: tuple[Unused, ...]
    read: Live


Step = Callable[[Any, Live, Path], tuple[Live, list[Unused]]]


def usage(pipeline: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> Usage:
    """What of a pipeline is used when ``columns`` of its rows are shown."""
    live: Live = frozenset(tuple(column.split(".")) for column in columns)
    unused: list[Unused] = []
    for index in range(len(pipeline) - 1, -1, -1):
        ((name, argument),) = pipeline[index].items()
        step = _STEPS.get(name)
        if step is None:
            live = EVERYTHING
            continue
        live, found = step(argument, live, (index, name))
        unused = found + unused
    return Usage(tuple(unused), live)


def is_live(parts: Parts, live: Live) -> bool:
    """Whether anything at, above or below the path is used."""
    return any(one[: len(parts)] == parts[: len(one)] for one in live)


def _below(parts: Parts, live: Live) -> Live:
    """The live paths at or below ``parts``; ``parts`` itself where something above it is live."""
    found = (one if len(one) >= len(parts) else parts for one in live)
    return frozenset(one for one in found if one[: len(parts)] == parts)


def _killed(live: Live, parts: Parts) -> Live:
    """What stays live before a stage that overwrites ``parts``."""
    return frozenset(one for one in live if one[: len(parts)] != parts)


def reads(expression: Any) -> Live:
    """The fields that an expression reads; everything where it takes the whole document."""
    return frozenset(paths_in(expression))


def queried(condition: Any) -> Live:
    """The fields that a query reads."""
    found: Live = frozenset()
    if isinstance(condition, Mapping):
        for key, value in condition.items():
            if key == "$expr":
                found |= reads(value)
            elif key.startswith("$"):
                found = found.union(*map(queried, value if isinstance(value, (list, tuple)) else [value]))
            else:
                found |= {tuple(key.split("."))}
    return found


# -- stages, backwards --


def _match(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    return live | queried(argument), []


def _sort(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    return live | {tuple(key.split(".")) for key in argument}, []


def _pass(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    return live, []


def _count(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    return frozenset(), []


def _leaves(argument: Any, path: Path, above: Parts = ()) -> Iterator[tuple[Parts, Any, Path]]:
    """The fields that ``$set`` or ``$project`` names, with what stands for each and where."""
    for name, value in argument.items() if isinstance(argument, Mapping) else ():
        parts = (*above, *name.split("."))
        if is_nested(value):
            yield from _leaves(value, (*path, name), parts)
        else:
            yield parts, value, (*path, name)


def _made(leaves: Iterable[tuple[Parts, Any, Path]], live: Live) -> tuple[Live, list[Unused]]:
    """What computed fields read, of those that are used; the others."""
    read: Live = frozenset()
    unused = []
    for parts, value, path in leaves:
        if is_live(parts, live):
            read |= reads(value)
        else:
            unused.append(Unused(path, ".".join(parts), computed=True))
    return read, unused


def _set(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    leaves = list(_leaves(argument, path))
    read, unused = _made(leaves, live)
    for parts, _, _ in leaves:
        live = _killed(live, parts)
    return live | read, unused


def _project(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    leaves = list(_leaves(argument, path))
    flags = [leaf for leaf in leaves if is_flag(leaf[1])]
    computed = [leaf for leaf in leaves if not is_flag(leaf[1])]
    named = {parts for parts, value, _ in leaves if not is_flag(value) or keeps(value)}
    if not named:
        for parts, _, _ in flags:
            live = _killed(live, parts)
        return live, []
    before, unused = _made(computed, live)
    for parts, value, where in flags:
        if not keeps(value):
            continue
        kept = _below(parts, live)
        before |= kept
        if not kept and parts != ("_id",):
            unused.append(Unused(where, ".".join(parts), computed=False))
    if not any(parts[0] == "_id" for parts, _, _ in leaves):
        before |= _below(("_id",), live)
    order = {path: number for number, (_, _, path) in enumerate(leaves)}
    return before, sorted(unused, key=lambda one: order[one.path])


def _group(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    fields = [((name,), value, (*path, name)) for name, value in argument.items() if name != "_id"]
    read, unused = _made(fields, live)
    return read | reads(argument["_id"]), unused


def _sort_by_count(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    return reads(argument), []


def _bucket(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    output = argument.get("output")
    fields = output.items() if isinstance(output, Mapping) else ()
    read, unused = _made([((name,), value, (*path, "output", name)) for name, value in fields], live)
    return read | reads(argument["groupBy"]), unused


def _unwind(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    spec = argument if isinstance(argument, Mapping) else {"path": argument}
    index = spec.get("includeArrayIndex")
    if isinstance(index, str):
        live = _killed(live, tuple(index.split(".")))
    return live | reads(spec["path"]), []


def _replace(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    expression = argument["newRoot"] if path[-1] == "$replaceRoot" else argument
    return reads(expression), []


def _unset(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    for name in [argument] if isinstance(argument, str) else argument:
        live = _killed(live, tuple(name.split(".")))
    return live, []


def _lookup(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    made = tuple(str(argument["as"]).split("."))
    if not is_live(made, live):
        return live, [Unused((*path, "as"), ".".join(made), computed=True)]
    read = reads(argument.get("let", {})) | reads(argument.get("startWith"))
    if isinstance(argument.get("localField"), str):
        read |= {tuple(argument["localField"].split("."))}
    return _killed(live, made) | read, []


def _windows(argument: Any, live: Live, path: Path) -> tuple[Live, list[Unused]]:
    leaves = [
        (tuple(name.split(".")), value, (*path, "output", name)) for name, value in argument["output"].items()
    ]
    read, unused = _made(leaves, live)
    for parts, _, _ in leaves:
        live = _killed(live, parts)
    keys = {tuple(key.split(".")) for key in argument.get("sortBy", {})}
    return live | read | reads(argument.get("partitionBy")) | keys, unused


_STEPS: Final[Mapping[str, Step]] = {
    "$match": _match,
    "$sort": _sort,
    "$limit": _pass,
    "$skip": _pass,
    "$sample": _pass,
    "$count": _count,
    "$set": _set,
    "$addFields": _set,
    "$unset": _unset,
    "$project": _project,
    "$group": _group,
    "$sortByCount": _sort_by_count,
    "$bucket": _bucket,
    "$bucketAuto": _bucket,
    "$unwind": _unwind,
    "$replaceRoot": _replace,
    "$replaceWith": _replace,
    "$lookup": _lookup,
    "$graphLookup": _lookup,
    "$setWindowFields": _windows,
}
