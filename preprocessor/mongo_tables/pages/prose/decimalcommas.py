"""Numbers of sentences on a page whose tables have a decimal comma: `1.234,5 ms` is read as `1,234.5 ms`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from mongo_tables.specs.conventions import convention_of
from mongo_tables.specs.model import PipelineSpec, QuotingSpec, ValueSpec

if TYPE_CHECKING:
    from mongo_tables.pages.model import Page, Tables
    from mongo_tables.pages.prose.paragraphs import Paragraph
    from mongo_tables.specs.columnformat import ColumnFormat

_USUAL = ".", ","
"""The decimal sign, and what stands between thousands, where no column says otherwise."""


def read_numbers(found: Sequence[Paragraph], page: Page, tables: Tables) -> Sequence[Paragraph]:
    """The paragraphs with their numbers as English has them, character for character; all else stays.

    They are written as the ``locale`` of the page's tables has it, and of those that it quotes. Where these have
    several, or none, the paragraphs stay as they are.
    """
    signs = {
        (one.decimal, one.group)
        for form in _formats(page, tables)
        if form.locale
        for one in (convention_of(form.locale),)
    }
    if len(signs) != 1 or signs == {_USUAL}:
        return found
    decimal, group = signs.pop()
    return [replace(one, text=_read(one.text, decimal, group)) for one in found]


def _formats(page: Page, tables: Tables) -> Iterator[ColumnFormat]:
    for spec in page.specs:
        table = tables.get(spec.table) if isinstance(spec, QuotingSpec) else spec
        if isinstance(table, PipelineSpec):
            yield from table.format.values()
        if isinstance(spec, ValueSpec) and spec.format:
            yield spec.format


def _read(text: str, decimal: str, group: str) -> str:
    signs = str.maketrans({decimal: ".", group: ","})
    return _numbers(decimal, group).sub(lambda one: one[0].translate(signs), text)


@lru_cache(maxsize=16)
def _numbers(decimal: str, group: str) -> re.Pattern[str]:
    """What is a number with either of the two signs in it, and none with others, as `1.2.3` and `27.11.2026` are."""
    point, between = re.escape(decimal), re.escape(group)
    behind = rf"(?!\d|[{point}{between}]\d)"
    return re.compile(
        rf"(?<![\w{point}{between}])(?:\d{{1,3}}(?:{between}\d{{3}})+(?:{point}\d+)?|\d+{point}\d+){behind}"
    )
