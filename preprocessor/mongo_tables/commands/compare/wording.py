"""Comparisons as lines of text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import groupby, pairwise
from math import inf
from statistics import geometric_mean
from typing import Any, Final

from mongo_tables.render.markup import align
from mongo_tables.results.comparison import (
    PER_SECOND,
    TO_REFERENCE,
    CampaignRatio,
    Comparison,
    Difference,
    Side,
)
from mongo_tables.results.conclusions import list_ratios
from mongo_tables.results.conditions import CLIENT, SERVERS
from mongo_tables.results.pooling import Pooled
from mongo_tables.results.verdicts import count_blocks, describe, list_ratios_apart
from mongo_tables.results.within_campaign import REFERENCE, ROWS, compare_within

_APART: Final = timedelta(hours=1)
"""Campaigns that started within this time may share a state of the machine."""
_TIMES: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_ROW: Final = "row"
_OF_REFERENCE: Final = "of its reference"
_VERDICT: Final = "verdict"
_TEXTS: Final = (_ROW, _VERDICT)
"""The columns with words, which are aligned to the left."""
_SIDE_BY_SIDE: Final = "mongo-tables run NAME --target a=WHERE --target b=WHERE"
_TWO_CAMPAIGNS: Final = (
    "OLD and NEW were measured at different times, and a machine drifts: rows are compared by the ratios to their\n"
    "references, which were measured in the same blocks, and speeds have no verdict. With one campaign on each side,\n"
    "the interval does not include how the machine varies from hour to hour: trust a verdict only if campaigns at\n"
    f"other hours repeat it. To compare two servers by speed, measure them side by side: {_SIDE_BY_SIDE}"
)


def format_text(found: Difference) -> Iterator[str]:
    """Yield a table of rows for each experiment, the rows of only one side, and differences in the measurement."""
    for heading, group in groupby(found.rows, lambda row: f"{row.experiment}: {row.heading}"):
        yield heading
        yield from _format_rows(list(group))
    for side, rows in (("OLD", found.only_old), ("NEW", found.only_new)):
        for name in rows:
            yield f"only in {side}: {name}"
    yield from (f"not compared: {told}" for told in found.not_compared)
    yield from _list_differences(
        [
            row
            for row in found.rows
            if row.sides not in (ROWS, REFERENCE) and not (row.is_control or row.missing)
        ]
    )
    yield from _list_among_campaigns([row for row in found.rows if row.campaigns])
    if any(row.judged.of == TO_REFERENCE for row in found.rows):
        yield _TWO_CAMPAIGNS


def format_pooled(pooled: Pooled) -> Iterator[str]:
    """Yield the conclusion of each row, the omitted rows, and campaigns that started within an hour."""
    rows = tuple(one for one in compare_within(pooled.rows).rows if one.campaigns)
    yield from format_text(Difference(rows))
    yield from (f"not pooled: {name}: {reason}" for name, reason in pooled.left_out)
    yield from dict.fromkeys(line for row in rows for line in _list_of_one_hour(row))


def _list_of_one_hour(row: Comparison) -> Iterator[str]:
    for one, other in pairwise(row.campaigns):
        if other.start - one.start < _APART:
            minutes = (other.start - one.start) // timedelta(minutes=1)
            yield (
                f"campaigns {one.id} and {other.id} began {minutes} minutes apart: "
                "both may share a state of the machine"
            )


def say_verdict(row: Comparison) -> str:
    """Return the verdict of a row in words, or the reason why there is no verdict."""
    judged = row.judged
    if judged.verdict is None:
        return f"no verdict: {judged.reason}"
    if judged.ratio is None or judged.low is None or judged.high is None:
        return f"{judged.verdict}: {judged.reason}"
    campaigns = len(row.campaigns) or 1
    figures = (judged.ratio, judged.low, judged.high, judged.blocks)
    each = [(one.ratio, one.low, one.high) for one in row.campaigns if one.ratio is not None]
    return describe(judged.verdict, *figures, campaigns, judged.negligible, list_ratios_apart(each))


def _format_rows(rows: Sequence[Comparison]) -> Iterator[str]:
    """Yield aligned lines for the rows, with a header, and notes below each row."""
    cells = [_list_cells(row) for row in rows]
    names = list(dict.fromkeys(name for some in cells for name in some))
    table = [names, *([some.get(name, "") for name in names] for some in cells)]
    header, *lines = align(table, [number for number, name in enumerate(names) if name in _TEXTS])
    yield f"  {header}"
    for row, line in zip(rows, lines, strict=True):
        yield f"  {line}"
        yield from (f"    {one}" for one in _list_notes(row))


def _list_cells(row: Comparison) -> dict[str, str]:
    cells = {_ROW: row.variant, row.sides.one: _say_speed(row.one), row.sides.other: _say_speed(row.other)}
    if row.judged.of == TO_REFERENCE:
        before, after = (f"{geometric_mean(list_ratios(pairs)):.3f}" for pairs in row.evidence)
        cells |= {f"{_OF_REFERENCE} {row.sides.one}": before, f"{_OF_REFERENCE} {row.sides.other}": after}
    return {**cells, "ratio": _say_ratio(row.judged.ratio), _VERDICT: say_verdict(row)}


def _list_notes(row: Comparison) -> Iterator[str]:
    yield from row.doubts
    if row.missing:
        yield f"{row.missing}, so the conditions of its measurement are unknown"
    if row.campaigns:
        yield "speeds are those of this row's own campaign"
    yield from map(_say_campaign, row.campaigns)


def _say_ratio(ratio: float | None) -> str:
    return "n/a" if ratio is None else f"{ratio:.3f}"


def _say_campaign(one: CampaignRatio) -> str:
    blocks = count_blocks(one.blocks)
    interval = f" ({one.low:.3f} to {one.high:.3f})" if one.high < inf else ""
    return (
        f"campaign {one.id} of {one.start:%Y-%m-%d %H:%M}: ratio {_say_ratio(one.ratio)}{interval}, {blocks}"
    )


def _say_speed(side: Side) -> str:
    if side.speed is None:
        return "n/a"
    if side.unit != PER_SECOND:
        return say_amount(side.speed, side.unit)
    if side.low is None or side.high is None or side.high == inf:
        return f"{say_number(side.speed)}/s"
    return f"{say_number(side.speed)}/s ({say_number(side.low)} to {say_number(side.high)})"


def _list_differences(rows: Sequence[Comparison]) -> Iterator[str]:
    lines = [
        _describe_difference(row, field, old, new)
        for row in rows
        for field, (old, new) in row.differs.items()
    ]
    if rows and not lines:
        yield "measured alike: no recorded condition differs"
    yield from _count_alike(lines, len(rows))


def _list_among_campaigns(rows: Sequence[Comparison]) -> Iterator[str]:
    """Yield a line for each condition of the measurement in which the campaigns of a row differ."""
    lines = [
        f"campaigns differ: {field}: {', '.join(map(_say_value, values))}"
        for row in rows
        for field, values in row.campaigns_differ.items()
    ]
    yield from _count_alike(lines, len(rows))


def _count_alike(lines: Iterable[str], rows: int) -> Iterator[str]:
    """Yield each line once. If only some rows have the line, add the number of these rows."""
    for line, count in Counter(lines).items():
        yield line + (f" ({count} rows)" if count < rows else "")


def _describe_difference(row: Comparison, field: str, old: Any, new: Any) -> str:
    """Return the line about a difference. For a difference of machines, the line says which machine differs."""
    if field.startswith(SERVERS):
        # If one side is unknown, both may be the same machine.
        label = "machine of the servers" if None in (old, new) else "servers on another machine"
        field = field.removeprefix(SERVERS)
    elif field.startswith(CLIENT):
        label = "measured on another machine" if row.shared else "client on another machine"
        field = field.removeprefix(CLIENT)
    else:
        return f"not measured alike: {field}: {old} {row.sides.one}, {new} {row.sides.other}"
    return f"{label}: {field}: {_say_value(old)} {row.sides.one}, {_say_value(new)} {row.sides.other}"


def _say_value(value: Any) -> str:
    return "not known" if value is None else str(value)


def format_json(value: Any) -> str:
    """Return named tuples and their content as JSON. Infinite values become null."""
    return json.dumps(_as_plain(value), indent=2, ensure_ascii=False, default=str)


def _as_plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return _as_plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(name): _as_plain(one) for name, one in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_as_plain(one) for one in value]
    return None if value == inf else value


# -- figures --


def say_amount(value: float, unit: str) -> str:
    """Return a figure with its unit and at least three digits: ``12.3 ms``, ``1,024 B/op``.

    Example:
        >>> say_amount(1024.0, "B/op")
        '1,024 B/op'
    """
    if unit == "s" and value:
        size, unit = next((one for one in _TIMES if abs(value) >= one[0]), _TIMES[-1])
        value /= size
    return f"{say_number(value)} {unit}".strip()


def say_number(value: float) -> str:
    """Return a figure with at least three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
