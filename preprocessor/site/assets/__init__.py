"""The style sheet and the script of figures, as every door hands them out."""

from __future__ import annotations

from pathlib import Path


def style_sheet() -> str:
    """The style sheet, with the colours of Material for MkDocs and fallbacks for other themes."""
    return _read("mongo-tables.css")


def script() -> str:
    """The script that makes headers sort and marks old results. A page is complete without it."""
    return _read("mongo-tables.js")


def inline() -> str:
    """Both as HTML for a page of its own, where no file can be put beside it."""
    return f"<style>\n{style_sheet()}</style>\n<script>\n{script()}</script>"


def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
