"""`$replaceRoot` and `$replaceWith`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mongo_tables.aggregation.compiler import Scope, Stage, compile_expression, stage
from mongo_tables.aggregation.errors import AggregationError, Path, refuse_unknown
from mongo_tables.aggregation.fields import Effect, Gives, StageRecord, paths_in
from mongo_tables.aggregation.values import Document, type_name


def _effect(expression: Any) -> Effect:
    return Effect(reads=tuple(paths_in(expression)), only=True)


@stage("$replaceRoot", record=StageRecord(lambda argument: _effect(argument["newRoot"]), Gives.EACH))
def replace_root(argument: Any, scope: Scope, path: Path) -> Stage:
    """For each document the document that the expression ``newRoot`` gives."""
    if not isinstance(argument, Mapping):
        raise AggregationError("$replaceRoot takes a document with newRoot", path, 40229)
    refuse_unknown(argument, ("newRoot",), "$replaceRoot has no option", path, 40415)
    if "newRoot" not in argument:
        raise AggregationError("$replaceRoot needs the option 'newRoot'", path, 40414)
    return _replacing(argument["newRoot"], scope, (*path, "newRoot"))


@stage("$replaceWith", record=StageRecord(_effect, Gives.EACH))
def replace_with(argument: Any, scope: Scope, path: Path) -> Stage:
    """For each document the document that the expression gives."""
    return _replacing(argument, scope, path)


def _replacing(expression: Any, scope: Scope, path: Path) -> Stage:
    evaluate = compile_expression(expression, scope, path).run

    def root(document: Document) -> Document:
        value = evaluate(document)
        if isinstance(value, Mapping):
            return value  # type: ignore[return-value]
        raise AggregationError(
            f"a document is replaced by a document, not by {type_name(value)}", path, 40228
        )

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return map(root, documents)

    return run
