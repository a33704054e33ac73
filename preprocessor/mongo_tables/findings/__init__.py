"""Findings: their data type, the rules they report, their output formats, and the baseline of accepted ones."""
