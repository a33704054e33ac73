"""``check --numbers``: the numbers of pages and of other texts, with findings and a report about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path
from random import Random
from typing import Any, Final, get_args

from mongo_tables.build import Report
from mongo_tables.files.folders import place_at
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.answers import Answers
from mongo_tables.results.model import ResultsError
from mongo_tables.site.disk import PAGE_SUFFIXES
from mongo_tables.site.numbers.classes import (
    Class,
    TextNumber,
    classify_numbers,
    find_stale,
    open_findings,
    stale_findings,
)
from mongo_tables.site.numbers.matching import find_place
from mongo_tables.site.numbers.paragraphs import TEXT_SUFFIXES
from mongo_tables.site.numbers.tables import read_collections
from mongo_tables.site.pages import Page
from mongo_tables.site.site_config import OWN_FILE, read_settings


def expand(paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths, with the matching files in place of a pattern such as ``src/**/*.py``."""
    for path in paths:
        is_pattern = not set("*?[").isdisjoint(path) and not Path(path).exists()
        found = sorted(glob(path, recursive=True)) if is_pattern else ()  # noqa: PTH207 - it may be absolute
        yield from found or (path,)


def is_text(path: str) -> bool:
    """Return whether a path names a file with prose that is not a Markdown page."""
    file = Path(path)
    suffix = file.suffix.lower()
    return suffix in TEXT_SUFFIXES and suffix not in PAGE_SUFFIXES and file.is_file()


def read_texts(paths: Iterable[str], faults: list[str]) -> Iterator[Page]:
    """Yield texts as pages without comments. Add a message about each unreadable text to ``faults``."""
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
) -> tuple[Sequence[TextNumber], Sequence[Finding]]:
    """Return the classified numbers of pages and texts, in order, and findings on open and stale numbers.

    Args:
        reports: The reports with the pages.
        texts: Texts that are not pages.
        named: The paths from the command line. A page without comments is compared with all results if it is named, or
            if no page has comments.
        folder: The folder with ``mongo-tables.toml``, which has the exemptions.
        all_open: Whether every open number is an error.

    Raises ResultsError if results are needed but cannot be read.
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
    numbers = exempt(numbers, known, folder)
    stale = find_stale(numbers)
    not_stale = [one for at, one in enumerate(numbers) if at not in stale]
    found = [*open_findings(not_stale, all_open=all_open), *stale_findings(numbers, stale)]
    return numbers, found


def _classify_held(pages: Sequence[Page], source: Answers) -> list[TextNumber]:
    """Return the numbers of texts without tables, compared with all results."""
    if not pages:
        return []
    try:
        results = read_collections(source.source)
    except ResultsError:
        if any(classify_numbers(pages, {}, {})):
            raise
        return []
    return classify_numbers(pages, {}, {}, results)


# -- exemptions, by the settings ``[[numbers.exempt]]`` of ``mongo-tables.toml`` --

_EXAMPLE: Final = 'write file = "README*.md", text = "500 ms" and reason = "a limit of the API", for example'
_KEYS: Final = frozenset({"file", "text", "reason"})


def exempt(numbers: Sequence[TextNumber], texts: Mapping[str, str], folder: Path) -> list[TextNumber]:
    """Return the numbers. An open number becomes exempt if the settings in ``folder`` say so.

    ``texts`` are the texts of all checked files. Raises CommandError for invalid settings.
    """
    places = [
        (file, place_at(text, found.start()), place_at(text, found.end()), entry["reason"])
        for entry in _read_exemptions(folder)
        for file, text in texts.items()
        if _is_named(file, entry.get("file", "*"), folder)
        for found in re.finditer(
            r"\s+".join(map(re.escape, entry.get("text", "").split())) or r"(?s:.*)", text
        )
    ]

    def reason_of(one: TextNumber) -> str:
        within = (why for file, start, end, why in places if file == one.file and start <= one.at < end)
        return next(within, "") if one.kind == "open" else ""

    return [replace(one, kind="exempt", reason=why) if (why := reason_of(one)) else one for one in numbers]


def _is_named(file: str, pattern: str, folder: Path) -> bool:
    path = Path(file).absolute()
    within = path.relative_to(folder) if path.is_relative_to(folder) else path
    return fnmatchcase(within.as_posix(), pattern) or fnmatchcase(path.name, pattern)


def _read_exemptions(folder: Path) -> list[Mapping[str, str]]:
    file = folder / OWN_FILE
    settings = (read_settings(file).get("numbers") if file.is_file() else None) or {"exempt": []}
    listed = settings.get("exempt") if isinstance(settings, Mapping) and len(settings) == 1 else None
    if not isinstance(listed, list):
        raise CommandError(f"{OWN_FILE}: `numbers` must have only the list `exempt`", _EXAMPLE)
    for number, entry in enumerate(listed, 1):
        is_full = isinstance(entry, Mapping) and {"reason"} < entry.keys() <= _KEYS
        if not is_full or not all(isinstance(one, str) and one.strip() for one in entry.values()):
            message = (
                f"{OWN_FILE}: exemption {number} needs a `reason`, and a `file` or a `text`, each a string"
            )
            raise CommandError(message, _EXAMPLE)
    return listed


# -- the report --

_DRAWS: Final = 10


def report_lines(numbers: Sequence[TextNumber]) -> Iterator[str]:
    """Yield lines with the open numbers, the counts of all classes, and the control."""
    for one in numbers:
        if one.kind == "open":
            yield f"{one.file}:{one.at[0]}:{one.at[1]}: open `{one.written}`"
    counts = count_classes(numbers).items()
    shares = (
        f"{count} {kind}" + (f" ({100 * count / len(numbers):.0f} %)" if count else "")
        for kind, count in counts
    )
    yield f"{format_count(len(numbers), 'number')}: {', '.join(shares)}"
    yield f"control: {100 * control(numbers):.1f} % of random numbers with as many digits match by chance"


def count_classes(numbers: Sequence[TextNumber]) -> dict[Class, int]:
    """Return the number of numbers in each class."""
    return {kind: sum(one.kind == kind for one in numbers) for kind in get_args(Class)}


def report_data(numbers: Sequence[TextNumber]) -> Mapping[str, Any]:
    """Return the report as JSON: counts and shares, the control, and each number with its place and class."""
    total = len(numbers) or 1
    return {
        "total": len(numbers),
        "classes": {
            kind: {"count": count, "share": round(count / total, 4)}
            for kind, count in count_classes(numbers).items()
        },
        "control": round(control(numbers), 4),
        "all": [
            {"file": one.file, "line": one.at[0], "column": one.at[1], "text": one.written, "class": one.kind}
            | ({"reason": one.reason} if one.reason else {})
            | ({"where": one.where} if one.where else {})
            for one in numbers
        ],
    }


def control(numbers: Sequence[TextNumber]) -> float:
    """Return the share of random numbers that match a table by chance, for comparison with the share of typed numbers.

    Each typed number is replaced ten times by a random number with as many digits. Numbers without tables are skipped,
    because they cannot match. Zeros are skipped, because no other number has their digits. The random numbers depend on
    the sentence, so that an edit changes them only in the edited sentence.
    """
    tried = [one for one in numbers if one.tables and one.number.value]
    found = 0
    for one in tried:
        random = Random(f"{one.place} {one.sentence}")
        found += sum(_is_found_with_other_digits(one, random) for _ in range(_DRAWS))
    return found / _DRAWS / max(len(tried), 1)


def _is_found_with_other_digits(one: TextNumber, random: Random) -> bool:
    """Replace a number by a random one with the same number of digits. Return whether the new number matches a table.

    Leading zeros and the zeros at the end of a rounded whole number are not replaced.
    """
    number = one.number
    written = number.written
    digits = [at for at, sign in enumerate(written) if sign.isdigit()]
    telling = [at for at in digits if written[at] != "0"]
    first, last = telling[0], telling[-1] if len(number.precisions) > 1 else digits[-1]
    drawn = list(written)
    while "".join(drawn) == written:
        for at in digits[digits.index(first) : digits.index(last) + 1]:
            drawn[at] = random.choice("123456789" if at in (first, last) else "0123456789")
    old, new = (int("".join(signs[at] for at in digits)) for signs in (written, drawn))
    other = replace(number, written="".join(drawn), value=number.value * new / old)
    start = one.place + number.digits_at - number.start
    sentence = f"{one.sentence[:start]}{other.written}{one.sentence[start + len(written) :]}{one.lead}"
    return find_place(other, sentence, one.tables) is not None
