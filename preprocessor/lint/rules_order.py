"""Rules about the order of rows: sort keys that sort nothing, rows picked by chance, numbers sorted as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from preprocessor.findings import Finding
from preprocessor.lint.shape.flow import StageFlow
from preprocessor.lint.shape.values import Shape, lookup
from preprocessor.lint.subject import Subject, quoted, suggestion


def _keys(stage: StageFlow) -> Iterator[tuple[str, Shape]]:
    """The sort keys of a stage with their shapes; array positions in a key are not followed."""
    for key, order in stage.argument.items():
        if isinstance(order, (int, float)) and not any(part.isdigit() for part in key.split(".")):
            yield key, lookup(stage.before, tuple(key.split(".")))


def missing_sort_key(subject: Subject) -> Iterator[Finding]:
    """MT305: a sort by a field that no row has leaves rows in whatever order they come."""
    for stage in subject.stages("$sort"):
        for key, shape in _keys(stage):
            if not shape.absent or not stage.before.kinds:
                continue
            dropped = _dropped_by(subject, stage, key)
            if dropped is not None:
                line = subject.at((dropped.number,))[0]
                why = f"the `{dropped.name}` in line {line} has dropped it"
                hint = f"Sort before the `{dropped.name}`, or keep `{key}` in it."
            else:
                why = "no document has it"
                names = [
                    name for name, one in stage.before.fields.items() if not one.absent and name != "_id"
                ]
                hint = suggestion(key, names) or (f"They have {quoted(names[:8])} here." if names else "")
            yield subject.in_pipeline(
                "MT305",
                (*stage.path, key),
                f"Rows are sorted by `{key}`, but {why}: readers see them in chance order.",
                hint,
                key=True,
            )


def _dropped_by(subject: Subject, sort: StageFlow, key: str) -> StageFlow | None:
    parts = tuple(key.split("."))
    for stage in reversed(subject.flow.stages[: sort.number]):
        if not lookup(stage.before, parts).absent:
            computed = isinstance(stage.argument, Mapping) and stage.argument.get(key) not in (None, 0, False)
            return None if computed else stage
    return None


_ORDERING = ("$sort", "$sortByCount", "$bucket", "$bucketAuto", "$setWindowFields", "$densify", "$geoNear")


def limit_without_sort(subject: Subject) -> Iterator[Finding]:
    """MT401: which documents a ``$limit`` keeps is chance when nothing has put them in order."""
    ordered = single = False
    for stage in subject.flow.stages:
        if stage.name in _ORDERING:
            ordered = True
        elif stage.name == "$group":
            ordered, single = False, _is_constant(stage.argument.get("_id"))
        elif stage.name == "$count" or (stage.name == "$match" and _names_one(stage.argument)):
            single = True
        elif stage.name in ("$unwind", "$unionWith"):
            single = False
        elif stage.name in ("$limit", "$skip") and not ordered and not single:
            yield subject.in_pipeline(
                "MT401",
                stage.path,
                f"`{stage.name}` without a `$sort` before it: which document is shown is chance, and changes "
                "when results are added.",
                'Put a `$sort` before it, for example {"$sort": {"start_time": -1}} for the newest.',
            )


def _is_constant(value: Any) -> bool:
    return value is None or isinstance(value, (int, float, bool))


def _names_one(condition: Any) -> bool:
    """Whether a query asks for one ``_id``."""
    wanted = condition.get("_id") if isinstance(condition, Mapping) else None
    if isinstance(wanted, Mapping):
        return bool(wanted) and not any(str(key).startswith("$") for key in wanted)
    return wanted is not None


def text_order(subject: Subject) -> Iterator[Finding]:
    """MT408: texts with numbers in them are sorted letter by letter, so that 10 stands before 9."""
    for stage in subject.stages("$sort"):
        for key, shape in _keys(stage):
            example = _example(shape)
            if example is None:
                continue
            yield subject.in_pipeline(
                "MT408",
                (*stage.path, key),
                f"`{key}` is text with numbers in it, and sorts letter by letter: {example}.",
                "Sort by the numbers themselves: keep them as fields until after the `$sort`.",
                key=True,
            )


_RUN = re.compile(r"\d+")


def _example(shape: Shape) -> str | None:
    """Two texts that stand the wrong way round; None where texts and numbers go the same way."""
    if shape.traits.numeral:
        return "a text with 10000 stands before one with 3000"
    known = shape.traits.known
    if not known or len(known) < 2 or not all(isinstance(value, str) for value in known):
        return None
    texts = sorted(known)
    frames = {_RUN.sub("#", text) for text in texts}
    runs = [_RUN.findall(text) for text in texts]
    if len(frames) > 1 or len(runs[0]) != 1 or any(run[0].startswith("0") for run in runs):
        return None
    for text, following in pairwise(texts):
        if int(_RUN.findall(text)[0]) > int(_RUN.findall(following)[0]):
            return f'"{text}" stands before "{following}"'
    longer = _RUN.sub(lambda found: found[0][0] + "0" * len(found[0]), texts[0])
    return f'"{longer}" would stand before "{texts[-1]}"'


RULES = (missing_sort_key, limit_without_sort, text_order)
