"""`$redact`: keep, prune or descend into every document at every level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mongo_tables.aggregation.compiler import Scope, Slot, Stage, compile_expression, stage
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.fields import WHOLE, Effect, StageRecord, paths_in
from mongo_tables.aggregation.values import MISSING, Document, Evaluate

_KEEP, _PRUNE, _DESCEND = "keep", "prune", "descend"


def _effect(argument: Any) -> Effect:
    return Effect(reads=(*paths_in(argument), WHOLE))


@stage("$redact", record=StageRecord(_effect))
def redact(argument: Any, scope: Scope, path: Path) -> Stage:
    """An expression keeps a level of each document (``$$KEEP``), drops it or looks inside (``$$DESCEND``)."""
    inner, (current, keep, prune, descend) = scope.binding("CURRENT", "KEEP", "PRUNE", "DESCEND")
    keep.value, prune.value, descend.value = _KEEP, _PRUNE, _DESCEND
    evaluate = compile_expression(argument, inner, path).run
    level = _level(evaluate, current, path)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        for document in documents:
            value = level(document, document)
            if value is not MISSING:
                yield value

    return run


def _level(evaluate: Evaluate, current: Slot, path: Path) -> Any:
    def level(root: Document, document: Document) -> Any:
        current.value = document
        decision = evaluate(root)
        if decision == _KEEP:
            return document
        if decision == _PRUNE:
            return MISSING
        if decision != _DESCEND:
            raise AggregationError(
                "$redact gives $$KEEP, $$PRUNE or $$DESCEND, and nothing else", path, 17053
            )
        return {name: found for name, item in document.items() if (found := value(root, item)) is not MISSING}

    def value(root: Document, item: Any) -> Any:
        if isinstance(item, Mapping):
            return level(root, item)  # type: ignore[arg-type]
        if type(item) is list:
            return [found for one in item if (found := value(root, one)) is not MISSING]
        return item

    return level
