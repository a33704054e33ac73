"""``mongo-tables schema``: print the JSON Schema of a comment."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from mongo_tables.commands.options import EXIT
from mongo_tables.directives.schemas import names

DESCRIPTION = "Prints the JSON Schema that comments are validated against; editors complete from it."
EPILOG = f"""\
examples:
  mongo-tables schema > table.schema.json
  mongo-tables schema RESULT_CHART

{EXIT}"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the schema."""
    parser.add_argument(
        "name",
        nargs="?",
        default="table",
        type=_schema_called,
        choices=names(),
        help="which one, a comment by its keyword too (default: table)",
    )


def _schema_called(name: str) -> str:
    """Return the name of the schema for a comment with this keyword. Return any other text unchanged."""
    from mongo_tables.directives.keywords import KEYWORDS  # the list of choices does not need it

    return KEYWORDS.get(name, name)


def run(arguments: Namespace) -> int:
    """Print the schema as the site publishes it."""
    from mongo_tables.directives.schemas.editors import editor_schema

    # JSON is UTF-8, whatever the terminal's encoding.
    sys.stdout.buffer.write(editor_schema(arguments.name).encode("utf-8"))
    return 0
