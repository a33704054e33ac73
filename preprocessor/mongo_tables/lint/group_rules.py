"""Rules about groups whose collected values are picked, counted or summed in an unintended way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from mongo_tables.aggregation.catalogue import names_with
from mongo_tables.aggregation.fields import paths_in, split_path
from mongo_tables.aggregation.value_order import compare
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.row_order import last_sorting
from mongo_tables.lint.rule_context import Documents, RuleContext, leading_match, rule
from mongo_tables.lint.shape.values import NUMBERS
from mongo_tables.render.column import column_value

_SUMMING: Final = names_with("skips texts", "accumulator")
_SUMMARIES: Final = _SUMMING | names_with("picks an end", "expression")
_DISTINCT: Final = re.compile(r"(?i)(\b|_)(distinct|unique)")


@rule("MT424", needs=("$arrayElemAt", "$slice"))
def find_medians_of_unsorted(subject: RuleContext) -> Iterator[Finding]:
    """MT424: an element is picked at a fraction of an array, as for a median, but the array is not sorted."""
    for use in subject.uses("$arrayElemAt", "$slice"):
        array, *places = use.argument if isinstance(use.argument, list) else [""]
        written, number = subject.written(array, use.path)
        if not isinstance(written, Mapping) or "$push" not in written:
            continue
        sorting = last_sorting(subject.spec.pipeline[:number], subject.orders[:number])
        keys = {split_path(key) for key in sorting.keys} if sorting else set[tuple[str, ...]]()
        by_size = type(places[0]) is not int and any(one.argument == array for one in subject.uses("$size"))
        if by_size and keys.isdisjoint(paths_in(written["$push"])):
            message = (
                f"`{use.name}` picks an element by the size of `{array[1:]}`, whose values are not sorted"
            )
            hint = f'for a median or a percentile: {{"$sortArray": {{"input": "{array}", "sortBy": 1}}}}'
            yield subject.in_pipeline("MT424", use.path, message, hint, key=True)


@rule("MT458", needs=("$group",))
def find_repeated_as_distinct(subject: RuleContext) -> Iterator[Finding]:
    """MT458: the name of a column says distinct values, but the column counts every document."""
    headers = dict(zip(subject.columns, subject.headers, strict=False))
    for column in subject.columns:
        written, number = subject.written(f"${column}", ())
        if not _DISTINCT.search(f"{column} {headers.get(column)}") or not isinstance(written, Mapping):
            continue
        pushed, first = subject.written(written.get("$size"), (number,))
        counted = subject.written(written.get("$sum"), (number,))[0]
        if isinstance(pushed, Mapping) and "$push" in pushed:
            number = first
        elif not (isinstance(counted, Mapping) and "$sum" in counted):
            # A second group counts distinct values.
            is_counted = counted == 1 or "$count" in written
            if not is_counted or any("$group" in one.names for one in subject.flow.stages[:number]):
                continue
        message = f"`{column}` is named for distinct values, but also counts repeated values"
        hint = 'collect the values with `$addToSet`, and count with {"$size": …}'
        stage = subject.flow.stages[number]
        made = [name for name, one in stage.argument.items() if one in (written, pushed, counted)]
        yield subject.in_pipeline("MT458", (*stage.path, *made[:1]), message, hint, key=True)


@rule("MT459", of="documents", needs=_SUMMARIES)
def find_summaries_of_one_value(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT459: outside of a group, the sum or mean of a field covers one document: it is the value itself."""
    several = len(documents.of(subject.spec).documents) > 1
    for stage in subject.stages("$project", "$set", "$addFields") if several else ():
        for visit in stage.visits.get("", ()):
            name, kinds, read = str(visit.path[-1]), visit.shape.kinds, visit.place.arguments[0][1]
            is_number = bool(kinds - {"null"}) and kinds <= NUMBERS | {"null", "date"}
            if name in _SUMMARIES and is_number and not (name == "$sum" and visit.shape.nullish):
                message = (
                    f"`{name}` covers one document here: `{read[1:]}` is not an array, so its value stays the "
                    "same"
                )
                hint = f'for all documents: {{"$group": {{"_id": null, "value": {{"{name}": "{read}"}}}}}}'
                yield subject.in_pipeline("MT459", visit.path, message, hint, key=True)


@rule("MT460", needs=_SUMMING)
def find_sums_of_sets(subject: RuleContext) -> Iterator[Finding]:
    """MT460: a sum or a mean of a set counts each value once, even if several documents have it."""
    for use in subject.uses(*_SUMMING):
        written = subject.written(use.argument, use.path)[0]
        made = {"$addToSet", "$setUnion"}.intersection(written if isinstance(written, Mapping) else ())
        if made and use.path[1] != "$group":
            message = f"`{use.name}` counts equal values once, because `{made.pop()}` makes a set"
            yield subject.in_pipeline("MT460", use.path, message, "use `$push`, or `$concatArrays`", key=True)


@rule("MT439", of="documents", needs=("$bucket",))
def find_documents_at_bound(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT439: only documents at the last bound of a ``$bucket``, which its last bucket excludes, are in ``default``.

    Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/bucket/
    """
    place, passing = len(leading_match(subject.spec.pipeline)), documents.of(subject.spec)
    for stage in subject.stages("$bucket") if passing.complete else ():
        key, bounds = stage.argument.get("groupBy"), stage.argument.get("boundaries")
        if stage.number != place or not isinstance(key, str) or not isinstance(bounds, list):
            continue
        values = [column_value(one, key.removeprefix("$")) for one in passing.documents]
        outside = [one for one in values if compare(one, bounds[0]) < 0 or compare(one, bounds[-1]) >= 0]
        if outside and all(compare(one, bounds[-1]) == 0 for one in outside):
            lost = f"{len(outside)} of {len(values)} documents have `{key[1:]}` {bounds[-1]}"
            message = f"{lost}, the last bound, which the last bucket excludes: they are in `default`"
            hint = "add a last bound above the greatest value"
            yield subject.in_pipeline("MT439", (*stage.path, "boundaries", len(bounds) - 1), message, hint)
