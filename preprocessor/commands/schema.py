"""``mongo-tables schema``: the JSON Schema of a comment."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib import resources


def run(arguments: Namespace) -> int:
    """Prints the schema as it is shipped."""
    file = resources.files("preprocessor.schemas").joinpath(f"{arguments.name}.schema.json")
    sys.stdout.write(file.read_text("utf-8"))
    return 0
