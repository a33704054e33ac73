"""Environment variables of the process."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime

RESULTS_VARIABLE = "MONGO_TABLES_RESULTS"
TARGET_VARIABLE = "MONGO_TABLES_TARGET"
OUTPUT_VARIABLE = "MONGO_TABLES_OUTPUT"
ATLAS_CLIENT = ("MONGODB_ATLAS_CLIENT_ID", "MONGODB_ATLAS_CLIENT_SECRET")
"""The variables of an Atlas service account, with the names that Atlas uses in its own examples."""
ATLAS_KEY = ("MONGODB_ATLAS_PUBLIC_KEY", "MONGODB_ATLAS_PRIVATE_KEY")
"""The variables of an API key for the Atlas Administration API."""


def results_named() -> str:
    """Return the results source in ``MONGO_TABLES_RESULTS``; "" if it is not set, or blank."""
    return read_variable(RESULTS_VARIABLE)


def read_variable(variable: str) -> str:
    """Return the value of a variable; "" if it is not set, or blank."""
    return os.environ.get(variable, "").strip()


def today() -> date:
    """Return the day in UTC: from ``SOURCE_DATE_EPOCH`` if set (https://reproducible-builds.org), else today's."""
    try:
        return datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "")), UTC).date()
    except (ValueError, OverflowError, OSError):  # Not set, or out of range.
        return datetime.now(UTC).date()
