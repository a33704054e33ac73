"""A results source and its answers, for the builds of one process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mongo_tables.files.digests import digest_of
from mongo_tables.files.gcpause import nothing_collected
from mongo_tables.results.model import Limits, ResultsError
from mongo_tables.results.opening import open_source

if TYPE_CHECKING:
    from pathlib import Path

    from mongo_tables.results.answer_memo import AnswerMemo
    from mongo_tables.results.model import Fault, LocalDocuments, Query, ResultsSource, Rows


class Answers:
    """A results source and what it answers in a build, by ``Query.key``.

    ``server`` is the version of MongoDB that pipelines are to run on, where a site says so. A later build, after
    ``refresh``, runs only the queries that read other content than before; a source that does not tell whether it
    changed runs all of them again.
    """

    def __init__(self, where: str, limits: Limits | None = None, workers: int = 4, server: str = "") -> None:
        self.where = where
        self.server = server
        self.limits = limits or Limits()
        self._workers = workers
        self._source: ResultsSource | None = None
        self._memo: AnswerMemo | None = None
        self._answers: dict[str, Rows | ResultsError] = {}
        self._unreachable: ResultsError | None = None
        self._collections: tuple[str, ...] | None = None
        self._version: str | None = None
        self._reached = False
        self.ran = 0
        """How many pipelines this build has run."""
        self.unread: Sequence[Path] = ()
        """The files that are there and not read, sorted; known once something was asked."""
        self.broken: Sequence[Fault] = ()
        """The first fault of each plain file that nothing was asked of and that cannot be read as it is."""
        self.read: dict[str, str] = {}
        """The digests of the collections that this build has read, by their names."""

    def refresh(self) -> None:
        """Begin the next build: what a source holds is looked at again."""
        self._answers, self.read, self.ran = {}, {}, 0
        self.unread, self.broken = (), ()
        self._unreachable = self._collections = self._version = None
        self._reached = False
        if self._source is not None:
            self._source.refresh()

    def ask(self, queries: Iterable[Query]) -> None:
        """Answer those queries that have no answer yet, each once."""
        new = {query.key: query for query in queries if query.key not in self._answers}
        if not new:
            return
        try:
            if not self._reached:
                self.source.reach()
                self._reached = True
            with nothing_collected():
                self._answers.update(self._answer(new))
        except ResultsError as error:
            self._answers.update(dict.fromkeys(new, error))
        failures = (each for each in map(self._answers.get, new) if isinstance(each, ResultsError))
        self._unreachable = self._unreachable or next((each for each in failures if each.environment), None)

    def _answer(self, queries: Mapping[str, Query]) -> Mapping[str, Rows | ResultsError]:
        """The answers to queries, from the memo as far as it has them."""
        from mongo_tables.results.answer_memo import AnswerMemo  # for what asks, which not every check does
        from mongo_tables.results.readpaths import collections_read

        if self._memo is None:
            self._memo = AnswerMemo()
        found: dict[str, Rows | ResultsError] = {}
        digests: dict[str, tuple[str, ...]] = {}
        for key, query in queries.items():
            names = collections_read(query)
            read = {name: digest for name in names if (digest := self.source.digest(name)) is not None}
            if len(read) < len(names):
                continue
            self.read.update(read)
            digests[key] = tuple(read.values())
            if (answer := self._memo.get(query, digests[key])) is not None:
                found[key] = answer
        asked = {key: query for key, query in queries.items() if key not in found}
        self.ran += len(asked)
        for key, answer in self.source.answer(asked, self._workers).items() if asked else ():
            found[key] = answer
            # An error of the whole source may tell of other files, too.
            if key in digests and not (isinstance(answer, ResultsError) and answer.environment):
                self._memo.put(asked[key], digests[key], answer)
        return {key: found[key] for key in queries}

    def answer(self, queries: Iterable[Query]) -> Answers:
        """Run each distinct query once, and give all answers; an error is an answer, too.

        ``unreachable`` is then the first error of these queries that is one of the whole source.
        """
        asked = list(queries)
        self.ask(asked)
        errors = (
            each for each in (self._answers[query.key] for query in asked) if isinstance(each, ResultsError)
        )
        self._unreachable = next((each for each in errors if each.environment), None)
        if asked:
            self._look_for_unread()
        return self

    def _look_for_unread(self) -> None:
        """Look for files that no query reads: those in no known format, and those that cannot be read as they are."""
        try:
            local = None if self._unreachable else self.local
            self.unread, self.broken = (local.unread(), local.broken()) if local else ((), ())
        except ResultsError:  # Whatever asks for these files says why.
            self.unread, self.broken = (), ()

    @property
    def digest(self) -> str | None:
        """A digest of all documents of the source, as this build reads them; None of a database."""
        if self.local is None:
            return None
        names = self.collections
        return digest_of(*(part for name in names for part in (name, self.source.digest(name) or "")))

    @property
    def source(self) -> ResultsSource:
        """The source itself, opened when it is first needed. Raises ResultsError when there is no such source."""
        if self._source is None:
            self._source = open_source(self.where, self.limits)
        return self._source

    @property
    def by_key(self) -> Mapping[str, Rows | ResultsError]:
        """Every answer of this build so far."""
        return self._answers

    @property
    def collections(self) -> tuple[str, ...]:
        """The collections that the source has, as of the last ``refresh``; none where it does not tell."""
        if self._collections is None:
            try:
                self._collections = self.source.collections()
            except ResultsError:
                self._collections = ()
        return self._collections

    @property
    def local(self) -> LocalDocuments | None:
        """The documents, where they are at hand on this machine: the linter learns from them."""
        try:
            local = self.source.local
            if local is not None:
                self.source.collections()
        except ResultsError:  # There is nothing.
            return None
        return local

    @property
    def version(self) -> str:
        """The version of MongoDB that the source is; "" where it is none, or does not tell."""
        if self._version is None:
            try:
                self._version = self.source.version()
            except ResultsError:
                self._version = ""
        return self._version

    @property
    def unreachable(self) -> ResultsError | None:
        """Why the source cannot be used at all, if so."""
        return self._unreachable

    def writes(self) -> str | None:
        """A text that changes once the source was written to; None where it cannot be asked."""
        try:
            return self.source.writes()
        except ResultsError:
            return None

    def release(self) -> None:
        """Let the documents of files go; the answers stay."""
        if self._source is not None and (local := self._source.local) is not None:
            local.release()

    def close(self) -> None:
        """Give back the source's connections; the answers stay."""
        if self._source is not None:
            self._source.close()
            self._source = None
