"""The input of a rule: one table or chart, the flow of its pipeline, and positions in the page.

A rule is a function that registers itself with ``rule``; its ids are in ``findings.rules``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeVar

from mongo_tables.aggregation.fields import Field, effect_of, split_path
from mongo_tables.aggregation.uses import Use, list_uses
from mongo_tables.aggregation.values import is_flag, truthy
from mongo_tables.directives.specs import PipelineSpec, TableSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import RULES, finding
from mongo_tables.lint.row_order import RowOrder, Sorting, last_sorting, orders
from mongo_tables.lint.shape.expressions import Path, Visit
from mongo_tables.lint.shape.flow import Flow, StageFlow, flow_of
from mongo_tables.lint.shape.values import Shape, column
from mongo_tables.render.column import column_value, with_unit

Row = Mapping[str, Any]
Rows = Sequence[Row]
Find = Callable[..., Iterator[Finding]]
_Find = TypeVar("_Find", bound=Find)


@dataclass(frozen=True, slots=True)
class Registered:
    """A rule: the ids of its findings, its function, and operators or keys of which a pipeline must have one."""

    ids: frozenset[str]
    find: Find
    needs: frozenset[str]


RuleInput = Literal["pipeline", "rows", "documents", "page"]
"""The input of a rule: the comment alone, or with its rows or the documents behind them; or the tables of a page."""

REGISTERED: Final[dict[RuleInput, list[Registered]]] = {
    "pipeline": [],
    "rows": [],
    "documents": [],
    "page": [],
}


def rule(*ids: str, of: RuleInput = "pipeline", needs: Collection[str] = ()) -> Callable[[_Find], _Find]:
    """Register a rule, with the ids of its findings.

    Args:
        of: The arguments of the function.
        needs: Operators or keys; the rule is skipped for a pipeline that has none of them.

    Raises:
        KeyError: For an id that ``findings.rules`` does not have.
    """
    known = frozenset(RULES[one].id for one in ids)

    def register(find: _Find) -> _Find:
        REGISTERED[of].append(Registered(known, find, frozenset(needs)))
        return find

    return register


class HeadedColumn(NamedTuple):
    """A column of a table: its header without stray blanks, its decimals, and its source fields."""

    place: int
    column: str
    header: str
    digits: int | None
    sources: frozenset[str]


class ShownTable(NamedTuple):
    """An inspected table or chart, with the columns of a table. A chart has none."""

    spec: PipelineSpec
    columns: tuple[HeadedColumn, ...]


def find_definition(spec: PipelineSpec, name: str) -> Path | None:
    """Return the place of the last stage that computes the rows' field ``name``, or None if no stage does."""
    for number, stage in reversed([*enumerate(spec.pipeline)]):
        made = find_made(stage, name)
        if made is not None and made.becomes == "made":
            return (number, *stage, name)
    return None


def find_made(stage: Mapping[str, Any], name: str) -> Field | None:
    """Return the effect on a field that a stage names itself, as ``$set``, ``$project`` and ``$group`` do."""
    ((operator, argument),) = stage.items()
    if not isinstance(argument, dict) or name not in argument:
        return None
    if is_flag(argument[name]):
        return Field(split_path(name), (name,), "kept" if truthy(argument[name]) else "dropped")
    fields = effect_of(operator, argument).fields
    return next((one for one in fields if one.place == (name,) and one.parts == split_path(name)), None)


@dataclass(frozen=True)
class RuleContext:
    """A table or chart under inspection.

    ``known``: the shape of its collection comes from real documents. ``quoted``: fields of its rows that values and
    statements in the prose read. ``rows``: None if its pipeline was not run.
    """

    spec: PipelineSpec
    flow: Flow
    known: bool
    quoted: tuple[str, ...] = ()
    rows: Rows | None = None

    @classmethod
    def of(
        cls, spec: PipelineSpec, documents: Shape, *, known: bool, quoted: tuple[str, ...] = ()
    ) -> RuleContext:
        """Return the subject for a spec whose collection has documents of this shape."""
        flow = flow_of(spec.pipeline, documents, spec.let)
        return cls(spec=spec, flow=flow, known=known, quoted=quoted)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The fields of the rows that are shown."""
        return tuple(
            column
            for path, column in self.spec.shown_columns
            if path[0] not in ("spread", "baseline", "format")
        )

    @cached_property
    def headers(self) -> tuple[str, ...]:
        """The headers of the columns, with the unit that the format adds."""
        spec, found = self.spec, list[str]()
        if isinstance(spec, TableSpec):
            for column, header in zip(spec.columns, spec.headers, strict=True):
                form = spec.format.get(column)
                found.append(with_unit(header, form.raw_unit) if form else header)
        return tuple(found)

    @property
    def shown(self) -> ShownTable:
        """The table for rules about the tables of a page, without the shapes of documents. A chart has no columns."""
        spec, columns = self.spec, list[HeadedColumn]()
        if isinstance(spec, TableSpec):
            for place, (column, header) in enumerate(zip(spec.columns, spec.headers, strict=True)):
                traits = self.column(column).traits
                written = " ".join(header.split())
                columns.append(HeadedColumn(place, column, written, traits.digits, traits.sources))
        return ShownTable(spec, tuple(columns))

    @cached_property
    def _visits(self) -> Mapping[str, Sequence[Visit]]:
        found: dict[str, list[Visit]] = defaultdict(list)
        for stage in self.flow.stages:
            for visit in stage.visits:
                found[visit.name].append(visit)
        return found

    def visits(self, *names: str) -> list[Visit]:
        """Return every use of these operators of expressions, by name."""
        return [visit for name in sorted(names) for visit in self._visits.get(name, ())]

    @property
    def fields_read(self) -> Sequence[Visit]:
        """Every field and variable that an expression reads, in order of evaluation."""
        return self._visits.get("", ())

    @cached_property
    def orders(self) -> list[RowOrder]:
        """The origin of the order of documents after each stage."""
        return orders(self.spec.pipeline)

    @cached_property
    def seen_sorting(self) -> Sorting | None:
        """The sort that the rows keep to the end, if they still have all of its keys."""
        sorting = last_sorting(self.spec.pipeline, self.orders)
        return sorting if sorting is not None and sorting.is_seen else None

    def column(self, name: str) -> Shape:
        """Return the shape of a column: a field of this very name, else the value at the dotted path."""
        return column(self.flow.rows, name)

    def at(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Return the line and column of a place in the pipeline."""
        return self.spec.locate(("pipeline", *path), key=key)

    def finding(self, rule: str, at: tuple[int, int], message: str, hint: str = "") -> Finding:
        """Return a finding about this subject."""
        return finding(rule, self.spec.file, at, message, hint)

    def in_pipeline(
        self, rule: str, path: Path, message: str, hint: str = "", *, key: bool = False
    ) -> Finding:
        """Return a finding at a place in the pipeline."""
        return self.finding(rule, self.at(path, key=key), message, hint)

    def stages(self, *names: str) -> Iterator[StageFlow]:
        """Yield the stages of these names."""
        return (stage for stage in self.flow.stages if stage.name in names)

    def lines(self, paths: Iterable[Path]) -> str:
        """Return ``line 3`` or ``lines 3, 5 and 8``."""
        numbers = sorted({self.at(path)[0] for path in paths})
        if len(numbers) == 1:
            return f"line {numbers[0]}"
        return f"lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def uses_in(stage: StageFlow) -> Iterator[Use]:
    """Yield the stage and the operators in it, with their places in the pipeline."""
    for use in list_uses([{stage.name: stage.argument}]):
        yield use._replace(path=(*stage.path, *use.path[2:]))


def last_operator(path: Path) -> str:
    """Return the operator whose argument, or ``input``, is at a place of a pipeline."""
    return next((str(part) for part in reversed(path) if not isinstance(part, int) and part != "input"), "")


def quote(names: Iterable[Any]) -> str:
    """Return names in backticks: ``a``, ``a`` and ``b``, or ``a``, ``b`` and ``c``."""
    each = [f"`{name}`" for name in names]
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"


def differing_columns(spec: PipelineSpec, one: Row, other: Row) -> list[str]:
    """Return the columns in which readers can see a difference between two rows."""
    columns = dict.fromkeys(column for _, column in spec.shown_columns)
    return [name for name in columns if repr(column_value(one, name)) != repr(column_value(other, name))]
