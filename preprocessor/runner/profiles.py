"""Profiles: how much is measured where nobody says it option by option."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """Factor of data and times, the most seconds of a window, repeats of each variant."""

    scale: float
    seconds: float
    repeats: int


PROFILES = {"quick": Profile(scale=0.001, seconds=0.5, repeats=1)}
"""By name. ``quick``: all experiments in a short time, for a first look and not for publishing; its
windows stay as short as they are, however few requests they have."""
