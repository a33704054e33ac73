"""Findings about pages: their data type, their rules, their output formats, and baselines of accepted findings."""
