"""``mongo-tables new``: a comment for a collection, made by looking at its documents."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.commands.options import SOURCE, add_config_file, add_limit, add_results
from mongo_tables.files.text import list_some
from mongo_tables.findings.reporters import escape_control_chars

if TYPE_CHECKING:
    from mongo_tables.commands.new.choosing import Proposal

DESCRIPTION = (
    "Looks at the documents of a collection and writes a comment that shows them as a table: to standard\n"
    "output, or at the end of a page. On a terminal it asks for what no option says."
)
EPILOG = f"{SOURCE}\n\nexit status: 0 written, 2 wrong usage or nothing to work with"

_LISTED = 8


def add_arguments(parser: ArgumentParser) -> None:
    """Add the collection, what of it is shown, and where the comment goes."""
    parser.add_argument("collection", nargs="?", metavar="COLLECTION", help="default: the only one there is")
    parser.add_argument(
        "--where", action="append", metavar="FIELD=VALUE", help="only documents with this value (repeatable)"
    )
    parser.add_argument("--columns", metavar="FIELDS", help="fields to show, with commas: _id.threads,qps")
    parser.add_argument("--headers", metavar="TEXTS", help="what readers see above them, with commas")
    parser.add_argument(
        "--sort",
        metavar="FIELDS",
        help="the columns to sort by, with - before one that goes down: --sort=-qps "
        "(default: the first, then those of _id)",
    )
    parser.add_argument("--title", metavar="TEXT", help="a title above the table")
    parser.add_argument("--append", metavar="PAGE", help="write the comment at the end of this page")
    add_results(parser)
    add_limit(parser)
    add_config_file(parser)


def run(arguments: Namespace) -> int:
    """Print the comment, or append it to a page; give 0. Raises UsageError when there can be none."""
    from mongo_tables.commands.new.appending import table_keyword
    from mongo_tables.commands.new.choosing import Wishes, propose_comment
    from mongo_tables.results.answers import Answers
    from mongo_tables.site.disk import read_text

    file = Path(arguments.append) if arguments.append else None
    page = read_text(file) if file and file.exists() else ""
    wishes = Wishes(
        keyword=table_keyword(page),
        collection=arguments.collection,
        where=arguments.where or (),
        columns=arguments.columns,
        headers=arguments.headers,
        sort=arguments.sort,
        title=arguments.title or "",
        asking=sys.stdin.isatty() and not arguments.columns,
    )
    with closing(Answers(arguments.results, arguments.limits)) as asked:
        proposal = propose_comment(wishes, asked)
    if file:
        _write(file, page, proposal.drafted.text)
    else:
        # A page is UTF-8, whatever the terminal speaks.
        sys.stdout.buffer.write(_encode(proposal.drafted.text + "\n"))
    _report(proposal)
    return 0


def _report(proposal: Proposal) -> None:
    _say(f"{proposal.looked_at} documents of `{proposal.collection}` looked at")
    for remark in proposal.remarks:
        _say(remark)
    for reason, names in proposal.left_out.items():
        _say(f"left out ({reason}): {list_some(names, _LISTED)}")
    for message in proposal.drafted.ignored:
        _say(f"the comment ignores: {message}")


def _say(text: str) -> None:
    print(escape_control_chars(text), file=sys.stderr)


def _write(file: Path, page: str, comment: str) -> None:
    from mongo_tables.commands.new.appending import append_block
    from mongo_tables.files import atomic

    whole = append_block(page, comment)
    atomic.write(file.resolve(), _encode(whole.text))
    _say(f"{file}:{whole.line}: comment written")


def _encode(text: str) -> bytes:
    """UTF-8; what an option held that is no text becomes a question mark."""
    return text.encode("utf-8", "replace")
