"""Pages as they are on disk, and as other plugins hand them over: read once, with positions on disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from preprocessor.comments import suspected
from preprocessor.pages import Page, no_text, read_page
from preprocessor.rules import finding
from preprocessor.sharedpipelines import SharedPipelines
from preprocessor.site.faults import by_comment
from preprocessor.site.keptsite import folder_state
from preprocessor.site.shownpath import shown, shown_path
from preprocessor.textfiles import bad_byte, may_be_file

if TYPE_CHECKING:
    from mkdocs.structure.files import File

    from preprocessor.findings import Finding
    from preprocessor.specs import Spec


class PageReader:
    """Reads pages, each text once, as long as the shared pipelines do not change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._shared = SharedPipelines(folder)
        self._state = ""
        self._read: dict[tuple[str, str], Page] = {}

    def refresh(self) -> None:
        """Look whether shared pipelines changed; then every page is read anew."""
        state = folder_state(self.folder)
        if state != self._state:
            self._shared = SharedPipelines(self.folder)
            self._read.clear()
        self._state = state

    def on_disk(self, file: File, text: str) -> Page | None:
        """The page as it is on disk, where its text is ``text``; None for one without a comment of ours."""
        return self._page(text, shown_path(file)) if suspected(text) else None

    def as_given(
        self, file: File, markdown: str, on_disk: str, included: Iterable[tuple[Path, str]] = ()
    ) -> Page:
        """The page as it came to us: usually the end of the file, below its front matter.

        The page's text ends with ``markdown``. Where another plugin changed what is ``on_disk``, a comment that is
        there as well keeps its place there, and one of an ``included`` file its place in that.
        """
        # What is cut off is front matter; where it has comments, another plugin took tables out of the page.
        if on_disk.endswith(markdown) and not suspected(on_disk[: len(on_disk) - len(markdown)]):
            return self._page(on_disk, shown_path(file))
        given = self._page(markdown, shown_path(file))
        before = self.on_disk(file, on_disk)
        others = [self._page(text, shown(path)) for path, text in included]
        return _placed(given, before, others) if before is not None or others else given

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
            "MT100", shown_path(file), (0, 0), "the page cannot be read: there is no file, or no plain one"
        )
    try:
        bad = bad_byte(Path(file.abs_src_path).read_bytes())
    except OSError as error:
        return finding("MT100", shown_path(file), (0, 0), f"the page cannot be read: {error.strerror}")
    return no_text(shown_path(file), bad) if bad else None


class _Known(NamedTuple):
    """A comment in a file: what it asks for there, and what is wrong with it."""

    spec: Spec | None
    findings: list[Finding]


def _placed(given: Page, on_disk: Page | None, included: Iterable[Page]) -> Page:
    """The page as given, with specs and findings of the files for those comments that they have.

    A file may come in several times, and each comment of the page on disk once.
    """
    own = _by_text([on_disk] if on_disk else [])
    others = _by_text(included)
    within = by_comment(given.comments, given.findings)
    specs, owned = [], []
    for comment, spec, found in zip(given.comments, given.specs, within, strict=True):
        text = (comment.keyword, comment.body)
        known = own[text].popleft() if own.get(text) else others[text][0] if text in others else None
        specs.append(known.spec if known else spec)
        owned.append(tuple(known.findings) if known else tuple(map(_elsewhere, found)))
    theirs = {each for found in within for each in found}
    loose = [_elsewhere(each) for each in given.findings if each not in theirs]
    findings = (*loose, *(each for found in owned for each in found))
    return replace(given, specs=tuple(specs), findings=findings, owned=tuple(owned))


def _by_text(pages: Iterable[Page]) -> dict[tuple[str, str], deque[_Known]]:
    """The comments of pages by keyword and body, in order."""
    found: dict[tuple[str, str], deque[_Known]] = {}
    for page in pages:
        theirs = by_comment(page.comments, page.findings)
        for comment, spec, findings in zip(page.comments, page.specs, theirs, strict=True):
            found.setdefault((comment.keyword, comment.body), deque()).append(_Known(spec, findings))
    return found


def _elsewhere(finding: Finding) -> Finding:
    return replace(finding, message=f"{finding.message} (place in the page as other plugins changed it)")
