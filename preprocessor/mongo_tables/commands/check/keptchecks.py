"""Remembers of pages that no fault was found, for as long as nothing that a check looks at is another one.

What judges a page takes longer to import than the system takes to say of all files of a site that none was changed. It
is remembered where the answer depends on nothing else: the pages are of one site, none of which takes in files, and
results, if there are any, are files. Where anything was found it is looked for again, so that it can be told with its
lines. What is remembered lies where other copies do, and is believed as they are (``results.bsoncache``).
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.commands.check.checking import Scope
from mongo_tables.files.environment import list_rights, today
from mongo_tables.files.states import is_settled, list_all
from mongo_tables.pages.files import STDIN
from mongo_tables.pages.ownfile import OWN_FILE
from mongo_tables.pages.pageindex import PagesBelow
from mongo_tables.pages.siteconfig import from_here, list_site_files
from mongo_tables.pages.sitepages import pages_of
from mongo_tables.results import bsoncache, cachefolder
from mongo_tables.results.opening import is_fixture_folder, is_uri
from mongo_tables.results.ownfiles import sign_of_program

if TYPE_CHECKING:
    from mongo_tables.commands.check.checking import Checked, Request
    from mongo_tables.pages.model import Page

_FORMAT: Final = "sound pages 2"


class Case(NamedTuple):
    """A check that was asked for: where it is remembered, and by what key, which has all that it looks at.

    Without a key it is not remembered. ``named`` are the digests of pages that are named, by their paths. ``beside``
    tells apart what a comment is judged by beside its text. ``below`` are the pages of the site's folders, as they were
    then; ``around`` are the states of results and shared pipelines, and of the folders and links by which all is found.
    """

    folder: Path
    key: str
    named: Mapping[str, str]
    beside: str
    below: Mapping[Path, PagesBelow]
    around: Mapping[str, str]


def find_case(paths: Sequence[str], request: Request) -> Case | None:
    """The case of a check of ``paths``, of a site that has a file; None where more than files say what is found.

    None as well where results changed just now, so that their state does not tell whether they will change again. Where
    another page did, the case has no ``key``. A page that is named is known by its text: it may have been changed a
    moment ago.
    """
    site = request.site
    folder = cachefolder.folder_for(site.file.parent)
    if folder is None or sys.platform == "win32" or STDIN in paths:
        return None
    folders = pages_of(site).folders
    docs = [Path(from_here(each)) for each, _ in folders]
    named = _read_named(paths, docs)
    results = _states_of_results(request)
    if named is None or results is None:
        return None
    below = {each: PagesBelow(each) for each in docs}
    ways = _look_at_ways(below.values())
    now = time.time_ns()
    if not all(is_settled(state, now) for state in results.values()):
        return None
    if not all(pages.are_all for pages in below.values()):
        return None
    states = dict(results)
    for each, pages in below.items():
        root = os.path.abspath(each)  # noqa: PTH100 - without links followed, as pages are named
        states |= {f"{root}/{name}": state for name, state in pages.states.items()}
    settled = all(is_settled(state, now) for path, state in states.items() if path not in named)
    digests = {path: _digest(content) for path, content in named.items()}
    written = [file.read_bytes() for file in list_site_files(site) if file.is_file()]
    program = _FORMAT, sign_of_program(), written, folders, Path.cwd(), today(), list_rights()
    of_comments = request._replace(static=False)
    key = _key_of((program, request, [*paths]), {**states, **digests}) if settled else ""
    beside = _key_of((program, of_comments), results)
    return Case(folder, key, digests, beside, below, {**ways, **results})


def is_as_before(case: Case, request: Request) -> bool:
    """Whether nothing was exchanged since a case was looked at: no file of results, and no way to one or to a page.

    What was another one meanwhile may have been read, though all is by now what it was.
    """
    results = _states_of_results(request)
    return results is not None and {**_look_at_ways(case.below.values()), **results} == case.around


def _key_of(asked: object, states: Mapping[str, str]) -> str:
    """The name under which is remembered what was asked, and found by files in these states."""
    written = "\0".join([repr(asked), *chain.from_iterable(sorted(states.items()))])
    return bsoncache.key_of(written.encode("utf-8", "surrogateescape"))


def recall(case: Case) -> Scope | None:
    """What was looked at when nothing was found in this case; None where nobody has looked, or something was found."""
    payload = bsoncache.get(case.folder, case.key) if case.key else None
    try:
        return None if payload is None else Scope(*map(int, payload.split()))
    except (TypeError, ValueError):  # No text of ours, whatever its digest says.
        return None


def remember_if_sound(case: Case, scope: Scope, checked: Checked, request: Request) -> None:
    """Remember a case where nothing was found, and will be found as long as the files are as they are.

    A site without comments of ours is looked at faster than it is remembered.
    """
    if (
        case.key
        and scope.comments
        and not checked.findings
        and _depends_on_files_alone(case, checked, request)
    ):
        bsoncache.put(case.folder, {case.key: b"%d %d" % scope})


def _depends_on_files_alone(case: Case, checked: Checked, request: Request) -> bool:
    """Whether what was found in a check is the same as long as the files are that ``find_case`` looks at.

    A page that was saved in between was read as another one.
    """
    if any(_is_another(page, case) for page in checked.pages):
        return False
    if any(_may_take_in(page) for pages in case.below.values() for page in pages.find_naming(())):
        return False
    if request.static:
        return True
    from mongo_tables.pages.lasting import is_lasting

    in_place = any(comment.region for page in checked.pages for comment in page.comments)
    shown_as_it_is = request.site.file.name == OWN_FILE
    specs = [spec for page in checked.together for spec in page.specs if spec is not None]
    return not in_place and not shown_as_it_is and all(map(is_lasting, specs))


def _is_another(page: Page, case: Case) -> bool:
    """Whether a page that is named was read with another text than it had when it was looked at."""
    digest = case.named.get(os.path.abspath(page.file))  # noqa: PTH100 - as pages are named
    return digest is not None and digest != _digest(page.text.encode("utf-8", "surrogatepass"))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _may_take_in(page: Path) -> bool:
    from mongo_tables.pages.generated import without_code
    from mongo_tables.pages.inclusions import may_include

    text = page.read_text(encoding="utf-8-sig", errors="replace")
    return may_include(text) and may_include(without_code(text))


def _read_named(paths: Iterable[str], docs: Sequence[Path]) -> Mapping[str, bytes] | None:
    """The pages that are named one by one, by their paths; None where a path is not one of the site's ``docs``."""
    named = {}
    for path in map(os.path.abspath, paths):
        if not any(Path(path).is_relative_to(folder.absolute()) for folder in docs):
            return None
        try:
            if not Path(path).is_dir():
                named[path] = Path(path).read_bytes()
        except OSError:
            return None
    return named


def _states_of_results(request: Request) -> Mapping[str, str] | None:
    """The states of the files of results and of shared pipelines, and of all ways to them.

    None where results may change unseen: of a database, or behind links to folders.
    """
    shared = dict(list_all(os.path.abspath(request.pipelines)))  # noqa: PTH100 - without links followed
    where = request.results
    if is_uri(where):
        return shared if request.static else None  # Nothing is asked of it then.
    if not is_fixture_folder(where) and not Path(where).is_file():
        return None
    root = os.path.abspath(where)  # noqa: PTH100
    found = dict(list_all(root))
    return None if _has_linked_folder(root, found) else shared | found


def _has_linked_folder(root: str, found: Iterable[str]) -> bool:
    """Whether a folder below a place is behind a link; what is in it is not among what was found."""
    ways = (way[:-1] for way in found if way.endswith("/") and way.startswith(f"{root}/"))
    return any(os.path.islink(way) and os.path.isdir(way) for way in ways if way != root)  # noqa: PTH112, PTH114


def _look_at_ways(below: Iterable[PagesBelow]) -> dict[str, str]:
    """The folders and links by which pages are found, with their states as they are now."""
    return {way: state for pages in below for way, state in pages.look_at_ways().items()}
