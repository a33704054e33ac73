"""Rules about the tables of a page held against each other: headers and roundings that differ for no reason."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mongo_tables.aggregation.values import is_flag
from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.lint.shape.expressions import Path


class HeadedColumn(NamedTuple):
    """A column of a table: its header without stray blanks, to how many digits, and what it is computed from."""

    place: int
    column: str
    header: str
    digits: int | None
    sources: frozenset[str]


class ShownTable(NamedTuple):
    """A table or chart that was looked at, and the columns of a table; a chart has none."""

    spec: PipelineSpec
    columns: tuple[HeadedColumn, ...]


def find_definition(spec: PipelineSpec, name: str) -> Path | None:
    """Where the rows' field ``name`` gets its value: the last stage that computes it, or else includes it."""
    for number, stage in reversed([*enumerate(spec.pipeline)]):
        ((operator, fields),) = stage.items()
        if operator in ("$set", "$addFields", "$project", "$group") and isinstance(fields, Mapping):
            value: Any = fields.get(name)
            if name in fields and not is_flag(value):
                return (number, operator, name)
    return None


class _Shown(NamedTuple):
    """A column of a table on the page; what is behind the table is as in ``HeadedColumn``."""

    spec: PipelineSpec
    place: int
    column: str
    header: str
    digits: int | None
    sources: frozenset[str]


def _list_shown_columns(tables: Sequence[ShownTable]) -> list[_Shown]:
    return [_Shown(table.spec, *column) for table in tables for column in table.columns]


def find_misplaced_headers(tables: Sequence[ShownTable]) -> Iterator[Finding]:
    """MT414: a header that elsewhere on the page stands over something else was copied from there."""
    shown = _list_shown_columns(tables)
    by_header: dict[str, dict[tuple[str, frozenset[str]], _Shown]] = defaultdict(dict)
    by_sources: dict[frozenset[str], set[str]] = defaultdict(set)
    for one in shown:
        by_header[one.header].setdefault((one.column, one.sources), one)
        by_sources[one.sources].add(one.header)
    for one in shown:
        elsewhere = sorted(by_sources[one.sources] - {one.header})
        if not one.sources or not elsewhere or _akin(one.header, one):
            continue
        named = next((header for header in elsewhere if _akin(header, one)), None)
        alike = by_header[one.header].values() if named else ()
        others = [other for other in alike if other.sources != one.sources]
        if named is None or not any(_akin(other.header, other) for other in others):
            continue
        line = others[0].spec.locate(("headers", others[0].place))[0]
        message = (
            f"“{one.header}” stands over `{one.column}` here, and over `{others[0].column}` in line {line}: "
            "readers take the one for the other"
        )
        at = one.spec.locate(("headers", one.place))
        hint = f"elsewhere on this page this is “{named}”"
        yield finding("MT414", one.spec.file, at, message, hint)


_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def _akin(header: str, one: _Shown) -> bool:
    """Whether header and column, or what it comes from, have a word in common."""
    text = " ".join((one.column, *one.sources))
    words = {word.lower()[:4] for word in _WORD.findall(text) if len(word) > 1}
    return any(word.lower()[:4] in words for word in _WORD.findall(header) if len(word) > 1)


def find_uneven_rounding(tables: Sequence[ShownTable]) -> Iterator[Finding]:
    """MT506: the same column is rounded to different decimals in the tables of a page."""
    by_column: dict[tuple[str, str], list[_Shown]] = defaultdict(list)
    for one in _list_shown_columns(tables):
        if one.digits is not None and one.column not in one.spec.format:
            by_column[one.header, one.column].append(one)
    for found in by_column.values():
        usual, count = Counter(one.digits for one in found).most_common(1)[0]
        for one in found:
            if one.digits == usual or count == len(found):
                continue
            path = find_definition(one.spec, one.column)
            at = (
                one.spec.locate(("pipeline", *path), key=True)
                if path
                else one.spec.locate(("columns", one.place))
            )
            message = (
                f"`{one.column}` is rounded to {_decimals(one.digits)} here, and to {_decimals(usual)} in other "
                "tables of this page"
            )
            hint = "round alike, or leave it to one `format` of the column"
            yield finding("MT506", one.spec.file, at, message, hint)


def _decimals(digits: int | None) -> str:
    return "whole numbers" if not digits else "1 decimal" if digits == 1 else f"{digits} decimals"


RULES = (find_misplaced_headers, find_uneven_rounding)


def page_findings(tables: Sequence[ShownTable]) -> list[Finding]:
    """All that is said of the tables of one page held against each other."""
    return [one for rule in RULES for one in rule(tables)]
