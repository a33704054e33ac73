"""Colours, widths and tables of a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mongo_tables.render.text import display_width

BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "31", "32", "33", "36"


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours, or none at all."""

    on: bool

    def __call__(self, text: str, *codes: str) -> str:
        """The text in these colours (ECMA-48, Select Graphic Rendition)."""
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.on and text and codes else text


def cut(text: str, room: int) -> str:
    """The text in at most ``room`` columns, with an ellipsis where something is left out."""
    if display_width(text) <= room:
        return text
    kept, width = [], 1
    for character in text:
        width += display_width(character)
        if width > room:
            break
        kept.append(character)
    return "".join(kept) + "…" if room > 0 else ""


def pad(text: str, room: int, *, right: bool = False) -> str:
    """The text filled up to ``room`` columns."""
    blanks = " " * max(0, room - display_width(text))
    return blanks + text if right else text + blanks


def wrap_parts(parts: Sequence[str], width: int, first: str, rest: str) -> list[str]:
    """Parts on as many lines as they need, none broken: ``first`` begins the first line, ``rest`` the others."""
    lines, line, empty = list[str](), first, True
    for part in parts:
        if not empty and display_width(line) + 2 + display_width(part) > width:
            lines.append(line.rstrip())
            line, empty = rest, True
        line += part if empty else f"  {part}"
        empty = False
    return [*lines, line.rstrip()]
