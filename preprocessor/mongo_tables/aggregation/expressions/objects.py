"""Documents as values: `$arrayToObject`, `$getField`, `$mergeObjects`, `$objectToArray`, `$setField`, `$unsetField`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    arguments,
    check_named_arguments,
    compile_arguments,
    compile_as_written,
    compile_expression,
    constant,
    flatten_associative,
    fold,
    form,
    operator,
    placed,
)
from mongo_tables.aggregation.errors import AggregationError, Path, refuse_unknown
from mongo_tables.aggregation.paths import close_places, open_places
from mongo_tables.aggregation.values import DOCUMENT, MISSING, Document, is_nullish, mistyped


def merge_documents(values: Iterable[Any]) -> Document:
    """Merge the documents of ``values``. A field that occurs repeatedly keeps its first position and has its last
    value.
    """
    result: Document = {}
    for value in values:
        if isinstance(value, DOCUMENT):
            result.update(value)
        elif not is_nullish(value):
            raise mistyped("$mergeObjects works on documents, not on", value, 40400)
    return result


@form("$mergeObjects")
def _merge_objects(argument: Any, scope: Scope, path: Path) -> Node:
    single = len(arguments(argument, path)) == 1
    nodes = (
        compile_arguments(argument, scope, path)
        if single
        else flatten_associative(merge_documents, argument, scope, path, commutative=False, single=False)
    )
    runs = [node.run for node in nodes]

    def run(document: Document) -> Document:
        values = [run(document) for run in runs]
        return merge_documents(values[0] if single and isinstance(values[0], list) else values)

    return fold(placed(run, path), nodes, path)


@operator("$objectToArray")
def _object_to_array(value: Any) -> Any:
    if not isinstance(value, DOCUMENT):
        raise mistyped("$objectToArray works on a document, not on", value, 40390)
    return [{"k": name, "v": item} for name, item in value.items()]


@operator("$arrayToObject")
def _array_to_object(value: Any) -> Any:
    if not isinstance(value, list):
        raise mistyped("$arrayToObject works on an array, not on", value, 40386)
    result: Document = {}
    pairs = bool(value) and isinstance(value[0], list)
    for item in value:
        name, found = _pair(item) if pairs else _key_and_value(item)
        if type(name) is not str:
            raise mistyped("a field name must be a string, not", name, 40395 if pairs else 40394)
        if "\0" in name:
            raise AggregationError("a field name must not contain a NUL character", code=4940400)
        result[name] = found
    return result


def _pair(item: Any) -> tuple[Any, Any]:
    if not isinstance(item, list):
        message = "$arrayToObject accepts pairs only when the first element is a pair"
        raise AggregationError(message, code=40396)
    if len(item) != 2:
        raise AggregationError(f"$arrayToObject requires pairs, not arrays of {len(item)}", code=40397)
    return item[0], item[1]


def _key_and_value(item: Any) -> tuple[Any, Any]:
    if isinstance(item, list):
        raise AggregationError(
            "$arrayToObject accepts {k, v} only if the first element has this form", code=40391
        )
    if not isinstance(item, DOCUMENT):
        raise mistyped("$arrayToObject requires pairs or {k, v}, not", item, 40398)
    if len(item) != 2:
        raise AggregationError("$arrayToObject accepts only documents of 'k' and 'v'", code=40392)
    if "k" not in item or "v" not in item:
        raise AggregationError("$arrayToObject requires documents with 'k' and 'v'", code=40393)
    return item["k"], item["v"]


@form("$getField")
def _get_field(argument: Any, scope: Scope, path: Path) -> Node:
    """Compile ``{field, input}``, or a field alone, whose input is ``$$CURRENT``."""
    if isinstance(argument, DOCUMENT) and not next(iter(argument), "").startswith("$"):
        refuse_unknown(argument, ("field", "input"), "$getField has no argument", path, 3041701)
        for code, needed in ((3041702, "field"), (3041703, "input")):
            if needed not in argument:
                raise AggregationError(f"$getField needs the argument '{needed}'", path, code)
        name = _field_name("$getField", argument["field"], scope, (*path, "field"))
        read = compile_as_written(argument["input"], scope, (*path, "input")).run
    else:
        name = _field_name("$getField", argument, scope, path)
        read = compile_expression("$$CURRENT", scope, path).run

    def run(document: Document) -> Any:
        value = read(document)
        if isinstance(value, DOCUMENT):
            return value.get(name, MISSING)
        return None if value is None else MISSING

    return Node(run)


def _field_name(operator_name: str, expression: Any, scope: Scope, path: Path) -> str:
    node = compile_expression(expression, scope, path)
    if not node.constant:
        raise AggregationError(f"the field name of {operator_name} must be a constant", path, 5654601)
    value = node.run({})
    if type(value) is not str:
        raise mistyped(f"the field name of {operator_name} must be a string, not", value, 5654602, path)
    return value


@form("$setField", "$unsetField")
def _set_field(argument: Any, scope: Scope, path: Path) -> Node:
    operator_name = str(path[-1])
    given = check_named_arguments(argument, path)
    name = _field_name(operator_name, given["field"][0], scope, given["field"][1])
    read = compile_as_written(given["input"][0], scope, given["input"][1]).run
    compute = constant(MISSING).run
    if "value" in given:
        compute = compile_as_written(given["value"][0], scope, given["value"][1]).run

    def run(document: Document) -> Any:
        found = read(document)
        if is_nullish(found):
            return None
        if not isinstance(found, DOCUMENT):
            raise mistyped(f"{operator_name} works on a document, not on", found, 4161105, path)
        changed = open_places({name}, found)
        changed[name] = compute(document)
        return close_places(changed)

    return Node(run)
