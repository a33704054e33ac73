"""Groups the elements of arrays that `$unwind` takes apart, without a document of each.

A document that `$unwind` makes differs from the next one in one element. Where the key of a `$group` is made of fields
beside the array, all its elements are of one group; where an accumulator takes a field of the elements, or one beside
the array, its values are a list, which it takes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.fields import Parts, split_path
from mongo_tables.aggregation.values import Document, Evaluate, is_number

Column = Callable[[Document, Sequence[Any]], Sequence[Any]]
"""The values of an expression for all elements of an array, by the document that has the array, and the elements."""


class Unwinding(Protocol):
    """What an `$unwind` does to one document."""

    @property
    def path(self) -> Parts:
        """Where the array stands."""
        ...

    def output(self, document: Document) -> Iterator[Document]:
        """One document for each element of the array."""
        ...

    def elements(self, document: Document) -> list[Any]:
        """The elements that become a document each; none where the document itself, or nothing, goes on."""
        ...


class Unwound(Iterator[Document]):
    """The documents that an `$unwind` makes; or its arrays, for a stage that needs no document of each element."""

    def __init__(self, documents: Iterator[Document], unwinding: Unwinding) -> None:
        self._documents, self._unwinding = documents, unwinding
        self._outputs = (output for document in documents for output in unwinding.output(document))

    def __iter__(self) -> Iterator[Document]:
        return self._outputs

    def __next__(self) -> Document:
        return next(self._outputs)

    @property
    def path(self) -> Parts:
        """Where the arrays stand in their documents."""
        return self._unwinding.path

    def arrays(self) -> Iterator[tuple[Document, list[Any]]]:
        """Each document that has an array, with its elements; and, without elements, each that goes on by itself."""
        for document in self._documents:
            items = self._unwinding.elements(document)
            if items:
                yield document, items
            else:
                for output in self._unwinding.output(document):
                    yield output, []


def is_beside(unwound: Parts, expression: Any) -> bool:
    """Whether an expression is fields, or a document of such, that stand beside the array at a path."""
    if isinstance(expression, Mapping):
        plain = not any(name.startswith("$") for name in expression)
        return plain and all(is_beside(unwound, inner) for inner in expression.values())
    if expression is None or is_number(expression):
        return True
    parts = _field(expression)
    return parts is not None and parts[: len(unwound)] != unwound[: len(parts)]


def column_of(unwound: Parts, expression: Any, evaluate: Evaluate) -> Column | None:
    """How to take the values of an expression from all elements of the array at a path; None: one by one only.

    ``evaluate`` computes the expression of one document.
    """
    if is_beside(unwound, expression):
        return lambda document, items: [evaluate(document)] * len(items)
    parts = _field(expression)
    if parts is None or parts[: len(unwound)] != unwound:
        return None
    inside = parts[len(unwound) :]
    if not inside:
        return lambda _, items: items
    read = paths.of_elements(inside)
    return lambda _, items: read(items)


def _field(expression: Any) -> Parts | None:
    """The path of an expression that is nothing but a field."""
    if type(expression) is not str or not expression.startswith("$") or expression.startswith("$$"):
        return None
    return split_path(expression[1:])
