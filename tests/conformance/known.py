"""What is known to differ between the evaluator and the server of the tests: predicates, each with its reason.

None of them is about values: they are about the order of fields, about one side that fails where the other gives rows,
or about a condition that the server asks too early. Where the files fail loudly, the evaluator has to give the very rows of the server as soon
as what the reason names is taken away from the pipeline; where the server fails, the evaluator has to fail as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from mongo_tables.results.model import Query
from mongo_tables.results.rows import settle_field_order
from tests.conformance.outcomes import Case, Documents, Outcome, decoded, encoded, evaluated, plain, same


@dataclass(frozen=True, slots=True)
class Predicate:
    """Cases that may be answered differently: why, and whether a case is one."""

    reason: str
    holds: Callable[[Case], bool]


def known_difference(case: Case) -> str:
    """The first reason for which this disagreement is none; empty where there is no such reason."""
    return next((one.reason for one in KNOWN if one.holds(case)), "")


def _in_the_order_of_the_pipeline(case: Case) -> bool:
    """Whether both give the same rows once the fields of windows stand in the order of the pipeline."""
    return _both_rows(case, case.ours) and _settled(case, case.ours) == _settled(case, case.theirs)


def _but_for_the_place_of_a_join(case: Case) -> bool:
    """Whether both give the same rows once the fields that joins set stand last in their documents."""
    names = _joined(case.pipeline)
    if not names or not _both_rows(case, case.ours):
        return False
    ours, theirs = (plain(encoded(_last(decoded(one[1]), names))) for one in (case.ours, case.theirs))
    return ours == theirs


def _joined(value: Any) -> set[str]:
    """The names of the fields that ``$lookup`` sets, each part of a dotted one by itself."""
    if isinstance(value, list):
        return set[str]().union(*map(_joined, value))
    if not isinstance(value, Mapping):
        return set()
    join = value.get("$lookup")
    own = str(join["as"]).split(".") if isinstance(join, Mapping) else []
    return set(own).union(*map(_joined, value.values()))


def _last(value: Any, names: set[str]) -> Any:
    if isinstance(value, list):
        return [_last(inner, names) for inner in value]
    if not isinstance(value, Mapping):
        return value
    order = [*(name for name in value if name not in names), *sorted(names & set(value))]
    return {name: _last(value[name], names) for name in order}


def _same_but_for_order(case: Case, ours: Outcome) -> bool:
    if not _both_rows(case, ours):
        return False
    other = replace(case, ours=ours)
    return (
        same(ours, case.theirs) or _in_the_order_of_the_pipeline(other) or _but_for_the_place_of_a_join(other)
    )


def _both_rows(case: Case, ours: Outcome) -> bool:
    return ours[0] == case.theirs[0] == "rows"


def _settled(case: Case, outcome: Outcome) -> list[bytes]:
    query = Query("case", tuple(case.pipeline), case.let)
    return plain(encoded(settle_field_order(decoded(outcome[1]), query)))


def _behind_a_match(case: Case) -> bool:
    """Whether the rows are the server's once a later ``$match`` is asked before the stage that fails as well."""
    if not _fails_here_alone(case):
        return False
    failing = _failing(case.ours)
    parts = [part for stage in case.pipeline[failing + 1 :] for part in _parts(stage.get("$match", {}))]
    ahead = (
        [*case.pipeline[:before], {"$match": part}, *case.pipeline[before:]]
        for part in parts
        for before in range(failing + 1)
    )
    within = (
        [*case.pipeline[:failing], {"$match": part}, union, *case.pipeline[failing + 1 :]]
        for part in parts
        for union in _unions_behind(part, case.pipeline[failing])
    )
    return any(_gives_the_servers_rows(case, one) for one in chain(ahead, within))


def _unions_behind(condition: Mapping[str, Any], stage: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A ``$unionWith`` with the condition asked at each place of its pipeline; nothing for another stage."""
    union = stage.get("$unionWith")
    inner = union.get("pipeline", []) if isinstance(union, Mapping) else []
    for at in range(len(inner)):
        yield {"$unionWith": {**union, "pipeline": [*inner[:at], {"$match": condition}, *inner[at:]]}}


def _parts(condition: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A condition, and those that it is made of: a server moves each by itself."""
    whole = [condition] if condition else []
    return [*whole, *condition.get("$and", [])]


def _within_first(case: Case) -> bool:
    """Whether the rows are the server's once ``$first`` takes the first document, and its value is computed then."""
    if not _fails_here_alone(case):
        return False
    place = _failing(case.ours)
    group = case.pipeline[place].get("$group") if place < len(case.pipeline) else None
    if not isinstance(group, Mapping):
        return False
    taken: dict[str, Any] = {}
    later: dict[str, Any] = {}
    for name, value in group.items():
        inner = value.get("$first") if name != "_id" and isinstance(value, Mapping) else None
        taken[name] = {"$first": "$$ROOT"} if inner is not None else value
        if inner is not None:
            computed = {"$let": {"vars": {"CURRENT": f"${name}"}, "in": inner}}
            later[name] = {"$ifNull": [computed, None]}
    stages = [{"$group": taken}, *([{"$set": later}] if later else [])]
    return bool(later) and _gives_the_servers_rows(
        case, [*case.pipeline[:place], *stages, *case.pipeline[place + 1 :]]
    )


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
    """Whether no document gets to the join that fails, and the rest of the pipeline gives the server's rows of none."""
    return _fails_here_alone(case) and _gives_the_servers_rows(case, case.pipeline)


def _in_range(case: Case) -> bool:
    """Whether the rows are the server's once a ``$range`` with an end that is null or missing gives null."""
    if not (_fails_here_alone(case) and case.ours[1].endswith(".$range)")):
        return False
    return _gives_the_servers_rows(case, _null_first(case.pipeline, {"$range"}))


_NULL_FIRST = {"$add", "$multiply", "$concat", "$atan2", "$setUnion", "$concatArrays"}
_IN_A_GROUP = re.compile(
    r"\]\.\$(group|sortByCount)\..*\.\$(add|multiply|concat|atan2|setUnion|concatArrays)(\.\d+|\[\d+\])?\)$"
)


def _beside_a_missing_operand(case: Case) -> bool:
    """Whether the rows are the server's once such operators look for missing operands before all others."""
    if not (_fails_here_alone(case) and _IN_A_GROUP.search(case.ours[1])):
        return False
    return _gives_the_servers_rows(case, _null_first(case.pipeline, _NULL_FIRST))


def _null_first(value: Any, operators: set[str]) -> Any:
    """The pipeline with every use of the operators null where an operand is null or missing."""
    if isinstance(value, list):
        return [_null_first(inner, operators) for inner in value]
    if not isinstance(value, Mapping) or set(value) & {"$literal", "$const"}:
        return value
    inside = {key: _null_first(inner, operators) for key, inner in value.items()}
    operands = [operands for name, operands in inside.items() if name in operators]
    if len(inside) != 1 or not operands:
        return inside
    given = operands[0] if isinstance(operands[0], list) else operands
    return {"$cond": [{"$or": [{"$lte": [one, None]} for one in given]}, None, inside]}


def _asked_before_a_field_within_is_set(case: Case) -> bool:
    """Whether the rows are the server's once a ``$match`` on a document is asked before a stage that sets its fields."""
    if not _both_rows(case, case.ours):
        return False
    stages = case.pipeline
    moved = (
        [*stages[:before], {"$match": part}, *stages[before:]]
        for place, stage in enumerate(stages)
        for part in _parts(stage.get("$match", {}))
        for before in range(place)
        if any(parent in str(part) for parent in _parents_of_set_fields(stages[before]))
    )
    return any(_gives_the_servers_rows(case, one) for one in moved)


def _parents_of_set_fields(stage: Mapping[str, Any]) -> set[str]:
    """The documents within which a stage sets fields by dotted paths, or by a document of them."""
    fields = [field for one in ("$set", "$addFields") for field in stage.get(one, {}).items()]
    dotted = {name.rpartition(".")[0] for name, _ in fields if "." in name}
    return dotted | {
        name for name, value in fields if isinstance(value, Mapping) and "$" not in str([*value][:1])
    }


def _of_the_servers_own(case: Case) -> bool:
    failed = case.ours[0] == "rows" and case.theirs[0] == "error"
    grouped = any({"$group", "$sortByCount"} & set(stage) for stage in case.pipeline)
    return failed and grouped and case.theirs[1].startswith("4822806:")


def _fails_here_alone(case: Case) -> bool:
    return case.ours[0] == "error" and case.theirs[0] == "rows"


def _failing(ours: Outcome) -> int:
    """The place of the stage that fails here."""
    found = re.search(r"\(at pipeline\[(\d+)\]", ours[1])
    return int(found[1]) if found else 0


def _gives_the_servers_rows(case: Case, pipeline: Documents) -> bool:
    return _same_but_for_order(case, _without_idle_joins(case, pipeline))


def _without_idle_joins(case: Case, pipeline: Documents) -> Outcome:
    """What the evaluator says, a join aside that fails although no document gets to it."""
    found = evaluated(case.documents, pipeline, case.let)
    if found[0] != "error" or not re.search(r"\]\.\$(lookup|graphLookup)\.", found[1]):
        return found
    place = _failing(found)
    idle = evaluated(case.documents, pipeline[:place], case.let) == ("rows", [])
    return evaluated([], pipeline[place + 1 :], case.let, joined=case.documents) if idle else found


KNOWN = (
    Predicate(
        "order of fields only: a server adds the fields of several windows of one stage in any order",
        _in_the_order_of_the_pipeline,
    ),
    Predicate(
        "order of fields only: a join sets its field in its place or at the end of the document, by which of its two "
        "engines the server takes",
        _but_for_the_place_of_a_join,
    ),
    Predicate(
        "the files fail before a $match that the server moves ahead of what fails; asked first, it leaves the "
        "server's rows",
        _behind_a_match,
    ),
    Predicate(
        "the server fails on documents that a stage drops, as it moves a $match or a $sort ahead of it; so do the "
        "files once it stands there",
        _fails_where_a_stage_comes_first,
    ),
    Predicate(
        "the files fail on a constant within a join that no document gets to, where the server computes none; the "
        "rest gives the server's rows",
        _in_a_join_without_documents,
    ),
    Predicate(
        "the files fail within $first of a $group, which the server may not compute for later documents; computed "
        "for the first ones only, the rows are the server's",
        _within_first,
    ),
    Predicate(
        "the files fail on a $range without ends, which gives null in one of the server's two engines; with null "
        "there, the rows are the server's",
        _in_range,
    ),
    Predicate(
        "the files fail in a $group on an operand of the wrong type beside a missing one, for which one of the "
        "server's two engines gives null; with null there, the rows are the server's",
        _beside_a_missing_operand,
    ),
    Predicate(
        "6.0 asks a $match on a document before an earlier stage sets a field within it; asked there, the rows are the "
        "server's",
        _asked_before_a_field_within_is_set,
    ),
    Predicate(
        "6.0 fails of itself, with 'duplicate field', where a $group there names one field in two branches",
        _of_the_servers_own,
    ),
)
