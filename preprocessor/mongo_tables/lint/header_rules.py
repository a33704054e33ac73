"""Rules about headers that name a wrong unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mongo_tables.findings.finding import Finding
from mongo_tables.lint.rule_context import RuleContext, rule
from mongo_tables.lint.shape import units
from mongo_tables.lint.shape.units import Unit
from mongo_tables.lint.shape.values import column_shape
from mongo_tables.render.column import find_added_unit

_BRACKETED = re.compile(r"\(([^()]*)\)")
_TIMES = ("milliseconds", "seconds", "minutes", "hours")
_LOOSE = re.compile(r"(?:[KkMGT]i?B|bytes|docs)/s\b")


def read_unit(header: str) -> str:
    """Return the unit that a header names, or "".

    The unit is the text in the last brackets, a word such as ``KB/s``, or the whole header, such as ``Minutes``.

    Example:
        >>> read_unit("Speed (KB/s)")
        'KB/s'
    """
    bracketed = _BRACKETED.findall(header)
    if bracketed:
        return bracketed[-1].strip()  # type: ignore[no-any-return]
    if (word := header.strip().lower()) in _TIMES:
        return word
    loose = _LOOSE.search(header)
    return loose[0] if loose else ""


@rule("MT404", needs=("unit",))
def find_wrong_units(subject: RuleContext) -> Iterator[Finding]:
    """MT404: the header names one unit, the pipeline computes another."""
    for index, (column, header) in enumerate(zip(subject.columns, subject.headers, strict=False)):
        text = read_unit(header)
        readings, computed = units.readings(text), column_shape(subject.flow.rows, column).traits.unit
        if not readings or computed is None:
            continue
        powers = units.select_measured(computed)
        fitting = [one for one in readings if units.select_measured(one) == powers]
        if any(units.same_size(one, computed) for one in fitting):
            continue
        at = subject.spec.locate(("headers", index))
        if fitting:
            ratios = [computed.factor / one.factor for one in fitting]
            sizes = f"{ratios[0]:.3g} {text}"
            if len(ratios) > 1:
                sizes = f"{ratios[0]:.4g} {text} in steps of 1000, {ratios[1]:.4g} in steps of 1024"
            message = f"the header says {text}, but 1 in `{column}` is {sizes}: readers see wrong values"
            factor = fitting[0].factor / computed.factor
            rescale = f"divide by {factor:.6g}" if factor > 1 else f"multiply by {1 / factor:.6g}"
            hint = _FIX_SIZE if computed.is_data else f"{rescale} in the pipeline"
            yield subject.finding("MT404", at, message, hint)
        elif computed.is_data or any(one.is_data for one in readings):
            over = " × ".join(f"{base}s" for base, power in computed.powers if power > 0)
            under = "".join(f" a {base}" for base, power in computed.powers if power < 0)
            message = f"the header says {text}, but `{column}` counts {over}{under}: another quantity"
            yield subject.finding("MT404", at, message, "name what is counted in the header")


_FIX_SIZE = "convert in the pipeline: B/ms divided by 1000 is MB/s, KiB/ms times 1000/1024 is MiB/s"


@rule("MT427", needs=("format",))
def find_two_units(subject: RuleContext) -> Iterator[Finding]:
    """MT427: the header names one unit, the column's format another."""
    spec = subject.spec
    for path, column, header in subject.spec.headings:
        form, written = spec.format.get(column), read_unit(header)
        says = [one for one in units.readings(written) if units.select_measured(one) or one.factor != 1]
        if not form or not says:  # a single word in brackets may be anything
            continue
        if form.cell_unit_key:
            adds, hint = "each cell has its own unit", "remove it from the header"
        elif form.unit and find_added_unit(header, form.unit) and not _is_one_of(says, form.unit):
            adds, hint = (
                f"`format` adds {form.unit}",
                "remove the wrong unit; a unit in the header is enough",
            )
        else:
            continue
        message = (
            f"the header of `{column}` says {written}, and {adds}: readers cannot know which unit is right"
        )
        yield subject.finding("MT427", spec.locate(path, key=path[0] == "labels"), message, hint)


def _is_one_of(says: Sequence[Unit], unit: str) -> bool:
    """Return whether a unit equals one of the units that a text can mean."""
    readings = units.readings(unit)
    return any(
        one.powers == other.powers and units.same_size(one, other) for one in says for other in readings
    )
