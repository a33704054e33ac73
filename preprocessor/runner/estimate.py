"""What a run will take, before it is started."""

from __future__ import annotations

from dataclasses import dataclass

from preprocessor.runner.experiment import Experiment, configs
from preprocessor.runner.workloads import workload


@dataclass(frozen=True, slots=True)
class Estimate:
    """For one variant: operations, documents and BSON bytes of the timed window, documents loaded before it.

    ``seconds`` is the length of all its windows at the published speed, None when none is published.
    """

    operations: int
    documents: int
    bytes: int
    preloaded: int
    seconds: float | None


def estimate(scaled: Experiment, factor: float, repeats: int, most_seconds: float | None) -> list[Estimate]:
    """Give an estimate for each variant of an experiment that is already scaled by ``factor``."""
    kind = workload(scaled.workload)
    rows = scaled.published.get("rows", [])
    estimates = []
    for number, config in enumerate(configs(scaled)):
        plan = kind.plan(config)
        before = kind.preload(config)
        window = rows[number].get("durationS", 0) * factor if number < len(rows) else 0
        window = min(filter(None, (window, most_seconds)), default=0)
        preloaded = before["totalDocsToInsert"] if before else 0
        estimates.append(
            Estimate(plan.operations, plan.documents, plan.bytes, preloaded, window * repeats or None)
        )
    return estimates


def table(estimates: list[Estimate]) -> list[str]:
    """Lines for people: one for each variant, and the sum."""
    lines = [f"{'variant':>7}  {'operations':>14}  {'documents':>14}  {'size':>10}  {'time':>10}"]
    for number, one in enumerate(estimates, 1):
        lines.append(
            f"{number:>7}  {one.operations:>14,}  {one.documents + one.preloaded:>14,}  "
            f"{size(one.bytes):>10}  {_time(one.seconds):>10}"
        )
    known = [one.seconds for one in estimates if one.seconds]
    lines.append(
        f"{'all':>7}  {sum(one.operations for one in estimates):>14,}  "
        f"{sum(one.documents + one.preloaded for one in estimates):>14,}  "
        f"{size(sum(one.bytes for one in estimates)):>10}  {_time(sum(known) if known else None):>10}"
    )
    return lines


def size(count: int) -> str:
    """Bytes in the largest binary unit that leaves at least one of it."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.4g} {unit}"
        amount /= 1024
    return f"{amount:.4g} TiB"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "not known"
    return f"{seconds / 60:.1f} min"
