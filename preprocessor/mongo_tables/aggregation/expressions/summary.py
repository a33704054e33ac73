"""`$avg`, `$max`, `$min`, `$stdDevPop`, `$stdDevSamp`, `$sum` of several arguments, or of one array's elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mongo_tables.aggregation.compiler import Node, Scope, arguments, compile_expression, fold_constant, form
from mongo_tables.aggregation.errors import Path
from mongo_tables.aggregation.expressions.associative import flatten_associative
from mongo_tables.aggregation.ordering import largest, smallest
from mongo_tables.aggregation.spread import standard_deviation
from mongo_tables.aggregation.summation import mean, total
from mongo_tables.aggregation.values import Document

Summary = Callable[[Sequence[Any]], Any]


_SUMMARIES: dict[str, Summary] = {
    "$avg": mean,
    "$max": largest,
    "$min": smallest,
    "$stdDevPop": lambda values: standard_deviation(values, sample=False),
    "$stdDevSamp": lambda values: standard_deviation(values, sample=True),
    "$sum": total,
}
# These the server regroups when they have several arguments: see ``associative``.
_ASSOCIATIVE = ("$max", "$min", "$sum")


@form(*_SUMMARIES)
def _summary(argument: Any, scope: Scope, path: Path) -> Node:
    name = str(path[-1])
    summary = _SUMMARIES[name]
    given = arguments(name, argument, path)
    if len(given) == 1:
        return _of_one(summary, compile_expression(given[0][0], scope, given[0][1]), path)
    if name in _ASSOCIATIVE:
        nodes = flatten_associative(
            name, lambda values: summary(list(values)), argument, scope, path, commutative=True, single=False
        )
    else:
        nodes = [compile_expression(item, scope, where) for item, where in given]
    runs = [node.run for node in nodes]
    node = Node(
        lambda document: summary([run(document) for run in runs]), all(node.constant for node in nodes)
    )
    return fold_constant(node, path)


def _of_one(summary: Summary, node: Node, path: Path) -> Node:
    read = node.run

    def run(document: Document) -> Any:
        value = read(document)
        return summary(value if isinstance(value, list) else (value,))

    return fold_constant(Node(run, constant=node.constant), path)
