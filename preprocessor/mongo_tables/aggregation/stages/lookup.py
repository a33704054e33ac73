"""`$lookup`: joins by equal fields, by a pipeline, or by both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.compiler import (
    Scope,
    Slot,
    Stage,
    check_user_variable,
    compile_expression,
    compile_pipeline,
    stage,
)
from mongo_tables.aggregation.errors import AggregationError, Path, refuse_unknown
from mongo_tables.aggregation.fields import Effect, Field, Gives, StageRecord, paths_in, split_path
from mongo_tables.aggregation.meter import (
    admit_documents,
    check_key,
    count_array,
    gather_within_limits,
    spend,
)
from mongo_tables.aggregation.plancache import content_key
from mongo_tables.aggregation.stages.combine import check_collection, starts_with_documents
from mongo_tables.aggregation.stages.joining import JoinIndex, path_values
from mongo_tables.aggregation.stages.nesting import with_nested, with_nested_last
from mongo_tables.aggregation.values import MISSING, Document, is_string

_OPTIONS = ("from", "localField", "foreignField", "let", "pipeline", "as")
_Find = Callable[[Document], Sequence[Document]]


def _effect(argument: Any) -> Effect:
    local = argument.get("localField")
    reads = [] if local is None else [split_path(local)]
    reads += paths_in(argument.get("let"))
    return Effect(fields=(Field(split_path(argument["as"]), ("as",), takes=tuple(reads)),))


@stage("$lookup", record=StageRecord(_effect, Gives.EACH, rank=4))
def lookup(argument: Any, scope: Scope, path: Path) -> Stage:
    """The documents, each with the list of those of another collection that belong to it."""
    _check(argument, path)
    target = _split(argument["as"], (*path, "as"))
    source = scope.context.collections.get(argument.get("from", ""), ())
    join = _equality(argument, path)
    if "pipeline" in argument:
        find = _pipeline_join(argument, join, source, scope, path)
    else:
        find = join(source) if join else lambda _: source

    put = with_nested_last if scope.leading else with_nested

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return (put(document, target, _count_rows(find(document), path)) for document in documents)

    return run


def _count_rows(rows: Sequence[Document], path: Path) -> list[Document]:
    spend(len(rows) // 8, path)
    count_array(len(rows))
    return list(rows)


def _check(argument: Any, path: Path) -> None:
    if not isinstance(argument, Mapping):
        raise AggregationError("$lookup takes a document", path, 9)
    refuse_unknown(argument, _OPTIONS, "$lookup has no option", path, 9)
    if "from" in argument and is_string(argument["from"]):
        check_collection(argument["from"], (*path, "from"))
    for name in ("from", "localField", "foreignField", "as"):
        if name in argument and not is_string(argument[name]):
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


def _equality(argument: Mapping[str, Any], path: Path) -> Callable[[Sequence[Document]], _Find] | None:
    """A function from the other collection to what finds a document's partners in it by equal fields."""
    if "localField" not in argument:
        return None
    local = _split(argument["localField"], (*path, "localField"))
    foreign = _split(argument["foreignField"], (*path, "foreignField"))

    def join(source: Sequence[Document]) -> _Find:
        index = JoinIndex(source, foreign)
        return lambda document: index.find(path_values(document, local) or [None])

    return join


def _pipeline_join(
    argument: Mapping[str, Any],
    join: Callable[[Sequence[Document]], _Find] | None,
    source: Sequence[Document],
    scope: Scope,
    path: Path,
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
    # Documents that the pipeline brings are joined first, and then go through the rest of it.
    head = 1 if join and starts_with_documents(argument["pipeline"]) else 0
    brought = compile_pipeline(argument["pipeline"][:head], inner, (*path, "pipeline"))
    pipeline = compile_pipeline(argument["pipeline"][head:], inner, (*path, "pipeline"), head)
    partners = join(source) if join and not head else None
    names = [f"$${name}" for name in inner.slots]
    settled = not join and not _mentions(argument["pipeline"], names)
    known: list[Sequence[Document]] = []
    check = _constants_check(argument["pipeline"], inner, tuple(let), (*path, "pipeline"))

    def find(document: Document) -> Sequence[Document]:
        values = [run(document) for run in runs]
        if settled and known:
            return known[0]
        for slot, value in zip(slots, values, strict=True):
            slot.value = value
        rows = source
        if partners is not None:
            rows = partners(document)
        elif join is not None:
            rows = join(list(brought(iter(()))))(document)
        found = gather_within_limits(pipeline(admit_documents(rows, path)), path)
        if not found and values:
            check(values)
        if settled:
            known.append(found)
        return found

    return find


def _constants_check(
    pipeline: Sequence[Any], scope: Scope, names: tuple[str, ...], path: Path
) -> Callable[[list[Any]], None]:
    """Raises AggregationError for values of the variables with which a constant of the pipeline cannot be computed.

    The server makes the pipeline anew for each document, with the variables as constants: it then fails even where
    no document of the other collection gets to what fails.
    """
    checked: set[bytes] = set()

    def check(values: list[Any]) -> None:
        for value in values:
            check_key(value)
        content = content_key(*([] if value is MISSING else [value] for value in values))
        if content and content in checked:
            return
        fixed = {name: Slot(value, fixed=True) for name, value in zip(names, values, strict=True)}
        compile_pipeline(pipeline, scope._replace(slots={**scope.slots, **fixed}), path)
        checked.add(content)

    return check


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
