"""`$unwind`, and a shortcut for a `$group` that needs no separate document for each element.

The documents that `$unwind` makes from one array differ only in one element. If the key of the `$group` uses only
fields outside of the array, all elements of the array belong to one group. Then an accumulator that reads a field of
the elements, or a field outside of the array, takes all values of an array at once, as a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bson.int64 import Int64

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.compiler import Scope
from mongo_tables.aggregation.errors import AggregationError, Path, check_names
from mongo_tables.aggregation.fields import Effect, Field, Parts, StageRecord, paths_in, split_path
from mongo_tables.aggregation.limits import spend, unwind_elements
from mongo_tables.aggregation.paths import get_nested, with_nested
from mongo_tables.aggregation.pipelines import Stage, stage
from mongo_tables.aggregation.values import MISSING, Document, Evaluate, is_number, is_string

_OPTIONS = ("path", "includeArrayIndex", "preserveNullAndEmptyArrays")
Column = Callable[[Document, Sequence[Any]], Sequence[Any]]
"""A function that returns an expression's value for each element of an array. It gets a document and the elements of
its array.
"""


@dataclass(frozen=True, slots=True)
class _Unwind:
    """The path of the array, the path of the element index, and whether documents without elements are kept."""

    path: Parts
    index: Parts
    preserve: bool

    def output(self, document: Document) -> Iterator[Document]:
        """Yield one document for each element of the array."""
        value = get_nested(document, self.path)
        if type(value) is not list:
            if self.preserve or not (value is None or value is MISSING):
                yield self._with_index(document, None)
        elif value and len(self.path) == 1 and not self.index and type(document) is dict:
            (name,) = self.path
            for item in unwind_elements(value):
                yield {**document, name: item}
        elif value:
            for place, item in enumerate(unwind_elements(value)):
                yield self._with_index(with_nested(document, self.path, item), Int64(place))
        elif self.preserve:
            yield self._with_index(with_nested(document, self.path, MISSING), None)

    def elements(self, document: Document) -> list[Any]:
        """Return the array's elements, or [] if the output must be made document by document."""
        value = get_nested(document, self.path)
        if type(value) is not list or self.index:
            return []
        spend(len(value))
        return value

    def _with_index(self, document: Document, place: Int64 | None) -> Document:
        return with_nested(document, self.index, place) if self.index else document


class Unwound(Iterator[Document]):
    """The documents of an `$unwind`. A stage that needs no document for each element can take the arrays instead."""

    def __init__(self, documents: Iterator[Document], unwinding: _Unwind) -> None:
        self._documents, self._unwinding = documents, unwinding
        self.path = unwinding.path
        self._outputs = (output for document in documents for output in unwinding.output(document))

    def __iter__(self) -> Iterator[Document]:
        return self._outputs

    def __next__(self) -> Document:
        return next(self._outputs)

    def arrays(self) -> Iterator[tuple[Document, list[Any]]]:
        """Yield each document with the elements of its array.

        If there are no elements, or each must become a separate document, yield each output document with [].
        """
        for document in self._documents:
            items = self._unwinding.elements(document)
            if items:
                yield document, items
            else:
                for output in self._unwinding.output(document):
                    yield output, []


def is_beside(unwound: Parts, expression: Any) -> bool:
    """Return whether an expression is a field, or a document of fields, outside of the array at ``unwound``."""
    if isinstance(expression, Mapping):
        plain = not any(name.startswith("$") for name in expression)
        return plain and all(is_beside(unwound, inner) for inner in expression.values())
    if expression is None or is_number(expression):
        return True
    parts = _parts_of(expression)
    return parts is not None and parts[: len(unwound)] != unwound[: len(parts)]


def column_of(unwound: Parts, expression: Any, evaluate: Evaluate) -> Column | None:
    """Return the function (``Column``) that computes an expression for all elements of the array at ``unwound``.

    Return None if the expression must be computed for one document at a time. ``evaluate`` does that.
    """
    if is_beside(unwound, expression):
        return lambda document, items: [evaluate(document)] * len(items)
    parts = _parts_of(expression)
    if parts is None or parts[: len(unwound)] != unwound:
        return None
    inside = parts[len(unwound) :]
    if not inside:
        return lambda _, items: items
    read = paths.of_elements(inside)
    return lambda _, items: read(items)


def _parts_of(expression: Any) -> Parts | None:
    """Return the path of an expression that is only a field, or None."""
    if type(expression) is not str or not expression.startswith("$") or expression.startswith("$$"):
        return None
    return split_path(expression[1:])


def _effect(argument: Any) -> Effect:
    spec = argument if isinstance(argument, Mapping) else {"path": argument}
    index = spec.get("includeArrayIndex")
    made = () if index is None else (Field(split_path(index), ("includeArrayIndex",)),)
    return Effect(tuple(paths_in(spec["path"])), made)


@stage("$unwind", record=StageRecord(_effect, adds=True, watched=True))
def unwind(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return one document for each element of an array, with the element in the array's place."""
    index: Parts = ()
    preserve = False
    if is_string(argument):
        field = _field(argument, path)
    else:
        names, form = _OPTIONS, "'$field' or a document with path"
        check_names(argument, names[:1], names[1:], path, (15981, 28811, 28812), form)
        preserve = argument.get("preserveNullAndEmptyArrays", False)
        if not isinstance(preserve, bool):
            where = (*path, "preserveNullAndEmptyArrays")
            raise AggregationError("preserveNullAndEmptyArrays must be true or false", where, 28809)
        field = _field(argument["path"], (*path, "path"))
        if "includeArrayIndex" in argument:
            name, where = argument["includeArrayIndex"], (*path, "includeArrayIndex")
            if not is_string(name) or not name:
                raise AggregationError("includeArrayIndex must be the name of a field", where, 28810)
            if name.startswith("$"):
                raise AggregationError("includeArrayIndex must be a field name, without '$'", where, 28822)
            index = paths.split(name, where)
    spec = _Unwind(field, index, preserve)
    return lambda documents: Unwound(documents, spec)


def _field(value: Any, path: Path) -> Parts:
    if not is_string(value):
        raise AggregationError("the path of $unwind must be a string", path, 28808)
    if not value.startswith("$"):
        raise AggregationError(f"the path of $unwind must start with '$': '${value}'", path, 28818)
    return paths.split(value[1:], path)
