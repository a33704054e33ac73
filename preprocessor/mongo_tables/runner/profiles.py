"""Profiles: how much is measured where nobody says it option by option."""

from __future__ import annotations

from dataclasses import dataclass

from mongo_tables.runner.lengthening import LEAST_BATCHES


@dataclass(frozen=True, slots=True)
class Profile:
    """Factor of data and times, the most seconds of windows, those of batches and of paced work, and how many blocks.

    There are ``repeats`` of them, then up to ``most_repeats``, until every interval of a ratio reaches from it by no
    more than the part ``width`` of it.
    """

    scale: float
    seconds: float
    batch_seconds: float
    paced_seconds: float
    repeats: int
    most_repeats: int = 0
    width: float = 0.0
    lengthens: bool = True
    """Whether a window with few requests is made longer."""
    least_batches: int = LEAST_BATCHES
    """Requests for each connection that an amount is raised to."""


def least_batches(profile: str | None) -> int:
    """Requests for each connection that an amount is raised to in a run by this profile, or by none."""
    return PROFILES[profile].least_batches if profile else LEAST_BATCHES


PROFILES = {
    # Not half a second: reports exist that divide by the length of a window, rounded to whole seconds.
    "quick": Profile(
        scale=0.001,
        seconds=0.55,
        batch_seconds=0.55,
        paced_seconds=0.55,
        repeats=1,
        lengthens=False,
        least_batches=3,
    ),
    "publish": Profile(
        scale=0.01,
        seconds=0.7,
        batch_seconds=2.0,
        paced_seconds=5.0,
        repeats=20,
        most_repeats=40,
        width=0.06,
    ),
}
"""By name. ``quick`` is a first look at everything in a short time, and not for publishing. ``publish`` is for that: as
many blocks as conclusions need. Longer windows hardly help, more blocks do."""
