"""Finds other pages of a site: those with tables that given pages name, and those that quote their tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from preprocessor.pages.files import open_shared_pipelines, pages_under
from preprocessor.pages.included import Included, read_included
from preprocessor.pages.inclusions import may_include
from preprocessor.pages.reading import read_page

if TYPE_CHECKING:
    from preprocessor.pages.model import Page


class OtherPages(NamedTuple):
    """Where the pages of a site are on disk: ``folders`` of them, relative to ``root`` as the paths of pages are.

    ``pipelines`` is the folder of shared stage lists. A build leaves some pages out, whose tables are none of the
    site's: ``left_out`` says it of a file.
    """

    root: Path
    folders: Sequence[str]
    pipelines: str
    left_out: Callable[[Path], bool]

    def tables_for(self, pages: Sequence[Page]) -> list[Page]:
        """The pages with tables that ``pages`` name and do not have, and with those alone.

        A page on which such a table is faulty comes with all its findings: they say why a number is missing.
        """
        named = {each for page in pages for each in tables_named(page)}
        if not named:
            return []
        from preprocessor.pages.ids import list_written_ids

        wanted = named - {each for page in pages for each in list_written_ids(page)}
        found = self.find_built_with(pages, wanted).pages if wanted else []
        return [_narrow(page, wanted) for page in found if not wanted.isdisjoint(list_written_ids(page))]

    def speakers_of(self, pages: Sequence[Page]) -> list[Page]:
        """The pages with sentences about tables of ``pages``: they show columns of them."""
        own = {table.id for page in pages for table in page.tables if table.id}
        found = self.find_built_with(pages, own).pages if own else []
        return [page for page in found if own & tables_named(page)]

    def find_built_with(self, pages: Sequence[Page], ids: Collection[str] | None = None) -> Included:
        """The other pages that a site is built from together with ``pages``, and what comes into them.

        With ``ids``, only pages that have one of them or include a file. A file that cannot be read has
        no tables: whoever builds the site complains of it.
        """
        others = self.on_disk(pages, ids)
        taken_in = read_included(others, str(self.root / self.pipelines))
        asked = {(self.root / page.file).resolve() for page in pages}
        new = [page for page in taken_in.pages if (self.root / page.file).resolve() not in asked]
        return Included([*others, *new], taken_in.open_ended)

    def on_disk(self, pages: Sequence[Page] = (), ids: Collection[str] | None = None) -> list[Page]:
        """The other pages, without the files that they include; parameters as in ``find_built_with``."""
        shared = open_shared_pipelines(str(self.root / self.pipelines))
        written = None if ids is None else [f'"{name}"' for name in ids]
        return [
            read_page(text, shown, shared)
            for shown, text in self._texts(pages)
            if written is None or any(name in text for name in written) or may_include(text)
        ]

    def _texts(self, pages: Sequence[Page]) -> Iterator[tuple[str, str]]:
        """Path and text of the other pages."""
        asked = {(self.root / page.file).resolve() for page in pages}
        for folder in self.folders:
            for file in pages_under(self.root / folder):
                if file.resolve() in asked or self.left_out(file):
                    continue
                with suppress(OSError, ValueError):
                    shown = Path(folder) / file.relative_to(self.root / folder)
                    yield shown.as_posix(), file.read_text(encoding="utf-8-sig")


def tables_named(page: Page) -> set[str]:
    """The ids of the tables that values and statements of a page name."""
    return {spec.quoted_table for spec in page.specs if spec is not None and spec.quoted_table is not None}


def _narrow(page: Page, wanted: Set[str]) -> Page:
    from preprocessor.pages.ids import ids_of

    ids = [ids_of(*pair) for pair in zip(page.comments, page.specs, strict=True)]
    kept = [number for number, names in enumerate(ids) if not wanted.isdisjoint(names)]
    specs = tuple(page.specs[number] for number in kept)
    return page._replace(
        comments=tuple(page.comments[number] for number in kept),
        specs=specs,
        findings=page.findings if None in specs else (),
        server_only=tuple(page.server_only[number] for number in kept),
    )
