"""``mongo-tables schema``: the JSON Schema of a comment."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

_SCHEMAS = Path(__file__).parents[1] / "schemas"


def run(arguments: Namespace) -> int:
    """Prints the schema as it is shipped."""
    file = _SCHEMAS / f"{arguments.name}.schema.json"
    sys.stdout.write(file.read_text("utf-8"))
    return 0
