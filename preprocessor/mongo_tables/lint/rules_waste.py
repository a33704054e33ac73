"""Rules about what is made or carried for nothing: unused fields, whole arrays, keys of documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from mongo_tables.findings.finding import Finding
from mongo_tables.lint.liveness import Unused, is_live, usage
from mongo_tables.lint.rulecontext import RuleContext, quote
from mongo_tables.lint.shape.values import has_array


def _list_unshown_fields(subject: RuleContext) -> dict[str, bool]:
    """The fields of the rows that are not shown; each with whether it contains arrays."""
    rows = subject.flow.rows
    return {
        name: has_array(shape) for name, shape in rows.fields.items() if not is_live((name,), subject.live)
    }


def find_unused_fields(subject: RuleContext) -> Iterator[Finding]:
    """MT501: what is computed or kept and neither read nor shown costs time and misleads the next author."""
    heavy = {name for name, is_heavy in _list_unshown_fields(subject).items() if is_heavy}
    by_line: dict[int, list[Unused]] = defaultdict(list)
    for one in subject.usage.unused:
        if one.computed or one.name not in heavy:
            by_line[subject.at(one.path, key=True)[0]].append(one)
    for found in by_line.values():
        names = quote(dict.fromkeys(one.name for one in found))
        verb = "is" if len(found) == 1 else "are"
        how = _HOW[any(one.computed for one in found), all(one.computed for one in found)]
        yield subject.in_pipeline(
            "MT501",
            found[0].path,
            f"{names} {verb} {how} and never used: nothing that is shown depends on it",
            "take it out, or show it",
            key=True,
        )


_HOW = {(False, False): "kept", (True, False): "computed or kept", (True, True): "computed"}


def find_unshown_arrays(subject: RuleContext) -> Iterator[Finding]:
    """MT502: whole arrays of samples travel with every row and are not shown.

    The rows of a comment without a pipeline are whole documents, which nobody chose: nothing is said of them.
    """
    if not subject.spec.has_own_pipeline:
        return
    heavy = [name for name, is_heavy in _list_unshown_fields(subject).items() if is_heavy and name != "_id"]
    kept = {one.name: one.path for one in subject.usage.unused if not one.computed}
    placed = [name for name in heavy if name in kept]
    for name in placed:
        yield subject.in_pipeline(
            "MT502",
            kept[name],
            f"`{name}` has whole arrays in it, travels with every row and is not shown",
            "take it out of the `$project`",
            key=True,
        )
    rest = [name for name in heavy if name not in kept]
    if rest and not placed:
        yield subject.finding(
            "MT502",
            subject.spec.locate(("pipeline",)),
            f"rows carry {quote(rest[:8])}, with whole arrays in them, and do not show them",
            "end the pipeline with a `$project` of what is shown",
        )


def find_unshown_key(subject: RuleContext) -> Iterator[Finding]:
    """MT505: a key that is a whole document travels with every row and is not shown."""
    key = subject.flow.rows.fields.get("_id")
    projects = [stage for stage in subject.stages("$project") if "_id" not in stage.argument]
    if (
        key is None
        or is_live(("_id",), subject.live)
        or "object" not in key.kinds
        or key.unknown
        or not projects
    ):
        return
    later = subject.spec.pipeline[projects[-1].number + 1 :]
    is_read = is_live(("_id",), usage(later, subject.columns).read)
    yield subject.in_pipeline(
        "MT505",
        projects[-1].path,
        "the `$project` keeps `_id`, a document of its own, which is not shown: whoever stores the rows stores "
        "it too",
        'end the pipeline with {"$unset": "_id"}: a later stage reads it'
        if is_read
        else 'add "_id": 0, or "_id": 1 to lead readers from each row to the runs behind it',
    )


RULES = (find_unused_fields, find_unshown_arrays, find_unshown_key)
