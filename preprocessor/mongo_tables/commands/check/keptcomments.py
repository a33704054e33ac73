"""Remembers what was said of comments, so that of a page that was edited those that stayed are not judged anew.

What is wrong with a comment, and what the linter says of it, follows from its text, the results and the shared
pipelines, which are the same for all that is remembered under one key (``Case.beside``). Rules about the tables of a
page look at all of them together again: what they need of each is kept with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.findings.finding import Finding
from mongo_tables.findings.moving import move_findings
from mongo_tables.pages.lasting import is_lasting
from mongo_tables.results import bsoncache
from mongo_tables.specs import reading

if TYPE_CHECKING:
    from mongo_tables.comments.model import Comment
    from mongo_tables.lint.documents import Documents
    from mongo_tables.lint.pages import Looked, Ran
    from mongo_tables.pages.model import Page
    from mongo_tables.specs.model import PipelineSpec
    from mongo_tables.specs.reading import Reading
    from mongo_tables.specs.sharedpipelines import Lookup

    Known = dict[str, list[Any]]

_PAGES: Final = 100
"""Comments of more pages are not remembered at once: few of them are edited before the next check."""
_MOST: Final = 1_000
"""So much of a page is remembered, the latest: some of it is on the page no more."""


class KeptComments:
    """What is known of comments of pages: from earlier checks, which is in ``folder``, and from this one.

    By a digest of all that was looked at of a comment there is what rules about the tables of its page need of it, and
    what the linter said, with lines counted from the comment's.
    """

    def __init__(self, folder: Path, beside: str) -> None:
        self._folder = folder
        self._beside = beside
        self._kept: dict[str, Known] = {}
        self._new: dict[str, Known] = {}

    def read(self, comment: Comment, file: str, shared: Lookup) -> tuple[Reading, Finding | None]:
        """Do what ``static.read_comment`` does."""
        sign = _sign_of("read", comment)
        if sign in self._of(file):
            return reading.read(comment, file, shared), None
        from mongo_tables.pages.static import read_comment  # and with it what evaluates pipelines

        read, server_only = read_comment(comment, file, shared)
        if not read.findings and server_only is None:
            self._note(file, sign, [])
        return read, server_only

    def look(
        self, spec: PipelineSpec, documents: Documents, quoted: tuple[str, ...], ran: Ran | None
    ) -> Looked | None:
        """Do what ``lint.looking.look_at`` does."""
        lasts = ran is None or (ran.rows is not None and is_lasting(spec))
        sign = _sign_of("look", spec.comment, quoted, ran is None)
        if lasts and (known := self._of(spec.file).get(sign)) is not None:
            return _as_looked(spec, known)
        from mongo_tables.lint.looking import look_at  # and with it all rules

        looked = look_at(spec, documents, quoted, ran)
        if lasts and looked is not None and (known := _as_known(spec, looked)):
            self._note(spec.file, sign, known)
        return looked

    def remember(self, findings: Iterable[Finding], pages: Iterable[Page]) -> None:
        """Remember what this check found out, unless it found something about other files than pages.

        Fixture files that are faulty are not told of by a check that need not read them.
        """
        of_pages = {one.file for one in findings} <= {page.file for page in pages}
        if of_pages and len(self._new) <= _PAGES:
            bsoncache.put(self._folder, {self._key_of(file): self._pack(file) for file in self._new})

    def _of(self, file: str) -> Known:
        """What is known of the comments of a page."""
        if file not in self._kept:
            self._kept[file] = _unpack(bsoncache.get(self._folder, self._key_of(file)))
        return self._kept[file]

    def _note(self, file: str, sign: str, known: list[Any]) -> None:
        self._new.setdefault(file, {})[sign] = known

    def _pack(self, file: str) -> bytes:
        latest = [*self._of(file).items(), *self._new[file].items()][-_MOST:]
        return json.dumps(dict(latest)).encode()

    def _key_of(self, file: str) -> str:
        return bsoncache.key_of(f"{self._beside}\0{file}".encode("utf-8", "surrogateescape"))


def _sign_of(use: str, comment: Comment, *beside: Any) -> str:
    """A digest of all that matters of a comment, for one use, and of what else this depends on."""
    asked = repr((use, comment.matter, *beside)).encode("utf-8", "surrogateescape")
    return hashlib.sha256(asked).hexdigest()[:32]


def _as_known(spec: PipelineSpec, looked: Looked) -> list[Any] | None:
    """What was said of a comment as JSON has it; None where that is not all of it, or names a line of the page."""
    found = move_findings(looked.findings, spec.file, -spec.comment.line)
    placed = all(one.file == spec.file and one.line and not one.related for one in looked.findings)
    if found is None or not placed:
        return None
    columns = [[*one[:-1], sorted(one.sources)] for one in looked.shown.columns]
    return [columns, [one[1:-1] for one in found]]


def _as_looked(spec: PipelineSpec, known: list[Any]) -> Looked:
    """What was said of a comment, where it stands now."""
    from mongo_tables.lint.pages import Looked
    from mongo_tables.lint.rules_page import HeadedColumn, ShownTable

    columns, found = known
    shown = tuple(
        HeadedColumn(place, column, header, digits, frozenset(sources))
        for place, column, header, digits, sources in columns
    )
    findings = [Finding(spec.file, spec.comment.line + by, *rest) for by, *rest in found]
    return Looked(ShownTable(spec, shown), findings)


def _unpack(payload: bytes | None) -> Known:
    """What was packed; nothing where that is no text of ours, whatever its digest says."""
    try:
        found = json.loads(payload or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
