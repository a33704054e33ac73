"""The two steps of a review: compare and write, which reads pages, and post, which has a token and reads none."""

from __future__ import annotations

import hashlib
import json
import shutil
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.commands.diff.checkouts import tables_of_checkout
from mongo_tables.commands.diff.comparing import compare
from mongo_tables.commands.review.api import Api, ApiError
from mongo_tables.commands.review.basecommit import find_base, write_files
from mongo_tables.commands.review.composing import compose
from mongo_tables.commands.review.event import PullRequest, read_pull_request
from mongo_tables.commands.review.posting import post
from mongo_tables.files import atomic
from mongo_tables.files.environment import read_variable
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.usage import UsageError

if TYPE_CHECKING:
    from mongo_tables.commands.diff.comparing import TableChange
    from mongo_tables.commands.diff.states import Table

_TEXT: Final = "changes.md"
_DATA: Final = "changes.json"
_BASE: Final = ".mongo-tables-base"
_REFUSED: Final = (401, 403, 404)
"""How GitHub answers a token that may not write, or may not even know of what it asks for."""


def write_changes(arguments: Namespace) -> None:
    """Compare the checkout with its base, and write what changed into the folder and into the summary of the job.

    Raises UsageError and ResultsError for what cannot be compared.
    """
    request = read_pull_request()
    base = arguments.base or (find_base(request) if request else None)
    if base is None:
        raise UsageError(
            "this job runs for no pull request, so there is nothing to compare with",
            "name a revision with --base",
        )
    changes, failed = _compare_with(base, arguments)
    compared = (base, request.head) if request and not arguments.base else (base, "this checkout")
    text = compose(changes, failed, compared, _marker(arguments.config_file))
    _write_folder(Path(arguments.folder), text, changes)
    _append("GITHUB_STEP_SUMMARY", text.partition("\n")[2] + "\n")
    _append("GITHUB_OUTPUT", f"changed={'true' if changes else 'false'}\n")
    print(f"tables that differ from {escape_control_chars(base)}: {len(changes)}")


def _compare_with(base: str, arguments: Namespace) -> tuple[list[TableChange], int]:
    """What changed since a revision, and how many tables of this checkout have no rows for a fault."""
    asked = Namespace(config_file=arguments.config_file, limit=arguments.limit, pages=[], key=None)
    with _folder_for_base(Path(arguments.folder)) as place:
        old = _read_base(write_files(base, place), asked)
    new = tables_of_checkout(Path(), asked)
    return compare(old, new), sum(bool(table.failed) for table in new)


def _read_base(folder: Path, asked: Namespace) -> list[Table]:
    """The tables of the base; none where its site cannot be read, which the pull request may mend."""
    try:
        return tables_of_checkout(folder, asked, needs_results=False)
    except UsageError as error:
        print(f"nothing to compare with: {escape_control_chars(error.message)}")
        return []


@contextmanager
def _folder_for_base(report: Path) -> Iterator[Path]:
    """A folder for the files of the base, always at the same place: so what is kept of its results is found again."""
    place = report.resolve() / _BASE
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _marker(config_file: str | None) -> str:
    """The first line of the comment: another one for each site of a repository."""
    site = hashlib.sha256(config_file.encode()).hexdigest()[:12] if config_file else "site"
    return f"<!-- mongo-tables review {site} -->"


def _write_folder(folder: Path, text: str, changes: Sequence[TableChange]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = json.dumps({"tables": [asdict(one) for one in changes]}, indent=2) + "\n"
    atomic.write_all({folder / _TEXT: text.encode("utf-8", "replace"), folder / _DATA: data.encode()})


def _append(variable: str, text: str) -> None:
    """Add to a file that the runner of GitHub Actions names, where it names one."""
    if named := read_variable(variable):
        with Path(named).open("a", encoding="utf-8", errors="replace") as file:
            file.write(text)


def post_changes(arguments: Namespace) -> None:
    """Make what ``write_changes`` wrote the comment of the pull request, or say why it cannot be.

    A token that may not write is nothing wrong: pull requests from forks have none, and the summary has the same text.
    Raises UsageError where there is nothing to post, or no token.
    """
    request = read_pull_request()
    if request is None:
        raise UsageError("this job runs for no pull request, which could have a comment")
    folder = Path(arguments.folder)
    try:
        text, data = (folder / _TEXT).read_text("utf-8"), json.loads((folder / _DATA).read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{folder} has no changes to post: {error}", "run it without --post before"
        ) from None
    token = read_variable("GITHUB_TOKEN")
    if not token:
        raise UsageError("GITHUB_TOKEN is not set", "hand it over: GITHUB_TOKEN: ${{ github.token }}")
    api = Api(read_variable("GITHUB_API_URL") or "https://api.github.com", request.repository, token)
    try:
        print(f"comment: {post(api, request.number, text, arguments.author, anything=_has_any(data))}")
    except ApiError as error:
        print(_excuse(error, request))


def _has_any(data: Any) -> bool:
    return bool(isinstance(data, dict) and data.get("tables"))


def _excuse(error: ApiError, request: PullRequest) -> str:
    """A line that GitHub shows beside the job: a notice where nothing could be expected, else a warning."""
    where = "the summary of the job and its artifact have the numbers"
    if error.status in _REFUSED and request.from_fork:
        return f"::notice::no comment: a pull request from a fork has no token that may write; {where}"
    hint = "; let the job have `permissions: pull-requests: write`" if error.status in _REFUSED else ""
    said = escape_control_chars(str(error)).replace("%", "%25")
    return f"::warning::no comment: {said}{hint}; {where}"
