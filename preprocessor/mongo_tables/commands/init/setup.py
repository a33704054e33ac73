"""The plan of a set-up: the results that it finds in a repository, and the files that it will write."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mongo_tables.aggregation.values import is_number
from mongo_tables.build import build
from mongo_tables.commands.file_changes import FileEdit
from mongo_tables.commands.init.draft import Proposal, append_block, mark_for, propose_comment
from mongo_tables.commands.init.section import propose_section
from mongo_tables.commands.init.site_files import (
    add_hooks,
    add_to_site,
    entry_for,
    has_hook,
    hooks_by_hand,
    lists_pages,
    own_text,
)
from mongo_tables.directives.keywords import may_have_comment
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.row_paths import KEY, find_rows
from mongo_tables.files.folders import leads_within, list_some, shorten_path
from mongo_tables.findings.usage import CommandError
from mongo_tables.render.charts.svg_file import is_marked
from mongo_tables.results.answers import Answers
from mongo_tables.results.file_listing import LikelyFile, has_telling_name, look_at, may_hold_results
from mongo_tables.results.guards import limits_of
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.opening import is_uri, move_source, open_source
from mongo_tables.results.provenance import RESULTS
from mongo_tables.results.revisions import run_git
from mongo_tables.site.disk import MARKDOWN_SUFFIXES, pages_under, read_text, snapshot_of
from mongo_tables.site.markdown import newline_of
from mongo_tables.site.site_config import OWN_FILE, SiteConfig, find_files, find_site, from_here

_FIXTURES: Final = "fixtures"
_HOOK_FILE: Final = ".pre-commit-config.yaml"
"""The file that pre-commit reads, in the root folder of a repository."""
_ON_HOST: Final = ("benchmarks", "readme")
"""The names of pages that a code host shows, in order of preference."""
_EMPTY_SECTION: Final = re.compile(
    r"^#{1,6} (?:Results|Benchmarks?|Performance|Speed|Load tests?)[ \t]*$(?=\s*(?:#|\Z))",
    re.IGNORECASE | re.MULTILINE,
)
_LAST_SECTIONS: Final = re.compile(r"^##? (?:Licen[cs]e|Contributing)\b", re.IGNORECASE | re.MULTILINE)
"""The sections of a page before which a new section is added."""
_LISTED: Final = 5
_LARGE: Final = 2**20
"""The number of bytes above which a file of a benchmark tool is too large for a commit."""
_DEEPEST: Final = 4
"""The maximum depth of nested folders to search."""
_MOST: Final = 20_000
"""The maximum number of files to list. In a larger folder, the user must name the file of results."""
_TRIED: Final = 20
"""The maximum number of files to read."""
_SAVED: Final = ".benchmarks"
"""The folder in which pytest-benchmark saves runs, with a folder for each machine."""
_OTHERS: Final = re.compile(
    r"node_modules|site-packages|__pycache__|venv|env|dist|build|target|site|vendor|third[-_]party|_site",
    re.IGNORECASE,
)
"""Folders with third-party or generated files."""


@dataclass(frozen=True, slots=True)
class SetUp:
    """The file edits, the messages in order, and the manual steps that remain."""

    files: tuple[FileEdit, ...] = ()
    remarks: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()

    def __add__(self, other: SetUp) -> SetUp:
        return SetUp(self.files + other.files, self.remarks + other.remarks, self.by_hand + other.by_hand)


def plan(folder: Path, given: str | None) -> SetUp:
    """Plan the set-up of a folder with the results ``given`` or, if that is None, with results found in the folder.

    Raises CommandError if there is nothing to set up, or if nothing can be added safely. Raises ResultsError if the
    results cannot be read.
    """
    folder = folder.absolute()
    site = find_site(folder)
    base = site.file.parent if site else folder
    results, remarks = _choose_results(base, site, given)
    page = _choose_page(folder, site)
    planned = SetUp(remarks=tuple(remarks))
    if site is None or not site.names_us:
        planned += SetUp(_plan_site_files(base, site, results, page))
    planned += _plan_page(base, site, results, page) + _plan_hook(base, site)
    outermost = _repository_of(base) or base
    for one in planned.files:
        if one.file.is_relative_to(outermost) and not leads_within(one.file, outermost):
            raise CommandError(
                f"{one.name}: a link leads out of the repository, so no file was written",
                f"replace the link by a file, or run the command in the repository of {one.file.resolve()}",
            )
    return planned


def _relative(path: Path, base: Path) -> str:
    return Path(os.path.relpath(path, base)).as_posix()


def _repository_of(folder: Path) -> Path | None:
    """Return the root folder of the Git repository that contains ``folder``, or None."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)


# -- results --


def _choose_results(base: Path, site: SiteConfig | None, given: str | None) -> tuple[str, Sequence[str]]:
    """Return the results source for the site's file, and remarks about it."""
    if given is not None and is_uri(given):
        raise CommandError(
            "--results names a database, but a set-up needs files",
            "put the address into the variable MONGO_TABLES_RESULTS, and use `mongo-tables init --table`",
        )
    named = given and move_source(given, Path(), lambda path: _relative(path.absolute(), base))
    if site is not None and site.names_us:
        told = "a database" if is_uri(site.results, base) else site.results
        if named not in (None, site.results):
            raise CommandError(f"{site.file.name} already names other results: {told}", "change them there")
        remarks = [f"{from_here(site.file)}: already names results: {told}"]
        if site.results != _FIXTURES and _has_collections(base / _FIXTURES):
            remarks.append(f'{_FIXTURES}: also has collections; results = "{_FIXTURES}" would show them')
        return site.results, remarks
    if named:
        return _pattern_of_saved(named) if Path(named).name == _SAVED else named, ()
    if _has_collections(base / _FIXTURES):
        return _FIXTURES, [f"{_FIXTURES}: a folder with collections"]
    return _find_results(base)


def _pattern_of_saved(folder: str) -> str:
    return f"runs={folder}/*/*.json"


def _has_collections(folder: Path) -> bool:
    return folder.is_dir() and any(path.is_dir() for path in folder.iterdir())


def _find_results(base: Path) -> tuple[str, Sequence[str]]:
    found, unreadable = require_results(base)
    first, *others = found
    runs, pattern = _find_runs(first, found, base)
    count = f" ({len(runs)} files)" if len(runs) > 1 else ""
    remarks = [f"{from_here(pattern or first.path)}{count}: results, {first.format}"]
    if first.is_of_tool and not pattern and first.path.stat().st_size > _LARGE:
        file = shlex.quote(_relative(first.path, base))
        command = f"mongo-tables import {file} --as bench --without-samples"
        remarks.append(
            f"{from_here(first.path)} is large for a commit: `{command}` stores only summary figures in {_FIXTURES}/; "
            f'then write results = "{_FIXTURES}" instead of this file'
        )
    named = f"runs={_relative(pattern, base)}" if pattern else _relative(first.path, base)
    if others := [one for one in others if one not in runs]:
        names = list_some([_relative(one.path, base) for one in others], _LISTED)
        saved = [one.path.parent.parent for one in others if one.path.parent.parent.name == _SAVED]
        source = shlex.quote(_pattern_of_saved(_relative(saved[0], base))) if saved else ""
        told = (
            f"--results {source} would show the saved runs"
            if saved
            else "--results FILE chooses another file"
        )
        remarks.append(f"not used: {names}; {told}")
    remarks += [f"not used: {error.message}" for error in unreadable]
    if _is_ignored(first.path):
        remarks.append(
            f"{from_here(first.path)}: Git ignores this file, so commits and CI lack it; remove it from .gitignore"
        )
    return named, remarks


def _find_runs(
    first: LikelyFile, found: Sequence[LikelyFile], base: Path
) -> tuple[list[LikelyFile], Path | None]:
    """Return the files with runs of the same tool as ``first``, and a pattern for their paths.

    A single file has a pattern only in a folder where its tool will save further runs.
    """
    is_saved = first.path.parent.parent.name == _SAVED
    folder, name = first.path.parent, f"*{first.path.suffix}"
    folders = [*folder.parent.iterdir()] if is_saved else [folder]
    runs = [one for one in found if one.format == first.format and one.path.parent in folders]
    is_alone = folder != base and len([*folder.glob(name)]) == len(runs) > 1
    if not first.is_of_tool or not (is_saved or is_alone):
        return [first], None
    return runs, folder.parent / "*" / name if is_saved else folder / name


def _is_ignored(path: Path) -> bool:
    """Return whether Git ignores a file. Outside a repository, return False."""
    if _repository_of(path.parent) is None:
        return False
    asked = ("-C", str(path.parent), "check-ignore", "--quiet", "--", path.name)
    return run_git(*asked).returncode == 0


# -- the file of the site --


def _plan_site_files(base: Path, site: SiteConfig | None, results: str, page: Path) -> tuple[FileEdit, ...]:
    if site is None:
        file = base / OWN_FILE
        text = own_text(results, [_relative(page, base)])
        return (FileEdit(from_here(file), file, None, text, f"results are {results}"),)
    planned = []
    # Several programs may build the same site, each from its own file. All files must name the results.
    for file in find_files(base):
        before = read_text(file)
        after = add_to_site(file, before, results)
        if after is None:
            raise CommandError(
                f"{from_here(file)}: an entry cannot be added safely, so no file was written",
                f"add this entry, and run the command again:\n{entry_for(file, results)}",
            )
        said = f"mongo-tables added, results are {results}"
        planned.append(FileEdit(from_here(file), file, before, after, said))
    return tuple(planned)


# -- the page with a first table --


def _choose_page(folder: Path, site: SiteConfig | None) -> Path:
    """Choose a page of the site or, without a site, a page that a code host shows."""
    if site is not None:
        named = [path for path in site.pages if path.suffix.lower() in MARKDOWN_SUFFIXES]
        return named[0] if named else (*site.pages, site.docs)[0] / "results.md"
    names = {path.name.lower(): path for path in sorted(folder.iterdir()) if path.is_file()}
    for stem in _ON_HOST:
        for suffix in MARKDOWN_SUFFIXES:
            if found := names.get(f"{stem}{suffix}"):
                return found
    # A new README.md would hide a README in another markup language.
    has_other = any(name.partition(".")[0] == "readme" for name in names)
    return folder / ("BENCHMARKS.md" if has_other else "README.md")


def _plan_page(base: Path, site: SiteConfig | None, results: str, page: Path) -> SetUp:
    """Plan a page with a first table, unless a page already has a comment."""
    checked = (path for folder in (site.folders if site else ()) for path in pages_under(folder))
    having = [path for path in dict.fromkeys((*checked, page)) if path.is_file() and _has_comment(path)]
    if having:
        return SetUp(remarks=tuple(f"{from_here(path)}: already has comments" for path in having[:_LISTED]))
    before = read_text(page) if page.exists() else None
    is_built = site is not None and site.file.name != OWN_FILE  # then the site renders the figures
    where = move_source(results, base, from_here)
    with closing(Answers(where, limits_of(site.options if site else {}))) as asked:
        above, below = _split_at_section(before or "", page.name)
        proposal = _propose_table(asked, above + below)
        section = propose_section(asked, proposal)
        text = above
        for part in filter(None, (section.sentence, section.table)):
            text, line = append_block(text, mark_for(above + below, page.name, part))
        text += newline_of(text) + below if below else ""
        if all(comment.line != line for comment in find(text, page.name).comments):
            raise CommandError(
                f"{from_here(page)}: a comment added to it would be shown as text, so no file was written",
                "close the last block of the page, such as a code fence, and run the command again",
            )
        drawn: list[FileEdit] = []
        if not is_built:
            report = build(snapshot_of({page.name: text}), asked)
            if report.source.unreachable:
                raise report.source.unreachable
            placed = report.figures.in_place(report.pages[0], page.resolve())
            text, drawn = placed.text, [_plan_drawing(one.path, one.text) for one in placed.drawings]
    shown = f"{', '.join(section.has)} in line {line}"
    by_hand = [f"in {from_here(page)}, delete the parts that you do not want, and edit the rest"]
    if not is_built:
        by_hand[0] += f"; `mongo-tables render --in-place {shlex.quote(from_here(page))}` shows the result"
    elif before is None and site and lists_pages(site.file):
        by_hand.insert(0, f"add the page to `nav` in {site.file.name}: {_relative(page, site.docs)}")
    ignored = (f"the comment ignores: {one}" for one in proposal.ignored)
    out = [one for one in proposal.left_out if not one.startswith(("_id", KEY))]
    # Files of benchmark tools have many more fields, which are not listed.
    lacking = [f"left out: {', '.join(out)}"] if 0 < len(out) <= _LISTED else []
    remarks = tuple(f"{from_here(page)}: {one}" for one in (*proposal.remarks, *lacking, *ignored))
    return SetUp((FileEdit(from_here(page), page, before, text, shown), *drawn), remarks, tuple(by_hand))


def _plan_drawing(file: Path, text: str) -> FileEdit:
    """Plan the file of a drawing. Raises CommandError if another file with this name exists."""
    name, standing = from_here(file), read_text(file) if file.exists() else None
    if standing is not None and not is_marked(standing):
        raise CommandError(
            f"{name}: this file has the name that the drawing of the chart needs, so no file was written",
            "rename the file",
        )
    return FileEdit(name, file, standing, text, "the drawing of the chart")


def _split_at_section(page: str, name: str) -> tuple[str, str]:
    """Split a page after the heading of its empty section for results.

    Without such a section, add a heading before the section about the license or contributing, or else at the end.
    """
    if found := _EMPTY_SECTION.search(page):
        return page[: found.end()], page[found.end() :].lstrip()
    probe = mark_for(page, name, "<!-- RESULT_TABLE: {} -->")  # finds no comment inside a block of code
    last = (one.start() for one in _LAST_SECTIONS.finditer(page))
    end = next((at for at in last if find(page[:at] + probe, name).comments), len(page))
    return append_block(page[:end], "## Results" if page.strip() else "# Results")[0], page[end:]


def _has_comment(path: Path) -> bool:
    try:
        text = read_text(path)
    except (CommandError, OSError):  # the check reports it
        return False
    return may_have_comment(text) and bool(find(text, path.name).comments)


def _propose_table(asked: Answers, page: str) -> Proposal:
    """Return a comment for the first collection that can be shown. Rows of a run come before other collections."""
    why = CommandError("the results have no collections", "choose other results with --results")
    for name in sorted(asked.source.collections(), key=lambda name: name != RESULTS):
        try:
            return propose_comment(asked, page, name)
        except CommandError as error:
            why = error
    raise why


# -- the commit hook --


def _plan_hook(base: Path, site: SiteConfig | None) -> SetUp:
    repository = _repository_of(base)
    if repository is None:
        return SetUp(
            remarks=(
                "no commit hook, because this is no Git repository; run this command again after `git init`",
            )
        )
    config = "" if base == repository else _relative(site.file if site else base / OWN_FILE, repository)
    file = repository / _HOOK_FILE
    before = read_text(file) if file.exists() else None
    if before is not None and has_hook(before, config):
        return SetUp(remarks=(f"{from_here(file)}: already has the hook",))
    after = add_hooks(before or "", config)
    if after is None:
        told = f"the hooks cannot be added safely; add this entry:\n{hooks_by_hand(config)}"
        return SetUp(by_hand=(f"{from_here(file)}: {told}",))
    said = "a hook that updates figures, and one that checks them"
    return SetUp(
        (FileEdit(from_here(file), file, before, after, said),),
        by_hand=(
            "run `pre-commit install` once, and commit in the environment where mongo-tables is installed",
        ),
    )


# -- files of results --


def require_results(base: Path, fewest: int = 2) -> tuple[Sequence[LikelyFile], Sequence[ResultsError]]:
    """Return the files of results below a folder, best guess first, and the errors of unreadable candidates.

    The files have at least ``fewest`` documents. Raises CommandError with a list of rejected files if there are no
    results.
    """
    results, unreadable = _find_result_files(base, fewest)
    if results:
        return results, unreadable
    passed = list(_list_passed_over(base))
    if len(passed) == len(unreadable) == 1:
        raise unreadable[0]
    lines = list_some([f"{name}: {why}" for name, why in passed], _LISTED, "\n  ")
    raise CommandError(
        f"no file of results in {from_here(base)}{f'; rejected:{chr(10)}  ' if lines else ''}{lines}",
        "write one with a benchmark tool, for example by `pytest --benchmark-json=bench.json` or `hyperfine "
        "--export-json bench.json`, or name a file with --results",
    )


def _find_result_files(folder: Path, fewest: int) -> tuple[list[LikelyFile], list[ResultsError]]:
    """Return the files of results below a folder, and the errors of files that look like results but are unreadable.

    Files of benchmark tools come first, then files whose names suggest results, then those in the nearest folders.
    """

    def rank(one: LikelyFile) -> tuple[bool, bool, int, str]:
        within = one.path.relative_to(folder)
        return not one.is_of_tool, not has_telling_name(str(within)), len(within.parts), str(within)

    found, unreadable = list[LikelyFile](), list[ResultsError]()
    likely = [one for path in walk_repository(folder) if (one := look_at(path))]
    for one in sorted(likely, key=rank)[:_TRIED]:
        of_no_tool, of_no_name, *_ = rank(one)
        is_meant = not (of_no_tool and of_no_name)
        try:
            if _has_rows(one, is_meant, fewest):
                found.append(one)
        except ResultsError as error:
            if is_meant:
                unreadable.append(error)
    return found, unreadable


def _list_passed_over(folder: Path) -> Iterator[tuple[str, str]]:
    for path in walk_repository(folder):
        if not may_hold_results(path):
            continue
        try:
            if not path.stat().st_size:
                why = "it is empty"
            elif (one := look_at(path)) is None:
                why = "no known format, or too large"
            elif _has_rows(one, is_meant=True):
                why = "its name does not look like results; choose it with --results"
            else:
                why = "fewer than two documents with numbers"
        except ResultsError as error:
            why = error.message.split("\n")[0].removeprefix(f"{shorten_path(path)}:").strip()
        except OSError as error:
            why = error.strerror or "it cannot be read"
        yield _relative(path, folder), why


def walk_repository(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, except third-party and generated files."""
    seen = 0
    for place, folders, names in os.walk(folder):
        here = Path(place)
        deep = len(here.relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if deep < _DEEPEST and not _is_of_others(here / name))
        seen += len(names)
        yield from (here / name for name in sorted(names) if not name.startswith("."))
        if seen > _MOST:
            return


def _is_of_others(folder: Path) -> bool:
    hidden = folder.name.startswith(".") and folder.name != _SAVED
    is_written = folder.name.lower() == "site" and not (folder / "sitemap.xml").is_file()  # and not by MkDocs
    is_other = bool(_OTHERS.fullmatch(folder.name)) and not is_written
    return hidden or is_other or (folder / "pyvenv.cfg").is_file()


def _has_rows(one: LikelyFile, is_meant: bool, fewest: int = 2) -> bool:
    """Return whether the file has results: several documents with numbers, or one document of a benchmark tool.

    ``is_meant`` is true if the name of the file suggests results. Then ``fewest`` documents, or one document with a
    list in it, are enough. Otherwise a single document may be settings. Raises ResultsError for an unreadable file.
    """
    if not one.path.stat().st_size:
        return False
    with closing(open_source(str(one.path))) as source:
        names = source.collections()
        rows = source.aggregate(Query(names[0], ({"$limit": 2},))) if names else []
    if is_meant and len(rows) == 1 and find_rows(rows[0]):
        return True
    numbers = (_has_number(value) for row in rows for name, value in row.items() if name != "_id")
    return (one.is_of_tool or len(rows) > 1 or (is_meant and len(rows) >= fewest)) and any(numbers)


def _has_number(value: object) -> bool:
    return is_number(value) or (isinstance(value, dict) and any(map(_has_number, value.values())))
