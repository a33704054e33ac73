"""What is written for the argument of a stage or an operator when it is chosen from a list: a text with gaps to fill.

Gaps are written as editors have them, ``${1:field}``; a dollar sign of the text itself is ``\\$``.
https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#snippet_syntax
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from typing import Final

from preprocessor.aggregation.catalogue import Operator

_FIELD: Final = r'"\$${%d:%s}"'
_STAGES: Final[Mapping[str, str]] = {
    "$match": '{"${1:field}": ${2:value}}',
    "$set": '{"${1:name}": ${2:value}}',
    "$addFields": '{"${1:name}": ${2:value}}',
    "$project": '{"_id": 0, "${1:field}": 1}',
    "$unset": '"${1:field}"',
    "$group": r'{"_id": "\$${1:field}", "${2:name}": {"\$${3:avg}": "\$${4:field}"}}',
    "$sort": '{"${1:field}": ${2:1}}',
    "$limit": "${1:10}",
    "$skip": "${1:10}",
    "$count": '"${1:name}"',
    "$sortByCount": r'"\$${1:field}"',
    "$sample": '{"size": ${1:10}}',
    "$unwind": r'"\$${1:field}"',
    "$replaceRoot": r'{"newRoot": "\$${1:field}"}',
    "$replaceWith": r'"\$${1:field}"',
    "$facet": '{"${1:name}": [${2}]}',
    "$unionWith": '{"coll": "${1:collection}", "pipeline": [${2}]}',
    "$lookup": '{"from": "${1:collection}", "localField": "${2:field}", '
    '"foreignField": "${3:field}", "as": "${4:name}"}',
    "$setWindowFields": '{"sortBy": {"${1:field}": 1}, "output": {"${2:name}": {${3}}}}',
    "$redact": "{${1}}",
    "$documents": "[{${1}}]",
}
_QUERY: Final[Mapping[str, str]] = {
    "$in": "[${1}]",
    "$nin": "[${1}]",
    "$all": "[${1}]",
    "$and": "[{${1}}]",
    "$or": "[{${1}}]",
    "$nor": "[{${1}}]",
    "$expr": "{${1}}",
    "$not": "{${1}}",
    "$elemMatch": "{${1}}",
    "$exists": "${1:true}",
    "$regex": '"${1}"',
    "$type": '"${1:number}"',
    "$size": "${1:1}",
    "$mod": "[${1:divisor}, ${2:rest}]",
}
_OTHERS: Final[Mapping[str, str]] = {
    "$cond": '{"if": ${1}, "then": ${2}, "else": ${3}}',
    "$switch": '{"branches": [{"case": ${1}, "then": ${2}}], "default": ${3}}',
    "$let": '{"vars": {"${1:name}": ${2}}, "in": ${3}}',
    "$map": r'{"input": "\$${1:array}", "as": "${2:each}", "in": ${3}}',
    "$filter": r'{"input": "\$${1:array}", "as": "${2:each}", "cond": ${3}}',
    "$reduce": r'{"input": "\$${1:array}", "initialValue": ${2:0}, "in": ${3}}',
    "$literal": "${1}",
    "$count": "{}",
    "$rank": "{}",
    "$denseRank": "{}",
    "$documentNumber": "{}",
}


def argument_skeleton(operator: Operator) -> str:
    """The argument of an operator with gaps."""
    if operator.kind == "stage" and operator.name in _STAGES:
        return _STAGES[operator.name]
    if operator.kind == "query":
        return _QUERY.get(operator.name, "${1:value}")
    if operator.name in _OTHERS:
        return _OTHERS[operator.name]
    if operator.style == "named":
        numbers = count(1)
        members = (f'"{name}": {_gap(operator, name, next(numbers))}' for name in operator.required)
        return "{" + ", ".join(members) + "}"
    if operator.style == "array":
        return _list_of_arguments(operator)
    return _FIELD % (1, "field")


def _list_of_arguments(operator: Operator) -> str:
    least = max(operator.least, 1 if operator.most == 1 else 2 if operator.most is None else operator.least)
    if operator.most == 0:
        return "{}"
    if least <= 1:
        return _gap(operator, 0, 1)
    return "[" + ", ".join(_gap(operator, place, place + 1) for place in range(least)) + "]"


def _gap(operator: Operator, place: str | int, number: int) -> str:
    """A gap for one argument: a path where a value of documents is meant, else the kind of value alone."""
    takes = operator.takes
    if isinstance(place, str):
        meant = takes.get(place, "value") if isinstance(takes, Mapping) else "value"
    else:
        meant = takes[min(place, len(takes) - 1)] if takes and not isinstance(takes, Mapping) else "value"
    word = re.sub(r"[^a-z]", " ", meant.partition("|")[0].lower()).strip() or "value"
    if word in ("name", "unit", "timezone", "weekday", "format"):
        return f'"${{{number}:{word}}}"'
    if word in ("integer", "bool", "object"):
        return f"${{{number}:{word}}}"
    return _FIELD % (number, "field" if word in ("any", "value") else word)


def without_gaps(skeleton: str) -> str:
    """The skeleton for editors that know no gaps: with the words that stand in them."""
    plain = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", skeleton)
    return re.sub(r"\$\{\d+\}", "", plain).replace("\\$", "$")


def escape(text: str) -> str:
    """A text as it stands in a skeleton."""
    return re.sub(r"([\\$}])", r"\\\1", text)
