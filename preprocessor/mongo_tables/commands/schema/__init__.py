"""``mongo-tables schema``: print the JSON Schema of a comment for editors.

The command adds the stages of the catalogue to the schemas in ``directives/schemas/``, which do not repeat them.
"""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import EXIT
from mongo_tables.directives.keywords import KEYWORDS
from mongo_tables.directives.schemas import names

DESCRIPTION = "Prints the JSON Schema of a comment. Editors use it for completion."
EPILOG = f"""\
examples:
  mongo-tables schema > table.schema.json
  mongo-tables schema RESULT_CHART

{EXIT}"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the name of the schema."""
    parser.add_argument(
        "name",
        nargs="?",
        default="table",
        type=lambda name: KEYWORDS.get(name, name),
        choices=names(),
        help="the schema, or the keyword of a comment (default: table)",
    )
