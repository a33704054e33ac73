"""Rules about fields: columns and paths that no document has, or that only some have."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from mongo_tables.aggregation.catalogue import names_with
from mongo_tables.aggregation.fields import Parts, conditions_in
from mongo_tables.aggregation.values import MISSING, is_flag, is_number, truthy
from mongo_tables.findings.finding import Finding, did_you_mean
from mongo_tables.lint.rule_context import (
    RuleContext,
    Stages,
    find_definition,
    find_made,
    leading_match,
    quote,
    rule,
)
from mongo_tables.lint.shape.expressions import Path
from mongo_tables.lint.shape.flow import StageFlow, flow_of
from mongo_tables.lint.shape.values import ARRAY, Shape, column_shape, lookup
from mongo_tables.render.column import column_value, index_hint


def _never(shape: Shape) -> bool:
    """Return whether no document has the value. Arrays count as no value if all their elements lack the field."""
    if shape.absent:
        return True
    return shape.kinds == ARRAY and shape.items is not None and _never(shape.items)


def _selects_joined(root: Shape, parts: Sequence[str]) -> bool:
    """Return whether the path selects an element by its number from an array of documents with unknown fields.

    Joins make such arrays.
    """
    arrays = [lookup(root, tuple(parts[:at])) for at, part in enumerate(parts) if at and part.isdigit()]
    items = [one.items for one in arrays if one.kinds == ARRAY and one.items]
    return any(one.kinds == {"object"} and not one.fields for one in items)


@rule("MT402")
def find_paths_never_there(subject: RuleContext) -> Iterator[Finding]:
    """MT402: a stage reads a path that no document has, so values computed from it are null."""
    told: set[str] = set()
    for stage in subject.flow.stages:
        read: list[tuple[Path, str, Shape]] = []
        for visit in stage.visits.get("", ()):  # what expressions read
            if not visit.shape.kinds <= ARRAY or visit.place.guarded:
                continue
            text = str(visit.place.arguments[0][1])
            if not text.startswith("$$"):
                read.append((visit.path, text[1:], visit.shape))
        argument, named = stage.argument, dict[Path, Any]()
        if stage.name == "$project":
            for name, value in argument.items():
                if is_flag(value) and truthy(value):
                    named[*stage.path, name] = name
        elif key := {"$unwind": "path", "$lookup": "localField"}.get(stage.name):
            in_key = isinstance(argument, Mapping)
            named[(*stage.path, key) if in_key else stage.path] = argument.get(key) if in_key else argument
        for path, name in named.items():
            if isinstance(name, str):
                text = name.removeprefix("$")
                read.append((path, text, lookup(stage.before, tuple(text.split(".")))))
        for path, text, shape in read:
            if text in told or not shape.kinds <= ARRAY or not stage.before.kinds:
                continue
            if not _never(shape) and not _selects_joined(stage.before, text.split(".")):
                continue
            if not _is_computed(stage.before, tuple(text.split("."))):
                told.add(text)
                yield subject.in_pipeline("MT402", path, *_say_never(stage, text, path))


@rule("MT402", reads=("",))
def find_mistyped_paths_of_variables(subject: RuleContext) -> Iterator[Finding]:
    """MT402: an expression reads a field that the value of a variable lacks, but a field has a similar name."""
    told: set[str] = set()
    for visit in subject.fields_read:
        if not visit.shape.kinds <= ARRAY or visit.place.guarded or not _never(visit.shape):
            continue
        text = str(visit.place.arguments[0][1])
        name, _, rest = text.partition(".")
        if not text.startswith("$$") or not rest or text in told:
            continue
        hint = _near(visit.given[0], tuple(rest.split(".")))
        if hint.startswith("did you mean"):
            told.add(text)
            message = f"`{text}` is read, but `{name}` never has this field: its value is empty or null"
            yield subject.in_pipeline("MT402", visit.path, message, hint)


@rule("MT402", needs=("asks for nothing",))
def find_mistyped_conditions(subject: RuleContext) -> Iterator[Finding]:
    """MT402: a condition tests a field that no document has, but a field has a similar name.

    Without a similar name the condition may test for a field that no document has yet, such as `error`.
    """
    for stage in subject.stages("$match"):
        for path, text in _list_asked(stage.argument, stage.path):
            parts = tuple(text.split("."))
            if not stage.before.kinds or not _never(lookup(stage.before, parts)):
                continue
            hint = _near(stage.before, parts)
            if hint.startswith("did you mean"):
                message = (
                    f"the condition tests `{text}`, but no document has it here: none meets the condition"
                )
                yield subject.in_pipeline("MT402", path, message, hint, key=True)


@rule("MT402", needs=("$lookup",))
def find_paths_never_joined(subject: RuleContext) -> Iterator[Finding]:
    """MT402: a join reads a field that no document of the joined collection has."""
    documents = subject.documents
    if documents is None or not subject.known:
        return
    for stage in subject.stages("$lookup"):
        joined, key = str(stage.argument.get("from", "")), stage.argument.get("foreignField")
        if not documents.passing(joined, (), {}).documents:
            continue
        theirs, let = documents.shape_of_all(joined), stage.argument.get("let") or {}
        if isinstance(key, str) and _never(lookup(theirs, tuple(key.split(".")))):
            message = f"no document of `{joined}` has `{key}`: the join finds no value to compare with"
            hint = _near(theirs, tuple(key.split(".")))
            yield subject.in_pipeline("MT402", (*stage.path, "foreignField"), message, hint)
        bound = {**subject.spec.let, **let}
        flow = flow_of(stage.argument.get("pipeline") or (), theirs, bound, documents.texts)
        inner = replace(subject, flow=flow, within=(*stage.path, "pipeline"))
        told: set[tuple[int, int | None]] = set()
        for path, text, hint in _list_read_from_outside(inner, stage.before):
            message = f"`{text}` is read, but no document of `{joined}` has it here"
            one = inner.in_pipeline("MT402", path, message, hint)
            told.add((one.line, one.column))
            if text.partition(".")[0] not in let:  # else MT442 reports it
                yield one
        for one in (*find_paths_never_there(inner), *find_mistyped_conditions(inner)):
            if (one.line, one.column) not in told:
                yield one
        yield from find_variables_as_fields(inner)


@rule("MT442", reads=("",))
def find_variables_as_fields(subject: RuleContext) -> Iterator[Finding]:
    """MT442: an expression reads a field that no document has; a variable with this name exists at this place."""
    for visit in subject.fields_read if subject.known else ():
        text, root = str(visit.place.arguments[0][1]), visit.given[0]
        name = text[1:].partition(".")[0]
        if name in visit.variables and root.kinds and lookup(root, (name,)).absent:
            message = f"`{text}` reads the field `{name}`, which no document has; `{name}` is a variable here"
            yield subject.in_pipeline("MT442", visit.path, message, f"write `${text}`")


def _list_read_from_outside(inner: RuleContext, outer: Shape) -> Iterator[tuple[Path, str, str]]:
    """Yield the paths in a join's expressions that only outer documents have, and mistyped paths, each with a hint."""
    for stage in inner.flow.stages if outer.kinds else ():
        for visit in stage.visits.get("", ()):
            text = str(visit.place.arguments[0][1])[1:]
            is_guarded = visit.place.guarded and stage.name != "$match"
            if text[:1] == "$" or is_guarded or not stage.before.kinds or not _never(visit.shape):
                continue
            there, hint = lookup(outer, tuple(text.split("."))), _near(stage.before, tuple(text.split(".")))
            if is_outer := not there.absent and not there.unknown:
                name = text.rpartition(".")[2].lstrip("_")
                name = name[:1].lower() + name[1:]
                hint = f'the outer documents have it: write {{"let": {{"{name}": "${text}"}}}}, and "$${name}" here'
            if is_outer or hint.startswith("did you mean"):
                yield visit.path, text, hint


def find_asked_fields(pipeline: Stages) -> list[str]:
    """Return the fields for which the first ``$match`` of a pipeline requires a value, in text order."""
    return [text for first in leading_match(pipeline) for _, text in _list_asked(first["$match"], ())]


def _list_asked(query: Any, path: Path) -> Iterator[tuple[Path, str]]:
    for key, value, at in conditions_in(query, path):
        if not key.startswith("$") and "$nor" not in at and asks_for_value(value):
            yield at, key


def asks_for_value(condition: Any) -> bool:
    """Return whether the condition requires the field: it compares the value, or tests whether it exists."""
    if not isinstance(condition, Mapping) or not all(key.startswith("$") for key in condition):
        return condition is not None
    for operator, operand in condition.items():
        if operator == "$exists":
            requires = truthy(operand)
        elif operator in ("$in", "$all"):
            requires = isinstance(operand, list | tuple) and None not in operand
        else:
            requires = operator in _COMPARING and operand is not None
        if requires:
            return True
    return False


_COMPARING: Final = names_with("needs a value", "query")


def _is_computed(root: Shape, parts: Parts) -> bool:
    """Return whether an earlier stage computes the field from an absent field. The rule then reports that stage."""
    above = lookup(root, parts[:-1])
    return parts[-1] in above.fields or any(
        one in root.fields and root.fields[one].absent for one in parts[:1]
    )


def _say_never(stage: StageFlow, text: str, path: Path) -> tuple[str, str]:
    """Return message and hint about a path that no document has before a stage."""
    kept = stage.argument.get(text) if stage.name == "$project" else None
    name = text.partition(".")[0]
    made = find_made({stage.name: stage.argument}, name)
    if kept is None and made and made.becomes == "made" and path[2] != name:
        message = (
            f"`{text}` is read in the stage that makes it: no document has it yet, so it is missing here"
        )
        return message, f"make it in another {stage.name} before this one"
    what, hint = "is read" if kept is None else "is kept", ""
    if is_number(kept) and kept != 1:
        what, hint = (
            f"is included, because {kept} counts as true",
            f'for the number itself: {{"$literal": {kept}}}',
        )
    message = f"`{text}` {what}, but no document has it here: its value is empty or null"
    return message, hint or _near(stage.before, tuple(text.split(".")))


def _element(path: str, root: Shape) -> str:
    """Return a hint to read an array element by an expression if the path contains the element's index, or ""."""
    parts = path.split(".")
    numbers = (at for at, part in enumerate(parts) if part.isdigit())
    in_array = any(at and "array" in lookup(root, tuple(parts[:at])).kinds for at in numbers)
    hint = index_hint(path) if in_array else ""
    return f"{hint[:1].upper()}{hint[1:]}." if hint else ""


def _near(root: Shape, parts: Parts) -> str:
    if element := _element(".".join(parts), root):
        return element
    for depth, name in enumerate(parts):
        above = lookup(root, parts[:depth])
        if _never(lookup(above, (name,))):
            if (rest := ".".join(parts[depth:])) != name and rest in above.fields:
                field = {"field": rest, "input": f"${'.'.join(parts[:depth])}"} if depth else rest
                return f"did you mean the name with a dot? {json.dumps({'$getField': field})} reads it"
            place = f"`{'.'.join(parts[:depth])}` has" if depth else "documents have"
            names = [
                one for one in above.fields if one not in (name, "_", "_id") and not above.fields[one].absent
            ]
            there = f"{place} {quote(names[:8])} here" if names else "remove it"
            return did_you_mean(name, names) or there
    return ""


@rule("MT403", needs=("missing",))
def find_paths_sometimes_there(subject: RuleContext) -> Iterator[Finding]:
    """MT403: only some documents have a field, and the empty cells do not explain why."""
    for path, column, source in _columns_with_gaps(subject):
        if lookup(subject.flow.documents, tuple(source.split("."))).missing:
            why = f"only some documents have `{source}`: in the column `{column}` the others have no value"
            yield _say_gap(subject, path, column, source, why)


@rule("MT403", of="rows", needs=("missing",))
def find_empty_arrays(subject: RuleContext, rows: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """MT403: all documents have an array, but in some of them it is empty."""
    for path, column, source in _columns_with_gaps(subject):
        there = lookup(subject.flow.documents, tuple(source.split(".")))
        is_array = "array" in there.kinds and not there.missing
        if is_array and any(column_value(row, column) is MISSING for row in rows):
            why = f"in some documents `{source}` has no element: in the column `{column}` they have no value"
            yield _say_gap(subject, path, column, source, why)


_HANDING_ON: Final = names_with("hands on null")


@rule("MT403", of="rows", needs=_HANDING_ON)
def find_computed_gaps(subject: RuleContext, rows: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """MT403: a computed value is null in some rows, because one of its fields is missing there."""
    for path, column in _columns_of_fields(subject, "columns"):
        shape = column_shape(subject.flow.rows, column)
        if "null" not in shape.kinds or shape.traits.path is not None:
            continue
        empty = sum(column_value(row, column) is None for row in rows)
        made = find_definition(subject.spec, column) if 0 < empty < len(rows) else None
        sources = {
            str(visit.place.arguments[0][1])[1:]: visit
            for visit in subject.fields_read
            if made and visit.path[: len(made)] == made and _hands_on(visit.path[len(made) :])
            if visit.shape.nullish and not visit.shape.absent and not visit.shape.unknown
        }
        if sources:
            why = f"`{column}` is null in {empty} of {len(rows)} rows, because {quote(sources)} may have no value"
            yield _say_gap(subject, path, column, next(iter(sources)), why)


def _hands_on(path: Path) -> bool:
    """Return whether all operators around a field return null if the field is null."""
    return {part for part in path if isinstance(part, str) and part[:1] == "$"} <= _HANDING_ON


def _columns_of_fields(subject: RuleContext, *keys: str) -> Iterator[tuple[Path, str]]:
    """Yield the columns without a text for missing values, each with its place.

    ``keys``: the keys of the comment whose columns are yielded (default: all keys except ``format``).
    """
    for path, column in subject.shown_columns if subject.known else ():
        form = subject.spec.format.get(column)
        dealt_with = form is not None and (form.missing is not None or form.reason is not None)
        # A cell whose link address is missing has no link.
        if not dealt_with and (path[0] in keys if keys else path[0] != "format"):
            yield path, column


def _columns_with_gaps(subject: RuleContext) -> Iterator[tuple[Path, str, str]]:
    """Yield the columns that may lack a value and do not explain this, each with its place and source field."""
    for path, column in _columns_of_fields(subject):
        shape = column_shape(subject.flow.rows, column)
        if shape.missing and not shape.absent and not shape.unknown and shape.traits.path:
            yield path, column, shape.traits.path


def _say_gap(subject: RuleContext, path: Path, column: str, source: str, why: str) -> Finding:
    read = next((visit for visit in subject.fields_read if visit.shape.traits.path == source), None)
    return subject.finding(
        "MT403",
        subject.at(read.path) if read else subject.spec.locate(path),
        f"{why}, which readers may take for 0 or for an error",
        f'choose the text of such cells: "format": {{"{column}": {{"missing": "–"}}}}; or give the reason with '
        '"reason" in place of "missing"; or replace a missing value in the pipeline with {"$ifNull": [field, …]}',
    )
