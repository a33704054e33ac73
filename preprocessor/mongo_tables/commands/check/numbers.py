"""``check --numbers``: the numbers of pages and of other texts, and the findings about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.results.model import ResultsError
from mongo_tables.site.disk import PAGE_SUFFIXES
from mongo_tables.site.numbers.classes import TextNumber, classify_numbers, open_findings
from mongo_tables.site.numbers.exemptions import apply_exemptions, read_exemptions
from mongo_tables.site.numbers.prose import TEXT_SUFFIXES
from mongo_tables.site.numbers.result_tables import read_collections
from mongo_tables.site.numbers.stale import find_stale, stale_findings
from mongo_tables.site.pages import Page

if TYPE_CHECKING:
    from mongo_tables.build import Report
    from mongo_tables.findings.finding import Finding
    from mongo_tables.results.answers import Answers


@dataclass(frozen=True, slots=True)
class CheckedNumbers:
    """The numbers of all texts, in order, the findings about them, and the texts by file."""

    numbers: Sequence[TextNumber]
    findings: Sequence[Finding]
    texts: Mapping[str, str]


def expand(paths: Iterable[str]) -> Iterator[str]:
    """Yield paths, with the files of a pattern in its place: ``src/**/*.py``."""
    for path in paths:
        is_pattern = not set("*?[").isdisjoint(path) and not Path(path).exists()
        found = sorted(glob(path, recursive=True)) if is_pattern else ()  # noqa: PTH207 - it may be absolute
        yield from found or (path,)


def is_text(path: str) -> bool:
    """Return whether a path names a text that is no page, but has prose."""
    file = Path(path)
    suffix = file.suffix.lower()
    return suffix in TEXT_SUFFIXES and suffix not in PAGE_SUFFIXES and file.is_file()


def read_texts(paths: Iterable[str], faults: list[str]) -> Iterator[Page]:
    """Yield texts as pages without comments. Report unreadable ones in ``faults``."""
    for path in dict.fromkeys(paths):
        try:
            yield Page(Path(path).as_posix(), Path(path).read_bytes().decode(), (), (), ())
        except UnicodeDecodeError as error:
            faults.append(f"{path}: not UTF-8 (byte {error.start})")
        except OSError as error:
            faults.append(f"{path}: {error.strerror or error}")


def check_numbers(
    reports: Sequence[Report],
    texts: Sequence[Page],
    named: Iterable[str],
    folder: Path,
    *,
    all_open: bool = False,
) -> CheckedNumbers:
    """Classify the numbers of the pages of ``reports`` and of ``texts``, and find open and stale ones.

    ``named`` are the paths that were given: a page without comments is held to all results if it is one of
    them, or if no page has a comment. ``folder`` has the exemptions. With ``all_open`` every open number is an
    error. Raises ResultsError if results are needed and cannot be read.
    """
    files = {Path(path).as_posix() for path in named}
    pages = [page for report in reports for page in report.pages]
    are_with_comments = any(page.comments for page in pages)
    plain = [page for page in pages if not page.comments and (page.file in files or not are_with_comments)]
    numbers = _classify_held([*plain, *texts], reports[0].source)
    held = {page.file for page in plain}
    for report in reports:
        others = (page for page in report.pages if page.file not in held)
        numbers += classify_numbers(others, report.tables, report.answers)
    known = {page.file: page.text for page in (*pages, *texts)}
    numbers.sort(key=lambda one: (one.file, one.at))
    numbers, unused = apply_exemptions(numbers, known, read_exemptions(folder), folder)
    stale = find_stale(numbers)
    not_stale = [one for at, one in enumerate(numbers) if at not in stale]
    found = [*open_findings(not_stale, all_open=all_open), *stale_findings(numbers, stale), *unused]
    return CheckedNumbers(numbers, found, known)


def _classify_held(pages: Sequence[Page], source: Answers) -> list[TextNumber]:
    """Return the numbers of texts without tables of their own, looked up in all results."""
    if not pages:
        return []
    try:
        results = read_collections(source.source)
    except ResultsError:
        if any(classify_numbers(pages, {}, {})):
            raise
        return []
    return classify_numbers(pages, {}, {}, results)
