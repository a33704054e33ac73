"""What a chart draws: the series and points that are in the rows, and what of them cannot be drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from preprocessor.aggregation.values import MISSING
from preprocessor.render.columns import column_value
from preprocessor.render.values import cell_text, is_number

if TYPE_CHECKING:
    from preprocessor.specs import ChartSpec, ColumnFormat, PipelineSpec, TableSpec

Rows = Sequence[Mapping[str, object]]
AxisKind = Literal["number", "category"]

# Beyond these no axis has a power of ten left to mark; no measure comes near.
_LARGEST: Final = 1e300
_SMALLEST: Final = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A chart as it is asked for, whether by a comment of its own or by a table.

    ``log`` names the logarithmic axes: "", "x", "y" or "xy". ``place`` is the path of the settings in the
    comment.
    """

    mark: str
    x: str
    y: tuple[str, ...]
    series: str | None = None
    log: str = ""
    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    format: Mapping[str, ColumnFormat] = field(default_factory=dict)
    place: tuple[str, ...] = ()

    def label(self, column: str) -> str:
        """What a column is called, without its unit."""
        return self.labels.get(column, column)

    def unit(self, column: str) -> str:
        """The unit of a column; empty where none is given."""
        form = self.format.get(column)
        return (form.unit or "") if form else ""

    def text(self, column: str, value: object) -> str:
        """A value as a cell of the column shows it."""
        return cell_text(value, self.format.get(column))


@dataclass(frozen=True, slots=True)
class Point:
    """One value of a series: its place on the horizontal axis, and None where there is nothing to draw."""

    x: float
    y: float | None
    x_text: str
    y_text: str


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or one colour of bars or dots."""

    name: str
    points: tuple[Point, ...]

    @property
    def drawn(self) -> list[Point]:
        """The points that there are."""
        return [point for point in self.points if point.y is not None]

    def runs(self) -> Iterator[list[Point]]:
        """The points between the gaps."""
        run: list[Point] = []
        for point in self.points:
            if point.y is not None:
                run.append(point)
            elif run:
                yield run
                run = []
        if run:
            yield run


@dataclass(frozen=True, slots=True)
class Data:
    """All that is drawn. ``x_values`` with ``x_texts``: every place on the horizontal axis, in order."""

    kind: AxisKind
    x_values: tuple[float, ...]
    x_texts: tuple[str, ...]
    series: tuple[Series, ...]


def plot_of(spec: PipelineSpec) -> Plot | None:
    """The plot of a chart, or that of a table which asks for one."""
    from preprocessor.specs import ChartSpec, TableSpec

    if isinstance(spec, ChartSpec):
        return chart_plot(spec)
    return table_plot(spec) if isinstance(spec, TableSpec) else None


def chart_plot(spec: ChartSpec) -> Plot:
    """The plot of a MONGO_CHART."""
    return Plot(
        mark=spec.mark,
        x=spec.x,
        y=spec.y,
        series=spec.series,
        log=spec.log or "",
        name=spec.title or spec.caption or "",
        labels=spec.labels,
        format=spec.format,
    )


def table_plot(spec: TableSpec) -> Plot | None:
    """The plot that a table asks for; its headers name the axes."""
    if spec.chart is None:
        return None
    y = spec.chart["y"]
    return Plot(
        mark=spec.chart.get("mark", "line"),
        x=spec.chart["x"],
        y=(y,) if isinstance(y, str) else tuple(y),
        series=spec.chart.get("series"),
        log=spec.chart.get("log", ""),
        name=spec.title or spec.caption or "",
        labels=dict(zip(spec.columns, spec.headers, strict=True)),
        format=spec.format,
        place=("chart",),
    )


def as_table(spec: ChartSpec) -> TableSpec:
    """The table of what a chart draws: where pictures cannot go, and for who cannot see them."""
    from preprocessor.specs import TableSpec

    columns = tuple(dict.fromkeys((spec.x, *([spec.series] if spec.series else []), *spec.y)))
    return TableSpec(
        comment=spec.comment,
        file=spec.file,
        collection=spec.collection,
        pipeline=spec.pipeline,
        let=spec.let,
        format=spec.format,
        title=spec.title,
        caption=spec.caption,
        empty=spec.empty,
        columns=columns,
        headers=tuple(spec.labels.get(column, column) for column in columns),
    )


def data_of(plot: Plot, rows: Rows) -> Data:
    """The series of a plot, in the order in which the rows name them."""
    kind = _axis_kind(plot, rows)
    values = [column_value(row, plot.x) for row in rows]
    texts = [plot.text(plot.x, value) for value in values]
    distinct = dict.fromkeys(texts)
    place = {text: float(index) for index, text in enumerate(distinct)}
    at = [
        _number(value) if kind == "number" else place[text] for value, text in zip(values, texts, strict=True)
    ]
    places = dict(sorted((x, text) for x, text in zip(at, texts, strict=True) if x is not None))
    found: dict[str, list[Point]] = {}
    for row, x, text in zip(rows, at, texts, strict=True):
        for column in plot.y if x is not None else ():
            points = found.setdefault(_name(plot, row, column), [])
            points.append(_point(plot, row, column, x or 0.0, text))
    series = tuple(Series(name, _in_order(plot, points)) for name, points in found.items())
    return Data(kind, tuple(places), tuple(places.values()), series)


def _axis_kind(plot: Plot, rows: Rows) -> AxisKind:
    """Numbers have their distances; anything else, and whatever stands under bars, is a row of names."""
    values = [column_value(row, plot.x) for row in rows]
    present = [value for value in values if value is not MISSING and value is not None]
    numbers = plot.mark != "bar" and present and all(_number(value) is not None for value in present)
    return "number" if numbers else "category"


def _point(plot: Plot, row: Mapping[str, object], column: str, x: float, x_text: str) -> Point:
    value = column_value(row, column)
    number = _number(value)
    drawn = number if number is None or number > 0 or "y" not in plot.log else None
    return Point(x, drawn, x_text, plot.text(column, value))


def _in_order(plot: Plot, points: list[Point]) -> tuple[Point, ...]:
    return tuple(sorted(points, key=lambda point: point.x)) if plot.mark == "line" else tuple(points)


def _name(plot: Plot, row: Mapping[str, object], column: str) -> str:
    """What a series is called: the value that tells it apart, the column where there are several."""
    if plot.series is None:
        return plot.label(column)
    value = plot.text(plot.series, column_value(row, plot.series))
    return value if len(plot.y) == 1 else f"{value}, {plot.label(column)}"


def _number(value: object) -> float | None:
    if isinstance(value, datetime) or not is_number(value):
        return None
    try:
        number = float(str(value))
    except (ValueError, OverflowError):
        return None
    if abs(number) < _SMALLEST:
        return 0.0
    return number if abs(number) < _LARGEST else None


Fault = tuple[tuple[str | int, ...], str, str]
"""Path of the setting in the comment, message and hint."""


def plot_faults(plot: Plot | None, rows: Rows) -> list[Fault]:
    """What of a plot would silently be left out, or drawn where no reader could tell it apart."""
    if plot is None:
        return []
    data = data_of(plot, rows)
    return [
        *_undrawn(plot, rows),
        *_unplaced(plot, rows, data),
        *_off_the_axis(plot, rows, data),
        *_repeated(plot, data),
    ]


def _undrawn(plot: Plot, rows: Rows) -> Iterator[Fault]:
    for column in plot.y:
        if not any(_number(column_value(row, column)) is not None for row in rows):
            message = f"the chart has nothing to draw: no row has a number in `{column}`"
            yield (*plot.place, "y"), message, "name a column of numbers"


def _unplaced(plot: Plot, rows: Rows, data: Data) -> Iterator[Fault]:
    without = sum(_number(column_value(row, plot.x)) is None for row in rows)
    if data.kind == "number" and without:
        message = f"{without} of {len(rows)} rows have no `{plot.x}`, so they have no place in the chart"
        yield (*plot.place, "x"), message, "leave those rows out of the pipeline"
    if data.kind == "category" and "x" in plot.log:
        message = f"`{plot.x}` is drawn as names, so its axis cannot be logarithmic"
        yield (*plot.place, "log"), message, "a line or dots over a column of numbers can have such an axis"


def _off_the_axis(plot: Plot, rows: Rows, data: Data) -> Iterator[Fault]:
    axes = [plot.x] if "x" in plot.log and data.kind == "number" else []
    for column in [*axes, *(plot.y if "y" in plot.log else ())]:
        numbers = (_number(column_value(row, column)) for row in rows)
        if any(number is not None and number <= 0 for number in numbers):
            message = f"a logarithmic axis has no place for a `{column}` of 0 or less"
            yield (*plot.place, "log"), message, "draw that axis linear, or leave those rows out"


def _repeated(plot: Plot, data: Data) -> Iterator[Fault]:
    if plot.mark == "dot":
        return
    for series in data.series:
        text, count = Counter(point.x_text for point in series.points).most_common(1)[0]
        if count > 1:
            message = f"{count} rows have the same place: `{plot.x}` is {text} in each of them"
            yield (
                (*plot.place, "x"),
                message,
                'name the column that tells them apart as "series", or draw dots',
            )
            return
