"""Each sentence that a page says of a verdict follows its row: another verdict gives another sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.directives.specs import QuotingSpec, TableSpec, ValueSpec
from mongo_tables.render.column import column_value
from mongo_tables.results.answers import Answers
from mongo_tables.results.verdicts import judge
from mongo_tables.site.pages import Page, read_page, tables_by_id
from mongo_tables.site.statements import quoted_row, value_findings, value_text

HERE: Final = Path(__file__).parents[2]
DOCS: Final = HERE / "docs"
SPEAKING: Final = sorted(page for page in DOCS.rglob("*.md") if '"say":' in page.read_text("utf-8"))
FOUND: Final = {
    "slower": (0.4, 0.35, 0.45),
    "faster": (2.5, 2.2, 2.8),
    "no difference": (1.0, 0.97, 1.03),
    "not known": (0.9, 0.7, 1.3),
}


@cache
def source() -> Answers:
    """The fixtures, read once for all pages."""
    return Answers(str(HERE / "fixtures"))


@cache
def read(file: Path) -> Page:
    return read_page(
        file.read_text("utf-8"), str(file.relative_to(HERE)), SharedPipelines(DOCS / "pipelines")
    )


@cache
def table_of(name: str) -> TableSpec:
    """The table of this id, on whichever page it is."""
    having = (page for page in sorted(DOCS.rglob("*.md")) if f'"id": "{name}"' in page.read_text("utf-8"))
    return next(tables[name] for tables in (tables_by_id([read(page)]) for page in having) if name in tables)


def sayings(page: Page) -> Iterator[ValueSpec]:
    quotes: Iterator[QuotingSpec] = (one for spec in page.specs if spec for one in spec.quotes)
    return (one for one in quotes if isinstance(one, ValueSpec) and one.say)


def with_verdict(row: dict[str, Any], spec: ValueSpec, verdict: str) -> dict[str, Any]:
    """The row as it would be had this been found, of what its requests carry where the value says so."""
    carried = float(column_value(row, spec.per)) if spec.per else 1.0  # type: ignore[arg-type]
    ratio, low, high = (figure / carried for figure in FOUND[verdict])
    own = {"against": "another", "blocks": 20, "margin": 0.1, "ratio": ratio, "low": low, "high": high}
    return row | {spec.column: own | {"verdict": judge(low, high) if spec.per else verdict}}


@pytest.mark.parametrize("file", SPEAKING, ids=[file.stem for file in SPEAKING])
def test_each_verdict_has_its_sentence(file: Path) -> None:
    page = read(file)
    for spec in sayings(page):
        tables, query = {spec.table: table_of(spec.table)}, table_of(spec.table).query
        answers = source().answer({query.key: query}).by_key
        row = quoted_row(spec, tables, answers)
        assert row is not None, (spec.table, spec.where)
        rows = list(answers[query.key])  # type: ignore[arg-type]
        said = {}
        for verdict, sentence in spec.say.items():
            changed = [with_verdict(dict(each), spec, verdict) if each == row else each for each in rows]
            altered = {query.key: changed}
            assert value_findings(spec, tables, altered, (), date.min) == []
            said[verdict] = value_text(spec, tables, altered)
            pattern = re.sub(r"\\\{[^{}]*\\\}", ".+", re.escape(sentence))
            assert re.fullmatch(pattern, said[verdict]), (spec.file, verdict)
            assert not {"{", "}"} & set(said[verdict])
        assert len(set(said.values())) == len(FOUND), (spec.file, said)
