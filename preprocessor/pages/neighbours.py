"""Tables of other pages that a page speaks of, for programs that hand over one page at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from preprocessor.pages.model import Page
from preprocessor.specs.model import QuotingSpec, TableSpec


def none_left_out(page: Path) -> bool:
    """What is said of each page where nobody knows which ones a build leaves out."""
    return False


def neighbours(
    page: Page,
    folder: Path,
    files: Path,
    read: Callable[[str, str], Page],
    left_out: Callable[[Path], bool] = none_left_out,
) -> list[Page]:
    """The pages of a site whose tables the values and statements of ``page`` name, with these tables alone.

    ``files`` is the folder of pages, relative to ``folder``; ``read`` makes a page of a text and its path. A file
    that cannot be read has no tables: the program that builds the site complains of it. Pages that are ``left_out``
    of the build have none, but for pages that are so themselves.
    """
    wanted = _wanted(page)
    if not wanted:
        return []
    apart = left_out(folder / page.file)
    found = (
        _with_tables(read(text, shown), wanted)
        for shown, text in _naming(wanted, page, folder, files)
        if apart or not left_out(folder / shown)
    )
    return [other for other in found if other.tables]


def speakers(
    page: Page,
    folder: Path,
    files: Path,
    read: Callable[[str, str], Page],
    left_out: Callable[[Path], bool] = none_left_out,
) -> list[Page]:
    """The other pages of a site in which the id of a table of ``page`` stands; parameters as of ``neighbours``."""
    ids = frozenset(table.id for table in page.tables if table.id)
    named = _naming(ids, page, folder, files) if ids else ()
    return [read(text, shown) for shown, text in named if not left_out(folder / shown)]


def _wanted(page: Page) -> frozenset[str]:
    named = {spec.table for spec in page.specs if isinstance(spec, QuotingSpec)}
    return frozenset(named - {table.id for table in page.tables})


def _naming(wanted: frozenset[str], page: Page, folder: Path, files: Path) -> Iterator[tuple[str, str]]:
    """Path and text of the other pages in which one of the ids stands."""
    for file in sorted((folder / files).rglob("*.md")):
        shown = file.relative_to(folder).as_posix()
        try:
            text = file.read_text(encoding="utf-8-sig") if shown != page.file else ""
        except (OSError, ValueError):
            continue
        if any(f'"{name}"' in text for name in wanted):
            yield shown, text


def _with_tables(page: Page, wanted: frozenset[str]) -> Page:
    specs = (spec if isinstance(spec, TableSpec) and spec.id in wanted else None for spec in page.specs)
    return replace(page, specs=tuple(specs), findings=())
