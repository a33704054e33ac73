"""`$lookup`: joins by equal fields, by a pipeline, or by both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from preprocessor.aggregation import paths
from preprocessor.aggregation.compiler import (
    Scope,
    Stage,
    check_user_variable,
    compile_expression,
    compile_pipeline,
    did_you_mean,
    stage,
)
from preprocessor.aggregation.errors import AggregationError, Path
from preprocessor.aggregation.stages.combine import starts_with_documents
from preprocessor.aggregation.stages.joining import JoinIndex, path_values
from preprocessor.aggregation.stages.nesting import with_nested
from preprocessor.aggregation.values import Document

_OPTIONS = ("from", "localField", "foreignField", "let", "pipeline", "as")
_Find = Callable[[Document], Sequence[Document]]


@stage("$lookup")
def lookup(argument: Any, scope: Scope, path: Path) -> Stage:
    """The documents, each with the list of those of another collection that belong to it."""
    _check(argument, path)
    target = _split(argument["as"], (*path, "as"))
    source = scope.context.collections.get(argument.get("from", ""), ())
    join = _equality(argument, source, path)
    if "pipeline" not in argument:
        find: _Find = join or (lambda _: source)
    else:
        find = _piped(argument, join, source, scope, path)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return (with_nested(document, target, list(find(document))) for document in documents)

    return run


def _check(argument: Any, path: Path) -> None:
    if not isinstance(argument, Mapping):
        raise AggregationError("$lookup takes a document", path, 9)
    for name in argument:
        if name not in _OPTIONS:
            hint = did_you_mean(name, _OPTIONS)
            raise AggregationError(f"$lookup has no option '{name}'{hint}", (*path, name), 9)
    for name in ("from", "localField", "foreignField", "as"):
        if name in argument and not isinstance(argument[name], str):
            raise AggregationError(f"'{name}' of $lookup is a string", (*path, name), 9)
    if "as" not in argument:
        raise AggregationError("$lookup needs the option 'as'", path, 9)
    if "from" not in argument and not starts_with_documents(argument.get("pipeline")):
        raise AggregationError("$lookup needs 'from', or a pipeline that starts with $documents", path, 9)
    if ("localField" in argument) != ("foreignField" in argument):
        raise AggregationError("$lookup takes localField and foreignField together", path, 9)
    if "pipeline" not in argument and "localField" not in argument:
        raise AggregationError("$lookup needs localField and foreignField, or a pipeline", path, 9)
    if "let" in argument and "pipeline" not in argument:
        raise AggregationError("'let' of $lookup is for a pipeline, and there is none", (*path, "let"), 9)


def _split(dotted: str, path: Path) -> tuple[str, ...]:
    try:
        return paths.split(dotted)
    except AggregationError as error:
        raise error.at(path) from None


def _equality(argument: Mapping[str, Any], source: Sequence[Document], path: Path) -> _Find | None:
    if "localField" not in argument:
        return None
    local = _split(argument["localField"], (*path, "localField"))
    index = JoinIndex(source, _split(argument["foreignField"], (*path, "foreignField")))
    return lambda document: index.find(path_values(document, local))


def _piped(
    argument: Mapping[str, Any], join: _Find | None, source: Sequence[Document], scope: Scope, path: Path
) -> _Find:
    let = argument.get("let", {})
    if not isinstance(let, Mapping):
        raise AggregationError("'let' of $lookup is a document of variables", (*path, "let"), 9)
    if not isinstance(argument["pipeline"], list | tuple):
        raise AggregationError("'pipeline' of $lookup is a list of stages", (*path, "pipeline"), 9)
    runs = []
    for name, expression in let.items():
        where = (*path, "let", name)
        _check_variable(name, where)
        runs.append(compile_expression(expression, scope, where).run)
    inner, slots = scope.binding(*let)
    pipeline = compile_pipeline(argument["pipeline"], inner, (*path, "pipeline"))

    def find(document: Document) -> Sequence[Document]:
        values = [run(document) for run in runs]
        for slot, value in zip(slots, values, strict=True):
            slot.value = value
        return list(pipeline(iter(join(document) if join else source)))

    correlated = join is not None or _mentions(
        argument["pipeline"], [f"$${name}" for name in scope.slots | dict(let)]
    )
    return find if correlated else _once(find)


def _check_variable(name: str, path: Path) -> None:
    try:
        check_user_variable(name)
    except AggregationError as error:
        raise error.at(path) from None


def _mentions(spec: Any, variables: Sequence[str]) -> bool:
    """Whether a text in the specification begins with a variable: then it may depend on the document."""
    if isinstance(spec, str):
        return spec.startswith(tuple(variables)) if variables else False
    if isinstance(spec, Mapping):
        return any(_mentions(item, variables) for item in spec.values())
    return isinstance(spec, list | tuple) and any(_mentions(item, variables) for item in spec)


def _once(find: _Find) -> _Find:
    """``find``, called for the first document only: the others get the same."""
    found: list[Sequence[Document]] = []

    def cached(document: Document) -> Sequence[Document]:
        if not found:
            found.append(find(document))
        return found[0]

    return cached
