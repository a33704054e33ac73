"""What is written for the argument of a stage or an operator when it is chosen from a list: a text with gaps to fill.

As it stands, with fields that documents have, it is something that can be run.
Gaps are written as editors have them, ``${1:field}``; a dollar sign of the text itself is ``\\$``.
https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#snippet_syntax
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from mongo_tables.aggregation.catalogue import Operator
from mongo_tables.editor.arguments import argument_names, kind_at, kind_of_argument

_FIELD: Final = r'"\$${#:field}"'
"""A path of a field; ``#`` is the number of its gap."""
_VALUE: Final = r'${#:"\$field"}'
"""A place for any expression: the gap is all of it."""

_STAGES: Final[Mapping[str, str]] = {
    "$match": '{"${1:field}": ${2:"value"}}',
    "$set": r'{"${1:name}": ${2:"\$field"}}',
    "$addFields": r'{"${1:name}": ${2:"\$field"}}',
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
    "$setWindowFields": r'{"sortBy": {"${1:field}": 1}, "output": {"${2:name}": {"\$${3:sum}": "\$${4:field}"}}}',
    "$redact": r'{"\$cond": {"if": ${1:"\$field"}, "then": "\$\$${2:DESCEND}", "else": "\$\$${3:PRUNE}"}}',
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
    "$not": r'{"\$${1:eq}": ${2:0}}',
    "$elemMatch": "{${1}}",
    "$exists": "${1:true}",
    "$regex": '"${1}"',
    "$options": '"${1:i}"',
    "$type": '"${1:number}"',
    "$size": "${1:1}",
    "$mod": "[${1:2}, ${2:0}]",
    "$bitsAllClear": "[${1:0}]",
    "$bitsAllSet": "[${1:0}]",
    "$bitsAnyClear": "[${1:0}]",
    "$bitsAnySet": "[${1:0}]",
    "$comment": '"${1:comment}"',
    "$jsonSchema": "{${1}}",
    "$alwaysTrue": "1",
    "$alwaysFalse": "1",
    "$sampleRate": "${1:0.5}",
}
_OTHERS: Final[Mapping[str, str]] = {
    "$map": r'{"input": "\$${1:array}", "as": "${2:each}", "in": "\$\$${2:each}"}',
    "$filter": r'{"input": "\$${1:array}", "as": "${2:each}", "cond": "\$\$${2:each}"}',
    "$reduce": r'{"input": "\$${1:array}", "initialValue": ${2:0}, "in": ${3:"\$\$this"}}',
    "$literal": "${1:0}",
    "$const": "${1:0}",
    "$rand": "{}",
    "$count": "{}",
    "$rank": "{}",
    "$denseRank": "{}",
    "$documentNumber": "{}",
    "$getField": '"${1:field}"',
    "$covariancePop": r'["\$${1:field}", "\$${2:field}"]',
    "$covarianceSamp": r'["\$${1:field}", "\$${2:field}"]',
}
_BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "$bucket": ("default",),
    "$dateFromParts": ("year",),
    "$expMovingAvg": ("N",),
}
"""Arguments that may be left out, but that one mostly wants, or of which one is needed."""

_TEXTS: Final[Mapping[str, str]] = {
    "any": _FIELD,
    "bool": _VALUE,
    "unwound": _FIELD,
    "constant": '${#:"other"}',
    "name": '"${#:name}"',
    "field": '"${#:field}"',
    "member": '"${#:field}"',
    "foreign field": '"${#:field}"',
    "fields": '["${#:field}"]',
    "collection": '"${#:collection}"',
    "pipeline": "[${#}]",
    "foreign query": "{${#}}",
    "bindings": r'{"${#:name}": "\$field"}',
    "sort": '{"${#:field}": 1}',
    "element sort": '{"${#:field}": 1}',
    "integer": "${#:1}",
    "count": "${#:10}",
    "shift": "${#:-1}",
    "share": "${#:0.5}",
    "numbers": "[${#:0.5}]",
    "boundaries": "[${#:0, 10}]",
    "flag": "${#:true}",
    "accumulators": r'{"${#:name}": {"\$sum": 1}}',
    "windows": r'{"${#:name}": {"\$sum": 1}}',
    "range": '{"step": ${#:1}, "bounds": "full"}',
    "step": "${#:1}",
    "extent": '"${#:full}"',
    "bounds": '["${#:unbounded}", "current"]',
    "fills": '{"${#:field}": {"value": 0}}',
    "fill method": '"${#:locf}"',
    "branches": r'[{"case": ${#:"\$field"}, "then": "\$field"}]',
    "arrays": r'["\$${#:array}"]',
    "method": '"${#:approximate}"',
    "granularity": '"${#:R5}"',
    "unit": '"${#:day}"',
    "weekday": '"${#:monday}"',
    "timezone": '"${#:UTC}"',
    "dateFormat": '"${#:%Y-%m-%d}"',
    "type": '"${#:double}"',
    "pattern": '"${#:pattern}"',
    "options": '"${#:i}"',
}
"""What is written for an argument of each kind; a path of a field for others."""


def argument_skeleton(operator: Operator) -> str:
    """The argument of an operator with gaps."""
    if operator.kind == "stage" and operator.name in _STAGES:
        return _STAGES[operator.name]
    if operator.kind == "query":
        return _QUERY.get(operator.name, "${1:0}")
    if operator.name in _OTHERS:
        return _OTHERS[operator.name]
    names = operator.required if operator.style == "named" else argument_names(operator.name)
    if operator.style == "named" or (names and operator.style == "value"):
        return named_arguments(operator.name, (*names, *_BESIDE.get(operator.name, ())))
    if operator.style == "array":
        return _list_of_arguments(operator)
    return _FIELD.replace("#", "1")


def named_arguments(name: str, names: Sequence[str]) -> str:
    """The arguments of these names of an operator or of a document within arguments, with gaps."""
    gaps = ((one, named_argument(name, one, number)) for number, one in enumerate(names, 1))
    return "{" + ", ".join(f'"{one}": {text}' for one, text in gaps) + "}"


def _list_of_arguments(operator: Operator) -> str:
    least = max(operator.least, 1 if operator.most == 1 else 2 if operator.most is None else operator.least)
    if operator.most == 0:
        return "{}"
    # The first is mostly a field of documents, even where it is an integer.
    first = _write_path(kind_at(operator, 0), 1)
    if least <= 1:
        return first
    others = (_write_kind(kind_at(operator, place), place + 1) for place in range(1, least))
    return f"[{', '.join((first, *others))}]"


def named_argument(name: str, argument: str, number: int = 1) -> str:
    """An argument of a stage, an operator or a document within arguments, with a gap of that number."""
    return _write_kind(kind_of_argument(name, argument), number)


def _write_kind(kind: str, number: int) -> str:
    written = _TEXTS.get(kind)
    return written.replace("#", str(number)) if written else _write_path(kind, number)


def _write_path(kind: str, number: int) -> str:
    """A path of a field, whose gap says what kind of value is meant."""
    word = re.sub(r"[^a-z]", " ", kind.partition("|")[0].lower()).strip()
    return _FIELD.replace("#", str(number)).replace("field", "field" if word in ("", "any") else word)


_GAP_OR_ESCAPED: Final = re.compile(
    r"\\(?P<escaped>[\\$}])|\$\{\d+(?::(?P<words>(?:[^\\}]|\\.)*))?\}", re.DOTALL
)


def without_gaps(skeleton: str) -> str:
    """The skeleton for editors that know no gaps: with the words that stand in them."""
    return _GAP_OR_ESCAPED.sub(lambda found: found["escaped"] or without_gaps(found["words"] or ""), skeleton)


def escape(text: str) -> str:
    """A text as it stands in a skeleton."""
    return re.sub(r"([\\$}])", r"\\\1", text)
