"""What a value looks like that is of one shape or of another, each field joined when it is asked for.

Documents of results are large, and of each question one level is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mongo_tables.lint.shape.values import Shape, join, member


def join_when_asked(one: Shape, other: Shape) -> Shape:
    """The shape of a value that has one shape or the other, as ``join`` gives it."""
    bare = [each._replace(fields={}, items=None) for each in (one, other)]
    joined = join(*bare)
    if "object" in joined.kinds:
        joined = joined._replace(fields=_EitherFields(one, other))
    return joined._replace(items=_join_items(one, other)) if "array" in joined.kinds else joined


def _join_items(one: Shape, other: Shape) -> Shape | None:
    with_items = [each.items for each in (one, other) if "array" in each.kinds]
    known = [items for items in with_items if items is not None]
    if len(known) < len(with_items):
        return None
    return known[0] if len(known) == 1 else join_when_asked(*known)


class _EitherFields(Mapping[str, Shape]):
    """The fields of documents of one shape or the other."""

    __slots__ = ("_shapes",)

    def __init__(self, one: Shape, other: Shape) -> None:
        self._shapes = [each for each in (one, other) if "object" in each.kinds]

    def __getitem__(self, name: str) -> Shape:
        if not any(name in each.fields for each in self._shapes):
            raise KeyError(name)
        found = [member(each, name) for each in self._shapes]
        return found[0] if len(found) == 1 else join_when_asked(*found)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for each in self._shapes for name in each.fields))

    def __len__(self) -> int:
        return sum(1 for _ in self)
