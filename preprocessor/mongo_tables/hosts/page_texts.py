"""The texts of pages as MkDocs and other plugins hand them over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.directives.keywords import may_have_comment
from mongo_tables.files.text import bad_byte, may_be_file
from mongo_tables.findings.rules import finding
from mongo_tables.hosts.shown_path import choose_shown_path
from mongo_tables.site.reading import no_text
from mongo_tables.site.snapshot import PageText

if TYPE_CHECKING:
    from mkdocs.structure.files import File

    from mongo_tables.findings.finding import Finding


def text_of(file: File, markdown: str, on_disk: str) -> PageText:
    """The text of a page as it came to us: usually the end of the file, below its front matter.

    Where another plugin changed what is ``on_disk``, the text is ``markdown``.
    """
    shown, path = choose_shown_path(file), Path(file.abs_src_path or file.src_uri)
    # What is cut off is front matter; where it has comments, another plugin took tables out of the page.
    if on_disk.endswith(markdown) and not may_have_comment(on_disk[: len(on_disk) - len(markdown)]):
        return PageText(shown, on_disk, path)
    return PageText(shown, markdown, path, on_disk=on_disk)


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
