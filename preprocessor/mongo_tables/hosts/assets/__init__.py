"""The style sheet and the script of figures, for every host."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mongo_tables.render.charts.svg_file import STYLE_SHEET_FILE

__all__ = ["SCRIPT_FILE", "STYLE_SHEET_FILE", "inline"]

SCRIPT_FILE: Final = Path(__file__).parent / "mongo-tables.js"
"""Sorts and filters tables, shows tooltips, marks old results. A page is complete without it."""


def inline() -> str:
    """Return both as HTML, for a page that cannot link to other files."""
    style_sheet, script = (file.read_text(encoding="utf-8") for file in (STYLE_SHEET_FILE, SCRIPT_FILE))
    return f"<style>\n{style_sheet}</style>\n<script>\n{script}</script>"
