"""``mongo-tables init``: the set-up of a repository, or the first comment for a collection.

``setup`` finds results and plans the files of a set-up, and ``site_files`` extends existing files. ``draft`` writes the
comment, and ``columns`` chooses its content.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from mongo_tables.commands.file_changes import print_changes
from mongo_tables.commands.init.draft import Proposal, append_block, mark_for, propose_comment
from mongo_tables.commands.init.numbers import describe_numbers
from mongo_tables.commands.init.setup import plan
from mongo_tables.commands.pages import request_of
from mongo_tables.files import atomic
from mongo_tables.files.folders import list_some
from mongo_tables.findings.reporters import escape_control_chars, format_count
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import page_folders, read_snapshots, read_text
from mongo_tables.site.site_config import fill_in, find_files

_LISTED = 8


def run(arguments: Namespace) -> int:
    """Write a set-up, or a comment. Return the exit status of the check after a set-up, else 0.

    Raises CommandError if there is nothing to set up or to show.
    """
    if arguments.table is not None:
        return _write_comment(arguments)
    for name in ("append", "limit", "config_file"):
        if getattr(arguments, name):
            raise CommandError(f"--{name.replace('_', '-')} requires --table", "add --table COLLECTION")
    return _set_up(Path(arguments.folder), arguments)


# -- a set-up --


def _set_up(folder: Path, arguments: Namespace) -> int:
    if not folder.is_dir():
        raise CommandError(
            f"{folder}: no such folder", "name the folder of a repository; --table names a collection"
        )
    if arguments.numbers:
        _print_lines(describe_numbers(folder, arguments.results))
        return 0
    planned = plan(folder, arguments.results)
    if arguments.dry_run:
        print_changes(planned.files)
        for line in planned.remarks:
            _say(line)
        return 0
    atomic.write_texts({one.file: one.after for one in planned.files})
    written = (
        f"{one.name}: {'written' if one.before is None else 'changed'}, {one.said}" for one in planned.files
    )
    _print_lines([*planned.remarks, *written])
    status = _check(folder, arguments)
    _print_lines(f"next: {one}" for one in planned.by_hand)
    return status


def _print_lines(lines: Iterable[str]) -> None:
    for line in "\n".join(lines).splitlines():
        print(escape_control_chars(line))
    sys.stdout.flush()


def _check(folder: Path, arguments: Namespace) -> int:
    """Run ``mongo-tables check --numbers`` in the folder, as the hook will."""
    file = find_files(folder)[0]
    given = arguments.build_parser(["check"]).parse_args(["check", "--numbers", "--config-file", str(file)])
    status: int = given.run(given)
    return status


# -- a comment --


def _write_comment(arguments: Namespace) -> int:
    if arguments.dry_run or arguments.folder != "." or arguments.numbers:
        raise CommandError(
            "FOLDER, --dry-run and --numbers are for a set-up", "leave them out, or leave out --table"
        )
    fill_in(arguments)
    file = Path(arguments.append) if arguments.append else None
    page = read_text(file) if file and file.exists() else ""
    with closing(Answers(arguments.results, arguments.limits)) as asked:
        others = read_snapshots(page_folders(arguments.site), request_of(arguments)).snapshots
        texts = [one.text for snapshot in others for one in snapshot.pages]
        proposal = propose_comment(asked, page, arguments.table or None, texts)
    # A page is UTF-8, independently of the terminal's encoding.
    if file:
        whole, line = append_block(page, mark_for(page, file.name, proposal.text))
        atomic.write(file.resolve(), whole.encode("utf-8", "replace"))
        _say(f"{file}:{line}: comment written")
    else:
        sys.stdout.buffer.write(f"{proposal.text}\n".encode("utf-8", "replace"))
    _report(proposal)
    return 0


def _report(proposal: Proposal) -> None:
    _say(f"{format_count(proposal.looked_at, 'row')} of `{proposal.collection}` looked at")
    for remark in proposal.remarks:
        _say(remark)
    if proposal.left_out:
        _say(f"left out: {list_some(proposal.left_out, _LISTED)}")
    for message in proposal.ignored:
        _say(f"the comment ignores: {message}")


def _say(text: str) -> None:
    print(escape_control_chars(text), file=sys.stderr)
