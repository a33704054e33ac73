"""Fixtures of the tests of the runner that the bars need as well."""

from __future__ import annotations

from tests.runner.conftest import crew, replica_set

__all__ = ["crew", "replica_set"]
