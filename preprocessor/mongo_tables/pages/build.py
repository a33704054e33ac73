"""The one way of every door, command and site alike: pages that were read ask the results source and are judged.

Who wants figures, findings or rows makes a ``Build`` of pages and asks it. No step raises for an author's mistake.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

from mongo_tables.aggregation.limits import Limits
from mongo_tables.pages.asking import queries, source_answer
from mongo_tables.pages.model import tables_by_id
from mongo_tables.pages.reading import source_findings
from mongo_tables.results.model import ResultsError

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.lint.pages import Look
    from mongo_tables.pages.model import Page
    from mongo_tables.results.answers import Answers
    from mongo_tables.results.model import Rows
    from mongo_tables.results.provenance import Provenance
    from mongo_tables.specs.model import PipelineSpec, Spec, TableSpec


class Build:
    """Pages that are judged together, the results source that they ask, and what is known of both so far.

    ``others`` are there for their tables: what keeps rows from the pages is told of them, and nothing else. ``tables``
    are the sound ones that have an id, by it, unless given. ``look`` looks at a comment for the linter, which looks at
    each anew without it. Where nothing is asked, as in a static check, there are no rows to judge.
    """

    def __init__(
        self,
        asked: Answers,
        pages: Iterable[Page],
        others: Sequence[Page] = (),
        tables: MutableMapping[str, TableSpec] | None = None,
        look: Look | None = None,
    ) -> None:
        self.asked = asked
        self._look = look
        self.pages = [*pages, *others]
        self._others = {page.file for page in others}
        self.tables = tables_by_id(self.pages) if tables is None else tables
        self._runs = False
        # By the id of a spec, which is held as well: another one could get the id of one that is gone.
        self._judged: dict[int, tuple[Spec, TableSpec | None, list[Finding]]] = {}
        self._sources: dict[tuple[str, bool | None], Provenance | None] = {}

    @property
    def answers(self) -> Mapping[str, Rows | ResultsError]:
        """The answers of the results source so far."""
        return self.asked.by_key

    @property
    def away(self) -> ResultsError | None:
        """Why the results source cannot be used at all, if so."""
        return self.asked.unreachable

    def ask(self, *, with_sources: bool = False) -> None:
        """Run what the pages ask, each distinct pipeline once; ``with_sources`` as in ``queries``."""
        self._runs = True
        self.asked.ask(queries(self.pages, with_sources=with_sources))

    def ask_or_raise(self) -> None:
        """Run what the pages ask. Raises ResultsError when the results source cannot be used at all."""
        self.ask()
        if self.away:
            raise self.away

    def take_in(self, page: Page) -> None:
        """Run what a page asks in another form than it is among ``pages``; its tables stand for those there."""
        self._runs = True
        self.asked.ask(queries([page], with_sources=True))
        self.tables.update(tables_by_id([page]))

    def let_go(self, page: Page) -> None:
        """Forget a page, its tables and all that is known of it; what is asked once more is answered once more."""
        for spec in page.specs:
            self._judged.pop(id(spec), None)
        for asking in page.pipeline_specs:
            self._sources.pop((asking.source_query.key, asking.provenance), None)
        for table in page.tables:
            if table.id is not None and self.tables.get(table.id) is table:
                del self.tables[table.id]

    def of(self, pages: Iterable[Page]) -> Build:
        """Other pages with the same answers; what is known of comments that they share is not looked at again."""
        other = Build(self.asked, pages)
        other._runs, other._judged, other._sources = self._runs, self._judged, self._sources
        return other

    def within(self, page: Page) -> Build:
        """The build as seen from one page: its own tables come first, as another plugin may have changed it."""
        own = tables_by_id([page])
        if not own:
            return self
        view = copy(self)
        view.tables = ChainMap(own, self.tables)
        return view

    def judge(self, spec: Spec) -> list[Finding]:
        """The faults of a comment that only rows show; judged once for each table that it quotes."""
        if self.away or not self._runs:
            return []
        table = self.tables.get(spec.quoted_table) if spec.quoted_table is not None else None
        return self._judge_once(spec, table)

    def _judge_once(self, spec: Spec, table: TableSpec | None) -> list[Finding]:
        known = self._judged.get(id(spec))
        if known is None or known[1] is not table:
            known = spec, table, self._judge_anew(spec)
            self._judged[id(spec)] = known
        return known[2]

    def _judge_anew(self, spec: Spec) -> list[Finding]:
        from mongo_tables.pages.kinds import KINDS  # and with it what draws figures

        return KINDS[type(spec)].findings(spec, self.tables, self.answers, self.asked.collections)

    def provenance(self, spec: PipelineSpec) -> Provenance | None:
        """Where the rows of a figure come from; worked out once for all that start from the same documents."""
        key = spec.source_query.key, spec.provenance
        if key not in self._sources:
            self._sources[key] = source_answer(spec, self.answers)
        return self._sources[key]

    def source_findings(self, file: str) -> list[Finding]:
        """Why the results source cannot be used at all, if so: faults of fixture files, or one of ``file``."""
        return source_findings(self.away, file) if self.away else []

    def findings(
        self, linted: Sequence[Finding] | None = None, known: Sequence[Finding] = ()
    ) -> list[Finding]:
        """Every finding of every page: of reading, of pages held against each other, of running what was asked.

        ``linted`` are those of ``lint``, None where the linter was not asked; ``known`` were found elsewhere. What
        comments ignore is left out; with ``linted``, what they ignore in vain is added.
        """
        specs = [spec for page in self.pages for spec in page.specs if spec is not None]
        found = [*known, *(one for page in self.pages for one in page.findings), *self._together(specs)]
        found += [one for spec in specs for one in self.judge(spec)]
        found += linted or ()
        if any(one.rule == "MT136" for one in found) and not self.away:
            from mongo_tables.pages.mistypedcolumns import blame_columns  # few pages have such a fault

            found = blame_columns(found, self.pages, self.asked.local)
        if any(one.rule == "MT303" for one in found) and not self.away:
            from mongo_tables.pages.mistypedtexts import blame_texts  # few tables have no rows

            found = blame_texts(found, self.pages, self.asked.local)
        if any(spec.ignore for spec in specs):
            from mongo_tables.lint.suppressions import (  # and with it all rules
                find_unused_ignores,
                without_silenced,
            )

            ran = self._runs and not self.away
            vain = [] if linted is None else find_unused_ignores(found, specs, ran=ran)
            found = [*without_silenced(found, specs), *vain]
        return sorted({one for one in found if one.severity == "error" or one.file not in self._others})

    def _together(self, specs: Sequence[Spec]) -> list[Finding]:
        """The findings about ids across pages."""
        if not specs:
            return []
        from mongo_tables.pages.ids import list_written_ids
        from mongo_tables.specs.together import duplicate_ids, unknown_tables

        found = duplicate_ids((page.file, page.specs) for page in self.pages)
        if any(spec.quoted_table is not None for spec in specs):
            # The ids of faulty tables count as well: one fault is told once.
            found += unknown_tables(specs, [each for page in self.pages for each in list_written_ids(page)])
        return found

    def lint(self, speakers: Sequence[Page] = ()) -> list[Finding] | None:
        """The linter's findings on the pages; None where the results source cannot be used.

        It learns from documents at hand and, where pipelines were run, from rows. ``speakers`` are other pages, which
        show columns of the tables of these. Pages that are there for their tables are none of its business.
        """
        pages = [*self.pages, *speakers]
        if self.away:
            return None
        if not any(page.specs for page in pages):
            return []
        from mongo_tables.lint.pages import lint

        rows: dict[int, Rows | None] = {}
        for spec in (spec for page in pages for spec in page.pipeline_specs) if self.answers else ():
            if (answer := self.answers.get(spec.query.key)) is not None:
                rows[id(spec)] = None if isinstance(answer, ResultsError) else answer
        local = self.asked.local
        own = [page for page in pages if page.file not in self._others]
        found = lint((page.specs for page in own), local, rows, self._look or _look_anew())
        if local is not None:
            found += self._server_only(rows, local.limits)
        found += self._judge_versions(page for page in self.pages if page.file not in self._others)
        files = {page.file for page in self.pages}
        return [one for one in found if one.file in files] if speakers else found

    def _judge_versions(self, pages: Iterable[Page]) -> Iterator[Finding]:
        """What is newer than the server, and of what does not run on files the arguments that cannot be right."""
        from mongo_tables.specs.model import PipelineSpec

        for page in pages:
            for spec, needs_server in zip(page.specs, page.server_only, strict=True):
                if not isinstance(spec, PipelineSpec):
                    continue
                server = self._find_server(spec)
                if server or needs_server is not None:
                    from mongo_tables.lint.versions import find_newer, find_wrong_arguments

                    yield from find_newer(spec, server)
                    yield from find_wrong_arguments(spec) if needs_server is not None else ()

    def _find_server(self, spec: PipelineSpec) -> str:
        """The version that a pipeline is for: as the site has it, else that of a server which refused it."""
        refused = isinstance(self.answers.get(spec.query.key), ResultsError)
        return self.asked.server or (self.asked.version if refused else "")

    def _server_only(self, ran: Collection[int], limits: Limits) -> Iterator[Finding]:
        """What could not run on this machine, within ``limits``, of the pipelines that were not run.

        ``ran`` are the ids of the specs that were. Pages are read with the usual limits: with others it is asked again.
        """
        from mongo_tables.pages.static import judge_offline
        from mongo_tables.specs.model import PipelineSpec

        for page in self.pages:
            for spec, usual in zip(page.specs, page.server_only, strict=True):
                if spec is None or id(spec) in ran:
                    continue
                fault = usual
                if limits != Limits() and isinstance(spec, PipelineSpec):
                    fault = judge_offline(spec, limits).server_only
                if fault is not None:
                    yield fault


def _look_anew() -> Look:
    from mongo_tables.lint.looking import look_at  # and with it all rules

    return look_at
