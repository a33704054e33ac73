"""Bars of speed, lag and memory on a quiet machine; each night `pytest benchmarks/timing` holds them."""
