"""What a chart draws: the series and points that are in the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from bson.datetime_ms import DatetimeMS

from preprocessor.aggregation.values import MISSING, date_from_millis, is_date, millis
from preprocessor.render.column import column_value
from preprocessor.render.conclusions import Conclusion, conclusion_of
from preprocessor.render.conclusiontext import conclusion_in_words
from preprocessor.render.text import range_text, with_minus_signs
from preprocessor.render.timeaxis import moment_text
from preprocessor.render.values import cell_text, finite_decimal, is_number
from preprocessor.results.verdicts import count_blocks
from preprocessor.specs.model import ChartSpec, TableSpec

if TYPE_CHECKING:
    from preprocessor.specs.columnformat import ColumnFormat
    from preprocessor.specs.model import PipelineSpec

Rows = Sequence[Mapping[str, object]]
AxisKind = Literal["number", "time", "category"]

# Beyond these no axis has a power of ten left to mark; no measure comes near.
_LARGEST: Final = 1e300
_SMALLEST: Final = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A chart as it is asked for, whether by a comment of its own or by a table.

    ``spread``: column → the fields of its lowest and its highest value. ``log`` names the logarithmic axes: "", "x",
    "y" or "xy". ``horizontal``: names stand at the left and values lie along the horizontal axis. ``reference``: the
    value that a line across stands for. ``timezone`` is the zone of dates, "" for UTC where none is named. ``place``
    is the path of the settings in the comment.
    """

    mark: str
    x: str
    y: tuple[str, ...]
    series: str | None = None
    log: str = ""
    timezone: str = ""
    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    format: Mapping[str, ColumnFormat] = field(default_factory=dict)
    spread: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    horizontal: bool = False
    reference: float | None = None
    place: tuple[str, ...] = ()

    def label(self, column: str) -> str:
        """What a column is called, without its unit."""
        return self.labels.get(column, column)

    def unit(self, column: str) -> str:
        """The unit of a column's numbers, as its axis has them; empty where none is given."""
        form = self.format.get(column)
        return form.raw_unit if form else ""

    def unit_beside(self, column: str) -> str:
        """The unit that a value's text does not name itself."""
        form = self.format.get(column)
        return "" if form and form.names_unit else self.unit(column)

    @property
    def common_unit(self) -> str:
        """The unit of all columns of the vertical axis; "" where they have several."""
        units = {self.unit(column) for column in self.y}
        return units.pop() if len(units) == 1 else ""

    def text(self, column: str, value: object) -> str:
        """A value as a cell of the column shows it on a page."""
        text = cell_text(value, self.format.get(column))
        return with_minus_signs(text) if is_number(value) else text

    def x_text(self, value: object) -> str:
        """A value of the horizontal axis in full: a date on the clock of the chart's zone."""
        if self.timezone and is_date(value):
            return moment_text(value, self.timezone)
        return self.text(self.x, value)


class Point(NamedTuple):
    """One value of a series: its place on the horizontal axis, and None where there is nothing to draw.

    ``ends``: the lowest and the highest value, where both are known and can be drawn, and both in words. ``unit`` is
    that of the value; ``counted`` says how many repeats or blocks are behind it, where that is known.
    """

    x: float
    y: float | None
    x_text: str
    y_text: str
    ends: tuple[float, float] | None = None
    ends_text: str = ""
    unit: str = ""
    counted: str = ""

    @property
    def in_words(self) -> str:
        """The value with its unit."""
        return f"{self.y_text} {self.unit}" if self.unit else self.y_text


class Series(NamedTuple):
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


class Data(NamedTuple):
    """All that is drawn. ``x_values`` with ``x_texts``: every place on the horizontal axis, in order."""

    kind: AxisKind
    x_values: tuple[float, ...]
    x_texts: tuple[str, ...]
    series: tuple[Series, ...]

    @property
    def gap(self) -> float:
        """The smallest distance of two places on the horizontal axis; 0 where there is one place only."""
        return min((right - left for left, right in pairwise(self.x_values)), default=0.0)


def plot_of(spec: PipelineSpec) -> Plot | None:
    """The plot of a chart, or that of a table which asks for one."""
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
        timezone=spec.timezone or "",
        name=spec.title or spec.caption or "",
        labels=spec.labels,
        format=spec.format,
        spread=spec.spread,
        horizontal=spec.horizontal,
        reference=spec.reference,
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
        timezone=spec.chart.get("timezone", ""),
        name=spec.title or spec.caption or "",
        labels=dict(zip(spec.columns, spec.headers, strict=True)),
        format=spec.format,
        spread=spec.spread,
        horizontal=spec.chart.get("horizontal", False),
        reference=spec.chart.get("reference"),
        place=("chart",),
    )


def as_table(spec: PipelineSpec) -> TableSpec:
    """The table of what a chart draws: where pictures cannot go, and for who cannot see them; a table is its own."""
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
        title=spec.title,
        caption=spec.caption,
        empty=spec.empty,
        columns=columns,
        headers=tuple(names.get(column, column) for column in columns),
        spread=spec.spread if isinstance(spec, ChartSpec) else {},
    )


def data_of(plot: Plot, rows: Rows) -> Data:
    """The series of a plot, in the order in which the rows name them."""
    kind = _axis_kind(plot, rows)
    values = [column_value(row, plot.x) for row in rows]
    texts = [plot.x_text(value) for value in values]
    at = places_of(kind, values, texts)
    places = dict(sorted((x, text) for x, text in zip(at, texts, strict=True) if x is not None))
    found: dict[str, list[Point]] = {}
    for row, x, text in zip(rows, at, texts, strict=True):
        for column in plot.y if x is not None else ():
            points = found.setdefault(_name(plot, row, column), [])
            points.append(_point(plot, row, column, x or 0.0, text))
    ordered = plot.mark == "line" or kind == "time"
    series = tuple(Series(name, _in_order(points, ordered)) for name, points in found.items())
    return Data(kind, tuple(places), tuple(places.values()), series)


def places_of(kind: AxisKind, values: Sequence[object], texts: Sequence[str]) -> list[float | None]:
    """Where each value stands on the horizontal axis; None where it has no place there."""
    if kind == "number":
        return [drawable(value) for value in values]
    if kind == "time":
        return [moment_of(value) for value in values]
    place = {text: float(index) for index, text in enumerate(dict.fromkeys(texts))}
    return [place[text] for text in texts]


def _axis_kind(plot: Plot, rows: Rows) -> AxisKind:
    """Numbers and dates have their distances; anything else, and numbers under bars, is a row of names."""
    if plot.horizontal:
        return "category"
    present = present_values(rows, plot.x)
    if present and all(map(is_date, present)):
        return "time"
    numbers = plot.mark != "bar" and all(map(is_number, present))
    return "number" if numbers and any(drawable(value) is not None for value in present) else "category"


def present_values(rows: Rows, column: str) -> list[Any]:
    """The values of a column that there are."""
    values = (column_value(row, column) for row in rows)
    return [value for value in values if value is not MISSING and value is not None]


def _point(plot: Plot, row: Mapping[str, object], column: str, x: float, x_text: str) -> Point:
    value = column_value(row, column)
    if (one := conclusion_of(value)) is not None:
        ratio = _on_axis(plot, None if one.ratio is None else float(one.ratio))
        words = with_minus_signs(conclusion_in_words(value)) or plot.text(column, None)
        interval = None if ratio is None else _known_interval(one)
        return Point(x, ratio, x_text, words, interval, counted=count_blocks(one.blocks, one.campaigns))
    number = _on_axis(plot, value)
    unit = "" if number is None else plot.unit_beside(column)
    point = Point(x, number, x_text, plot.text(column, value), unit=unit)
    if point.y is None or column not in plot.spread:
        return point
    low, high = (column_value(row, field) for field in plot.spread[column][:2])
    ends = (_on_axis(plot, low), _on_axis(plot, high))
    if ends[0] is None or ends[1] is None:
        return point
    form = plot.format.get(column)
    text = with_minus_signs(f"({range_text(cell_text(low, form), cell_text(high, form))})")
    counted = _count_repeats(row, plot.spread[column][2:])
    return point._replace(ends=(ends[0], ends[1]), ends_text=text, counted=counted)


def _count_repeats(row: Mapping[str, object], fields: Sequence[str]) -> str:
    """How many repeats are behind a range, where a field of the row says so."""
    number = finite_decimal(column_value(row, fields[0])) if fields else None
    if number is None:
        return ""
    return "1 repeat" if number == 1 else f"{number:f} repeats"


def _known_interval(one: Conclusion) -> tuple[float, float] | None:
    if one.ratio is None or one.interval is None:
        return None
    low, high = map(float, one.interval)
    return (low, high) if low > 0 and high < _LARGEST else None


def _on_axis(plot: Plot, value: object) -> float | None:
    """The value as a number that the vertical axis can show."""
    number = drawable(value)
    return number if number is None or number > 0 or "y" not in plot.log else None


def _in_order(points: list[Point], ordered: bool) -> tuple[Point, ...]:
    return tuple(sorted(points, key=lambda point: point.x)) if ordered else tuple(points)


def _name(plot: Plot, row: Mapping[str, object], column: str) -> str:
    """What a series is called: the value that tells it apart, the column where there are several."""
    if plot.series is None:
        return plot.label(column)
    value = plot.text(plot.series, column_value(row, plot.series))
    return value if len(plot.y) == 1 else f"{value}, {plot.label(column)}"


def drawable(value: object) -> float | None:
    """The value as a number that an axis can show; None where it is none: a text, NaN, an infinity."""
    if not is_number(value):
        return None
    try:
        number = float(str(value))
    except (ValueError, OverflowError):
        return None
    if abs(number) < _SMALLEST:
        return 0.0
    return number if abs(number) < _LARGEST else None


def y_number(value: object) -> float | None:
    """The number that the vertical axis shows: of a comparison its ratio."""
    one = conclusion_of(value)
    return drawable(value) if one is None else None if one.ratio is None else float(one.ratio)


def moment_of(value: Any) -> float | None:
    """Milliseconds since 1970 of a date in the years 1 to 9999, those that a cell can show as a date."""
    if not is_date(value) or isinstance(date_from_millis(millis(value)), DatetimeMS):
        return None
    return float(millis(value))
