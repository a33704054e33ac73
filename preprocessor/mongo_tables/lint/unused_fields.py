"""Rules about useless work: unused fields, whole arrays, keys of documents.

The analysis goes backwards through the pipeline. A field is live if a later stage reads it or the table shows it. A
field that is not live could be removed without any visible change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from mongo_tables.aggregation.fields import WHOLE, Field, Parts, split_path
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.rule_context import RuleContext, quote, rule
from mongo_tables.lint.shape.expressions import Path
from mongo_tables.lint.shape.flow import Written, read_stages
from mongo_tables.lint.shape.values import has_array


class Live:
    """The paths that are used after a stage, none of which addresses an array element by position."""

    def __init__(self, paths: Iterable[Parts]) -> None:
        self.paths = frozenset(map(_without_places, paths))
        self._by_name: dict[str, list[Parts]] = defaultdict(list)
        for one in self.paths:
            self._by_name[one[0] if one else ""].append(one)

    def has(self, parts: Parts) -> bool:
        """Return whether anything at, above or below the path is used."""
        return WHOLE in self.paths or any(
            one[: len(parts)] == parts[: len(one)] for one in self._by_name.get(parts[0], ())
        )

    def below(self, parts: Parts) -> set[Parts]:
        """Return the live paths at or below ``parts``, or ``parts`` itself if something above it is live."""
        near = (one if len(one) >= len(parts) else parts for one in self._by_name.get(parts[0], ()))
        found = {one for one in near if one[: len(parts)] == parts}
        return found | {parts} if WHOLE in self.paths else found


class Unused(NamedTuple):
    """A field that nothing uses: where it is made, and whether it is computed there or only kept."""

    path: Path
    name: str
    computed: bool


class FieldUsage(NamedTuple):
    """``unused``: the unused fields, in the order of the pipeline. ``read``: fields of the collection."""

    unused: Sequence[Unused]
    read: Live


def usage(stages: Sequence[Written], live: Live) -> FieldUsage:
    """Return which parts of a pipeline are used when the paths in ``live`` are used of its rows."""
    unused: list[Unused] = []
    for index in range(len(stages) - 1, -1, -1):
        stage, here = stages[index], list[Unused]()
        for field in stage.effect.fields:
            if field.becomes != "dropped" and not field.always and not live.has(field.parts):
                place = (index, stage.name, *(field.place or ()))
                here.append(Unused(place, ".".join(field.parts), computed=field.becomes == "made"))
        unused = [*here, *unused]
        live = _live_before(stage, live)
    return FieldUsage(unused, live)


def _without_places(parts: Parts) -> Parts:
    for number, name in enumerate(parts):
        if name.isdigit():
            return parts[:number]
    return parts


def _live_before(stage: Written, live: Live) -> Live:
    """Return what is live before a stage.

    A dotted path that the stage makes is live itself, because an array above it repeats it.
    """
    effect = stage.effect
    found = set(effect.reads)
    for field, reads in zip(effect.fields, stage.reads, strict=True):
        if field.becomes == "kept":
            found |= live.below(field.parts)
        elif field.always or live.has(field.parts):
            found |= reads
            if field.branch is not None:
                found |= _read_by_branch(field, live)
            if len(field.parts) > 1:
                found.add(field.parts)
    if not effect.only:
        written = {field.parts[0] for field in effect.fields if len(field.parts) == 1}
        found |= {one for one in live.paths if one == WHOLE or one[0] not in written}
    return Live(found)


def _read_by_branch(field: Field, live: Live) -> frozenset[Parts]:
    """Return the fields that a sub-pipeline reads when its rows become a field."""
    shown = Live(one[len(field.parts) :] for one in live.below(field.parts))
    return usage(read_stages(field.branch or ()), shown).read.paths


@rule("MT501", "MT502", "MT505")
def find_unused(subject: RuleContext) -> Iterator[Finding]:
    """Yield what the pipeline makes or keeps without a use."""
    in_use = [*(column for _, column in subject.spec.shown_columns), *subject.quoted]
    live = Live(map(split_path, in_use))
    unused = usage(subject.flow.written, live).unused
    heavy = [
        name for name, shape in subject.flow.rows.fields.items() if not live.has((name,)) and has_array(shape)
    ]
    yield from _find_unused_fields(subject, [one for one in unused if one.computed or one.name not in heavy])
    if subject.spec.has_own_pipeline:
        # Otherwise the rows are whole documents, which the author did not choose.
        kept = {one.name: one.path for one in unused if not one.computed}
        yield from _find_unshown_arrays(subject, [name for name in heavy if name != "_id"], kept)
    if not live.has(("_id",)):
        yield from _find_unshown_key(subject)


_HOW: Final = {(False, False): "kept", (True, False): "computed or kept", (True, True): "computed"}


def _find_unused_fields(subject: RuleContext, unused: Iterable[Unused]) -> Iterator[Finding]:
    """MT501: a field that is computed or kept but neither read nor shown costs time and misleads the next author."""
    by_line: dict[int, list[Unused]] = defaultdict(list)
    for one in unused:
        by_line[subject.at(one.path, key=True)[0]].append(one)
    for found in by_line.values():
        names = quote(dict.fromkeys(one.name for one in found))
        verb = "is" if len(found) == 1 else "are"
        how = _HOW[any(one.computed for one in found), all(one.computed for one in found)]
        yield subject.in_pipeline(
            "MT501",
            found[0].path,
            f"{names} {verb} {how} and never used: no shown value depends on it",
            "remove it, or show it",
            key=True,
        )


def _find_unshown_arrays(
    subject: RuleContext, heavy: Sequence[str], kept: dict[str, Path]
) -> Iterator[Finding]:
    """MT502: every row carries whole arrays of samples that are not shown."""
    placed = [name for name in heavy if name in kept]
    for name in placed:
        yield subject.in_pipeline(
            "MT502",
            kept[name],
            f"`{name}` has whole arrays in it, travels with every row and is not shown",
            "remove it from the `$project`",
            key=True,
        )
    if heavy and not placed:
        yield subject.finding(
            "MT502",
            subject.spec.locate(("pipeline",)),
            f"rows carry {quote(heavy[:8])}, with whole arrays in them, and do not show them",
            "end the pipeline with a `$project` of what is shown",
        )


def _find_unshown_key(subject: RuleContext) -> Iterator[Finding]:
    """MT505: every row carries a key that is a whole document and is not shown."""
    projects = [stage for stage in subject.stages("$project") if "_id" not in stage.argument]
    key = subject.flow.rows.fields.get("_id")
    if not projects or key is None or "object" not in key.kinds or key.unknown:
        return
    later = subject.flow.written[projects[-1].number + 1 :]
    is_read = usage(later, Live(map(split_path, subject.columns))).read.has(("_id",))
    yield subject.in_pipeline(
        "MT505",
        projects[-1].path,
        "the `$project` keeps `_id`, a document of its own, which is not shown: it is stored with the rows",
        'end the pipeline with {"$unset": "_id"}: a later stage reads it'
        if is_read
        else 'add "_id": 0, or "_id": 1 to lead readers from each row to the runs behind it',
    )
