"""The collections and document paths that queries read, and documents reduced to them (``pull --prune``).

The paths are a superset of what is read: an unknown stage or operator makes the answer "everything".
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.catalogue import collection_arguments, names_with
from mongo_tables.aggregation.fields import (
    WHOLE,
    Parts,
    ReadsAnything,
    paths_in_query,
    paths_read,
    split_path,
)
from mongo_tables.results.model import Query

Tree = dict[str, Any]
"""Paths as nested mappings; an empty one means everything below."""


FICKLE: Final = ("$$NOW", "$$CLUSTER_TIME", *sorted(names_with("random")))
"""Variables and operators whose value differs by time or by call."""


def is_lasting(query: Query) -> bool:
    """Return whether a query gives the same rows at any time."""
    asked = repr((query.pipeline, query.let))
    return not any(word in asked for word in FICKLE)


def collections_read(query: Query) -> tuple[str, ...]:
    """Return the collections that a query reads, each once: its own, then those that stages look up."""
    return tuple(dict.fromkeys((query.collection, *list_joined(query.pipeline))))


def list_joined(value: Any) -> Iterator[str]:
    """Yield the collections that stages look up, in the order of the text."""
    if isinstance(value, Mapping):
        joins = collection_arguments()
        for key, inner in value.items():
            if key in joins:
                named = inner.get(joins[key]) if isinstance(inner, Mapping) else inner
                yield from [named] if isinstance(named, str) else []
            if not isinstance(inner, (str, int, float)):
                yield from list_joined(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from list_joined(inner)


class Reader(NamedTuple):
    """The author of a query and what it takes of the rows: columns, and filters in the query language of ``$match``.

    ``place`` is its name in messages.
    """

    query: Query
    columns: tuple[str, ...]
    filters: tuple[Mapping[str, Any], ...] = ()
    place: str = ""


def trees_by_collection(readers: Iterable[Reader]) -> tuple[dict[str, Tree | None], list[str]]:
    """Return for each collection what all the readers together can read of its documents; None = everything.

    A collection that another one looks up (``$lookup``, ``$unionWith`` …) is kept whole. The second result has a line
    for each collection and reader that needs everything: which, who, and why.
    """
    paths: dict[str, list[Parts]] = {}
    reasons: dict[str, list[str]] = {}
    for reader in readers:
        own = reader.query.collection
        held = paths.setdefault(own, [])
        try:
            held += paths_read(reader.query.pipeline, _list_read_paths(reader))
        except ReadsAnything as reason:
            reasons.setdefault(own, []).append(f"{reader.place}: {reason}")
        for name in list_joined(reader.query.pipeline):
            paths.setdefault(name, [])
            reasons.setdefault(name, []).append(f"{reader.place}: another collection looks it up")
    trees = {name: None if name in reasons else tree_of(paths[name]) for name in sorted(paths)}
    return trees, [f"{name}: {why}" for name in sorted(reasons) for why in dict.fromkeys(reasons[name])]


def _list_read_paths(reader: Reader) -> list[Parts]:
    """Return the paths that a reader takes from rows. Raises ``ReadsAnything``."""
    columns = [path for name in reader.columns for path in ((name,), split_path(name))]
    filtered = [path for each in reader.filters for path in paths_in_query(each)]
    if WHOLE in filtered:
        raise ReadsAnything("a condition on the rows may read every field")
    return columns + filtered


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


def prune(document: Mapping[str, Any], tree: Tree) -> dict[str, Any]:
    """Return the document with only the paths of the tree, in its order. An array stays whole.

    Example:
        >>> prune({"_id": 1, "a": {"b": 2, "c": 3}}, {"a": {"b": {}}})
        {'a': {'b': 2}}
    """
    return {
        name: prune(value, tree[name]) if type(value) is dict and tree[name] else value
        for name, value in document.items()
        if name in tree
    }
