"""Reads one page: its comments, what each asks for, and what is wrong before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mongo_tables.directives import page_scan
from mongo_tables.files.text import shorten_path
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.site.model import Page

if TYPE_CHECKING:
    from pathlib import Path

    from mongo_tables.directives.comments import Comment, Scan
    from mongo_tables.directives.pipelines import Lookup
    from mongo_tables.directives.reader import Reading
    from mongo_tables.files.text import BadByte
    from mongo_tables.results.model import Fault, ResultsError

    ReadComment = Callable[[Comment, str, Lookup], tuple[Reading, Finding | None]]


def no_text(file: str, bad: BadByte) -> Finding:
    """The fault of a page that is not UTF-8, at its first bad byte."""
    message = f"the page is not UTF-8: byte 0x{bad.value:02x} stands here"
    return finding("MT100", file, (bad.line, bad.column), message, "save the page as UTF-8")


def read_page(
    text: str,
    file: str,
    shared: Lookup,
    wanted: Callable[[Comment], bool] | None = None,
    read: ReadComment | None = None,
    find: Callable[[str, str], Scan] | None = None,
) -> Page:
    """The page's comments, each validated against its schema and held to the rules of safety.

    ``shared`` gives the shared stage list of a name, None when there is none. Only comments that are ``wanted`` are
    read; all are where that is None. ``read`` does what ``static.read_comment`` does. Nothing is run.
    """
    scan = (find or page_scan.find)(text, file)
    found: list[Finding] = list(scan.findings)
    chosen = scan.comments if wanted is None else tuple(filter(wanted, scan.comments))
    if not chosen:
        return Page(file, text, (), (), tuple(found), scan.rejected)
    # A page without comments pays neither for the schemas nor for the evaluator.
    from mongo_tables.site.static import read_comment

    readings = [(read or read_comment)(comment, file, shared) for comment in chosen]
    found += (each for one, _ in readings for each in one.findings)
    specs, server_only = tuple(one.spec for one, _ in readings), tuple(fault for _, fault in readings)
    return Page(file, text, chosen, specs, tuple(found), scan.rejected, server_only)


def unread_findings(paths: Iterable[Path], broken: Iterable[Fault]) -> list[Finding]:
    """A note on each file of a results source that is there and not read: nobody shall wait for what is in it.

    Among them are those that no comment has used so far and that nobody could read.
    """
    hint = "give it the ending of a format that is read, or move it away"
    message = "the results source does not read this file"
    unread = [finding("MT313", shorten_path(path), (0, 0), message, hint) for path in paths]
    return [*unread, *map(_broken, broken)]


def _broken(fault: Fault) -> Finding:
    message = f"no comment uses this file, and none could: {fault.message}"
    return finding("MT313", shorten_path(fault.file), (fault.line, fault.column), message, fault.hint)


def source_findings(error: ResultsError, file: str) -> list[Finding]:
    """Why a results source cannot be used: the faults of fixture files at their places, else one of ``file``."""
    return [*error.as_findings(file)] or [finding("MT310", file, (0, 0), error.message, error.hint)]
