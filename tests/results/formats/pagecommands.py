"""The commands of the page for authors of benchmarks, by the heading that they stand under."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "authors" / "benchmarks.md"
_SECTION = re.compile(r"^#+ (.+?)(?: \{#.*\})?$", re.MULTILINE)
_COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands() -> dict[str, list[str]]:
    """The lines of the shell under each heading."""
    _, *parts = _SECTION.split(PAGE.read_text("utf-8"))
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    return {
        heading: [line for block in _COMMANDS.findall(text) for line in block.splitlines()]
        for heading, text in sections.items()
    }
