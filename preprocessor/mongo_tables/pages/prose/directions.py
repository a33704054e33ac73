"""Speeds in sentences, `faster`, `the slowest`, that the rows of the tables beside them contradict.

A direction is judged where rows decide it, and nowhere else:

* `the fastest` or `the slowest` in a sentence that names one row of a table: that row is it in some column;
* `faster … than` and `slower … than` between the names of two rows of one table: the first is so in some column;
* `faster` and `slower` in a sentence whose MONGO_VALUE or MONGO_CHECK is about the verdict of a comparison.

Columns are those of rates, of which more is faster, and of times, of which less is. A row is named by a text in the
first column of texts, in code as well; written alike, or where two rows are compared with other capitals. A sentence
that says what something is not, or how far up it is, is not judged: nobody reads rows as finely as that. Nor is the
superlative of some only (`the fastest library written in Python`) or of a part (`the slowest part of`), and a
comparative of a verb that no header has: a table of requests says nothing of what `starts faster`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.pages.prose.evidence import measured_unit
from mongo_tables.pages.prose.nameindex import NameIndex
from mongo_tables.pages.prose.numbers import fold_case
from mongo_tables.render.column import column_value
from mongo_tables.render.values import finite_decimal
from mongo_tables.specs.model import TableSpec

if TYPE_CHECKING:
    from mongo_tables.specs.model import PipelineSpec

Shown = Sequence[tuple["PipelineSpec", Sequence[Mapping[str, Any]]]]
"""Tables and charts with their rows."""

_UP: Final = frozenset({"faster", "fastest", "quicker", "quickest"})
_WORD: Final = re.compile(r"\b(?:fast|slow|quick)(?:er|est)\b", re.IGNORECASE)
_BEFORE_SUPERLATIVE: Final = re.compile(r"\b(?:the|is|are|was|were)\s+$", re.IGNORECASE)
UNDECIDED: Final = re.compile(
    r"\b(?:not|no|never|neither|nor|none|nobody|nothing|without|hardly|barely|except|but|unless|among|between|"
    r"one\s+of|of\s+(?:those|these|them)|first|second|third|next|last|nearly|almost|if|would|could|might|may)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words of a sentence whose directions nothing decides."""
_RESTRICTED: Final = re.compile(
    r"\s+(?:\w+\s+){1,2}(?:written|implemented|made|built|based|that|which|who|with|without|using|for"
    r"|in\s+(?!(?:the|this|these|all|our|every|each)\b))\b",
    re.IGNORECASE,
)
"""What follows a superlative of fewer than all: `the fastest library written in Python`."""
_PART_OF: Final = re.compile(r"\s+(?:\w+\s+){1,2}(?:of|in|for|from|to)\s+(?:the\s+)?[`'\"*]*", re.IGNORECASE)
"""What stands between a superlative and the name of what it is a part of: `the slowest part of alpha`."""
_BEFORE_COMPARATIVE: Final = re.compile(
    r"(?P<verb>\w+)(?:\s+(?:\w+ly|much|far|even|still|always|also|a\slot|a\s(?:bit|little)|by\sfar|times|%|×"
    r"|[\d.,]+\s?(?:x|×|%|times|percent)?))*\s+$",
    re.IGNORECASE,
)
_AS_A_WHOLE: Final = frozenset({
    "comes", "does", "goes", "performs", "proves", "remains", "runs", "stays", "takes", "was", "is", "works",
    "executes", "finishes", "operates", "processes", "performed", "worked", "finished", "executed", "its", "this",
})  # fmt: skip
"""Verbs of all that is measured; `starts` or `compiles` are about something that a table may not have."""
_COMMON: Final = frozenset({
    "all", "any", "both", "default", "delete", "few", "find", "first", "insert", "inserts", "last", "many", "more",
    "most", "no", "none", "off", "on", "one", "other", "query", "read", "reads", "some", "total", "two", "update",
    "updates", "with", "without", "write", "writes", "yes",
})  # fmt: skip
"""Words that sentences have whether they name a row or not."""
_STEM: Final = 4
"""Letters by which a verb is known in other forms."""
_LEAST_NAME: Final = 2
"""Characters of a name: a shorter one is a word of any sentence."""


class Sentence(NamedTuple):
    """The ``prose`` of a sentence, and its ``words``, in which code is kept; both are equally long."""

    prose: str
    words: str


class Direction(NamedTuple):
    """A word at ``start`` that says faster, where ``up``, or slower."""

    word: str
    start: int
    up: bool
    superlative: bool


class Contradicted(NamedTuple):
    """A direction that rows contradict, and what they say instead."""

    direction: Direction
    instead: str


def find_directions(text: str) -> Iterator[Direction]:
    """The words of a text that say faster or slower, in order."""
    for found in _WORD.finditer(text):
        word = fold_case(found[0])
        yield Direction(found[0], found.start(), word in _UP, word.endswith("est"))


def find_contradicted(
    sentence: Sentence, tables: Sequence[SpeedRows], verdicts: Iterable[str]
) -> Iterator[Contradicted]:
    """The directions of a sentence that rows contradict.

    ``verdicts`` are those that the comments of the sentence are about.
    """
    directions = list(find_directions(sentence.prose))
    if not directions or UNDECIDED.search(sentence.prose):
        return
    if " than " not in sentence.prose:
        yield from _find_against_verdicts(directions, frozenset(verdicts))
    for direction in directions:
        judge = _judge_superlative if direction.superlative else _judge_comparative
        if instead := judge(sentence.words, direction, tables):
            yield Contradicted(direction, instead)


def _find_against_verdicts(
    directions: Sequence[Direction], verdicts: frozenset[str]
) -> Iterator[Contradicted]:
    """Find `faster` where the comments say slower alone, and the other way round."""
    about = verdicts & {"faster", "slower"}
    said = [one for one in directions if not one.superlative]
    if len(about) != 1 or len({one.up for one in said}) != 1:
        return
    (verdict,) = about
    if said[0].up != (verdict == "faster"):
        yield Contradicted(said[0], f"the comparison of the sentence says {verdict}")


def _judge_superlative(sentence: str, direction: Direction, tables: Sequence[SpeedRows]) -> str:
    """What a table says against a superlative; "" where nothing does."""
    if not _BEFORE_SUPERLATIVE.search(sentence[: direction.start]):
        return ""
    behind = sentence[direction.start + len(direction.word) :]
    if _RESTRICTED.match(behind):
        return ""
    part = _PART_OF.match(behind)
    for rows in tables:
        named = rows.names_in(sentence)
        if part and any(behind.startswith(name, part.end()) for name in named):
            continue
        if len(named) != 1 or not rows.columns:
            continue
        (name,) = named
        firsts = {column: rows.first(column, direction.up) for column in rows.columns}
        if not any(rows.value(name, column) == rows.value(first, column) for column, first in firsts.items()):
            column, first = next(iter(firsts.items()))
            return f"in `{column}` it is the row of {first}"
    return ""


def _judge_comparative(sentence: str, direction: Direction, tables: Sequence[SpeedRows]) -> str:
    """What a table says against `A … faster … than B`; "" where nothing does."""
    before, behind = sentence[: direction.start], sentence[direction.start :]
    _, than, after = behind.partition(" than ")
    if not than:
        return ""
    for rows in tables:
        if not rows.measures(_find_verb(before)):
            continue
        first, second = rows.names_in(before, any_case=True), rows.names_in(after, any_case=True)
        if len(first) != 1 or len(second) != 1 or first == second or not rows.columns:
            continue
        (one,), (other,) = first, second
        if not any(rows.is_first(one, other, column, direction.up) for column in rows.columns):
            column = next(iter(rows.columns))
            value, against = rows.value(one, column), rows.value(other, column)
            return f"`{column}` is {value:g} in the row of {one}, {against:g} in that of {other}"
    return ""


def _find_verb(before: str) -> str:
    """The verb of a comparative, where the word before it is one of one thing alone; else ""."""
    found = _BEFORE_COMPARATIVE.search(before)
    verb = fold_case(found["verb"]) if found else ""
    return verb if re.search(r"(?:s|ed)$", verb) and verb not in _AS_A_WHOLE else ""


class SpeedRows:
    """The rows of a table by their names; ``columns`` are those of rates and times, with whether more is faster."""

    def __init__(self, spec: TableSpec, naming: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows = {str(column_value(row, naming)): row for row in rows}
        self._names = NameIndex(filter(is_name, self._rows))
        self._headers = " ".join((*spec.columns, *spec.headers)).lower()
        self.columns: dict[str, bool] = {}
        for column in spec.columns:
            unit = measured_unit(spec, column, rows)
            is_rate = unit is not None and unit.kind.endswith("/s")
            if (is_rate or (unit is not None and unit.kind == "time")) and self._has_numbers(column):
                self.columns[column] = is_rate

    def measures(self, verb: str) -> bool:
        """Whether the words of the table have a verb, as `Decodes/s` has `decodes`, or none is given."""
        return verb[:_STEM] in self._headers or any(verb in name.lower().split() for name in self._rows)

    def _has_numbers(self, column: str) -> bool:
        return all(finite_decimal(column_value(row, column)) is not None for row in self._rows.values())

    def names_in(self, text: str, *, any_case: bool = False) -> set[str]:
        """The names of rows that a text has, without those that are a part of a longer one there."""
        found = self._names.find(text, whole=True, any_case=any_case)
        return {name for name in found if name in text or is_name(name.lower())}

    def value(self, name: str, column: str) -> float:
        """A number of the row that is named."""
        return float(finite_decimal(column_value(self._rows[name], column)) or 0)

    def first(self, column: str, up: bool) -> str:
        """The name of the fastest row by a column, or of the slowest."""
        most = self.columns[column] == up
        return (max if most else min)(self._rows, key=lambda name: self.value(name, column))

    def is_first(self, one: str, other: str, column: str, up: bool) -> bool:
        """Whether by a column the one is faster than the other, or slower."""
        difference = self.value(one, column) - self.value(other, column)
        return difference > 0 if self.columns[column] == up else difference < 0


def is_name(text: str) -> bool:
    """Whether a text can name something: it is no word that sentences have anyway."""
    return len(text) >= _LEAST_NAME and text not in _COMMON


def read_speeds(tables: Shown) -> Iterator[SpeedRows]:
    """The tables of which each row has a name of its own."""
    for spec, rows in tables:
        if not isinstance(spec, TableSpec) or len(rows) < 2:
            continue
        for column in spec.columns:
            values = [column_value(row, column) for row in rows]
            if all(isinstance(value, str) for value in values):
                if len(set(map(str, values))) == len(values):
                    yield SpeedRows(spec, column, rows)
                break
