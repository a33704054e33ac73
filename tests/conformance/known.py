"""What is known to differ between the evaluator and the server of the tests: predicates, each with its reason.

None of them is about values or the number of rows. Where both give rows, these are the same once what the reason names
is taken away. Where one fails and the other does not, it is the form of the pipeline that says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bson.decimal128 import Decimal128

from preprocessor.results import Query
from preprocessor.results.fieldorder import settle_field_order
from tests.conformance.before8 import rules_of_6_0
from tests.conformance.outcomes import Case, Outcome, decoded, encoded, evaluated, plain, same

# What cancels out, as in the cosine of a right angle, loses more of the 34 digits.
_DIGITS = 22
# Below it a Decimal128 has fewer than 34 digits.
_SUBNORMAL = -6143


@dataclass(frozen=True, slots=True)
class Predicate:
    """Cases that may be answered differently: why, and whether a case is one."""

    reason: str
    holds: Callable[[Case], bool]


def known_difference(case: Case) -> str:
    """The first reason for which this disagreement is none; empty where there is no such reason."""
    return next((one.reason for one in KNOWN if one.holds(case)), "")


def _in_the_order_of_the_pipeline(case: Case) -> bool:
    return case.ours[0] == case.theirs[0] == "rows" and _settled(case, case.ours) == _settled(
        case, case.theirs
    )


def _settled(case: Case, outcome: Outcome) -> list[bytes]:
    query = Query("case", tuple(case.pipeline), case.let)
    return plain(encoded(settle_field_order(decoded(outcome[1]), query)))


def _as_in_6_0(case: Case) -> bool:
    with rules_of_6_0():
        older = case.with_ours(evaluated(case.documents, case.pipeline, case.let))
    return (
        same(older.ours, case.theirs)
        or _in_the_order_of_the_pipeline(older)
        or _but_for_the_last_digits(older)
    )


def _behind_a_match(case: Case) -> bool:
    """Whether the stage that fails stands before a ``$match``."""
    return _fails_here_alone(case) and any("$match" in stage for stage in case.pipeline[_failing(case) + 1 :])


def _within_first(case: Case) -> bool:
    return _fails_here_alone(case) and re.search(r"\.\$group\.[^.]+\.\$first\b", case.ours[1]) is not None


def _fails_where_a_stage_comes_first(case: Case) -> bool:
    """Whether the evaluator fails as well once a ``$match`` or a ``$sort`` stands further ahead."""
    if not (case.ours[0] == "rows" and case.theirs[0] == "error"):
        return False
    stages = case.pipeline
    moved = (
        [*stages[:before], stages[place], *stages[before:place], *stages[place + 1 :]]
        for place, stage in enumerate(stages)
        if "$match" in stage or "$sort" in stage
        for before in range(place)
    )
    return any(evaluated(case.documents, one, case.let)[0] == "error" for one in moved)


def _in_a_join_without_documents(case: Case) -> bool:
    if not _fails_here_alone(case) or not re.search(r"\]\.\$(lookup|graphLookup)\.", case.ours[1]):
        return False
    before = evaluated(case.documents, case.pipeline[: _failing(case)], case.let)
    return before == ("rows", [])


def _in_range(case: Case) -> bool:
    return _fails_here_alone(case) and case.ours[1].endswith(".$range)")


def _of_the_servers_own(case: Case) -> bool:
    return case.ours[0] == "rows" and case.theirs[0] == "error" and case.theirs[1].startswith("4822806:")


# What the server's other engine gives null for where any operand is missing, before it looks at the others.
_NULL_FIRST = re.compile(
    r"\]\.\$(group|sortByCount)\..*\.\$(add|multiply|concat|atan2|setUnion|concatArrays)(\.\d+)?\)$"
)


def _beside_a_missing_operand(case: Case) -> bool:
    return _fails_here_alone(case) and _NULL_FIRST.search(case.ours[1]) is not None


def _fails_here_alone(case: Case) -> bool:
    return case.ours[0] == "error" and case.theirs[0] == "rows"


def _failing(case: Case) -> int:
    """The place of the stage that fails here."""
    found = re.search(r"\(at pipeline\[(\d+)\]", case.ours[1])
    return int(found[1]) if found else len(case.pipeline)


_TRANSCENDENTAL = {
    f"${name}"
    for name in (
        *("exp", "ln", "log", "log10", "pow", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
        *("asinh", "acosh", "atanh", "sinh", "cosh", "tanh", "stdDevPop", "stdDevSamp"),
    )
}


def _but_for_the_last_digits(case: Case) -> bool:
    """Whether the rows are the same when Decimal128 are taken with fewer digits."""
    if not _TRANSCENDENTAL & set(operators_in(case.pipeline)):
        return False
    if not case.ours[0] == case.theirs[0] == "rows":
        return False
    return plain(encoded(_short(decoded(case.ours[1])))) == plain(encoded(_short(decoded(case.theirs[1]))))


def _short(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _short(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_short(inner) for inner in value]
    if not isinstance(value, Decimal128) or not value.to_decimal().is_finite():
        return value
    number = value.to_decimal()
    return f"{number:.{_DIGITS}e}" if number and number.adjusted() > _SUBNORMAL else "0"


def operators_in(value: Any) -> Iterator[str]:
    """The names with a dollar sign, wherever they stand."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key.startswith("$"):
                yield key
            yield from operators_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from operators_in(inner)


KNOWN = (
    Predicate(
        "fields of several windows of one stage: a server adds them in any order",
        _in_the_order_of_the_pipeline,
    ),
    Predicate(
        "transcendental functions of a Decimal128: the server's library is off in the last of 34 digits",
        _but_for_the_last_digits,
    ),
    Predicate(
        "newer forms: text of doubles, $add of a double to a Decimal128 or a date, $mod by a whole double, $log of "
        "Decimal128, $dateToString in a zone are as in 8; with the rules of 6.0 the rows are the same",
        _as_in_6_0,
    ),
    Predicate(
        "files fail loudly before a $match that the server moves ahead of what fails",
        _behind_a_match,
    ),
    Predicate(
        "the server fails on documents that a stage drops, as it moves a $match or a $sort ahead of it",
        _fails_where_a_stage_comes_first,
    ),
    Predicate(
        "files fail loudly on a constant within a join that no document gets to: there the server computes none",
        _in_a_join_without_documents,
    ),
    Predicate(
        "files fail loudly within $first of a $group, which the server may not compute for later documents",
        _within_first,
    ),
    Predicate(
        "files fail loudly on a $range without ends, which gives null in one of the server's two engines",
        _in_range,
    ),
    Predicate(
        "files fail loudly in a $group on an operand of the wrong type beside a missing one, for which one of the "
        "server's two engines gives null",
        _beside_a_missing_operand,
    ),
    Predicate(
        "6.0 fails of itself, with 'duplicate field', where a $group there names one field in two branches",
        _of_the_servers_own,
    ),
)
