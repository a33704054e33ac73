"""Pages as other plugins hand them over, with positions in the files on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.comments.search import may_have_comment
from mongo_tables.files.text import bad_byte, may_be_file, shorten_path
from mongo_tables.findings.rules import finding
from mongo_tables.pages.reading import no_text, read_page
from mongo_tables.site.placing import place_findings
from mongo_tables.site.shownpath import choose_shown_path
from mongo_tables.specs.sharedpipelines import SharedPipelines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mkdocs.structure.files import File

    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.model import Page


class PageReader:
    """Reads pages.

    In a preview, those whose text and shared pipelines are the same as in the build before are not read again.
    """

    def __init__(self, folder: Path, *, preview: bool) -> None:
        self.folder = folder
        self._preview = preview
        self._shared = SharedPipelines(folder)
        self._contents: dict[str, bytes] = {}
        self._before: dict[tuple[str, str], Page] = {}
        self._read: dict[tuple[str, str], Page] = {}

    def begin(self) -> None:
        """Begin a build: read the shared pipelines, and forget pages that the build before did not have."""
        contents = _contents(self.folder)
        self._before = self._read if contents == self._contents else {}
        self._shared, self._contents, self._read = SharedPipelines(self.folder), contents, {}

    def read(self, file: File, markdown: str, on_disk: str, included: Iterable[tuple[Path, str]]) -> Page:
        """The page as it came to us: usually the end of the file, below its front matter.

        The page's text ends with ``markdown``. Where another plugin changed what is ``on_disk``, a comment that is
        there as well keeps its place there, and one of an ``included`` file its place in that.
        """
        shown = choose_shown_path(file)
        # What is cut off is front matter; where it has comments, another plugin took tables out of the page.
        if on_disk.endswith(markdown) and not may_have_comment(on_disk[: len(on_disk) - len(markdown)]):
            return self._page(on_disk, shown)
        given = self._page(markdown, shown)
        before = self._page(on_disk, shown) if may_have_comment(on_disk) else None
        others = [self._page(text, shorten_path(path)) for path, text in included]
        return place_findings(given, before, others) if before is not None or others else given

    def _page(self, text: str, file: str) -> Page:
        key = file, text
        if not self._preview:
            return read_page(text, file, self._shared)
        if key not in self._read:
            self._read[key] = self._before.get(key) or read_page(text, file, self._shared)
        return self._read[key]


def _contents(folder: Path) -> dict[str, bytes]:
    """The shared pipelines by name; those that cannot be read have no content."""
    found = {}
    for path in folder.glob("*.json"):
        try:
            found[path.name] = path.read_bytes() if may_be_file(path) else b""
        except OSError:
            found[path.name] = b""
    return found


def unreadable(file: File) -> Finding | None:
    """Why a page cannot be read, of which MkDocs would complain by a traceback; None when it can."""
    shown, path = choose_shown_path(file), Path(file.abs_src_path or "")
    if not file.abs_src_path:
        return None
    if not may_be_file(path):
        return finding("MT100", shown, (0, 0), "the page cannot be read: there is no file, or no plain one")
    try:
        bad = bad_byte(path.read_bytes())
    except OSError as error:
        return finding("MT100", shown, (0, 0), f"the page cannot be read: {error.strerror}")
    return no_text(shown, bad) if bad else None
