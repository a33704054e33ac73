"""The data of a chart: its settings, and the panels, series and points to draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from mongo_tables.aggregation.values import is_number
from mongo_tables.directives.columns import column_headers
from mongo_tables.directives.specs import ChartSettings, ChartSpec, PipelineSpec, TableSpec
from mongo_tables.render.markup import typeset
from mongo_tables.render.values import cell_text

if TYPE_CHECKING:
    from mongo_tables.directives.columns import ColumnFormat

AxisKind = Literal["number", "time", "category"]


@dataclass(frozen=True, kw_only=True)
class Plot(ChartSettings):
    """The settings of a chart, which are in the comment of the chart or of its table.

    Attributes:
        name: The title or the caption.
        labels: The labels of columns.
        format: The formats of columns.
        spread: For each column with ranges, the fields that hold the lowest and the highest value.
        place: The path of the settings in the comment.
    """

    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    format: Mapping[str, ColumnFormat] = field(default_factory=dict)
    spread: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    place: tuple[str, ...] = ()

    def label(self, column: str) -> str:
        """Return the label of a column, without its unit."""
        return self.labels.get(column) or label_of(column)

    def unit(self, column: str) -> str:
        """Return the unit to show in the title of a column's axis. Return "" if there is no unit, or if each mark shows
        its own.
        """
        form = self.format.get(column)
        return form.raw_unit if form and not form.duration else ""

    def unit_beside(self, column: str) -> str:
        """Return the unit to show after the text of a value, or "" if there is none or the text contains it."""
        form = self.format.get(column)
        return "" if form and form.cell_unit_key else self.unit(column)

    @property
    def common_unit(self) -> str:
        """The unit of the value axis, or "" if its columns have different units."""
        units = {self.unit(column) for column in self.y}
        return units.pop() if len(units) == 1 else ""

    @property
    def axes_in_words(self) -> str:
        """The labels of both axes in words, such as ``Speed by Threads``."""
        return f"{', '.join(map(self.label, self.y))} by {self.label(self.x)}"

    def text(self, column: str, value: object) -> str:
        """Return a value as a cell of the column shows it on a page."""
        text = cell_text(value, self.format.get(column))
        return typeset(text) if is_number(value) else text


def label_of(column: str) -> str:
    """Return the name of a column. For a dotted path, return the header that a table would have."""
    return column_headers([column])[0] if "." in column else column


def plot_of(spec: PipelineSpec) -> Plot | None:
    """Return the plot of a chart or of a table with a chart, or None. The headers of a table are its labels."""
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
    """Return distinct labels for the columns that share a label: each label follows the column's heading or name."""
    texts = {column: labels.get(column) or label_of(column) for column in columns}
    headed = {column: f"{groups.get(column, column)}: {text}" for column, text in texts.items()}
    shared, again = Counter(texts.values()), Counter(headed.values())
    return {
        column: headed[column] if again[headed[column]] == 1 else f"{column}: {text}"
        for column, text in texts.items()
        if shared[text] > 1
    }


def as_table(spec: PipelineSpec) -> TableSpec:
    """Return the values of a chart as a table, for readers and outputs without pictures. Return a table unchanged."""
    if isinstance(spec, TableSpec):
        return spec
    columns = tuple(dict.fromkeys(column for path, column in spec.shown_columns if path[0] != "spread"))
    names = {column: name for _, column, name in spec.headings}
    return TableSpec(
        **{one.name: getattr(spec, one.name) for one in fields(PipelineSpec)},
        columns=columns,
        headers=tuple(names.get(column) or label_of(column) for column in columns),
        spread=spec.spread if isinstance(spec, ChartSpec) else {},
    )


class PlotPoint(NamedTuple):
    """One value of a series.

    Attributes:
        x: Its place on the horizontal axis.
        y: The value, None for a gap.
        x_text: The text of the place.
        y_text: The text of the value.
        ends: The lowest and the highest value, if both are known and drawable.
        ends_text: The text of ``ends``.
        unit: The unit of the value.
        counted: The number of repeats or blocks behind the value, in words, if it is known.
        base: Where the part of a stack begins.
        total: The text of the sum of the stack, if known.
        absent: Whether no row has this point.
        apart: The value of each campaign, if campaigns disagree.
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
        """The values with a dot: that of the point or, if campaigns disagree, those of the campaigns."""
        return self.apart or (self.top,)

    @property
    def top(self) -> float:
        """The value at which the point, or its part of a stack, ends."""
        return self.base + (self.y or 0.0)

    @property
    def in_words(self) -> str:
        """The value with its unit."""
        return f"{self.y_text} {self.unit}" if self.unit else self.y_text


class Series(NamedTuple):
    """The points that are drawn in one colour. ``panel`` is the name of their panel, if there are several."""

    name: str
    points: tuple[PlotPoint, ...]
    panel: str = ""

    @property
    def drawn(self) -> list[PlotPoint]:
        """The points that have a value."""
        return [point for point in self.points if point.y is not None]

    def runs(self, *, ranged: bool = False) -> Iterator[list[PlotPoint]]:
        """Yield the unbroken sequences of points that have a value or, with ``ranged``, a range."""
        grouped = groupby(self.points, lambda point: (point.ends if ranged else point.y) is not None)
        return (list(run) for is_there, run in grouped if is_there)


class Data(NamedTuple):
    """The data of a panel.

    Attributes:
        kind: The kind of the horizontal axis.
        x_values: All places on the horizontal axis, in order.
        x_texts: The texts of the places.
        series: The series.
        banded: Whether each place takes up a section of the axis, because the mark is wide.
    """

    kind: AxisKind
    x_values: tuple[float, ...]
    x_texts: tuple[str, ...]
    series: tuple[Series, ...]
    banded: bool = False

    @property
    def gap(self) -> float:
        """The smallest distance between two places on the horizontal axis, or 0 for a single place."""
        return min((right - left for left, right in pairwise(self.x_values)), default=0.0)

    @property
    def y_values(self) -> list[float]:
        """The values that the value axis has to show, including the ends of ranges."""
        points = (point for series in self.series for point in series.drawn)
        return [value for point in points for value in (point.top, *(point.ends or ()))]


class Panel(NamedTuple):
    """One of several drawings side by side: its name and its data."""

    name: str
    data: Data
