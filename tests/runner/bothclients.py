"""Both clients of the runner: a thorough run tries with PyMongo what is always tried with the default."""

from __future__ import annotations

from typing import Final

import pytest

CLIENTS: Final = ("wire", pytest.param("pymongo", marks=pytest.mark.thorough))
