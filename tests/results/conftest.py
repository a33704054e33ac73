"""What tests of intervals are held against."""

from __future__ import annotations

from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def stats() -> ModuleType:
    """SciPy's statistics: most of a second of imports, only for who computes with them."""
    from scipy import stats

    return stats
