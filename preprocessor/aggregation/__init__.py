"""MongoDB's aggregation language in Python: bson types in, bson types out, no server.

``aggregate`` gives what a server gives, or says plainly what it does not cover (``NotOffline``). The package
imports nothing else of this project.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from preprocessor.aggregation.errors import AggregationError, NotOffline

__all__ = ["AggregationError", "NotOffline", "aggregate"]


def aggregate(
    documents: Iterable[dict[str, Any]],
    pipeline: Sequence[Mapping[str, Any]],
    *,
    collections: Mapping[str, Sequence[dict[str, Any]]] | None = None,
    now: datetime | None = None,
    variables: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """The documents that ``pipeline`` makes of ``documents``.

    ``collections`` are what ``$lookup``, ``$graphLookup`` and ``$unionWith`` read, by name. ``now`` is ``$$NOW``
    (default: the time of the call), ``variables`` the command's ``let`` (constant expressions), ``seed`` that of
    ``$sample`` and ``$rand``. Input documents are never changed; the output may share parts with them.

    Raises AggregationError (with the path of the culprit) for what the server refuses or fails on, NotOffline for
    what needs a server.
    """
    from preprocessor.aggregation.compiler import (
        Context,
        Scope,
        check_user_variable,
        compile_expression,
        compile_pipeline,
        utc_now,
    )

    scope = Scope(Context(collections or {}, now or utc_now(), seed))
    for name, value in (variables or {}).items():
        check_user_variable(name)
        node = compile_expression(value, scope, ("let", name))
        scope, (slot,) = scope.binding(name)
        slot.value = node.run({})
    return list(compile_pipeline(pipeline, scope)(iter(documents)))
