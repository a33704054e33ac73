"""A figure of a benchmark tool with its unit, in words of a line: times in the unit that fits them."""

from __future__ import annotations

from typing import Final

_TIMES: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def say_amount(value: float, unit: str) -> str:
    """The figure with three digits or more: ``12.3 ms``, ``1,024 B/op``."""
    if unit == "s" and value:
        size, unit = next((one for one in _TIMES if abs(value) >= one[0]), _TIMES[-1])
        value /= size
    return f"{say_number(value)} {unit}".strip()


def say_number(value: float) -> str:
    """A figure with three digits or more."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
