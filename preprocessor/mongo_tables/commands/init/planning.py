"""What a set-up writes into a repository, and what it leaves as it is: worked out before anything is written."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from mongo_tables.commands.init.firstcomment import add_first_table
from mongo_tables.commands.init.hook import HOOK_FILE, Hook
from mongo_tables.commands.init.looking import (
    ChosenPage,
    choose_page,
    find_pages_with_comments,
    repository_of,
)
from mongo_tables.commands.init.resultfiles import find_result_files
from mongo_tables.commands.init.siteentry import add_to_site, entry_for, lists_pages, own_text
from mongo_tables.files.text import leads_within, list_some
from mongo_tables.findings.usage import UsageError
from mongo_tables.results.answers import Answers
from mongo_tables.results.limitoptions import limits_of
from mongo_tables.results.opening import is_uri, move_source
from mongo_tables.site.disk import read_text
from mongo_tables.site.site_config import OWN_FILE, Site, find_files, find_site, from_here

_FIXTURES: Final = "fixtures"
_LISTED: Final = 5
_LARGE: Final = 2**20
"""Bytes of a file that is not committed without a thought: most of it is samples, of which few tables show any."""


class Change(NamedTuple):
    """A file with its new text; ``before`` is None where there is none yet. ``said``: what is new in it."""

    path: Path
    before: str | None
    after: str
    said: str


class Plan(NamedTuple):
    """The changes; what is said beside them, in order; what is left to do by hand."""

    changes: tuple[Change, ...] = ()
    remarks: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()


class _Results(NamedTuple):
    """The results source as the file of the site says it, and what is said of it. ``is_new``: the file does not yet."""

    named: str
    remarks: tuple[str, ...] = ()
    is_new: bool = True


def plan(folder: Path, given: str | None) -> Plan:
    """The set-up of a folder whose results are ``given``, or found.

    Raises UsageError where there is nothing to set up, or nothing can be added safely; ResultsError for results that
    cannot be read.
    """
    folder = folder.absolute()
    site = find_site(folder)
    base = site.file.parent if site else folder
    results = _choose_results(base, site, given)
    page = choose_page(folder, site)
    parts = [
        Plan(remarks=results.remarks),
        _plan_site(base, site, results, page),
        _plan_page(base, site, results, page),
        _plan_hook(base, site),
    ]
    changes = tuple(one for part in parts for one in part.changes)
    _refuse_ways_out(changes, repository_of(base) or base)
    return Plan(
        changes,
        tuple(one for part in parts for one in part.remarks),
        tuple(one for part in parts for one in part.by_hand),
    )


def _refuse_ways_out(changes: Sequence[Change], outermost: Path) -> None:
    """Raise UsageError where a link leads a change out of the repository, to what is not its own."""
    for one in changes:
        if one.path.is_relative_to(outermost) and not leads_within(one.path, outermost):
            raise UsageError(
                f"{from_here(one.path)}: a link leads out of the repository, so nothing was written",
                f"put a file of its own there, or run the command where {one.path.resolve()} belongs",
            )


def _choose_results(base: Path, site: Site | None, given: str | None) -> _Results:
    if given is not None and is_uri(given):
        raise UsageError(
            "--results names a database, and a set-up is for files",
            "put its address into the variable MONGO_TABLES_RESULTS, and see `mongo-tables new`",
        )
    named = given and move_source(given, Path(), lambda path: _relative(path.absolute(), base))
    if site is not None and site.names_us:
        told = "a database" if is_uri(site.results, base) else site.results
        if named not in (None, site.results):
            raise UsageError(f"{site.file.name} has other results already: {told}", "change them there")
        return _Results(
            site.results, (f"{from_here(site.file)}: names results already, {told}",), is_new=False
        )
    if named:
        return _Results(named)
    if any(path.is_dir() for path in _listed(base / _FIXTURES)):
        return _Results(_FIXTURES, (f"{_FIXTURES}: a folder with collections",))
    return _find_results(base)


def _listed(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _find_results(base: Path) -> _Results:
    found, unreadable, poor = find_result_files(base)
    if not found:
        if unreadable:
            raise unreadable[0]
        names = ", ".join(_relative(path, base) for path in poor[:_LISTED])
        raise UsageError(
            f"no file of results in {from_here(base)}"
            + (f"; fewer than two documents with numbers in {names}" if poor else ""),
            "have your benchmark write one, such as `pytest --benchmark-json=bench.json` or `hyperfine --export-json "
            "bench.json`, or name it with --results",
        )
    first, *others = found
    remarks = [f"{from_here(first.path)}: results, {first.format}"]
    if first.is_of_tool and first.path.stat().st_size > _LARGE:
        command = (
            f"mongo-tables import {shlex.quote(_relative(first.path, base))} --as bench --without-samples"
        )
        remarks.append(
            f"it is large to commit: `{command}` keeps what tables show in {_FIXTURES}/, before this command"
        )
    if others:
        names = list_some([_relative(one.path, base) for one in others], _LISTED)
        remarks.append(f"left aside: {names}; --results names another one")
    remarks += [f"left aside: {error.message}" for error in unreadable]
    return _Results(_relative(first.path, base), tuple(remarks))


def _plan_site(base: Path, site: Site | None, results: _Results, page: ChosenPage) -> Plan:
    """The file that says where results are, for all commands and for the site."""
    if not results.is_new:
        return Plan()
    if site is None:
        text = own_text(results.named, [_relative(page.path, base)])
        return Plan((Change(base / OWN_FILE, None, text, f"results are {results.named}"),))
    # Several programs may build the same site, each from its own file: they must agree.
    return Plan(tuple(_add_entry(file, results.named) for file in find_files(base)))


def _add_entry(file: Path, results: str) -> Change:
    before = read_text(file)
    after = add_to_site(file, before, results)
    if after is None:
        raise UsageError(
            f"{from_here(file)}: nothing can be added to it safely, so nothing was written",
            f"add this, and run the command again:\n{entry_for(file, results)}",
        )
    return Change(file, before, after, f"mongo-tables added, results are {results}")


def _plan_page(base: Path, site: Site | None, results: _Results, page: ChosenPage) -> Plan:
    """The page with a first table, unless there is a comment already."""
    if having := find_pages_with_comments(site, page):
        return Plan(remarks=tuple(f"{from_here(path)}: has comments already" for path in having[:_LISTED]))
    before = read_text(page.path) if page.path.exists() else None
    where = move_source(results.named, base, from_here)
    with closing(Answers(where, limits_of(site.options if site else {}))) as asked:
        table = add_first_table(before or "", asked, in_place=not page.is_built)
    if table is None:
        raise UsageError(
            f"{from_here(page.path)}: a comment at its end would be text, so nothing was written",
            "close what is open there, such as a fence of code, and run the command again",
        )
    shown = f"a table of `{table.collection}` in line {table.line}: {', '.join(table.columns)}"
    by_hand = () if before is not None or not page.is_built else _to_navigation(site, page)
    change = Change(page.path, before, table.text, shown)
    return Plan((change,), tuple(f"{from_here(page.path)}: {one}" for one in table.remarks), by_hand)


def _to_navigation(site: Site | None, page: ChosenPage) -> tuple[str, ...]:
    """What to add to the list of pages of a site that has one; without, a site lists all its pages."""
    if site is None or not lists_pages(site.file):
        return ()
    return (f"add the page to `nav` in {site.file.name}: {_relative(page.path, site.docs)}",)


def _plan_hook(base: Path, site: Site | None) -> Plan:
    """The commit hook, in the outermost folder of the repository."""
    repository = repository_of(base)
    if repository is None:
        return Plan(
            remarks=("no Git repository here: no commit hook; after `git init` run this command again",)
        )
    config = site.file if site else base / OWN_FILE
    hook = Hook("" if base == repository else _relative(config, repository))
    file = repository / HOOK_FILE
    before = read_text(file) if file.exists() else None
    if before is not None and hook.is_in(before):
        return Plan(remarks=(f"{from_here(file)}: has the hook already",))
    after = hook.add_to(before or "")
    if after is None:
        said = f"{from_here(file)}: nothing can be added to it safely; add this:\n{hook.by_hand()}"
        return Plan(by_hand=(said,))
    return Plan(
        (Change(file, before, after, "hook mongo-tables-check added"),),
        by_hand=(
            "`pre-commit install` once, if you have not yet: it checks every commit from then on",
            "commit where `mongo-tables` is found: activate its environment first, or write its path into the hook's "
            "`entry`, such as .venv/bin/mongo-tables",
        ),
    )


def _relative(path: Path, base: Path) -> str:
    return Path(os.path.relpath(path, base)).as_posix()
