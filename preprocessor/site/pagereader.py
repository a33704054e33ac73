"""Pages as they are on disk, and as other plugins hand them over: read once, with positions on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from preprocessor.pages import Page, no_text, read_page
from preprocessor.rules import finding
from preprocessor.sharedpipelines import SharedPipelines
from preprocessor.site.faults import about
from preprocessor.site.keptsite import folder_state
from preprocessor.textfiles import bad_byte

if TYPE_CHECKING:
    from mkdocs.structure.files import File

    from preprocessor.findings import Finding


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

    def on_disk(self, file: File) -> Page | None:
        """The page as it is on disk; None for one without a comment of ours, or one that cannot be read."""
        try:
            text = file.content_string
        except (OSError, ValueError):
            return None  # The build has ended, or will, for such a page.
        return self._page(text, shown_path(file)) if "<!--" in text else None

    def as_given(self, file: File, markdown: str) -> Page:
        """The page as it came to us: usually the end of the file, below its front matter.

        The page's text ends with ``markdown``. Where another plugin changed it, a comment that is on disk
        as well keeps its place there.
        """
        on_disk = self.on_disk(file)
        if on_disk is not None and on_disk.text.endswith(markdown):
            return on_disk
        given = self._page(markdown, shown_path(file))
        return given if on_disk is None else _placed(given, on_disk)

    def _page(self, text: str, file: str) -> Page:
        key = (file, text)
        if key not in self._read:
            self._read[key] = read_page(text, file, self._shared)
        return self._read[key]


def unreadable(file: File) -> Finding | None:
    """Why a page cannot be read, of which MkDocs would complain by a traceback; None when it can."""
    if not file.abs_src_path:
        return None
    try:
        bad = bad_byte(Path(file.abs_src_path).read_bytes())
    except OSError as error:
        return finding("MT100", shown_path(file), (0, 0), f"the page cannot be read: {error.strerror}")
    return no_text(shown_path(file), bad) if bad else None


def _placed(given: Page, on_disk: Page) -> Page:
    """The page as given, with specs and findings of the page on disk for those comments that both have."""
    twins = [(comment.keyword, comment.body) for comment in on_disk.comments]
    specs, findings = [], [_elsewhere(each) for each in _of_no_comment(given)]
    for comment, spec in zip(given.comments, given.specs, strict=True):
        twin = (comment.keyword, comment.body)
        if twin not in twins:
            specs.append(spec)
            findings += [_elsewhere(each) for each in about(comment, given.findings)]
            continue
        index = twins.index(twin)
        twins[index] = ("", "")
        specs.append(on_disk.specs[index])
        findings += about(on_disk.comments[index], on_disk.findings)
    return replace(given, specs=tuple(specs), findings=tuple(findings))


def _of_no_comment(page: Page) -> list[Finding]:
    owned = {each for comment in page.comments for each in about(comment, page.findings)}
    return [each for each in page.findings if each not in owned]


def _elsewhere(finding: Finding) -> Finding:
    return replace(finding, message=f"{finding.message} (place in the page as other plugins changed it)")


def shown_path(file: File) -> str:
    """The path of a page to be shown: relative to the working folder where it is below it."""
    if not file.abs_src_path:
        return file.src_uri
    path = Path(file.abs_src_path)
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else path.as_posix()
