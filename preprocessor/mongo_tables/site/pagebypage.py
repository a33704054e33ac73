"""The pages of a large site, each read when it comes and let go of once it has its figures.

What is known of a page (its comments, their pipelines, the rows) takes ten times the room of its text, so of a site of
many pages it is not held together. That goes well as long as every page comes as it is on disk and has no finding:
what is said across pages needs them all, and then all are read (``sitereading.make_anew``). Until then a table that
another page quotes is looked for on the page that seems to have its id.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Final

from mongo_tables.comments.search import may_have_comment
from mongo_tables.pages.build import Build
from mongo_tables.pages.lasting import is_lasting
from mongo_tables.pages.model import tables_by_id
from mongo_tables.site.buildcache import hash_text
from mongo_tables.site.pagesleft import PageByPage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mkdocs.structure.pages import Page as SitePage

    from mongo_tables.pages.model import Page
    from mongo_tables.site.keptpages import KeptPage
    from mongo_tables.site.sitebuild import SiteBuild
    from mongo_tables.specs.model import TableSpec

MANY: Final = 200
"""Pages with comments that are not held together any more."""
_SOME: Final = 20
"""Pages after which the documents behind them are let go of too; the next ones may well read the same."""


class _Tables(MutableMapping[str, "TableSpec"]):
    """The tables with an id of the pages that are at hand; of others that are not done the page is read."""

    def __init__(self, site: SiteBuild, apart: PageByPage) -> None:
        self._site = site
        self._apart = apart
        self._found: dict[str, TableSpec] = {}

    def __getitem__(self, name: str) -> TableSpec:
        home = self._apart.home_of(name)
        if name not in self._found and home is not None and self._apart.may_be_read(home):
            page = self._site.reader.on_disk(*self._site.files[home])
            self._found |= tables_by_id([page] if page else [])
        return self._found[name]

    def __setitem__(self, name: str, table: TableSpec) -> None:
        self._found[name] = table

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def begin(site: SiteBuild, load_latest: Callable[[], Mapping[str, KeptPage]]) -> bool:
    """Take the pages of a site one after the other, if there are so many, and nobody asks the linter about them all.

    What an earlier build has kept is loaded then: few pages may have changed since.
    """
    texts = {name: text for name, (_, text) in site.files.items() if may_have_comment(text)}
    linted = site.config.strict or site.options.fail_on != "error"
    if len(texts) < MANY or linted or not site.key or site.asked.source.workers != 1:
        return False
    site.reader.refresh()
    site.apart = PageByPage(texts, load_latest())
    site.known = Build(site.asked, (), tables=_Tables(site, site.apart))
    return True


def take_over(site: SiteBuild, name: str, given: str) -> KeptPage | None:
    """Take a page as an earlier build has kept it; None where it is to be made, from what ``given`` is a hash of."""
    apart = site.apart
    page = apart.unchanged.get(name) if apart is not None else None
    if apart is None or page is None or name not in apart.waiting or page.given != given:
        return None
    if not apart.ids.isdisjoint(page.ids):
        return None
    apart.take_over(name, page)
    site.fresh[name] = page
    return page


def read_alone(site: SiteBuild, markdown: str, page: SitePage) -> Page | None:
    """The page as it was given; None where more has to be known than this page."""
    name, apart = page.file.src_uri, site.apart
    if apart is None or name not in apart.waiting:
        return None
    on_disk = site.files[name][1]
    given = site.reader.as_given(page.file, markdown, on_disk)
    if given.text != on_disk or given.findings:
        return None
    if given.comments:
        site.pages[name] = given
    else:
        apart.waiting.discard(name)
        site.reader.let_go(given)
    return given


def is_sound(site: SiteBuild, given: Page) -> bool:
    """Ask what a page asks and quotes; whether there is no finding about it, as far as pages came by now."""
    apart, known = site.apart, site.known
    assert apart is not None
    known.take_in(given)
    quoted = given.quoted_tables
    tables = [table for table in map(known.tables.get, quoted) if table is not None]
    ids = [spec.id for spec in given.pipeline_specs if spec.id is not None]
    if len(tables) < len(quoted) or len({*ids}) < len(ids) or not apart.ids.isdisjoint(ids):
        return False
    apart.ids.update(ids)
    site.asked.ask(table.query for table in tables)
    return known.away is None and not any(known.judge(spec) for spec in given.specs if spec)


def with_names(given: Page, kept: KeptPage) -> KeptPage:
    """What is kept of a page that was made by itself, with what says whether it can be taken over next time."""
    ids = tuple(spec.id for spec in given.pipeline_specs if spec.id is not None)
    return kept._replace(text=hash_text(given.text), ids=ids, quoted=tuple(given.quoted_tables))


def let_go(site: SiteBuild, name: str) -> None:
    """Forget what is known of a page that has its figures, and of those that were held for it alone."""
    apart, page = site.apart, site.pages[name]
    assert apart is not None
    apart.waiting.discard(name)
    apart.lasting = apart.lasting and all(is_lasting(spec) for spec in page.specs if spec)
    apart.quoted.subtract(page.quoted_tables)
    for each in dict.fromkeys((name, *map(apart.home_of, page.quoted_tables))):
        if each in site.pages and each not in apart.waiting and not _is_quoted(site.pages[each], apart):
            site.known.let_go(site.pages[each])
            site.reader.let_go(site.pages.pop(each))
            site.files[each] = site.files[each][0], ""
    if len(apart.waiting) % _SOME == 0:
        site.asked.forget(idle=True)


def _is_quoted(page: Page, apart: PageByPage) -> bool:
    return any(apart.quoted[table.id] > 0 for table in page.tables if table.id is not None)
