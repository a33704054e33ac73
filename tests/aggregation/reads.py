"""Every path that a pipeline reads, by the records of its stages. Documents without the rest must give the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mongo_tables.aggregation.fields import WHOLE, Gives, Parts, effect_of, record_of

Tree = dict[str, Any]
"""Paths as nested mappings; an empty one means everything below."""


class ReadsAnything(Exception):
    """The pipeline may read any field. The message names the reason."""


def paths_read(pipeline: Iterable[Any], taken: Sequence[Parts] | None = None) -> list[Parts]:
    """Return every path that a pipeline can read: documents without all others give the same rows.

    If the rows are input documents, only the paths ``taken`` of them count; None: the whole documents. A
    field that a stage writes counts as read, because its position among the other fields is visible in the
    rows.

    Raises:
        ReadsAnything: If the pipeline may read any field.
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


def tree_of(paths: Iterable[Parts]) -> Tree:
    """Return nested mappings for the paths. A path includes all longer ones.

    Example:
        >>> tree_of([("a", "b"), ("a",), ("c", "d")])
        {'a': {}, 'c': {'d': {}}}
    """
    root: Tree = {}
    for path in sorted(set(paths), key=len):
        node = root
        for depth, name in enumerate(path):
            if name in node and not node[name]:
                break
            node = node.setdefault(name, {})
            if depth == len(path) - 1:
                node.clear()
    return root
