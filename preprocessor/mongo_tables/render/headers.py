"""Headers with their units: a unit that the header names already is not said twice."""

from __future__ import annotations

import re
from typing import Final

_BLANKS: Final = re.compile(r"\s+")
_SLASH: Final = re.compile(r"\s*/\s*| per ")


def find_added_unit(header: str, unit: str) -> str:
    """The unit to show beside the header; "" where the header already ends with it, in brackets or without."""
    header, wanted = _plain(header), _plain(unit)
    return "" if header.endswith((f"({wanted})", f"[{wanted}]", f" {wanted}")) else unit


def with_unit(header: str, unit: str) -> str:
    """The header with its unit in brackets, where it has one that it does not name already."""
    added = find_added_unit(header, unit) if unit else ""
    return f"{header} ({added})" if added else header


def _plain(text: str) -> str:
    return _SLASH.sub("/", _BLANKS.sub(" ", text)).replace("( ", "(").replace(" )", ")").strip()
