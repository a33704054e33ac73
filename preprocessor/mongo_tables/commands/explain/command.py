"""``mongo-tables explain``: a pipeline stage by stage, on the results source."""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.commands.numbers import whole_number
from mongo_tables.commands.options import SOURCE, add_source

if TYPE_CHECKING:
    from mongo_tables.commands.explain.explaining import Explanation

DESCRIPTION = (
    "Runs the pipeline of a table stage by stage on the results source: documents in and out, fields that\n"
    "come and go, the first rows, where a value became null, which stage lost all rows, and why."
)
EPILOG = (
    f"{SOURCE}\n\nexit status: 0 every table has its rows and columns, 1 one has not, "
    "2 wrong usage or nothing to work with"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the place in a page, and what is shown of its pipeline."""
    parser.add_argument(
        "place",
        metavar="FILE[:LINE]",
        help="a page; with a line, the comment that it stands in or is nearest to",
    )
    parser.add_argument(
        "--rows",
        type=whole_number,
        default=3,
        metavar="N",
        help="documents shown after each stage (default: 3)",
    )
    parser.add_argument("--json", action="store_true", help="everything as JSON, for tools")
    add_source(parser)


def run(arguments: Namespace) -> int:
    """Print the explanations; give 0 when every table has its rows and columns, else 1."""
    from mongo_tables.commands.explain.choosing import explain_comment, find_comments, find_place
    from mongo_tables.directives.sharedpipelines import SharedPipelines
    from mongo_tables.results.opening import open_source
    from mongo_tables.site.disk import read_text

    file, line = find_place(arguments.place)
    text = read_text(file)
    shared = SharedPipelines(Path(arguments.pipelines))
    comments = find_comments(text, file.as_posix(), line)
    source = open_source(arguments.results, arguments.limits)
    try:
        explanations = [explain_comment(one, file.as_posix(), shared, source) for one in comments]
    finally:
        source.close()
    _print(explanations, arguments)
    return 0 if all(one.sound for one in explanations) else 1


def _print(explanations: Sequence[Explanation], arguments: Namespace) -> None:
    if arguments.json:
        from mongo_tables.commands.explain.asjson import plain

        content = {"tables": [plain(one, arguments.rows) for one in explanations]}
        print(json.dumps(content, indent=2))
        return
    width = max(40, shutil.get_terminal_size((100, 24)).columns)
    print(f"\n\n{'─' * width}\n".join(_format_explanations(explanations, arguments.rows, width)))


def _format_explanations(explanations: Sequence[Explanation], rows: int, width: int) -> list[str]:
    """The text of each explanation; the fields of a collection are listed once."""
    from mongo_tables.commands.explain.terminal import lines

    texts, listed, color = [], set[str](), _has_color()
    for one in explanations:
        fields = one.collection not in listed
        texts.append("\n".join(lines(one, width=width, rows=rows, color=color, fields=fields)))
        listed.add(one.collection)
    return texts


def _has_color() -> bool:
    """Whether to use colours: on a terminal, unless NO_COLOR (https://no-color.org) is set or it is a dumb one."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
