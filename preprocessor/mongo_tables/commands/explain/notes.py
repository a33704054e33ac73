"""What is said about a pipeline: one sentence, its weight, the stage it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mongo_tables.findings.finding import Severity
from mongo_tables.render.values import json_text


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence about the table (``stage`` None) or about one stage (counted from 1), and what to do about it."""

    severity: Severity
    message: str
    hint: str = ""
    stage: int | None = None


def shorten_json(value: Any, room: int = 60) -> str:
    """A value as JSON on one line, cut to ``room`` characters."""
    text = json_text(value)
    return text if len(text) <= room else text[: room - 1] + "…"


def format_count(number: int, noun: str) -> str:
    """A number and its noun: "1 document", "1,300 documents"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def suggest_path(path: str) -> str:
    """The hint that offers another path; empty without one."""
    return f"did you mean `{path}`?" if path else ""


def describe_portion(part: int, whole: int, noun: str, *, complete: bool) -> str:
    """ "in 3 of 24 documents", "in every row"; where only the first were looked at (not ``complete``), that is said."""
    if complete:
        return f"in every {noun}" if part == whole else f"in {part:,} of {format_count(whole, noun)}"
    return f"in {'each' if part == whole else f'{part:,}'} of the first {format_count(whole, noun)}"
