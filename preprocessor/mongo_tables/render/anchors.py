"""Anchors of tables, charts and their rows, stable from build to build.

An anchor consists of words that readers see, never of a position or a hash. A link therefore keeps working while the
table keeps its title and the row its label, even if other tables or rows are added.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mongo_tables.directives.specs import PipelineSpec, TableSpec

if TYPE_CHECKING:
    from mongo_tables.directives.specs import Spec
    from mongo_tables.render.column import Column

_LONGEST: Final = 60
_KEYS: Final = 3
_IDS: Final = re.compile('<(?:figure|tr)[^>]* id="([^"]+)"')
_GAP: Final = re.compile("[^a-z0-9]+")


def with_anchors(specs: Sequence[Spec | None]) -> list[Spec | None]:
    """Return the specs of one page with an ``id`` on every table and chart.

    A spec without an ``id`` gets one from its kind and its title, else its caption, else its columns. Duplicates are
    numbered in page order.
    """
    asking = [spec for spec in specs if isinstance(spec, PipelineSpec)]
    own = {spec.id for spec in asking if spec.id}
    unnamed = [spec for spec in asking if not spec.id]
    found = iter(distinct((_derive_name(spec) for spec in unnamed), own))
    return [
        replace(spec, id=next(found)) if isinstance(spec, PipelineSpec) and not spec.id else spec
        for spec in specs
    ]


def row_anchors(anchor: str, columns: Sequence[Column]) -> list[str]:
    """Return an id for each row of a table: the table's anchor followed by the words that name the row.

    The name is the first cell, plus the next one or two cells if only they make all rows distinct. Columns with
    fractions are skipped, because measured values change with every measurement. Rows that remain equal are numbered.
    """
    labels = [words(name) or "row" for name in columns[0].names]
    names = labels
    for column in columns[1:_KEYS]:
        fractions = (isinstance(value, float) and not value.is_integer() for value in column.values)
        if len(set(names)) == len(names) or any(fractions):
            break
        names = [f"{name}-{words(own)}" for name, own in zip(names, column.names, strict=True)]
    named = names if len(set(names)) == len(names) else labels
    return distinct((f"{anchor}--{name}" for name in named), set())


def anchors_in(figure: str) -> list[str]:
    """Return the ids in a figure's HTML: its own and those of its rows."""
    return _IDS.findall(figure)


def _derive_name(spec: PipelineSpec) -> str:
    columns = " ".join(spec.headers) if isinstance(spec, TableSpec) else ""
    kind = spec.comment.kind
    name = next(filter(None, map(words, (spec.title or "", spec.caption or "", columns))), "")
    return f"{kind}-{name}" if name else kind


def words(text: str, longest: int = _LONGEST) -> str:
    """Return the text as lower-case letters, digits and hyphens that are valid in any address, at most ``longest``.

    Example:
        >>> words("Mean latency (ms)")
        'mean-latency-ms'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _GAP.sub("-", text.lower())[:longest].strip("-")


def distinct(names: Iterable[str], taken: set[str]) -> list[str]:
    """Return the names made distinct: a repeated name gets the first free number from 2.

    Example:
        >>> distinct(["a", "a", "b"], set())
        ['a', 'a-2', 'b']
    """
    taken = set(taken)
    numbers: dict[str, int] = {}
    found = []
    for name in names:
        number, free = numbers.get(name, 2), name
        while free in taken:
            free, number = f"{name}-{number}", number + 1
        numbers[name] = number
        taken.add(free)
        found.append(free)
    return found
