"""``mongo-tables schema``: the JSON Schema of a comment."""

from __future__ import annotations

import sys
from argparse import Namespace

from preprocessor.schemas.editors import editor_schema


def run(arguments: Namespace) -> int:
    """Prints the schema as the site publishes it."""
    sys.stdout.buffer.write(
        editor_schema(arguments.name).encode("utf-8")
    )  # JSON, whatever the terminal speaks.
    return 0
