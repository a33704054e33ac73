"""What a rule looks at: one table or chart, the flow of its pipeline, and where things stand in the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mongo_tables.directives.specs import PipelineSpec, TableSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.lint.liveness import Live, Usage, usage
from mongo_tables.lint.ordering import Order, orders
from mongo_tables.lint.rules_page import HeadedColumn, ShownTable
from mongo_tables.lint.shape.expressions import Path, Visit
from mongo_tables.lint.shape.flow import Flow, StageFlow, flow_of
from mongo_tables.lint.shape.values import Shape, column
from mongo_tables.render.headers import with_unit


@dataclass(frozen=True, eq=False)
class RuleContext:
    """A table or chart under inspection.

    ``known``: the shape of its collection comes from real documents. ``quoted``: fields of its rows that values and
    statements in the prose read.
    """

    spec: PipelineSpec
    flow: Flow
    known: bool
    quoted: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, spec: PipelineSpec, documents: Shape, *, known: bool, quoted: tuple[str, ...] = ()
    ) -> RuleContext:
        """The subject for a spec whose collection has documents of this shape."""
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
        """What stands above the columns, with the unit that the format adds."""
        spec = self.spec
        if not isinstance(spec, TableSpec):
            return ()
        return tuple(self._header(*pair) for pair in zip(spec.columns, spec.headers, strict=True))

    @property
    def shown(self) -> ShownTable:
        """What rules about the tables of its page need, without the shapes of documents."""
        return ShownTable(self.spec, self.headed_columns)

    @cached_property
    def headed_columns(self) -> tuple[HeadedColumn, ...]:
        """The columns of a table with their headers; a chart has none."""
        spec = self.spec
        if not isinstance(spec, TableSpec):
            return ()
        traits = (self.column(column).traits for column in spec.columns)
        return tuple(
            HeadedColumn(place, column, " ".join(header.split()), one.digits, one.sources)
            for place, (column, header, one) in enumerate(
                zip(spec.columns, spec.headers, traits, strict=True)
            )
        )

    def _header(self, column: str, header: str) -> str:
        form = self.spec.format.get(column)
        return with_unit(header, form.raw_unit) if form else header

    @cached_property
    def visits(self) -> list[Visit]:
        """Everything that the pipeline computes or reads."""
        return self.flow.visits

    @cached_property
    def orders(self) -> list[Order]:
        """What decides the order of documents behind each stage."""
        return orders(self.spec.pipeline)

    @cached_property
    def usage(self) -> Usage:
        """Which parts of the pipeline are used."""
        return usage(self.spec.pipeline, self._fields_in_use)

    @cached_property
    def live(self) -> Live:
        """The fields of the rows that are shown or read in the prose, as paths."""
        return frozenset(tuple(column.split(".")) for column in self._fields_in_use)

    @property
    def _fields_in_use(self) -> tuple[str, ...]:
        return (*(column for _, column in self.spec.shown_columns), *self.quoted)

    def column(self, name: str) -> Shape:
        """What the rows have in a column: a field of this very name, else what the dots lead to."""
        return column(self.flow.rows, name)

    def at(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column of a place in the pipeline."""
        return self.spec.locate(("pipeline", *path), key=key)

    def finding(self, rule: str, at: tuple[int, int], message: str, hint: str = "") -> Finding:
        """A finding about this subject."""
        return finding(rule, self.spec.file, at, message, hint)

    def in_pipeline(
        self, rule: str, path: Path, message: str, hint: str = "", *, key: bool = False
    ) -> Finding:
        """A finding at a place in the pipeline."""
        return self.finding(rule, self.at(path, key=key), message, hint)

    def stages(self, *names: str) -> Iterator[StageFlow]:
        """The stages of these names."""
        return (stage for stage in self.flow.stages if stage.name in names)

    def lines(self, paths: Iterable[Path]) -> str:
        """``line 3`` or ``lines 3, 5 and 8``."""
        numbers = sorted({self.at(path)[0] for path in paths})
        if len(numbers) == 1:
            return f"line {numbers[0]}"
        return f"lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def last_operator(path: Path) -> str:
    """The operator whose argument, or ``input``, is at a place of a pipeline."""
    return next((str(part) for part in reversed(path) if not isinstance(part, int) and part != "input"), "")


def quote(names: Iterable[Any]) -> str:
    """Names between backticks: ``a``, ``a`` and ``b``, or ``a``, ``b`` and ``c``."""
    each = [f"`{name}`" for name in names]
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"
