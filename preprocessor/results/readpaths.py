"""Which paths of a document a pipeline can read, and which documents its first ``$match`` can keep.

Both answers only save decoding, so they err on the side of too much: a stage or an operator that is not
known here makes the answer "everything". The language:
https://www.mongodb.com/docs/manual/reference/aggregation/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from preprocessor.results.model import Query
from preprocessor.results.rawbson import Scalar

Path = tuple[str, ...]
Tree = dict[str, Any]

# Operators whose operands are expressions (or constants) and that see nothing else of the document; those of windows
# stand in no other place. Left out on purpose: $getField, $setField, $unsetField (a field name is a plain string
# there), and the accumulators with sortBy (bare paths).
_OPERATORS = frozenset(
    """
    $abs $acos $acosh $add $addToSet $allElementsTrue $and $anyElementTrue $arrayElemAt $arrayToObject
    $asin $asinh $atan $atan2 $atanh $avg $binarySize $bitAnd $bitNot $bitOr $bitXor $bsonSize $ceil
    $cmp $concat $concatArrays $cond $convert $cos $cosh $count $covariancePop $covarianceSamp $dateAdd
    $dateDiff $dateFromParts $dateFromString $dateSubtract $dateToParts $dateToString $dateTrunc
    $dayOfMonth $dayOfWeek $dayOfYear $degreesToRadians $denseRank $derivative $divide $documentNumber
    $eq $exp $expMovingAvg $filter $first $firstN $floor $gt $gte $hour $ifNull $in $indexOfArray
    $indexOfBytes $indexOfCP $integral $isArray $isNumber $isoDayOfWeek $isoWeek $isoWeekYear $last
    $lastN $let $linearFill $ln $locf $log $log10 $lt $lte $ltrim $map $max $maxN $median $mergeObjects
    $millisecond $min $minN $minute $mod $month $multiply $ne $not $objectToArray $or $percentile $pow
    $push $radiansToDegrees $range $rank $reduce $regexFind $regexFindAll $regexMatch $replaceAll
    $replaceOne $reverseArray $round $rtrim $second $setDifference $setEquals $setIntersection
    $setIsSubset $setUnion $shift $sin $sinh $size $slice $sortArray $split $sqrt $stdDevPop $stdDevSamp
    $strLenBytes $strLenCP $strcasecmp $substr $substrBytes $substrCP $subtract $sum $switch $tan $tanh
    $toBool $toDate $toDecimal $toDouble $toInt $toLong $toLower $toObjectId $toString $toUpper $trim
    $trunc $type $week $year $zip
    """.split()  # noqa: SIM905 (a list of these would be a hundred and fifty lines)
)


class _Everything(Exception):
    """Any path may be read; the message says by what."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who asks a query and what is taken of its rows: columns, and filters in the query language of ``$match``.

    ``place`` is how a message names it.
    """

    query: Query
    columns: tuple[str, ...]
    filters: tuple[Mapping[str, Any], ...] = ()
    place: str = ""


def read_tree(pipeline: Sequence[Any]) -> Tree | None:
    """The paths that the pipeline can read, as nested mappings (an empty one means all below); None =
    everything.

    A field that a stage writes counts as read, because its place among the other fields is seen in the
    rows.
    """
    try:
        return tree_of(_paths_read(pipeline, None))
    except _Everything:
        return None


def _paths_read(pipeline: Sequence[Any], taken: Sequence[Path] | None) -> list[Path]:
    """What the stages read, and of rows that are still documents what is ``taken`` of them (None: the whole)."""
    paths: list[Path] = [("_id",)]
    try:
        for stage in pipeline:
            ((name, body),) = stage.items()
            if name in _PASSING:
                paths += _PASSING[name](body)
            elif name in _CUTTING:
                return paths + _CUTTING[name](body)
            elif name == "$project":
                paths += _projection(body, ())
                if _is_inclusion(body):
                    return paths
            else:
                raise _Everything(f"{name} may read every field")
    except (AttributeError, TypeError, ValueError):
        raise _Everything("a stage is malformed") from None  # the evaluator complains about it
    if taken is None:
        raise _Everything("the rows are whole documents")
    return [*paths, *taken]


def _taken(reader: Reader) -> list[Path]:
    columns = [path for name in reader.columns for path in ((name,), tuple(name.split(".")))]
    return columns + [path for each in reader.filters for path in _filter(each)]


def tree_of(paths: Iterable[Path]) -> Tree:
    """Nested mappings for the paths; a path swallows those that go on below it."""
    root: Tree = {}
    for path in sorted(set(paths), key=len):
        node = root
        for depth, name in enumerate(path):
            if name in node and not node[name]:
                break
            node = node.setdefault(name, {})
            if depth == len(path) - 1:
                node.clear()
    return root


def trees_by_collection(readers: Iterable[Reader]) -> tuple[dict[str, Tree | None], list[str]]:
    """For each collection what all the readers together can read of its documents; None = everything.

    A collection that another one looks up (``$lookup``, ``$unionWith`` …) is taken whole. With it a line for
    each collection and reader that needs everything: which, who, and why.
    """
    paths: dict[str, list[Path]] = {}
    reasons: dict[str, list[str]] = {}
    for reader in readers:
        held = paths.setdefault(reader.query.collection, [])
        try:
            held += _paths_read(reader.query.pipeline, _taken(reader))
        except _Everything as reason:
            reasons.setdefault(reader.query.collection, []).append(f"{reader.place}: {reason}")
        for name in _foreign(reader.query.pipeline):
            paths.setdefault(name, [])
            reasons.setdefault(name, []).append(f"{reader.place}: another collection looks it up")
    trees = {name: None if name in reasons else tree_of(paths[name]) for name in sorted(paths)}
    return trees, [f"{name}: {why}" for name in sorted(reasons) for why in dict.fromkeys(reasons[name])]


def _foreign(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in ("$lookup", "$graphLookup", "$unionWith"):
                named = inner.get("from", inner.get("coll")) if isinstance(inner, Mapping) else inner
                yield from [named] if isinstance(named, str) else []
            yield from _foreign(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _foreign(inner)


def leading_values(pipeline: Sequence[Any]) -> dict[Path, frozenset[Scalar]]:
    """Dotted paths that must equal one of some values for a document to pass the first ``$match``.

    Only plain equality, ``$eq`` and ``$in`` with strings, numbers and booleans count; a filter with ``$expr``
    gives nothing, because an expression may fail on a document that the other conditions would have dropped.
    """
    if not pipeline or not isinstance(pipeline[0], Mapping):
        return {}
    condition = pipeline[0].get("$match")
    if not isinstance(condition, Mapping) or any(str(key).startswith("$") for key in condition):
        return {}
    found = {tuple(key.split(".")): _values(value) for key, value in condition.items()}
    return {path: values for path, values in found.items() if values and all(path)}


def _values(value: Any) -> frozenset[Scalar]:
    """The values that a condition admits; empty when it is of another kind (a list as such is an array to
    equal).
    """
    accepted: Any = [value]
    if isinstance(value, Mapping) and len(value) == 1:
        accepted = value["$in"] if "$in" in value else [value.get("$eq")]
    scalars = [_scalar(one) for one in accepted] if isinstance(accepted, list) else [None]
    return frozenset(one for one in scalars if one is not None) if None not in scalars else frozenset()


def _scalar(value: Any) -> Scalar | None:
    """The value as ``rawbson.scalar_at`` gives it; None for what that cannot compare."""
    if isinstance(value, bool):
        return (value,)
    if type(value) is str or isinstance(value, int):
        return value
    return value if isinstance(value, float) and value == value else None


def _dotted(text: str) -> Path:
    path = tuple(text.split("."))
    if not all(path) or any(name.startswith("$") for name in path):
        raise _Everything(f"the path {text!r} is not understood")
    return path


def _expression(value: Any) -> list[Path]:
    if isinstance(value, str):
        return _reference(value)
    if isinstance(value, Mapping):
        return [path for key, inner in value.items() for path in _operand(key, inner)]
    if isinstance(value, (list, tuple)):
        return [path for inner in value for path in _expression(inner)]
    return []


def _operand(key: str, inner: Any) -> list[Path]:
    if key == "$literal":
        return []
    if key.startswith("$") and key not in _OPERATORS:
        raise _Everything(f"{key} may read every field")
    return _expression(inner)


def _reference(text: str) -> list[Path]:
    if text.startswith("$$"):
        variable, _, rest = text[2:].partition(".")
        if variable not in ("ROOT", "CURRENT"):
            return []  # bound to an expression that is read where it is bound
        if not rest:
            raise _Everything(f"$${variable} is the whole document")
        return [_dotted(rest)]
    return [_dotted(text[1:])] if text.startswith("$") else []


def _filter(body: Mapping[str, Any]) -> list[Path]:
    paths: list[Path] = []
    for key, value in body.items():
        if key in ("$and", "$or", "$nor"):
            paths += [path for one in value for path in _filter(one)]
        elif key == "$expr":
            paths += _expression(value)
        elif key != "$comment":
            paths.append(_dotted(key))
    return paths


def _assigned(body: Mapping[str, Any], prefix: Path = ()) -> list[Path]:
    paths: list[Path] = []
    for key, value in body.items():
        path = prefix + _dotted(key)
        paths += [path, *_expression(value)]
    return paths


def _projection(body: Mapping[str, Any], prefix: Path) -> list[Path]:
    paths: list[Path] = []
    for key, value in body.items():
        path = prefix + _dotted(key)
        if isinstance(value, Mapping) and not any(name.startswith("$") for name in value):
            paths += _projection(value, path)
        paths += [path, *_expression(value)]
    return paths


def _is_inclusion(body: Mapping[str, Any]) -> bool:
    """Whether only named fields go on; an exclusion has only zeros and falses. ``{_id: 1}`` alone is
    inclusion.
    """
    others = {key: value for key, value in body.items() if key != "_id"} or body
    return any(_is_inclusion(value) if _is_nested(value) else _includes(value) for value in others.values())


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value) and not any(name.startswith("$") for name in value)


def _includes(value: Any) -> bool:
    if isinstance(value, (bool, int, float)):
        return bool(value)
    if isinstance(value, (str, Mapping)):
        return True
    raise _Everything("$project is not understood")  # a Decimal128, a null: whatever the server makes of it


def _sort(body: Mapping[str, Any]) -> list[Path]:
    if not all(isinstance(order, (int, float)) for order in body.values()):
        raise _Everything("$sort is not understood")
    return [_dotted(key) for key in body]


def _unset(body: str | Sequence[str]) -> list[Path]:
    return [_dotted(name) for name in ([body] if isinstance(body, str) else body)]


def _unwind(body: str | Mapping[str, Any]) -> list[Path]:
    if isinstance(body, str):
        return _reference(body)
    index = body.get("includeArrayIndex")
    return _reference(body["path"]) + ([_dotted(index)] if index is not None else [])


def _lookup(body: Mapping[str, Any]) -> list[Path]:
    """What a ``$lookup`` takes of the documents that it joins to; its own pipeline sees variables alone."""
    local = body.get("localField")
    return [
        _dotted(body["as"]),
        *([_dotted(local)] if local is not None else []),
        *(path for value in body.get("let", {}).values() for path in _expression(value)),
    ]


def _nothing(body: Any) -> list[Path]:
    return []


def _windows(body: Mapping[str, Any]) -> list[Path]:
    return [
        *_expression(body.get("partitionBy")),
        *_sort(body.get("sortBy", {})),
        *_assigned(body["output"]),
    ]


def _facets(body: Mapping[str, Any]) -> list[Path]:
    return [path for stages in body.values() for path in _paths_read(stages, None)]


def _group(body: Mapping[str, Any]) -> list[Path]:
    return [path for value in body.values() for path in _expression(value)]


_PASSING: Mapping[str, Callable[[Any], list[Path]]] = {
    "$match": _filter,
    "$set": _assigned,
    "$addFields": _assigned,
    "$unset": _unset,
    "$sort": _sort,
    "$unwind": _unwind,
    "$lookup": _lookup,
    "$limit": _nothing,
    "$skip": _nothing,
    "$sample": _nothing,
    "$setWindowFields": _windows,
}
_CUTTING: Mapping[str, Callable[[Any], list[Path]]] = {
    "$group": _group,
    "$count": _nothing,
    "$sortByCount": _expression,
    "$replaceWith": _expression,
    "$replaceRoot": lambda body: _expression(body["newRoot"]),
    "$bucket": _group,
    "$bucketAuto": _group,
    "$facet": _facets,
}
_HOLDING = frozenset({"$sort", "$sample", "$setWindowFields", "$bucketAuto", "$facet"})
"""Stages that have all documents at once before the first goes on."""


def holds(pipeline: Sequence[Any]) -> bool:
    """Whether a pipeline of known paths has all of the documents at once, and not parts of them alone."""
    for stage in pipeline:
        (name,) = stage
        if name in _HOLDING:
            return True
        if name in _CUTTING or name == "$project":
            return False
    return False
