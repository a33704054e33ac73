"""Keeps the answers of the results source as long as nothing in it changed.

While a site is served it is built again at every save. A saved sentence changes no result, so it runs no
pipeline, unless one asks for the time or draws at random.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mongo_tables.files.gcpause import nothing_collected
from mongo_tables.results.model import Limits, ResultsError
from mongo_tables.results.opening import open_source

if TYPE_CHECKING:
    from mongo_tables.pages.model import Answers
    from mongo_tables.results.model import LocalDocuments, Query, ResultsSource, Rows


class KeptAnswers:
    """A results source and its answers, by ``Query.key``.

    ``server`` is the version of MongoDB that pipelines are to run on, where a site says so.

    ``ran`` counts the pipelines that were run since the last ``refresh``. ``forgot``: of what was answered before that
    nothing holds, or may not, and so does nothing that was found out with it. A source whose state cannot be
    known (a database) is asked again after each ``refresh``.
    """

    def __init__(self, where: str, limits: Limits | None = None, workers: int = 4, server: str = "") -> None:
        self.where = where
        self.server = server
        self.limits = limits or Limits()
        self.ran = 0
        self.forgot = True
        self._workers = workers
        self._source: ResultsSource | None = None
        self._state: str | None = None
        self._written: str | None = None
        self._answers: dict[str, Rows | ResultsError] = {}
        self._unreachable: ResultsError | None = None
        self._collections: tuple[str, ...] | None = None
        self._version: str | None = None
        self._reached = False  # Of many pages that ask one by one, not each looks for all files.

    def refresh(self) -> None:
        """Forget the answers that may no longer hold, and those that were a source out of reach."""
        self.ran = 0
        self._collections = self._version = None
        self._reached = False
        try:
            state = self.source.state()
        except ResultsError:
            state = None
        # A file that was another one meanwhile may have answered, though it is by now what it was.
        written = self.writes() if state is not None else None
        self.forgot = state is None or (state, written) != (self._state, self._written)
        if self.forgot:
            self._answers.clear()
            self._unreachable = None
        self._state, self._written = state, written

    def ask(self, queries: Iterable[Query]) -> None:
        """Run those queries that have no answer yet, each once."""
        new = {query.key: query for query in queries if query.key not in self._answers}
        if not new:
            return
        from mongo_tables.results.running import run_all  # and with it the evaluator

        self.ran += len(new)
        try:
            with nothing_collected():
                found = run_all(self.source, new.values(), self._workers, reached=self._reached)
            self._answers.update(found)
        except ResultsError as error:
            self._answers.update(dict.fromkeys(new, error))
        # Asked for page by page: going through all answers each time would cost pages times answers.
        failures = (each for each in map(self._answers.get, new) if isinstance(each, ResultsError))
        self._unreachable = self._unreachable or next((each for each in failures if each.environment), None)
        self._reached = self._unreachable is None

    @property
    def source(self) -> ResultsSource:
        """The source itself, opened when it is first needed. Raises ResultsError when there is no such source."""
        if self._source is None:
            self._source = open_source(self.where, self.limits)
        return self._source

    @property
    def state(self) -> str | None:
        """What the source held at the last ``refresh``; None for a database, or when it could not be read."""
        return self._state

    @property
    def by_key(self) -> Answers:
        """Every answer so far."""
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
        """A sign that is another one once the source was written to; None where it cannot be asked."""
        try:
            return self.source.writes()
        except ResultsError:
            return None

    def let_go(self, queries: Iterable[Query]) -> None:
        """Drop the answers to some queries."""
        for query in queries:
            self._answers.pop(query.key, None)

    def let_go_fickle(self) -> None:
        """Drop the answers that are others at another time, or at every call, though the source is the same."""
        from mongo_tables.pages.lasting import is_lasting_text  # for a preview alone

        for key in [key for key in self._answers if not is_lasting_text(key)]:
            del self._answers[key]

    def forget(self, *, idle: bool = False) -> None:
        """Let the source drop the documents behind the answers, which a long build would carry along to its end.

        ``idle`` as it has it.
        """
        if self._source is not None:
            self._source.forget(idle=idle)

    def close(self) -> None:
        """Give back the source's connections; the answers stay."""
        if self._source is not None:
            self._source.close()
            self._source = None
