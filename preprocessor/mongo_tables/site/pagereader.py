"""Pages as they are on disk, and as other plugins hand them over: read once, with positions on disk."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.comments.search import may_have_comment
from mongo_tables.files.states import list_all
from mongo_tables.files.text import bad_byte, may_be_file, shorten_path
from mongo_tables.findings.rules import finding
from mongo_tables.pages.model import Page
from mongo_tables.pages.reading import no_text, read_page
from mongo_tables.site.buildcache import folder_state
from mongo_tables.site.placing import place_findings
from mongo_tables.site.shownpath import choose_shown_path
from mongo_tables.specs.sharedpipelines import SharedPipelines

if TYPE_CHECKING:
    from mkdocs.structure.files import File

    from mongo_tables.findings.finding import Finding


class PageReader:
    """Reads pages, each text once, as long as the shared pipelines do not change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._shared = SharedPipelines(folder)
        self._state = ""
        self._read: dict[tuple[str, str], Page] = {}

    def refresh(self) -> None:
        """Look whether shared pipelines changed, or were others for a while; then every page is read anew."""
        state = f"{folder_state(self.folder)} {sorted(list_all(str(self.folder)))}"
        if state != self._state:
            self._shared = SharedPipelines(self.folder)
            self._read.clear()
        self._state = state

    def on_disk(self, file: File, text: str) -> Page | None:
        """The page as it is on disk, where its text is ``text``; None for a page without our comments."""
        return self._page(text, choose_shown_path(file)) if may_have_comment(text) else None

    def as_given(
        self, file: File, markdown: str, on_disk: str, included: Iterable[tuple[Path, str]] = ()
    ) -> Page:
        """The page as it came to us: usually the end of the file, below its front matter.

        The page's text ends with ``markdown``. Where another plugin changed what is ``on_disk``, a comment that is
        there as well keeps its place there, and one of an ``included`` file its place in that.
        """
        # What is cut off is front matter; where it has comments, another plugin took tables out of the page.
        if on_disk.endswith(markdown) and not may_have_comment(on_disk[: len(on_disk) - len(markdown)]):
            return self._page(on_disk, choose_shown_path(file))
        given = self._page(markdown, choose_shown_path(file))
        before = self.on_disk(file, on_disk)
        others = [self._page(text, shorten_path(path)) for path, text in included]
        return place_findings(given, before, others) if before is not None or others else given

    def let_go(self, page: Page) -> None:
        """Hold a page no longer."""
        self._read.pop((page.file, page.text), None)

    def _page(self, text: str, file: str) -> Page:
        key = (file, text)
        if key not in self._read:
            self._read[key] = read_page(text, file, self._shared)
        return self._read[key]


def unreadable(file: File) -> Finding | None:
    """Why a page cannot be read, of which MkDocs would complain by a traceback; None when it can."""
    if not file.abs_src_path:
        return None
    if not may_be_file(Path(file.abs_src_path)):
        return finding(
            "MT100",
            choose_shown_path(file),
            (0, 0),
            "the page cannot be read: there is no file, or no plain one",
        )
    try:
        bad = bad_byte(Path(file.abs_src_path).read_bytes())
    except OSError as error:
        return finding("MT100", choose_shown_path(file), (0, 0), f"the page cannot be read: {error.strerror}")
    return no_text(choose_shown_path(file), bad) if bad else None
