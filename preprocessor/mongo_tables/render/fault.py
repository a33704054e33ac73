"""What the rows of a figure show to be wrong with its settings."""

from __future__ import annotations

Fault = tuple[tuple[str | int, ...], str, str]
"""Path of the setting in the comment, message and hint."""
