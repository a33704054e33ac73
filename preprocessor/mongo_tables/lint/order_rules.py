"""Rules about the order of rows: useless sort keys, ties, rows and values that depend on chance, and
strings that are sorted letter by letter although their content has another order.

The content of a string is whole numbers (``9 ms``, ``10 ms``), a decimal number (``12.00 €``), a number with a unit of
time (``1.5 s``, ``12 ms``), or a date that is not in ISO 8601. Only strings that are equal apart from their content are
compared.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise, takewhile
from typing import Any, Final, NamedTuple

from mongo_tables.aggregation.catalogue import names_with
from mongo_tables.aggregation.pipelines import sort_limit
from mongo_tables.aggregation.values import MISSING, is_number
from mongo_tables.directives.specs import ChartSpec, PipelineSpec
from mongo_tables.findings.finding import Finding, did_you_mean
from mongo_tables.lint.row_order import (
    By,
    Sorting,
    is_kept,
    is_row_by_row,
    last_sorting,
    meant_sorting,
    write_sorting,
)
from mongo_tables.lint.rule_context import (
    Documents,
    Row,
    Rows,
    RuleContext,
    differing_columns,
    leading_match,
    quote,
    rule,
)
from mongo_tables.lint.shape.expressions import Path
from mongo_tables.lint.shape.flow import StageFlow
from mongo_tables.lint.shape.units import readings
from mongo_tables.lint.shape.values import NUMBERS, Shape, column_shape, lookup
from mongo_tables.render.column import column_value
from mongo_tables.results.row_names import are_apart, choose_telling, find_naming_fields, leaves, order_of

_Key = tuple[str, Any] | None
"""The text around the content, and the sort key of the content; None for a string without such content."""

_RUN: Final = re.compile(r"\d+")
_DECIMAL: Final = re.compile(r"\d{1,3}(?:[, \u00a0\u202f'’]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?")
_TIME: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zµμ]+)")
_YEAR_LAST: Final = re.compile(r"(?:(\d{1,2})[./-])?(\d{1,2})[./-](\d{4})")
_DAY: Final = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})\b")
_NAMED_MONTH: Final = re.compile(r"(?:(\d{1,2})\.? )?([A-Za-z]{3})[a-z]*\.?,? (\d{4})")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def find_misplaced_texts(values: Iterable[Any], direction: Any) -> str | None:
    """Return two texts that are in the wrong order, or None if there are none."""
    # ``Code`` is a subclass of ``str`` and not hashable.
    texts = sorted({value for value in values if type(value) is str})
    for read in (_read_runs, _read_decimals, _read_time, _read_date):
        framed: dict[str, list[tuple[str, Any]]] = defaultdict(list)
        for text in texts:
            if found := read(text):
                framed[found[0]].append((text, found[1]))
        for some in framed.values():
            for (text, key), (following, next_key) in pairwise(some):
                if key > next_key:
                    return _say_misplaced(text, following, direction)
    misplaced = _find_misplaced_days(texts)
    return _say_misplaced(*misplaced, direction) if misplaced else None


def _say_misplaced(text: str, following: str, direction: Any) -> str:
    first, second = (text, following) if direction == 1 else (following, text)
    return f'"{first}" comes before "{second}"'


def _find_misplaced_days(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return two dates such as 31/12/2024 in the wrong order, which must be wrong both as day/month and as
    month/day.
    """
    dates = [(text, [*map(int, found.groups())]) for text in texts if (found := _DAY.match(text))]
    wrong: list[tuple[str, str] | None] = []
    for month, day in ((1, 0), (0, 1)):
        if all(parts[month] <= len(_MONTHS) for _, parts in dates):
            keyed = [(text, (parts[2], parts[month], parts[day])) for text, parts in dates]
            pairs = ((one[0], other[0]) for one, other in pairwise(keyed) if one[1] > other[1])
            wrong.append(next(pairs, None))
    return wrong[0] if wrong and all(wrong) else None


def _read_runs(text: str) -> _Key:
    """Read whole numbers. Return None if a number is padded with zeros."""
    runs = _RUN.findall(text)
    is_padded = any(run.startswith("0") and run != "0" for run in runs)
    return None if is_padded else (_RUN.sub("#", text), [int(run) for run in runs])


def _read_decimals(text: str) -> _Key:
    """Read one decimal number, with a point or a comma, or with groups of thousands."""
    found = _DECIMAL.findall(text)
    if len(found) != 1 or re.match(r"0\d", found[0]):
        return None
    plain = re.sub(r"[ \u00a0\u202f'’]", "", found[0])
    is_grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain)
    return _DECIMAL.sub("#", text), Decimal(plain.replace(",", "" if is_grouped else "."))


def _read_time(text: str) -> _Key:
    found = _TIME.fullmatch(text)
    meant = readings(found[2]) if found else ()
    if not found or not meant or meant[0].powers != (("second", 1),):
        return None
    return "", Decimal(found[1]) * Decimal(str(meant[0].factor))


def _read_date(text: str) -> _Key:
    """Read a date with the year at the end, or with a named month. The day may be the first or the second number."""
    if named := _NAMED_MONTH.fullmatch(text):
        month = named[2].lower()
        return ("", (int(named[3]), _MONTHS.index(month), int(named[1] or 0))) if month in _MONTHS else None
    found = _YEAR_LAST.fullmatch(text)
    if not found:
        return None
    if text.count(".") == 2 and int(found[2]) <= len(_MONTHS):
        return ".", (int(found[3]), int(found[2]), int(found[1]))
    # Without a year, a day and a month have no order.
    return (" ", (int(found[3]),)) if found[1] else ("-", (int(found[3]), int(found[2])))


_DRAWING: Final = names_with("random")


def sort_keys(stage: StageFlow) -> Iterator[tuple[str, Shape]]:
    """Yield the sort keys of a stage with their shapes. Keys with array positions are skipped."""
    for key, order in stage.argument.items():
        if isinstance(order, (int, float)) and not any(part.isdigit() for part in key.split(".")):
            yield key, lookup(stage.before, tuple(key.split(".")))


@rule("MT305", needs=("sorts by nothing",))
def find_missing_sort_keys(subject: RuleContext) -> Iterator[Finding]:
    """MT305: a sort by a field that no row has does not decide the order of rows."""
    for stage in subject.stages("$sort"):
        for key, shape in sort_keys(stage):
            if not shape.absent or not stage.before.kinds:
                continue
            dropped = _find_dropping_stage(subject, stage, key)
            if dropped is not None:
                line = subject.at((dropped.number,))[0]
                why = f"the `{dropped.name}` in line {line} has dropped it"
                hint = f"sort before the `{dropped.name}`, or keep `{key}` in it"
            else:
                why = "no document has it"
                names = [
                    name for name, one in stage.before.fields.items() if not one.absent and name != "_id"
                ]
                in_id = not lookup(stage.before, ("_id", *key.split("."))).absent
                near = f"did you mean `_id.{key}`?" if in_id else did_you_mean(key, names)
                if (meant := meant_sorting(key)) and meant.keys() <= {*names, "_id"}:
                    others = {one: way for one, way in stage.argument.items() if one != key}
                    near = f"write {write_sorting(subject.spec, meant | others)}"
                hint = near or (f"documents have {quote(names[:8])} here" if names else "")
            message = f"rows are sorted by `{key}`, but {why}: readers see them in random order"
            yield subject.in_pipeline("MT305", (*stage.path, key), message, hint, key=True)


def _find_dropping_stage(subject: RuleContext, sort: StageFlow, key: str) -> StageFlow | None:
    parts = tuple(key.split("."))
    for stage in reversed(subject.flow.stages[: sort.number]):
        if not lookup(stage.before, parts).absent:
            computed = isinstance(stage.argument, Mapping) and stage.argument.get(key) not in (None, 0, False)
            return None if computed else stage
    return None


@rule("MT401", needs=("$limit", "$skip"))
def find_limits_without_sort(subject: RuleContext) -> Iterator[Finding]:
    """MT401: without a sort, chance decides which documents a ``$limit`` keeps."""
    for stage in chance_limits(subject):
        without, add = f"`{stage.name}` without a `$sort` before it", "put a `$sort` before it"
        if not subject.spec.has_own_pipeline:
            without, add = "`limit` without `sort`", "add a `sort`"
        message = f"{without}: which document is shown depends on chance, and changes when results are added"
        hint = f"{add}{_sort_by_time(subject.spec, stage.before)}"
        yield subject.in_pipeline("MT401", stage.path, message, hint)


def _sort_by_time(spec: PipelineSpec, documents: Shape) -> str:
    """Return an example of a sort by a date field of the documents, or by ``_id`` if there is none."""
    dates = [name for name, shape in documents.fields.items() if "date" in shape.kinds and not shape.unknown]
    if dates:
        return f", for example {write_sorting(spec, {dates[0]: -1})} for the newest"
    whole = documents.fields.get("_id")
    return (
        f", for example {write_sorting(spec, {'_id': 1})}" if whole is not None and not whole.absent else ""
    )


def chance_limits(subject: RuleContext) -> list[StageFlow]:
    """Return the stages that keep some documents of an unordered input."""
    before = [By.STORAGE, *(order.by for order in subject.orders)]
    return [
        stage
        for stage, by in zip(subject.flow.stages, before, strict=False)
        if stage.name in ("$limit", "$skip") and by in (By.STORAGE, By.CHANCE)
    ]


@rule("MT416", needs=("chance",))
def find_rows_by_chance(subject: RuleContext) -> Iterator[Finding]:
    """MT416: rows come from a stage that promises no order, and nothing sorts them."""
    order = subject.orders[-1] if subject.orders else None
    if order is None or order.by is not By.CHANCE or chance_limits(subject) or _draws_in_order(subject):
        return
    name = _stage_name(order.cause)
    message = (
        f"{_WHY_CHANCE.get(name, f'`{name}` gives its rows')} in no defined order, and the pipeline does not sort "
        f"them: a server and files show the same rows in different orders"
    )
    hint = _sort_by(subject)
    yield subject.in_pipeline("MT416", order.cause, message, hint, key=True)


@rule("MT421", needs=_DRAWING)
def find_random_order(subject: RuleContext) -> Iterator[Finding]:
    """MT421: every run draws a new document or number at random, and no later sort changes that."""
    order = subject.orders[-1] if subject.orders else None
    for use in subject.uses(*_DRAWING):
        if use.name == "$sample" and order is not None and order.by is By.CHANCE:
            continue  # MT416 reports it
        what = "generates numbers" if use.kind == "expression" else "picks documents"
        message = f"`{use.name}` {what} at random: the result changes with every run and every build"
        hint = "select documents by their fields, with `$match`, or `$sort` and `$limit`"
        yield subject.in_pipeline("MT421", use.path, message, hint, key=True)


_WHY_CHANCE: Final = {
    "$group": "`$group` gives its groups",
    "$unionWith": "`$unionWith` gives the documents of two collections",
    "$addToSet": "`$addToSet` gives its elements",
    "$graphLookup": "`$graphLookup` gives the documents that it finds",
    "$densify": "`$densify` gives documents that it adds after the last document of each partition",
    "$sample": "`$sample` gives documents picked at random",
}


def _stage_name(path: Path) -> str:
    """Return the operator at a place in the pipeline."""
    return next((str(part) for part in reversed(path) if str(part).startswith("$")), "")


def _sort_by(subject: RuleContext) -> str:
    where = "end the pipeline with a `$sort`" if subject.spec.has_own_pipeline else "add a `sort`"
    first, *others = subject.columns or ("_id",)
    rows = [{name: column_value(row, name) for name in (first, *others)} for row in subject.rows or ()]
    keys = [first, *choose_telling(rows, others, [first])]
    if not are_apart(rows, keys):
        return f"{where} that distinguishes the rows: no column shown does, so show another column, or group the rows"
    sorting = {order_of(key, subject.rows or ()): 1 for key in keys}
    return f"{where} that distinguishes the rows, for example {write_sorting(subject.spec, sorting)}"


@rule("MT417", needs=("storage",))
def find_stored_order(subject: RuleContext) -> Iterator[Finding]:
    """MT417: rows come in the order of stored documents, which may differ in a copy of the collection."""
    by = subject.orders[-1].by if subject.orders else By.STORAGE
    if by is By.STORAGE and not chance_limits(subject) and not _draws_in_order(subject):
        message = (
            "the pipeline does not sort the rows: they come in storage order, which may differ between files and "
            "a server"
        )
        hint = _sort_by(subject)
        yield subject.finding("MT417", subject.spec.locate(("pipeline",)), message, hint)


def _draws_in_order(subject: RuleContext) -> bool:
    """Return whether a chart orders its points itself, because its axis has numbers or dates instead of names."""
    spec = subject.spec
    if not isinstance(spec, ChartSpec) or spec.drawn.series or spec.drawn.facets:
        return False
    from mongo_tables.render.charts.marks import MARKS  # most pages have no chart

    if MARKS[spec.drawn.mark].banded:
        return False
    kinds = column_shape(subject.flow.rows, spec.drawn.x).kinds
    return bool(kinds) and kinds <= NUMBERS | {"date", "null"}


@rule("MT417", "MT420", needs=("arrays",))
def find_arrays_by_chance(subject: RuleContext) -> Iterator[Finding]:
    """MT420, MT417: a table shows an array whose elements have no order, or the order in which documents are stored."""
    arrays = subject.orders[-1].arrays if subject.orders else {}
    for column in dict.fromkeys(column for _, column in subject.shown_columns):
        order = arrays.get(column)
        if order is not None and order.by in (By.CHANCE, By.STORAGE):
            name = _stage_name(order.cause)
            why = _WHY_CHANCE.get(name, f"`{name}` gives its elements")
            rule_id, how = ("MT417", "as documents are stored")
            if order.by is By.CHANCE:
                rule_id, how = ("MT420", "in no defined order")
            shown = f"`{column}` shows them: a server and files may write them in different orders"
            hint = f'sort them: {{"$set": {{"{column}": {{"$sortArray": {{"input": "${column}", "sortBy": 1}}}}}}}}'
            yield subject.in_pipeline(rule_id, order.cause, f"{why} {how}, and {shown}", hint, key=True)


@rule("MT408", needs=("sorts by texts",))
def find_text_order(subject: RuleContext) -> Iterator[Finding]:
    """MT408: texts with numbers are sorted letter by letter, so 10 is before 9."""
    for stage in subject.stages("$sort"):
        for key, shape in sort_keys(stage):
            example = find_misplaced_texts(shape.traits.known or (), stage.argument[key])
            if example is not None:
                yield subject.in_pipeline(
                    "MT408", (*stage.path, key), *_describe_text_order(subject.spec, key, example), key=True
                )


@rule("MT408", of="rows", needs=("sorts by texts",))
def find_text_order_of_rows(subject: RuleContext, rows: Rows) -> Iterator[Finding]:
    """MT408: texts with numbers are sorted letter by letter, and two of them are in the wrong order."""
    spec, sorting = subject.spec, subject.seen_sorting
    if sorting is None:
        return
    for place, (key, direction) in enumerate(sorting.keys.items()):
        for path, values in _list_sorted(key, [*sorting.keys][:place], rows):
            example = find_misplaced_texts(values, direction)
            if example is not None:
                at = spec.locate(("pipeline", sorting.place, sorting.name, key), key=True)
                order = order_of(path, rows)
                fields = (field for row in rows for field in leaves(row))
                numbers = {
                    name: 1 for name, value in fields if name.startswith("parameters.") and is_number(value)
                }
                message, hint = _describe_text_order(spec, path, example)
                if order != path:
                    hint = f"sort by `{order}`, which has the numbers"
                elif numbers and key == "_id":
                    hint = (
                        f"sort by the numbers: {write_sorting(spec, {'benchmark': 1, **numbers, '_id': 1})}"
                    )
                yield subject.finding("MT408", at, message, hint)
                break


def _list_sorted(key: str, earlier: Sequence[str], rows: Rows) -> Iterator[tuple[str, list[Any]]]:
    """Yield the sort key with its values. For objects, also yield each field with its values.

    The values of a field are yielded separately for each set of rows that are equal in the keys and fields before
    it.
    """
    values = [column_value(row, key) for row in rows]
    yield key, values
    below = defaultdict[tuple[str, str], list[Any]](list)
    for row, value in zip(rows, values, strict=True):
        if isinstance(value, Mapping):
            before = repr([column_value(row, one) for one in earlier])
            for name, inner in value.items():
                below[f"{key}.{name}", before].append(inner)
                before += repr(inner)
    yield from ((path, inner) for (path, _), inner in below.items())


def _describe_text_order(spec: PipelineSpec, key: str, example: str) -> tuple[str, str]:
    """Return message and hint about a key that sorts numbers as text."""
    how = (
        "keep them as fields until after the `$sort`"
        if spec.has_own_pipeline
        else "use a field that has them"
    )
    message = f"`{key}` is a string that contains numbers, and sorts letter by letter: {example}"
    return message, f"sort by the numbers: {how}"


@rule("MT419", of="documents", needs=("$limit",))
def find_ties_at_limit(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT419: the first document that a ``$limit`` drops has the same sort key as the last one that it keeps.

    The rule checks pipelines that sort the documents themselves: only a ``$match`` may precede the sort.
    """
    spec = subject.spec
    for place, stage in enumerate(spec.pipeline):
        sorting = last_sorting(spec.pipeline[:place], subject.orders[:place]) if "$limit" in stage else None
        if sorting is None or sorting.name != "$sort" or sorting.place != len(leading_match(spec.pipeline)):
            continue
        last, passing = sort_limit(spec.pipeline[: place + 1], sorting.place), documents.of(spec)
        if not 0 < last < len(passing.documents) or not passing.complete:
            continue
        border = sorting.first(passing.documents, last + 1)[last - 1 :]
        keys = sorting.keys_of(border)
        if len(keys) == 2 and keys[0] == keys[1] and _is_seen(spec, sorting, *border):
            with_id = write_sorting(spec, {**sorting.keys, "_id": 1})
            message = (
                f"the last row that `{spec.name_stage(place)}` keeps and the first row that it cuts off are equal in "
                f"{quote(sorting.keys)}, and nothing else sorts them: which of them is shown depends on chance"
            )
            hint = f"sort also by a field that distinguishes them, for example {with_id}, or show both"
            yield subject.in_pipeline("MT419", (place, "$limit"), message, hint, key=True)


def _is_seen(spec: PipelineSpec, sorting: Sorting, one: Row, other: Row) -> bool:
    """Return whether the shown fields let readers see which of two documents is kept."""
    behind = spec.pipeline[sorting.place + 1 :]
    if not is_row_by_row(behind):
        return one != other
    return any(is_kept(name, behind) for name in differing_columns(spec, one, other))


_PICKING: Final = names_with("picks by place", "accumulator")
_BY_DOCUMENT: Final = frozenset({"$addFields", "$project", "$set", "$sort", "$unset"})
"""Stages that leave the number of documents as it is."""


class _Pick(NamedTuple):
    """A value that a group takes from its first or last document, with the place in the pipeline."""

    path: Path
    operator: str
    name: str
    value: Any
    is_last: bool


@rule("MT424", of="documents", needs=("$group",))
def find_chance_picks(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT424: a group takes a value of its first or last document, although the values differ and no order is
    defined."""
    spec, start = subject.spec, len(leading_match(subject.spec.pipeline))
    between = [*takewhile(lambda stage: not _BY_DOCUMENT.isdisjoint(stage), spec.pipeline[start:])]
    place = start + len(between)
    group = spec.pipeline[place].get("$group") if place < len(spec.pipeline) else None
    if not isinstance(group, Mapping) or (named := _list_read(group["_id"])) is None:
        return
    sorting = last_sorting(spec.pipeline[:place], subject.orders[:place])
    sorted_by = sorting.keys if sorting else {}
    picks = [
        (pick, taken)
        for pick in _find_picks(subject, place, group)
        if (taken := _list_read(pick.value)) is not None
        and not (sorting and pick.operator.endswith("N"))
        and all(is_kept(path, between) for path in taken)
    ]
    if not picks or not all(is_kept(path, between) for path in (*named, *sorted_by)):
        return
    passing = documents.of(spec)
    rows = passing.documents
    if sorting:
        rows = sorting.first([*rows], len(rows)) if passing.complete else []
    keys = sorting.keys_of(rows) if sorting else [None] * len(rows)
    ordered = [*zip(keys, [_written(named, row) for row in rows], rows, strict=True)]
    for pick, taken in picks:
        picked: dict[str, tuple[Any, Row]] = {}
        for key, group_name, row in reversed(ordered) if pick.is_last else ordered:
            first, other = picked.setdefault(group_name, (key, row))
            if first == key and row is not other and _written(taken, row) != _written(taken, other):
                yield subject.in_pipeline(
                    "MT424",
                    pick.path,
                    *_describe_pick(pick, sorted_by, [*named, *taken], [other, row]),
                    key=True,
                )
                break


def _describe_pick(
    pick: _Pick, sorted_by: Mapping[str, Any], read: Sequence[str], pair: Rows
) -> tuple[str, str]:
    """Return message and hint about a pick that may take its value from either document of ``pair``."""
    what = f"`{pick.operator}` uses `{pick.name}` of the first or last document of a group, but"
    if not sorted_by:
        message = f"{what} the documents are not sorted and have different values"
        return message, "put a `$sort` before the `$group`, or use `$max`, `$min` or `$avg`"
    telling = [path for path in find_naming_fields(pair) if path not in read and path != "_id"]
    return (
        f"{what} documents with different values are equal in {quote(sorted_by)}: chance decides which is used",
        f"group by {quote(telling)}, too, or choose one with `$match`"
        if telling
        else "sort also by a field that distinguishes them, for example `_id`",
    )


def _list_read(expression: Any) -> list[str] | None:
    """Return the paths in an expression that only reads fields, or None for an expression that computes something."""
    if expression is None:
        return []
    if isinstance(expression, str) and expression[:1] == "$" and expression[:2] != "$$":
        # A number is an array index in a sort, but not in a column.
        return None if any(map(str.isdigit, expression.split("."))) else [expression[1:]]
    if isinstance(expression, Mapping) and not any(name.startswith("$") for name in expression):
        parts = [*map(_list_read, expression.values())]
        return None if None in parts else [path for part in parts for path in part or ()]
    return None


def _written(paths: Sequence[str], document: Row) -> str:
    """Return the values of a document at some paths as a text; a missing value is null."""
    values = (column_value(document, path) for path in paths)
    return repr([None if value is MISSING else value for value in values])


def _operator(value: Any) -> str:
    return next(iter(value), "") if isinstance(value, Mapping) else ""


def _find_picks(subject: RuleContext, place: int, group: Mapping[str, Any]) -> Iterator[_Pick]:
    """Yield the picks of the group at ``place``, and the picks from arrays that the group makes."""
    for name, value in group.items():
        operator = _operator(value) if name != "_id" else ""
        if operator in _PICKING:
            argument = value[operator]
            picked = argument.get("input") if operator.endswith("N") else argument
            yield _Pick((place, "$group", name), operator, name, picked, operator == "$last")
    for use in subject.uses("$arrayElemAt", "$first", "$last"):
        at = use.argument[1:] if isinstance(use.argument, list) else [-1 if use.name == "$last" else 0]
        array = use.argument[0] if isinstance(use.argument, list) else use.argument
        made, number = subject.written(array, use.path)
        if use.kind == "expression" and number == place and _operator(made) == "$push" and at in ([0], [-1]):
            yield _Pick(use.path, use.name, array[1:], made["$push"], at == [-1])
