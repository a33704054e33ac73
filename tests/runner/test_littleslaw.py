"""Throughput and latency say how many requests are in flight."""

from __future__ import annotations

import pytest

from preprocessor.runner.littleslaw import check, remark


def test_connections_that_are_always_in_a_request_are_all_in_flight():
    # Ten connections, each with 100 requests of 10 ms in a second.
    found = check({10_000: 1000}, 1.0, 10)
    assert found == {"concurrency": pytest.approx(10), "expected": 10, "ratio": pytest.approx(1)}
    assert remark(found) == ""


def test_kinds_count_by_their_number_of_requests():
    assert check({1_000: 500, 3_000: 500}, 1.0, 2)["concurrency"] == pytest.approx(2)


def test_a_difference_is_said_in_either_direction():
    assert remark(check({10_000: 940}, 1.0, 10)) == "9.4 of 10 connections in a request on average"
    assert remark(check({10_000: 1060}, 1.0, 10)) == "10.6 of 10 connections in a request on average"
    assert remark(check({10_000: 960}, 1.0, 10)) == ""
