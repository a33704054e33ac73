"""The JSON Schemas that come with the program, by name."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).parent
_SUFFIX: Final = ".schema.json"


def names() -> list[str]:
    """The names of all schemas: ``table``, ``pipeline``, ``result`` …"""
    return sorted(file.name.removesuffix(_SUFFIX) for file in _FOLDER.glob(f"*{_SUFFIX}"))


@cache
def load(name: str) -> dict[str, Any]:
    """The schema of this name, read once; whoever gets it leaves it as it is. OSError for a name that none has."""
    schema: dict[str, Any] = json.loads((_FOLDER / f"{name}{_SUFFIX}").read_text("utf-8"))
    return schema
