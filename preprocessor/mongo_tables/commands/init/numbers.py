"""``init --numbers``: how many numbers in the texts of a repository are in its results. No file is written."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from mongo_tables.commands.check.numbers import read_texts
from mongo_tables.commands.init.setup import require_results, walk_repository
from mongo_tables.directives.keywords import may_have_comment
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.model import ResultsError
from mongo_tables.results.opening import is_uri, open_source
from mongo_tables.site.disk import PAGE_SUFFIXES
from mongo_tables.site.numbers.classes import classify_numbers, find_stale
from mongo_tables.site.numbers.tables import Table, read_collections
from mongo_tables.site.site_config import find_site, from_here, results_of

_SUFFIXES: Final = (*PAGE_SUFFIXES, ".mdx", ".rst", ".html", ".txt")
_DOCS: Final = frozenset({"docs", "doc", "documentation", "website", "site", "content", "pages"})
_TEXTS: Final = ("readme", "llms", "benchmarks", "performance")
"""The beginnings of names of texts outside of a documentation folder."""
_MOST: Final = 8
"""The maximum number of files of results with which texts are compared."""


def describe_numbers(folder: Path, given: str | None) -> Iterator[str]:
    """Yield, for each text, a line with its number of matches in each file of results, and then the commands to run.

    Raises CommandError if there are no results.
    """
    sources = dict(_read_sources(folder, given))
    faults: list[str] = []
    texts = list(read_texts((from_here(path) for path in _find_texts(folder)), faults))
    yield from faults
    held: dict[str, list[str]] = {}
    for page in texts:
        if may_have_comment(page.text):
            yield f"{page.file}: has comments; `mongo-tables check --numbers {shlex.quote(page.file)}` checks it"
            continue
        numbers = {name: classify_numbers([page], {}, {}, tables) for name, tables in sources.items()}
        # Which texts are numbers depends on the results, because results may define units.
        if places := {one.at for own in numbers.values() for one in own}:
            matches = {
                name: (sum(one.kind == "found" for one in own), len(find_stale(own)))
                for name, own in numbers.items()
            }
            names = sorted(
                filter(lambda name: any(matches[name]), matches), key=lambda name: -sum(matches[name])
            )
            told = "; ".join(_describe(name, *matches[name]) for name in names)
            yield f"{page.file}: {format_count(len(places), 'number')}, {told or 'none of them in the results'}"
            if names:
                held.setdefault(names[0], []).append(page.file)
    for results, files in held.items():
        command = f"mongo-tables check --numbers {shlex.join(files)} --results {shlex.quote(results)}"
        yield f"next: `{command} --report` lists the numbers that are open or stale"
        yield f"next: `{command} --open-is-error --baseline numbers.json --write-baseline` accepts today's open numbers"


def _read_sources(folder: Path, given: str | None) -> Iterator[tuple[str, Sequence[Table]]]:
    if given is not None:
        if is_uri(given):
            raise CommandError("--results names a database, but `init --numbers` needs files")
        named = [given]
    else:
        site = find_site(folder)
        own = results_of(site) if site and site.names_us and not is_uri(site.results) else ""
        named = (
            [own]
            if own
            else [from_here(one.path) for one in require_results(folder.absolute(), fewest=1)[0][:_MOST]]
        )
    for name in named:
        try:
            with closing(open_source(name)) as source:
                yield name, read_collections(source)
        except ResultsError:
            if given is not None:
                raise


def _find_texts(folder: Path) -> Iterator[Path]:
    """Yield README files, pages of documentation and texts such as ``llms.txt``, in the order of their paths."""
    for path in walk_repository(folder.absolute()):
        parts = path.relative_to(folder.absolute()).parts
        is_meant = path.name.lower().startswith(_TEXTS) or not _DOCS.isdisjoint(parts[:-1])
        if is_meant and path.suffix.lower() in _SUFFIXES and os.access(path, os.R_OK):
            yield path


def _describe(results: str, found: int, stale: int) -> str:
    return f"{found} in {results}" + (f", and {stale} with another value there" if stale else "")
