"""A rule about what is taken out of an array whose elements nothing has put in order.

It does not know each operator that goes by places in an array: it puts the elements in other orders and looks whether
readers see something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation.values import MISSING
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.asking import collect_documents
from mongo_tables.lint.ordering import MAKING_ARRAYS, By, Order
from mongo_tables.lint.rulecontext import RuleContext, quote
from mongo_tables.lint.rules_order import chance_limits, draws
from mongo_tables.render.column import column_value

if TYPE_CHECKING:
    from mongo_tables.results.model import LocalDocuments

Rows = Sequence[Mapping[str, Any]]
Seen = Counter[tuple[str, ...]]
Made = tuple[int, list[str]]

_DIGITS: Final = 9
"""Sums of many numbers may differ in their last digits when these are added in another order."""


def find_elements_by_chance(subject: RuleContext, source: LocalDocuments, rows: Rows) -> Iterator[Finding]:
    """MT424: what is shown goes by the places of elements in an array that nothing has put in order."""
    if chance_limits(subject) or any(draws(subject.spec.pipeline, ())):
        return  # MT401 and MT421 tell of it.
    lists = _open_arrays(subject.orders[-1].arrays) if subject.orders else []
    columns = [column for column in _columns(subject) if column not in lists]  # MT420 tells of those.
    shown = _count_shown_rows(rows, columns)
    for index, names in _find_chance_arrays(subject):
        if not _differing(subject, source, (index, names), columns, shown):
            continue
        for name in names:
            if found := _differing(subject, source, (index, [name]), columns, shown):
                yield _finding(subject, name, index, found)


def _finding(subject: RuleContext, name: str, index: int, columns: list[str]) -> Finding:
    order = subject.orders[index].arrays[name]
    return subject.in_pipeline(
        "MT424",
        order.cause,
        f"the elements of `{name}` come {'in no order' if order.by is By.CHANCE else 'as documents are stored'}, and "
        f"{quote(columns)} {'goes' if len(columns) == 1 else 'go'} by their places: a server and files may show "
        "different values",
        f'sort them first: {{"$set": {{"{name}": {{"$sortArray": {{"input": "${name}", "sortBy": 1}}}}}}}}; or take '
        "`$max`, `$min` or `$avg`",
        key=True,
    )


def _columns(subject: RuleContext) -> list[str]:
    return list(dict.fromkeys(column for _, column in subject.spec.shown_columns))


def _open_arrays(arrays: Mapping[str, Order]) -> list[str]:
    """The arrays whose elements nothing has put in order."""
    return [name for name, order in arrays.items() if order.by in (By.CHANCE, By.STORAGE)]


def _find_chance_arrays(subject: RuleContext) -> Iterator[Made]:
    """The stages that make arrays in no order, by their numbers, each with the names of the arrays."""
    before: Mapping[str, Order] = {}
    for index, order in enumerate(subject.orders[:-1]):
        if next(iter(subject.spec.pipeline[index])) in MAKING_ARRAYS:
            made = {
                name: one
                for name, one in order.arrays.items()
                if one is not before.get(name) and "." not in name
            }
            if names := _open_arrays(made):
                yield index, names
        before = order.arrays


def _differing(
    subject: RuleContext, source: LocalDocuments, made: Made, columns: Sequence[str], shown: Seen
) -> list[str]:
    """The columns in which readers see something else when arrays, behind the stage that makes them, are reordered."""
    index, names = made
    pipeline = subject.spec.pipeline
    for reordered in (_reverse_array, _rotate_array):
        stage = {
            "$set": {
                name: {"$cond": [{"$isArray": [f"${name}"]}, reordered(f"${name}"), f"${name}"]}
                for name in names
            }
        }
        rows = collect_documents(
            subject.spec, source, [*pipeline[: index + 1], stage, *pipeline[index + 1 :]]
        )
        if rows and (others := _count_shown_rows(rows, columns)) != shown:
            return _find_differing_columns(shown, others, columns)
    return []


def _reverse_array(array: str) -> dict[str, Any]:
    return {"$reverseArray": array}


def _rotate_array(array: str) -> dict[str, Any]:
    """Move each element up one place and the first to the end: unlike in a reversed array, none keeps its place."""
    return {"$concatArrays": [{"$slice": [array, 1, 2**31 - 1]}, {"$slice": [array, 1]}]}


def _count_shown_rows(rows: Rows, columns: Sequence[str]) -> Seen:
    """The rows as readers see them, whatever their order."""
    return Counter(tuple(_format_value(column_value(row, column)) for column in columns) for row in rows)


def _format_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}"
    return "" if value is MISSING else repr(value)


def _find_differing_columns(one: Seen, other: Seen, columns: Sequence[str]) -> list[str]:
    """The columns whose values differ; all columns if only the combination of values differs."""
    found = [
        name
        for at, name in enumerate(columns)
        if Counter(row[at] for row in one.elements()) != Counter(row[at] for row in other.elements())
    ]
    return found or list(columns)
