"""Which paths of a document a pipeline can read, and which documents its first ``$match`` can keep.

Both answers only save decoding, so they err on the side of too much: a stage or an operator that is not
known makes the answer "everything".
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mongo_tables.aggregation.catalogue import collection_arguments
from mongo_tables.aggregation.fields import (
    WHOLE,
    Parts,
    ReadsAnything,
    paths_in_query,
    paths_read,
    split_path,
)
from mongo_tables.results.model import Query
from mongo_tables.results.rawbson import Scalar

Tree = dict[str, Any]
Wanted = Mapping[Parts, frozenset[Scalar]]
"""Values, by their paths, of which a document must have one of each."""


class Reads(NamedTuple):
    """What is read of a collection: the documents with certain values, and of these a tree of fields."""

    wanted: Wanted
    tree: Tree

    @property
    def text(self) -> str:
        """The same for the same reads, in every process."""
        wanted = sorted((path, sorted(map(repr, values))) for path, values in self.wanted.items())
        return json.dumps([wanted, self.tree], sort_keys=True)


class Reader(NamedTuple):
    """Who asks a query and what is taken of its rows: columns, and filters in the query language of ``$match``.

    ``place`` is how a message names it.
    """

    query: Query
    columns: tuple[str, ...]
    filters: tuple[Mapping[str, Any], ...] = ()
    place: str = ""


def read_tree(pipeline: Sequence[Any]) -> Tree | None:
    """The paths that the pipeline can read, as nested mappings (an empty one means all below); None =
    everything.
    """
    try:
        return tree_of(paths_read(pipeline))
    except ReadsAnything:
        return None


def _list_read_paths(reader: Reader) -> list[Parts]:
    """The paths that a reader takes from rows. Raises ``ReadsAnything``."""
    columns = [path for name in reader.columns for path in ((name,), split_path(name))]
    filtered = [path for each in reader.filters for path in paths_in_query(each)]
    if WHOLE in filtered:
        raise ReadsAnything("a condition on the rows may read every field")
    return columns + filtered


def tree_of(paths: Iterable[Parts]) -> Tree:
    """Nested mappings for the paths; a path swallows those that go on below it."""
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


def trees_by_collection(readers: Iterable[Reader]) -> tuple[dict[str, Tree | None], list[str]]:
    """For each collection what all the readers together can read of its documents; None = everything.

    A collection that another one looks up (``$lookup``, ``$unionWith`` …) is taken whole. With it a line for
    each collection and reader that needs everything: which, who, and why.
    """
    paths: dict[str, list[Parts]] = {}
    reasons: dict[str, list[str]] = {}
    for reader in readers:
        held = paths.setdefault(reader.query.collection, [])
        try:
            held += paths_read(reader.query.pipeline, _list_read_paths(reader))
        except ReadsAnything as reason:
            reasons.setdefault(reader.query.collection, []).append(f"{reader.place}: {reason}")
        for name in _foreign(reader.query.pipeline):
            paths.setdefault(name, [])
            reasons.setdefault(name, []).append(f"{reader.place}: another collection looks it up")
    trees = {name: None if name in reasons else tree_of(paths[name]) for name in sorted(paths)}
    return trees, [f"{name}: {why}" for name in sorted(reasons) for why in dict.fromkeys(reasons[name])]


def collections_read(query: Query) -> tuple[str, ...]:
    """The collections that a query reads: its own, then those that stages look up, each once."""
    return tuple(dict.fromkeys((query.collection, *_foreign(query.pipeline))))


def _foreign(value: Any) -> Iterator[str]:
    return (name for name, _ in _joins(value))


def _joins(value: Any) -> Iterator[tuple[str, Any]]:
    """The collections that stages look up, each with what the stage says, in the order of the text."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in (joins := collection_arguments()):
                named = inner.get(joins[key]) if isinstance(inner, Mapping) else inner
                yield from [(named, inner)] if isinstance(named, str) else []
            yield from _joins(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _joins(inner)


def joined_reads(pipeline: Sequence[Any], collection: str) -> Reads | None:
    """What a pipeline can read of a collection that its stages look up; None = everything.

    A stage with a pipeline of its own reads what that reads, and the field that it joins by; any other takes documents
    whole.
    """
    stages = [argument for name, argument in _joins(pipeline) if name == collection]
    paths: list[Parts] = []
    try:
        for argument in stages:
            inner = argument.get("pipeline") if isinstance(argument, Mapping) else None
            if not isinstance(inner, (list, tuple)):
                return None
            paths += paths_read(inner)
            paths += [split_path(argument["foreignField"])] if "foreignField" in argument else []
    except ReadsAnything:
        return None
    return Reads(leading_values(stages[0]["pipeline"]) if len(stages) == 1 else {}, tree_of(paths))


def leading_values(pipeline: Sequence[Any]) -> Wanted:
    """Dotted paths that must equal one of some values for a document to pass the first ``$match``.

    Only plain equality, ``$eq`` and ``$in`` with strings, numbers and booleans count; a filter with ``$expr``
    gives nothing, because an expression may fail on a document that the other conditions would have dropped.
    """
    if not pipeline or not isinstance(pipeline[0], Mapping):
        return {}
    condition = pipeline[0].get("$match")
    if not isinstance(condition, Mapping) or any(str(key).startswith("$") for key in condition):
        return {}
    found = {split_path(key): _values(value) for key, value in condition.items()}
    return {path: values for path, values in found.items() if values and all(path)}


def _values(value: Any) -> frozenset[Scalar]:
    """The values that a condition admits; empty when it is of another kind (a list as such is an array to
    equal).
    """
    accepted: Any = [value]
    if isinstance(value, Mapping) and len(value) == 1:
        accepted = value["$in"] if "$in" in value else [value.get("$eq")]
    scalars = [_scalar(one) for one in accepted] if isinstance(accepted, list) else [None]
    return frozenset(one for one in scalars if one is not None) if None not in scalars else frozenset()


def _scalar(value: Any) -> Scalar | None:
    """The value as ``rawbson.scalar_at`` gives it; None for what that cannot compare."""
    if isinstance(value, bool):
        return (value,)
    if type(value) is str or isinstance(value, int):
        return value
    return value if isinstance(value, float) and value == value else None
