"""How a chart is to be drawn, whether a comment of its own asks for it or a table does."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

from mongo_tables.files.records import Value
from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext.document import Document
from mongo_tables.jsontext.model import Path


class Reference(NamedTuple):
    """What values are held against: a line across the chart, or a band where ``high`` is above ``low``."""

    low: float
    high: float
    label: str = ""

    @property
    def is_band(self) -> bool:
        """Whether it has two ends."""
        return self.low < self.high

    @classmethod
    def of(cls, written: Any) -> Self:
        """Give the reference of a number, of ``{"value": …}`` or of ``{"from": …, "to": …}``."""
        if not isinstance(written, Mapping):
            return cls(float(written), float(written))
        low, high = (written["value"],) * 2 if "value" in written else (written["from"], written["to"])
        return cls(float(low), float(high), written.get("label", ""))


class ChartSettings(Value):
    """What is drawn by what, and how.

    ``log`` names the logarithmic axes: "", "x", "y" or "xy". ``timezone`` is the zone of an axis of dates, "" for UTC
    where none is named. ``horizontal``: names stand at the left and values lie along the horizontal axis. ``stack``:
    the series of a place stand on one another. ``facets`` is the column that has a panel for each of its values,
    ``columns`` how many of them stand side by side, None for as many as suit.
    """

    x: str
    y: tuple[str, ...]
    mark: str = "line"
    series: str | None = None
    log: str = ""
    timezone: str = ""
    horizontal: bool = False
    stack: bool = False
    references: tuple[Reference, ...] = ()
    facets: str | None = None
    columns: int | None = None

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Give the settings of a valid comment, or of the key ``chart`` of one."""
        reference = written.get("reference", [])
        several = reference if isinstance(reference, list) else [reference]
        same = ("mark", "x", "series", "log", "timezone", "horizontal", "stack", "facets")
        return cls(
            **{key: written[key] for key in same if key in written},
            y=(written["y"],) if isinstance(written["y"], str) else tuple(written["y"]),
            references=tuple(map(Reference.of, several)),
            columns=int(written["columns"]) if "columns" in written else None,
        )

    @property
    def naming_columns(self) -> tuple[str, ...]:
        """The columns that tell one value that is drawn from another."""
        return tuple(filter(None, (self.facets, self.x, self.series)))


def reference_findings(document: Document) -> Iterator[Finding]:
    """Complain of references that are neither a line nor a band; as far as shapes allow."""
    body = document.parsed.value
    chart = body.get("chart")
    for place, settings in (((), body), (("chart",), chart)):
        written = settings.get("reference") if isinstance(settings, dict) else None
        for index, one in enumerate(written if isinstance(written, list) else ()):
            if isinstance(one, dict):
                yield from _one_reference(document, (*place, "reference", index), one)


def _one_reference(document: Document, path: Path, one: Mapping[str, Any]) -> Iterator[Finding]:
    ends = [one[key] for key in ("from", "to") if key in one]
    if ("value" in one) == bool(ends) or len(ends) == 1:
        message = "a reference is a line at one value, or a band between two"
        hint = (
            'for example: {"value": 1, "label": "same speed"}, or {"from": 90, "to": 110, "label": "target"}'
        )
        yield document.finding("MT133", path, message, hint)
    elif ends and all(isinstance(end, int | float) for end in ends) and not ends[0] < ends[1]:
        message = f"the band ends at {ends[1]:g}, which is not above {ends[0]:g}, where it begins"
        yield document.finding("MT133", (*path, "to"), message, "name the lower end as `from`")
