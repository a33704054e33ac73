"""What each argument of a stage or an operator is meant to be, in one word: ``field``, ``sort``, ``unit`` …

The catalogue says it of most operators of expressions. The rest stands here, with the documents within arguments:
the ``range`` of ``$densify``, a branch of ``$switch``.
https://www.mongodb.com/docs/manual/reference/operator/aggregation/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.catalogue import Operator

_MOST: Final = {"n": "count", "input": "any"}
_SORTED: Final = {"sortBy": "sort", "output": "any"}
_SLOPE: Final = {"input": "number", "unit": "unit"}

_MEANT: Final[Mapping[str, Mapping[str, str]]] = {
    "$replaceRoot": {"newRoot": "object"},
    "$bucket": {
        "groupBy": "any",
        "boundaries": "boundaries",
        "default": "constant",
        "output": "accumulators",
    },
    "$bucketAuto": {
        "groupBy": "any",
        "buckets": "count",
        "output": "accumulators",
        "granularity": "granularity",
    },
    "$lookup": {
        "from": "collection",
        "localField": "field",
        "foreignField": "foreign field",
        "let": "bindings",
        "pipeline": "pipeline",
        "as": "name",
    },
    "$graphLookup": {
        "from": "collection",
        "startWith": "any",
        "connectFromField": "foreign field",
        "connectToField": "foreign field",
        "as": "name",
        "maxDepth": "count",
        "depthField": "name",
        "restrictSearchWithMatch": "foreign query",
    },
    "$unionWith": {"coll": "collection", "pipeline": "pipeline"},
    "$setWindowFields": {"partitionBy": "any", "sortBy": "sort", "output": "windows"},
    "$sample": {"size": "count"},
    "$unwind": {"path": "unwound", "includeArrayIndex": "name", "preserveNullAndEmptyArrays": "flag"},
    "$densify": {"field": "field", "partitionByFields": "fields", "range": "range"},
    "range": {"step": "step", "bounds": "extent", "unit": "unit"},
    "$fill": {"partitionBy": "any", "partitionByFields": "fields", "sortBy": "sort", "output": "fills"},
    "fill": {"value": "any", "method": "fill method"},
    "window": {"documents": "bounds", "range": "bounds", "unit": "unit"},
    "$cond": {"if": "bool", "then": "any", "else": "any"},
    "$switch": {"branches": "branches", "default": "any"},
    "branch": {"case": "bool", "then": "any"},
    "$let": {"vars": "bindings", "in": "any"},
    "$sortArray": {"input": "array", "sortBy": "element sort"},
    "$firstN": _MOST,
    "$lastN": _MOST,
    "$maxN": _MOST,
    "$minN": _MOST,
    "$top": _SORTED,
    "$bottom": _SORTED,
    "$topN": {"n": "count", **_SORTED},
    "$bottomN": {"n": "count", **_SORTED},
    "$median": {"input": "number", "method": "method"},
    "$percentile": {"input": "number", "p": "numbers", "method": "method"},
    "$shift": {"output": "any", "by": "shift", "default": "constant"},
    "$derivative": _SLOPE,
    "$integral": _SLOPE,
    "$expMovingAvg": {"input": "number", "N": "count", "alpha": "share"},
    "$setField": {"field": "member", "input": "object", "value": "any"},
    "$unsetField": {"field": "member", "input": "object"},
    "$getField": {"field": "member", "input": "object"},
}
"""What the arguments of stages and operators are, by their names, and those of documents within arguments."""

WORDS: Final[Mapping[str, Sequence[str]]] = {
    "unit": ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"),
    "weekday": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "method": ("approximate",),
    "fill method": ("linear", "locf"),
    "extent": ("full", "partition"),
    "bounds": ("unbounded", "current"),
    "type": ("double", "string", "objectId", "bool", "date", "int", "long", "decimal"),
    "granularity": (
        *("R5", "R10", "R20", "R40", "R80", "1-2-5", "POWERSOF2"),
        *("E6", "E12", "E24", "E48", "E96", "E192"),
    ),
}
"""The words that may stand for an argument of a kind."""


_FORMS: Final[Mapping[str, str]] = {
    "$match": "takes a query",
    "$set": "takes fields, each with an expression",
    "$addFields": "takes fields, each with an expression",
    "$project": "takes fields, each with 1, 0 or an expression",
    "$unset": "takes the name of a field, or a list of names",
    "$group": "takes `_id`, the expression that documents of a group have alike, and fields, each with an accumulator",
    "$sort": "takes fields, each with 1 (from the smallest up) or -1 (from the greatest down)",
    "$limit": "takes the number of documents that are kept",
    "$skip": "takes the number of documents that are left out",
    "$count": "takes the name of the field that gets the number",
    "$sortByCount": "takes an expression",
    "$replaceWith": "takes an expression that gives an object",
    "$redact": "takes an expression that gives `$$KEEP`, `$$PRUNE` or `$$DESCEND`",
    "$facet": "takes fields, each with a pipeline",
    "$documents": "takes a list of documents",
}
"""What stages take that have no arguments with names."""
_OTHER_FORMS: Final[Mapping[str, str]] = {
    "$literal": "takes any value, as it is",
    "$const": "takes any value, as it is",
    "$covariancePop": "takes a list of two expressions",
    "$covarianceSamp": "takes a list of two expressions",
}

_CALLED: Final[Mapping[str, str]] = {
    "unwound": "path of an array",
    "field": "name of a field",
    "member": "name of a field of `input`",
    "fields": "names of fields",
    "foreign field": "name of a field of the other collection",
    "foreign query": "query of the other collection",
    "bindings": "variables, each with an expression",
    "sort": "fields, each with 1 or -1",
    "element sort": "fields of elements, each with 1 or -1; or 1 or -1",
    "boundaries": "list of bounds, in order",
    "count": "integer",
    "shift": "integer",
    "share": "number",
    "step": "number",
    "numbers": "list of numbers from 0 to 1",
    "arrays": "list of arrays",
    "range": "object of `step`, `bounds`, `unit`",
    "extent": "`full`, `partition` or a list of two",
    "bounds": "list of two of `unbounded`, `current` and numbers",
    "accumulators": "fields, each with an accumulator",
    "windows": "fields, each with a window function",
    "fills": "fields, each with `value` or `method`",
    "unit": "unit of time, from `year` to `millisecond`",
    "branches": "list of objects of `case` and `then`",
    "method": "`approximate`",
    "fill method": "`linear` or `locf`",
    "dateFormat": "format of a date",
}
"""How kinds of arguments are told, where their word does not say it."""


def tell_kind(kind: str) -> str:
    """A kind of argument in words; nothing of one that may be anything."""
    return "" if kind == "any" else _CALLED.get(kind) or kind.replace("|", " or ")


def tell_form(operator: Operator) -> str:
    """What an operator takes that has no arguments with names: an expression mostly; nothing of a condition."""
    known = _FORMS if operator.kind == "stage" else _OTHER_FORMS
    if operator.name in known:
        return known[operator.name]
    if operator.kind == "query" or operator.refused:
        return ""
    if not operator.takes and not catalogue.find_arguments(operator.kind, operator.name):
        return "takes `{}`"
    kind = kind_at(operator, 0)
    return f"takes {'an expression' if kind == 'any' else tell_kind(kind)}"


def may_be_left_out(operator: Operator, argument: str) -> bool:
    """Whether an operator does without one of its arguments."""
    if operator.style == "named":
        return argument not in operator.required
    known = catalogue.find_arguments(operator.kind, operator.name).get(argument)
    return known is not None and known.optional


def kind_of_argument(name: str, argument: str) -> str:
    """What an argument of a stage, an operator or a document within arguments is: ``any`` where it may be anything."""
    own = _MEANT.get(name, {}).get(argument)
    if own is not None:
        return own
    operator = catalogue.find("expression", name)
    takes = operator.takes if operator else ()
    return takes.get(argument, "any") if isinstance(takes, Mapping) else "any"


def kind_at(operator: Operator, place: int) -> str:
    """What an argument of an operator is that takes a list of them."""
    takes = operator.takes
    return takes[min(place, len(takes) - 1)] if takes and not isinstance(takes, Mapping) else "any"


def argument_names(name: str) -> tuple[str, ...]:
    """The names of the arguments of a stage or an operator that has such, those that it needs first."""
    for kind in catalogue.KINDS:
        found = catalogue.find(kind, name)
        if found is not None and found.style == "named":
            return (*found.required, *found.optional)
    return tuple(_MEANT.get(name, ()))
