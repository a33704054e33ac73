"""The rows that a page says where a table within its tolerance stays in it: today's, with the numbers that stand there.

Whoever reads the page sees these, and its sentences are written beside them. What is shown alike is today's value with
all of its digits, and so is what no column shows. The ratios of comparisons are today's as well.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING

from mongo_tables.specs.model import TableSpec

if TYPE_CHECKING:
    from mongo_tables.pages.model import Answers, Page, Tables
    from mongo_tables.results.model import Rows


def standing_answers(page: Page, tables: Tables, answers: Answers) -> Answers:
    """The answers as the tables of a page show them: of those that stay what stands there, and all others as given."""
    regions = {
        id(spec): comment.region.inner
        for comment, spec in zip(page.comments, page.specs, strict=True)
        if comment.region and isinstance(spec, TableSpec) and spec.tolerance is not None
    }
    if not regions:
        return answers
    from mongo_tables.pages.besidetoday import read_changed  # few tables have a tolerance
    from mongo_tables.pages.inplace import compose_in_place

    found: dict[str, Rows] = {}
    for part in compose_in_place(page, answers, tables).parts:
        if not isinstance(part.spec, TableSpec) or part.state != "near" or part.is_due:
            continue
        key = part.spec.query.key
        rows = answers[key]
        if isinstance(rows, list):
            changed = read_changed(regions[id(part.spec)], part.shown, part.spec, rows)
            found[key] = _put_in(found.get(key, rows), changed)
    return ChainMap(found, answers) if found else answers  # type: ignore[arg-type]


def _put_in(rows: Rows, changed: Mapping[int, Mapping[str, object]]) -> Rows:
    """The same kind of rows with some fields of some of them anew: a name with dots is looked up as it is, too."""
    found = copy(rows)
    for number, fields in changed.items():
        found[number] = {**found[number], **fields}
    return found
