"""Tells files that were not changed by what the system says of them, without reading them.

That is size, device, node, and the times at which a file's bytes and its state changed. The latter is nobody's to set,
and moves with every write; a file that changed a moment ago is not settled, because it may change again within one tick
of that clock (https://git-scm.com/docs/racy-git). Windows keeps no such time.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from mongo_tables.files.folders import walk

SETTLED: Final = 2 * 10**9
"""Nanoseconds without a change after which a file's state says that it is the same."""
_LINK: Final = "behind a link "
_MOST_LINKS: Final = 40
"""So many links of one path are followed; the system itself follows no more."""
Tell = Callable[[os.stat_result], str]
"""Gives the state of a folder."""


def state_of(found: os.stat_result) -> str:
    """The state of a file, of what the system says of it."""
    return f"{found.st_size} {found.st_dev} {found.st_ino} {found.st_mtime_ns} {found.st_ctime_ns}"


def state_of_folder(found: os.stat_result) -> str:
    """The state of a folder in which files may come and go.

    These move both of its times alike; that of its state is moved alone when the folder itself is renamed.
    """
    renamed = 0 if found.st_ctime_ns == found.st_mtime_ns else found.st_ctime_ns
    return f"{found.st_dev} {found.st_ino} {renamed}"


def list_states(
    folder: str,
    ends: tuple[str, ...] = ("",),
    *,
    follows: bool = False,
    leaves_out: Callable[[str], bool] | None = None,
    failed: Callable[[OSError], None] | None = None,
) -> list[tuple[str, str]]:
    """The files in a folder and those below it whose names have one of ``ends`` behind something, with their states.

    ``follows``, ``leaves_out`` and ``failed`` are as ``walk`` has them; folders that cannot be read are left out. Names
    are as seen from the folder; states of files behind links say so.
    """
    found = []
    for place, entries in walk(folder, failed, follows=follows, leaves_out=leaves_out):
        before = f"{place[len(folder) :].lstrip('/')}/" if place != folder else ""
        for entry in entries:
            name = entry.name
            if name.endswith(ends) and name not in ends and (state := _state_of(entry)):
                found.append((f"{before}{name}", state))
    return found


def _state_of(entry: os.DirEntry[str]) -> str:
    """The state of a file; nothing for what is none, or cannot be looked at."""
    try:
        found = entry.stat()
        if not stat.S_ISREG(found.st_mode):
            return ""
        return f"{_LINK}{state_of(found)}" if entry.is_symlink() else state_of(found)
    except OSError:
        return ""


def is_behind_link(state: str) -> bool:
    """Whether ``list_states`` says of a file that it is behind a link."""
    return state.startswith(_LINK)


def list_folders(names: Iterable[str]) -> set[str]:
    """The folders in which files with these names are, and those around them."""
    found = {name.rpartition("/")[0] for name in names}
    above = found
    while above := {folder.rpartition("/")[0] for folder in above} - found:
        found |= above
    return found - {""}


def list_ways(
    place: str, leaves_out: Callable[[str], bool] | None = None, *, renamed_alone: bool = False
) -> Iterator[tuple[str, str]]:
    """The folders and links by which files at a place are found, above it and below, each with its state.

    A folder that was renamed and is back has files in the states that they had. Each name ends with a slash. Below the
    place nothing is listed that ``leaves_out`` says of a name. ``renamed_alone``: what comes or goes in a folder is no
    change of it.
    """
    tell = state_of_folder if renamed_alone else state_of
    yield from ways_to(place, tell)
    yield from _list_below(place, leaves_out, with_files=False, tell=tell)


def list_all(place: str) -> Iterator[tuple[str, str]]:
    """The same, and all files in folders there, or the one that the place itself is, with their states."""
    yield from ways_to(place)
    with suppress(OSError):
        found = os.stat(place)  # noqa: PTH116 - a Path for each place takes as long as to look at it
        if stat.S_ISREG(found.st_mode):
            yield place, state_of(found)
    yield from _list_below(place, None, with_files=True, tell=state_of)


def ways_to(place: str, tell: Tell = state_of) -> Iterator[tuple[str, str]]:
    """The folders and links by which a place is found, the place itself among them, each with its state.

    Of folders that is what ``tell`` says. In the working folder and those around it, and where everybody may make
    files, these come and go all the time: of such folders it is told which they are, and when they were renamed.
    """
    here = os.getcwd()  # noqa: PTH109
    at, *ahead = _split(place)
    links = 0
    while ahead and links < _MOST_LINKS:
        at = os.path.join(at, ahead.pop(0))  # noqa: PTH118
        try:
            found = os.lstat(at)
            if stat.S_ISLNK(found.st_mode):
                yield f"{at}/", state_of(found)
                links += 1
                leads_to = os.path.join(os.path.dirname(at), os.readlink(at))  # noqa: PTH115, PTH118, PTH120
                at, *ahead = [*_split(leads_to), *ahead]
            elif stat.S_ISDIR(found.st_mode):
                is_busy = at == here or (bool(ahead) and _is_busy(at, found, here))
                yield f"{at}/", (state_of_folder if is_busy else tell)(found)
        except OSError:
            return


def _is_busy(folder: str, found: os.stat_result, here: str) -> bool:
    """Whether files come and go in a folder all the time: it is around the one ``here``, or everybody may make some."""
    is_around = here.startswith(os.path.join(folder, ""))  # noqa: PTH118
    return is_around or bool(found.st_mode & stat.S_ISVTX)


def state_of_way(place: str) -> dict[str, str]:
    """The state of a folder whose way is known; of a link, those of all ways to it."""
    try:
        found = os.lstat(place)
    except OSError:
        return {}
    return dict(ways_to(place)) if stat.S_ISLNK(found.st_mode) else {f"{place}/": state_of(found)}


def _split(place: str) -> Sequence[str]:
    """The root of a path, and its parts below that."""
    return Path(os.path.abspath(place)).parts  # noqa: PTH100 - links are followed one by one


def _list_below(
    folder: str, leaves_out: Callable[[str], bool] | None, *, with_files: bool, tell: Tell
) -> Iterator[tuple[str, str]]:
    walked = walk(folder, follows=False, leaves_out=leaves_out)
    for entry in (entry for _, entries in walked for entry in entries):
        if leaves_out and leaves_out(entry.name):
            continue
        with suppress(OSError):
            if entry.is_symlink():
                yield from ways_to(entry.path, tell)
            if entry.is_dir(follow_symlinks=False):
                yield f"{entry.path}/", tell(entry.stat(follow_symlinks=False))
            elif with_files and stat.S_ISREG((found := entry.stat()).st_mode):
                yield entry.path, state_of(found)


def is_settled(state: str, now: int) -> bool:
    """Whether a file with this state changed long enough before ``now``, nanoseconds since 1970."""
    return now - int(state.rpartition(" ")[2]) > SETTLED
