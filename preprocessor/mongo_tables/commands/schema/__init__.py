"""``mongo-tables schema``: print the JSON Schema of a comment for editors, with all stages of the catalogue.

A check reads the stages' names from the catalogue. So the files in ``directives/schemas/`` omit the names and cannot
diverge from the catalogue.
"""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import EXIT
from mongo_tables.directives.keywords import KEYWORDS
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
        help="the schema, or the keyword of a comment (default: table)",
    )


def _schema_called(name: str) -> str:
    """Return the name of the schema for the comments of a keyword, or any other text unchanged."""
    return KEYWORDS.get(name, name)
