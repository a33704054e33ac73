"""The name of a variant of an experiment, as people read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def variant_name(key: Mapping[str, Any]) -> str:
    """The comment of a variant, else its parameters; ``key`` is the ``_id`` of a result document.

    A benchmark has a name, and what was measured of it.
    """
    values = {name: value for name, value in key.items() if name != "testname"}
    if values.keys() == {"name", "metric"}:
        return ", ".join(map(str, values.values()))
    if "comment" in values and "instance" not in values:
        return str(values["comment"]).strip()
    return ", ".join(
        f"{name} {_short(value)}" for name, value in values.items() if name not in ("comment", "query")
    )


def _short(value: Any) -> str:
    return " ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)
