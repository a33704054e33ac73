"""What was found out about comments, kept while they are the same, wherever on their page they have moved to.

A page is checked at every keystroke, and one comment of it has changed, or none. What is said of the others is what was
said before, some lines further down or up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mongo_tables.editor.recent import Recent
from mongo_tables.findings.moving import move_findings
from mongo_tables.pages.static import read_comment

if TYPE_CHECKING:
    from mongo_tables.comments.model import Comment
    from mongo_tables.findings.finding import Finding
    from mongo_tables.lint.pages import Looked
    from mongo_tables.specs.model import Spec, TableSpec
    from mongo_tables.specs.reading import Reading
    from mongo_tables.specs.sharedpipelines import SharedPipeline

Shared = Callable[[str], "SharedPipeline | None"]
Key = tuple[Any, ...]


class _Known(NamedTuple):
    """All that is known of one comment: where it stood, as it was read, and what was said of it with which rows.

    ``judged`` and ``looked`` begin with what they depend on beside the comment. ``shared`` has the shared
    pipelines that it names, as text: as values 1 and 1.0 would be the same.
    """

    line: int
    read: Reading
    server_only: Finding | None
    shared: Mapping[str, str]
    judged: tuple[TableSpec | None, list[Finding]] | None = None
    looked: tuple[Key, Looked | None] | None = None


class Remembered:
    """What is known of the comments of all pages."""

    def __init__(self) -> None:
        self._known: dict[Key, _Known] = {}
        self._dropped: Recent[Key, _Known] = Recent()
        self._keys: dict[int, tuple[Spec, Key]] = {}

    def forget_others(self, shared: Shared) -> None:
        """Drop what was said of comments that name shared pipelines which are others by now."""
        self._known = {
            key: one
            for key, one in self._known.items()
            if all(_tell(shared(name)) == text for name, text in one.shared.items())
        }
        self._dropped.clear()

    def forget_rows(self) -> None:
        """Drop what was said with rows at hand: they have changed."""
        self._known = {key: one._replace(judged=None, looked=None) for key, one in self._known.items()}
        self._dropped.clear()

    def keep(self, specs: Iterable[Spec]) -> None:
        """Drop what is known of comments other than these, after a while: what is typed is often taken back."""
        self._keys = {id(spec): self._keys[id(spec)] for spec in specs if id(spec) in self._keys}
        used = {key for _, key in self._keys.values()}
        for key in self._known.keys() - used:
            self._dropped.put(key, self._known.pop(key))

    def read(self, comment: Comment, file: str, shared: Shared) -> tuple[Reading, Finding | None]:
        """The same as ``read_comment``."""
        key = file, comment.matter
        known = self._known.get(key) or self._dropped.take(key)
        moved = _moved(known, comment, file) if known else None
        if moved is None:
            moved = _read(comment, file, shared)
        self._known[key] = moved
        if moved.read.spec is not None:
            self._keys[id(moved.read.spec)] = moved.read.spec, key
        return moved.read, moved.server_only

    def judged(self, spec: Spec, table: TableSpec | None) -> list[Finding] | None:
        """The findings about the rows of a comment and of the table that it quotes, if they are known."""
        known = self._of(spec)
        return known.judged[1] if known and known.judged and known.judged[0] is table else None

    def keep_judged(self, spec: Spec, table: TableSpec | None, found: list[Finding]) -> None:
        """Keep the findings about the rows of a comment and of the table that it quotes."""
        if known := self._of(spec):
            self._known[self._keys[id(spec)][1]] = known._replace(judged=(table, found))

    def looked(self, spec: Spec, beside: Key) -> tuple[Looked | None] | None:
        """What the linter said of a comment, in a tuple, if it is known; ``beside`` is what else that depends on."""
        known = self._of(spec)
        return (known.looked[1],) if known and known.looked and known.looked[0] == beside else None

    def keep_looked(self, spec: Spec, beside: Key, found: Looked | None) -> None:
        """Keep what the linter said of a comment."""
        if known := self._of(spec):
            self._known[self._keys[id(spec)][1]] = known._replace(looked=(beside, found))

    def _of(self, spec: Spec) -> _Known | None:
        found = self._keys.get(id(spec))
        known = self._known.get(found[1]) if found else None
        return known if known and known.read.spec is spec else None


def _read(comment: Comment, file: str, shared: Shared) -> _Known:
    """A comment that was read, with the shared pipelines that it asked for."""
    asked: dict[str, str] = {}

    def ask(name: str) -> SharedPipeline | None:
        found = shared(name)
        asked[name] = _tell(found)
        return found

    read, server_only = read_comment(comment, file, ask)
    return _Known(comment.line, read, server_only, asked)


def _tell(found: SharedPipeline | None) -> str:
    """A shared pipeline as text, with that of each file that its stages stand in once, not of each stage."""
    documents = [one.document for one in found.written] if found else []
    files = {one.file: one.parsed.text for one in documents}
    return repr((found and found._replace(written=()), files))


def _moved(known: _Known, comment: Comment, file: str) -> _Known | None:
    """What is known of a comment where it is now; None where it has to be read anew."""
    by = comment.line - known.line
    if not by:
        return known
    found = move_findings(
        [*known.read.findings, *([known.server_only] if known.server_only else [])], file, by
    )
    if found is None:
        return None
    spec, pipeline = known.read.spec, known.read.pipeline
    read = known.read._replace(
        spec=spec._replace(comment=comment) if spec else None,
        findings=found[: len(known.read.findings)],
        pipeline=pipeline._replace(comment=comment) if pipeline else None,
    )
    moved = _Known(comment.line, read, found[-1] if known.server_only else None, known.shared)
    if known.judged and (judged := move_findings(known.judged[1], file, by)) is not None:
        moved = moved._replace(judged=(known.judged[0], judged))
    if known.looked:
        moved = moved._replace(looked=_move_looked(known.looked, read.spec, file, by))
    return moved


def _move_looked(
    looked: tuple[Key, Looked | None], spec: Any, file: str, by: int
) -> tuple[Key, Looked | None] | None:
    beside, one = looked
    if one is None:
        return looked
    found = move_findings(one.findings, file, by)
    return (
        None if found is None else (beside, one._replace(shown=one.shown._replace(spec=spec), findings=found))
    )
