"""The notes under a table: why a cell is ``n/a``, and what the signs of a comparison mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from preprocessor.aggregation.values import MISSING
from preprocessor.render.comparison import FEW_SIGN, NOISE_SIGN
from preprocessor.results.noise import LEAST_REPEATS

if TYPE_CHECKING:
    from preprocessor.render.column import Column
    from preprocessor.specs.model import TableSpec

_SIGNS: Final[Mapping[str, str]] = {
    NOISE_SIGN: f"{NOISE_SIGN} within noise: the repeats overlap those of the baseline.",
    FEW_SIGN: f"{FEW_SIGN} fewer than {LEAST_REPEATS} repeats: too few to tell from the baseline.",
}


def notes_of(spec: TableSpec, columns: Sequence[Column]) -> list[str]:
    """The notes of a table, as plain text: those alone that a cell of it calls for."""
    notes = _reasons([column for column in columns if column.reason])
    if spec.baseline is not None and spec.spread:
        ends = {text[-1:] for column in columns if not column.name for text in column.texts}
        notes += [note for sign, note in _SIGNS.items() if sign in ends]
    return notes


def _reasons(columns: Sequence[Column]) -> list[str]:
    """One note for each reason, with all columns that lack a value for it."""
    headers: dict[tuple[str, str], list[str]] = {}
    for column in columns:
        for text in _absent(column):
            headers.setdefault((text, column.reason), []).append(column.header)
    return [f"{text} under {', '.join(under)}: {reason}" for (text, reason), under in headers.items()]


def _absent(column: Column) -> list[str]:
    """The texts of cells without a value, each once."""
    pairs = zip(column.values, column.texts, strict=True)
    return list(dict.fromkeys(text for value, text in pairs if value is None or value is MISSING))
