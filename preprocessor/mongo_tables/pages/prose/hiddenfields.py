"""What the header of a typed table names that a table of ours does not show: another figure of the same benchmarks.

Tools print a mean, a least and a greatest time side by side, of which a table of ours often has one. The others are no
contradiction of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.pages.prose.nameindex import name_pattern
from mongo_tables.pages.prose.numbers import drop_unit, unit_of
from mongo_tables.pages.prose.paragraphs import BLANK
from mongo_tables.render.values import is_number
from mongo_tables.specs.fieldwords import field_words

if TYPE_CHECKING:
    from mongo_tables.specs.model import PipelineSpec

_SAME: Final = {
    "average": "mean",
    "avg": "mean",
    "minimum": "min",
    "maximum": "max",
    "std dev": "stddev",
    "σ": "stddev",
}
_OTHERS: Final = re.compile(r"min|max|stddev|user|sys(?:tem)?|best|worst|p\d{2,3}(?:\.\d+)?")
"""What is measured beside a time, whether documents have it or not."""


def name_hidden(header: str, spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> str:
    """The field, or the word for it, that a header is about and no column shows; "" where a column may be meant."""
    name = _plain(header)
    shown = (
        *(words for _, _, words in spec.headings),
        *(field_words(name) for _, name in spec.shown_columns),
    )
    if not name or any(re.search(name_pattern(name), _plain(words)) for words in shown):
        return ""
    fields = {
        _plain(field_words(field)): field for row in rows for field, one in row.items() if is_number(one)
    }
    return fields.get(name, name if _OTHERS.fullmatch(name) else "")


def _plain(header: str) -> str:
    """The words of a header without its unit, in the one spelling of those that have several."""
    words = drop_unit(header.strip()).strip(f" *_`{BLANK}")
    name, _, last = words.rpartition(" ")
    if name and unit_of(last):
        words = name.removesuffix(" in").rstrip(" ,")
    return _SAME.get(words.lower(), words.lower())
