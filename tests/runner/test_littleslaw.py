"""Throughput and latency say how many requests are in flight."""

from __future__ import annotations

import pytest

from preprocessor.runner.littleslaw import check, remark


def test_connections_that_are_always_in_a_request_are_all_in_flight():
    # Ten connections, each with 100 requests of 10 ms in a second.
    found = check(10.0, 1.0, 10)
    assert found == {"concurrency": pytest.approx(10), "expected": 10, "ratio": pytest.approx(1)}
    assert remark(found) == ""


def test_a_difference_is_said_in_either_direction():
    assert remark(check(9.4, 1.0, 10)) == "9.4 of 10 connections in a request on average"
    assert remark(check(21.2, 2.0, 10)) == "10.6 of 10 connections in a request on average"
    assert remark(check(9.6, 1.0, 10)) == ""
