"""Experiments in, result documents out: the part that runs MongoDB and measures it.

An experiment is a file of data (``experiments/NAME.toml``), the kinds of work are code (``workloads/``), a
target (``target``, ``local``) says on what it runs, ``load`` makes the load and ``result`` writes down what
was seen.
"""
