"""Generated documents and pipelines for holding the evaluator against a real server.

Everything is drawn by the operator catalogue: which operators there are, how their arguments are written, what kinds
of values they take. Most arguments are of the right kind, some are of any kind, null or missing, so that both results
and errors are met. What a server leaves open (order of groups and of sets, ties in a sort) is pinned down by the
pipelines themselves; what differs from run to run ($rand, $sample, the time) is left out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.objectid import ObjectId
from bson.regex import Regex
from bson.timestamp import Timestamp
from hypothesis import strategies as st

from mongo_tables.aggregation.catalogue import Operator, operators

Strategy = st.SearchStrategy[Any]

# 6.0 is the newest server that tests can start: what came later has its own tests.
_NEWEST = (6, 0)
_RANDOM = {"$rand"}
_UNORDERED = {"$setUnion", "$setIntersection", "$setDifference"}


def _known(one: Operator) -> bool:
    since = tuple(int(part) for part in one.since.split(".")[:2]) if one.since else (0, 0)
    return one.kind == "expression" and not one.refused and since <= _NEWEST and one.name not in _RANDOM


EXPRESSIONS = [one for one in operators() if _known(one)]
# Arguments that came after 6.0.
_NEWER = {("$convert", "format"), ("$convert", "base"), ("$convert", "byteOrder")}
_SPECIAL = {"$cond", "$switch", "$let", "$getField", "$literal", "$const"}

_INTEGERS = st.one_of(
    st.integers(-3, 12),
    st.sampled_from(
        [
            0,
            1,
            2,
            -1,
            100,
            2**31 - 1,
            -(2**31),
            Int64(0),
            Int64(5),
            Int64(2**31),
            Int64(2**63 - 1),
            Int64(-(2**63)),
        ]
    ),
)
_NUMBERS = st.one_of(
    _INTEGERS,
    st.floats(-1e6, 1e6).map(lambda number: round(number, 3)),
    st.sampled_from(
        [0.0, -0.0, 0.5, 1.5, 2.5, 1e21, 1e-7, 0.1, 2.675, float("inf"), float("-inf"), float("nan")]
    ),
    st.sampled_from(
        [
            Decimal128(text)
            for text in ("0", "1.10", "-2.5", "1E+3", "0.1", "NaN", "Infinity", "9E+6144", "1E-6176")
        ]
    ),
)
_STRINGS = st.one_of(
    st.sampled_from(
        [
            "",
            "a",
            "b",
            "abc",
            "ABC",
            "a,b,c",
            " x ",
            "é",
            "ß",
            "日本",
            "10",
            "-3.5",
            "2020-02-29",
            "a.b",
            "$x",
            "e\u0301",
            "😀",
        ]
    ),
    st.text("abAB 1é", max_size=6),
)
_DATE_TEXTS = st.sampled_from(
    [
        "2024-02-29T12:00:00Z",
        "2024-02-29T12:00:00.123",
        "2024-02-29 12:00:00+01:00",
        "2024-02-29T12:00:00 EST",
        "20240229",
        "2024-02-30",
        "2024-W09-4",
        "Feb 29, 2024",
        "29/02/2024",
        "12:00",
        "1e3",
        "99999999999999999999",
        "no date",
        "",
    ]
)
_DATES = st.one_of(
    st.datetimes(datetime(1969, 1, 1), datetime(2040, 1, 1)).map(
        lambda date: date.replace(microsecond=date.microsecond // 1000 * 1000)
    ),
    st.sampled_from(
        [
            datetime(1970, 1, 1),
            datetime(2020, 2, 29),
            datetime(2021, 1, 3),
            datetime(2000, 12, 31, 23, 59, 59, 999000),
            datetime(1900, 1, 1),
        ]
    ),
)
_IDS = st.sampled_from([ObjectId("5f43cb000000000000000001"), ObjectId("000000000000000000000000")])
_STAMPS = st.sampled_from([Timestamp(1, 1), Timestamp(1600000000, 7)])
_SCALARS = st.one_of(
    _NUMBERS,
    _STRINGS,
    _DATES,
    st.booleans(),
    st.none(),
    _IDS,
    _STAMPS,
    st.sampled_from([b"", b"ab", Regex("a.", "i")]),
)
_NAMES = st.sampled_from(["x", "y", "z", "n", "name"])
_ANY = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_NAMES, inner, max_size=3)),
    max_leaves=5,
)
_OBJECTS = st.dictionaries(_NAMES, _ANY, max_size=3)
_ARRAYS = st.one_of(
    st.lists(_ANY, max_size=5),
    st.lists(_NUMBERS, max_size=6),
    st.lists(_STRINGS, max_size=4),
    st.lists(st.fixed_dictionaries({"k": _STRINGS, "v": _ANY}), max_size=3),
    st.lists(st.fixed_dictionaries({"name": _STRINGS, "n": _NUMBERS}), max_size=4),
)

_VALUES: dict[str, Strategy] = {
    "number": _NUMBERS,
    "integer": _INTEGERS,
    "string": _STRINGS,
    "dateText": _DATE_TEXTS,
    "bool": st.booleans(),
    "date": _DATES,
    "array": _ARRAYS,
    "arrays": st.lists(_ARRAYS, max_size=3),
    "numbers": st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.99, 1.0]), min_size=1, max_size=3),
    "object": _OBJECTS,
    "objectId": _IDS,
    "timestamp": _STAMPS,
    "any": _ANY,
}

# The fields of every generated document, by the kind that they mostly hold.
_FIELDS = {
    "number": ["n", "o.n"],
    "integer": ["i"],
    "string": ["s", "o.name"],
    "bool": ["b"],
    "date": ["d"],
    "array": ["a", "r", "r.n"],
    "object": ["o"],
    "timestamp": ["t"],
    "objectId": ["_id"],
}
_ANY_FIELDS = [
    "n",
    "i",
    "s",
    "b",
    "d",
    "a",
    "r",
    "o",
    "t",
    "m",
    "missing",
    "o.n",
    "r.n",
    "r.name",
    "o.x.y",
    "a.x",
]


def _mostly(strategy: Strategy) -> Strategy:
    return st.one_of(strategy, strategy, strategy, strategy, st.none(), _ANY)


_DOCUMENT = st.fixed_dictionaries(
    {},
    optional={
        "n": _mostly(_NUMBERS),
        "i": _mostly(_INTEGERS),
        "s": _mostly(st.one_of(_STRINGS, _STRINGS, _STRINGS, _DATE_TEXTS)),
        "b": _mostly(st.booleans()),
        "d": _mostly(_DATES),
        "a": _mostly(_ARRAYS),
        "r": st.lists(st.fixed_dictionaries({"name": _STRINGS, "n": _NUMBERS}), max_size=4),
        "o": _mostly(st.fixed_dictionaries({"n": _NUMBERS, "name": _STRINGS}, optional={"x": _ANY})),
        "t": _mostly(_STAMPS),
        "m": _ANY,
    },
)


@st.composite
def documents(draw: st.DrawFn) -> list[dict[str, Any]]:
    """One to five documents, ``_id`` counted from 0."""
    return [
        {"_id": number, **one} for number, one in enumerate(draw(st.lists(_DOCUMENT, min_size=1, max_size=5)))
    ]


@st.composite
def variables(draw: st.DrawFn) -> dict[str, Any]:
    """The ``let`` of the command: one variable, mostly a constant."""
    return {"given": draw(st.one_of(_literal("any"), _literal("number"), expressions(depth=1)))}


def _fields(kind: str) -> Strategy:
    names = [name for part in kind.split("|") for name in _FIELDS.get(part, [])]
    return st.sampled_from(["$" + name for name in (names or _ANY_FIELDS)])


def _literal(kind: str) -> Strategy:
    values = st.one_of(*(_VALUES.get(part, _ANY) for part in kind.split("|")))
    return values.map(lambda value: {"$literal": value} if isinstance(value, str | dict | list) else value)


def _gives(one: Operator, kind: str) -> bool:
    wanted, given = set(kind.split("|")), set(one.gives.split("|"))
    return "any" in wanted or bool(wanted & given) or ("number" in wanted and "integer" in given)


@st.composite
def expressions(draw: st.DrawFn, kind: str = "any", depth: int = 2, names: tuple[str, ...] = ()) -> Any:
    """An expression that mostly gives a value of ``kind``; ``names`` are the variables in scope."""
    choice = draw(st.integers(0, 9))
    if names and choice < 2:
        return "$$" + draw(st.sampled_from(names)) + draw(st.sampled_from(["", "", ".n"]))
    if depth <= 0 or choice < 5:
        return draw(_fields(kind)) if choice % 2 == 0 else draw(_literal(kind))
    if choice == 5:
        fields = st.sampled_from(["$" + name for name in _ANY_FIELDS])
        return draw(st.one_of(fields, _literal("any"), st.sampled_from(["$$given", "$$given.n"])))
    fitting = [one for one in EXPRESSIONS if _gives(one, kind)]
    return draw(operation(draw(st.sampled_from(fitting or EXPRESSIONS)), depth, names))


@st.composite
def operation(draw: st.DrawFn, one: Operator, depth: int, names: tuple[str, ...] = ()) -> Any:
    """The operator with arguments as the catalogue says."""
    if one.name in _SPECIAL:
        return draw(_special(one.name, depth, names))
    if one.style == "named":
        found = {one.name: draw(_named(one, depth, names))}
    elif one.style == "array":
        found = {one.name: draw(_positional(one, depth, names))}
    else:
        found = {one.name: draw(_argument(str(one.takes[0]) if one.takes else "any", depth, names))}
    # The order of a set is the server's own affair.
    return {"$sortArray": {"input": found, "sortBy": 1}} if one.name in _UNORDERED else found


@st.composite
def _positional(draw: st.DrawFn, one: Operator, depth: int, names: tuple[str, ...]) -> Any:
    most = one.most if one.most is not None else max(one.least, 3)
    count = draw(st.integers(one.least, most))
    takes = list(one.takes) or ["any"]  # type: ignore[arg-type]
    kinds = [takes[min(index, len(takes) - 1)] for index in range(count)]
    arguments = [draw(_argument(kind, depth, names)) for kind in kinds]
    return (
        arguments[0]
        if count == 1 and not isinstance(arguments[0], list) and draw(st.booleans())
        else arguments
    )


_WORDS: dict[str, list[Any]] = {
    "unit": ["year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"],
    "timezone": ["UTC", "Europe/Paris", "+05:30", "America/New_York", "-03", "+00:00", "GMT"],
    "weekday": ["monday", "sun", "friday"],
    "dateFormat": ["%Y-%m-%d", "%G-W%V-%u", "%H:%M:%S.%L %z", "%j %U %w"],
    "method": ["approximate"],
    "type": ["double", "string", "bool", "date", "int", "long", "decimal", "objectId", 1, 2, 16],
    "pattern": ["a", "^a", "b$", "[a-c]+", "(a)(b)?", "\\d+", ""],
    "options": ["", "i", "m"],
    "field": ["x", "n", "name", "a.b", "$x"],
}


def _argument(kind: str, depth: int, names: tuple[str, ...]) -> Strategy:
    if kind == "flag":
        return st.booleans()
    if kind == "arrays":
        return st.lists(expressions("array", depth - 1, names), min_size=1, max_size=3)
    if kind == "field":
        return st.sampled_from(_WORDS[kind]).map(lambda name: {"$literal": name})
    if kind in _WORDS:
        return st.sampled_from(_WORDS[kind])
    return expressions(kind, depth - 1, names)


@st.composite
def _named(draw: st.DrawFn, one: Operator, depth: int, names: tuple[str, ...]) -> Any:
    optional = [name for name in one.optional if (one.name, name) not in _NEWER]
    chosen = [*one.required, *(name for name in optional if draw(st.booleans()))]
    if one.name == "$dateFromParts":
        chosen = draw(
            st.sampled_from(
                [["year", "month", "day"], ["year", "month", "hour", "minute"], ["isoWeekYear", "isoWeek"]]
            )
        )
    takes: Any = one.takes
    bound: tuple[str, ...] = (
        ("value", "this") if one.name == "$reduce" else ("this",) if "as" in takes else ()
    )
    built: dict[str, Any] = {}
    for name in chosen:
        kind = takes.get(name, "any") if isinstance(takes, dict) else "any"
        if kind == "name":
            bound = ("item",)
            built[name] = "item"
        elif kind == "sort":
            built[name] = draw(st.sampled_from([1, -1, {"n": 1}, {"name": -1, "n": 1}]))
        elif name == "dateString":
            built[name] = draw(st.one_of(_argument(kind, depth, names), _DATE_TEXTS))
        elif name not in ("in", "cond"):
            built[name] = draw(_argument(kind, depth, names))
    for name in ("in", "cond"):
        if name in chosen:
            built[name] = draw(expressions("bool" if name == "cond" else "any", depth - 1, (*names, *bound)))
    return built


@st.composite
def _special(draw: st.DrawFn, name: str, depth: int, names: tuple[str, ...]) -> Any:
    def part(kind: str = "any", more: tuple[str, ...] = ()) -> Any:
        return draw(expressions(kind, depth - 1, (*names, *more)))

    if name == "$cond":
        return {name: [part("bool"), part(), part()]}
    if name == "$switch":
        return {name: {"branches": [{"case": part("bool"), "then": part()}], "default": part()}}
    if name == "$let":
        bound = draw(st.sampled_from([(), ("v",), ("v",), ("v", "w"), ("CURRENT",)]))
        inside = tuple(one for one in bound if one != "CURRENT")
        return {name: {"vars": {one: part() for one in bound}, "in": part("any", inside)}}
    if name == "$getField":
        return {name: {"field": draw(st.sampled_from(["x", "n", "a.b"])), "input": part("object")}}
    return {name: draw(_ANY)}
