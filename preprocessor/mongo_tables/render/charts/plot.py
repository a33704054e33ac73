"""The plain data of a chart: what to draw, and the series and points that are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from mongo_tables.aggregation.values import is_number
from mongo_tables.directives.columns import column_headers
from mongo_tables.directives.specs import ChartSettings, ChartSpec, TableSpec
from mongo_tables.render.markup import typeset
from mongo_tables.render.values import cell_text

if TYPE_CHECKING:
    from mongo_tables.directives.columns import ColumnFormat
    from mongo_tables.directives.specs import PipelineSpec

Rows = Sequence[Mapping[str, object]]
AxisKind = Literal["number", "time", "category"]


@dataclass(frozen=True, kw_only=True)
class Plot(ChartSettings):
    """The settings of a chart, from a chart comment or from a table that asks for a chart.

    ``spread`` maps a column to the fields of its lowest and highest value. ``place`` is the path of the settings in the
    comment.
    """

    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    format: Mapping[str, ColumnFormat] = field(default_factory=dict)
    spread: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    place: tuple[str, ...] = ()

    def label(self, column: str) -> str:
        """Return the label of a column, without its unit; of a path, the header that a table makes of it."""
        return self.labels.get(column) or label_of(column)

    def unit(self, column: str) -> str:
        """Return the unit of a column for the title of its axis, or "" if none is given, or each mark has its own."""
        form = self.format.get(column)
        return form.raw_unit if form and not form.duration else ""

    def unit_beside(self, column: str) -> str:
        """Return the unit of a column if the text of a value does not contain it, else ""."""
        form = self.format.get(column)
        return "" if form and form.cell_unit_key else self.unit(column)

    @property
    def common_unit(self) -> str:
        """Return the unit that all columns of the value axis share, or "" if they have several."""
        units = {self.unit(column) for column in self.y}
        return units.pop() if len(units) == 1 else ""

    @property
    def axes_in_words(self) -> str:
        """Return in words which columns are drawn over which column, such as ``Speed by Threads``."""
        return f"{', '.join(map(self.label, self.y))} by {self.label(self.x)}"

    def text(self, column: str, value: object) -> str:
        """Return a value as a cell of the column shows it on a page."""
        text = cell_text(value, self.format.get(column))
        return typeset(text) if is_number(value) else text


def label_of(column: str) -> str:
    """Return the name of a column, or for a path the header that a table makes of it."""
    return column_headers([column])[0] if "." in column else column


def plot_of(spec: PipelineSpec) -> Plot | None:
    """Return the plot of a chart, or of a table that asks for one. The table's headers name the axes."""
    place: tuple[str, ...] = ()
    groups: dict[str, str] = {}
    if isinstance(spec, ChartSpec):
        settings, labels = spec.drawn, spec.labels
    elif isinstance(spec, TableSpec) and spec.chart is not None:
        settings, labels, place = spec.chart, dict(zip(spec.columns, spec.headers, strict=True)), ("chart",)
        groups = {column: group.text for group in spec.header_groups for column in group.columns}
    else:
        return None
    return Plot(
        **vars(settings),
        name=spec.title or spec.caption or "",
        labels={**labels, **_tell_apart(settings.y, labels, groups)},
        format=spec.format,
        spread=spec.spread,
        place=place,
    )


def _tell_apart(
    columns: Sequence[str], labels: Mapping[str, str], groups: Mapping[str, str]
) -> dict[str, str]:
    """Return labels for columns that share one: after the heading above it, or else after the name of the column."""
    texts = {column: labels.get(column) or label_of(column) for column in columns}
    headed = {column: f"{groups.get(column, column)}: {text}" for column, text in texts.items()}
    shared, again = Counter(texts.values()), Counter(headed.values())
    return {
        column: headed[column] if again[headed[column]] == 1 else f"{column}: {text}"
        for column, text in texts.items()
        if shared[text] > 1
    }


def as_table(spec: PipelineSpec) -> TableSpec:
    """Return a chart's values as a table, for readers and outputs without pictures. A table is returned as is."""
    if isinstance(spec, TableSpec):
        return spec
    columns = tuple(dict.fromkeys(column for path, column in spec.shown_columns if path[0] != "spread"))
    names = {column: name for _, column, name in spec.headings}
    return TableSpec(
        comment=spec.comment,
        file=spec.file,
        collection=spec.collection,
        pipeline=spec.pipeline,
        let=spec.let,
        format=spec.format,
        id=spec.id,
        title=spec.title,
        caption=spec.caption,
        empty=spec.empty,
        columns=columns,
        headers=tuple(names.get(column) or label_of(column) for column in columns),
        spread=spec.spread if isinstance(spec, ChartSpec) else {},
    )


class PlotPoint(NamedTuple):
    """One value of a series: its place on the horizontal axis, and its value, None for a gap.

    ``ends`` is the lowest and the highest value, with both in words, if both are known and drawable. ``unit`` is the
    unit of the value. ``counted`` says how many repeats or blocks are behind it, if known. In a stack, ``base`` is
    where the part begins, and ``total`` the known sum of the stack. A point is ``absent`` if no row has it. ``apart``
    has the values of campaigns that disagree.
    """

    x: float
    y: float | None
    x_text: str
    y_text: str
    ends: tuple[float, float] | None = None
    ends_text: str = ""
    unit: str = ""
    counted: str = ""
    base: float = 0.0
    total: str = ""
    absent: bool = False
    apart: tuple[float, ...] = ()

    @property
    def marked(self) -> tuple[float, ...]:
        """Where the point has dots: at its end or, if campaigns disagree, at the value of each."""
        return self.apart or (self.top,)

    @property
    def top(self) -> float:
        """The end of the point on the axis of values."""
        return self.base + (self.y or 0.0)

    @property
    def in_words(self) -> str:
        """The value with its unit."""
        return f"{self.y_text} {self.unit}" if self.unit else self.y_text


class Series(NamedTuple):
    """One line, or one colour of bars or dots. ``panel`` is the name of its panel, if there are several."""

    name: str
    points: tuple[PlotPoint, ...]
    panel: str = ""

    @property
    def drawn(self) -> list[PlotPoint]:
        """Return the points that have a value."""
        return [point for point in self.points if point.y is not None]

    def runs(self, *, ranged: bool = False) -> Iterator[list[PlotPoint]]:
        """Yield the runs of points between gaps, or those of points that have a known range."""
        grouped = groupby(self.points, lambda point: (point.ends if ranged else point.y) is not None)
        return (list(run) for is_there, run in grouped if is_there)


class Data(NamedTuple):
    """The data to draw. ``x_values`` and ``x_texts`` are all places on the horizontal axis, in order.

    ``banded``: the mark is wide, so each place needs a band of the axis.
    """

    kind: AxisKind
    x_values: tuple[float, ...]
    x_texts: tuple[str, ...]
    series: tuple[Series, ...]
    banded: bool = False

    @property
    def gap(self) -> float:
        """The smallest distance of two places on the horizontal axis, or 0 if there is only one place."""
        return min((right - left for left, right in pairwise(self.x_values)), default=0.0)

    @property
    def y_values(self) -> list[float]:
        """All values that the value axis has to show, including the ends of ranges."""
        points = (point for series in self.series for point in series.drawn)
        return [value for point in points for value in (point.top, *(point.ends or ()))]


class Panel(NamedTuple):
    """One of several drawings side by side: its name and its data."""

    name: str
    data: Data
