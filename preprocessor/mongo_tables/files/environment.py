"""What the environment of the process says."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime

RESULTS_VARIABLE = "MONGO_TABLES_RESULTS"
TARGET_VARIABLE = "MONGO_TABLES_TARGET"
OUTPUT_VARIABLE = "MONGO_TABLES_OUTPUT"
ATLAS_CLIENT = ("MONGODB_ATLAS_CLIENT_ID", "MONGODB_ATLAS_CLIENT_SECRET")
"""The variables of a service account of Atlas, as Atlas's own examples name them."""
ATLAS_KEY = ("MONGODB_ATLAS_PUBLIC_KEY", "MONGODB_ATLAS_PRIVATE_KEY")
"""Those of a key of its Administration API."""


def results_named() -> str:
    """The results source that ``MONGO_TABLES_RESULTS`` names; "" when it is not set, or blank."""
    return read_variable(RESULTS_VARIABLE)


def read_variable(variable: str) -> str:
    """What a variable names; "" when it is not set, or blank."""
    return os.environ.get(variable, "").strip()


def today() -> date:
    """The day in UTC: that of ``SOURCE_DATE_EPOCH`` where it is set (https://reproducible-builds.org), else today's."""
    try:
        return datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "")), UTC).date()
    except (ValueError, OverflowError, OSError):  # Not set, or the second of no day.
        return datetime.now(UTC).date()
