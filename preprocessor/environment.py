"""What the environment of the process says."""

from __future__ import annotations

import os

RESULTS_VARIABLE = "MONGO_TABLES_RESULTS"


def results_named() -> str:
    """The results source that ``MONGO_TABLES_RESULTS`` names; "" when it is not set, or blank."""
    return os.environ.get(RESULTS_VARIABLE, "").strip()
