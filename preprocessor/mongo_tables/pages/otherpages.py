"""Finds other pages of a site: those with tables that given pages name, and those that quote their tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.pages.files import open_shared_pipelines, pages_under
from mongo_tables.pages.included import Included, read_included
from mongo_tables.pages.reading import read_page

if TYPE_CHECKING:
    from mongo_tables.comments.model import Comment
    from mongo_tables.pages.model import Page
    from mongo_tables.pages.pageindex import PagesBelow
    from mongo_tables.pages.reading import ReadComment

Find = Callable[[Path], Sequence[Path]]
"""What finds pages in a folder."""


class OtherPages:
    """Where the pages of a site are on disk: ``folders`` of them, relative to ``root`` as the paths of pages are.

    ``pipelines`` is the folder of shared stage lists. A build leaves some pages out, whose tables are none of the
    site's: ``left_out`` says it of a file. ``looked_at`` are the pages of folders that were looked at by now, ``read``
    is that of ``read_page``.
    """

    def __init__(
        self,
        root: Path,
        folders: Sequence[str],
        pipelines: str,
        left_out: Callable[[Path], bool],
        looked_at: Mapping[Path, PagesBelow] | None = None,
        read: ReadComment | None = None,
    ) -> None:
        self.root = root
        self.folders = folders
        self.pipelines = pipelines
        self.left_out = left_out
        self._looked_at = dict(looked_at or {})
        self._read = read

    def without(self, known: Collection[str]) -> OtherPages:
        """The same, but for folders of which all pages are known."""
        folders = [folder for folder in self.folders if folder not in known]
        return OtherPages(self.root, folders, self.pipelines, self.left_out, self._looked_at, self._read)

    def tables_for(self, pages: Sequence[Page]) -> list[Page]:
        """The pages with tables that ``pages`` name and do not have, and with those alone.

        A page on which such a table is faulty comes with all its findings: they say why a number is missing.
        """
        named = {each for page in pages for each in page.quoted_tables}
        if not named:
            return []
        from mongo_tables.pages.ids import list_written_ids

        wanted = named - {each for page in pages for each in list_written_ids(page)}
        found = self._find_naming(pages, wanted, partial(_has_id, ids=wanted))
        return [self._narrow(page, wanted) for page in found if not wanted.isdisjoint(list_written_ids(page))]

    def speakers_of(self, pages: Sequence[Page]) -> list[Page]:
        """The pages with sentences about tables of ``pages``, with those alone: they show columns of them."""
        own = {table.id for page in pages for table in page.tables if table.id}
        found = self._find_naming(pages, own, partial(_quotes, tables=own))
        return [page for page in found if not own.isdisjoint(page.quoted_tables)]

    def find_late(self, pages: Sequence[Page]) -> Included:
        """The other pages by which tables may come in that nobody knows before the site is built."""
        return self._find_built_with(
            pages, self.on_disk(pages, lambda folder: self._below(folder).find_late())
        )

    def _find_naming(
        self, pages: Sequence[Page], ids: Collection[str], wanted: Callable[[Comment], bool]
    ) -> list[Page]:
        """The other pages in which one of ``ids`` may stand, of their comments those that are ``wanted``.

        With them the files that they include. A file that cannot be read has no tables: whoever builds the site
        complains of it.
        """
        if not ids:
            return []
        found = self.on_disk(pages, lambda folder: self._below(folder).find_naming(ids), wanted)
        return self._find_built_with(pages, found).pages

    def _below(self, folder: Path) -> PagesBelow:
        """The pages of a folder, which are looked at once."""
        if folder not in self._looked_at:
            from mongo_tables.pages.pageindex import PagesBelow  # and with it what is kept on disk

            self._looked_at[folder] = PagesBelow(folder)
        return self._looked_at[folder]

    def _find_built_with(self, pages: Sequence[Page], others: list[Page]) -> Included:
        """Other pages that a site is built from together with ``pages``, and what comes into them."""
        taken_in = read_included(others, str(self.root / self.pipelines))
        asked = {(self.root / page.file).resolve() for page in pages}
        new = [page for page in taken_in.pages if (self.root / page.file).resolve() not in asked]
        return Included([*others, *new], taken_in.open_ended)

    def on_disk(
        self,
        pages: Sequence[Page] = (),
        find: Find = pages_under,
        wanted: Callable[[Comment], bool] | None = None,
    ) -> list[Page]:
        """The other pages that ``find`` finds in a folder, all without it, without the files that they include.

        ``wanted`` is that of ``read_page``.
        """
        shared = open_shared_pipelines(str(self.root / self.pipelines))
        return [
            read_page(text, shown, shared, wanted, self._read) for shown, text in self._texts(pages, find)
        ]

    def _texts(self, pages: Sequence[Page], find: Find) -> Iterator[tuple[str, str]]:
        """Path and text of the other pages."""
        asked = {(self.root / page.file).resolve() for page in pages}
        for folder in self.folders:
            for file in find(self.root / folder):
                if file.resolve() in asked or self.left_out(file):
                    continue
                with suppress(OSError, ValueError):
                    shown = Path(folder) / file.relative_to(self.root / folder)
                    yield shown.as_posix(), file.read_text(encoding="utf-8-sig")

    def _narrow(self, page: Page, wanted: Set[str]) -> Page:
        """The page with the tables that are wanted alone; with all its findings where one of them is faulty."""
        narrowed = _only(page, wanted)
        if None not in narrowed.specs:
            return narrowed._replace(findings=())
        shared = open_shared_pipelines(str(self.root / self.pipelines))
        return _only(read_page(page.text, page.file, shared), wanted)


def _has_id(comment: Comment, ids: Set[str]) -> bool:
    from mongo_tables.specs.together import find_written_ids

    return not ids.isdisjoint(find_written_ids(comment.parsed))


def _quotes(comment: Comment, tables: Set[str]) -> bool:
    written = comment.parsed.value
    table = written.get("table") if isinstance(written, dict) else None
    return isinstance(table, str) and table in tables


def _only(page: Page, wanted: Set[str]) -> Page:
    from mongo_tables.pages.ids import ids_of

    ids = [ids_of(*pair) for pair in zip(page.comments, page.specs, strict=True)]
    kept = [number for number, names in enumerate(ids) if not wanted.isdisjoint(names)]
    return page._replace(
        comments=tuple(page.comments[number] for number in kept),
        specs=tuple(page.specs[number] for number in kept),
        server_only=tuple(page.server_only[number] for number in kept),
    )
