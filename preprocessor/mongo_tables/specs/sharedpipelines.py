"""Shared stage lists: ``docs/pipelines/NAME.json``, named by a string where a stage could stand.

A file holds a list of stages, or ``{"description": …, "fields": {…}, "pipeline": […]}``. A shared list may name other
shared lists. ``fields`` says what the fields mean that the stages make, for readers of the tables that show them.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path as FilePath
from typing import Any, Final, NamedTuple

from mongo_tables.files.text import bad_byte, leads_within, may_be_file
from mongo_tables.findings import rules
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.jsontext.document import Document, decode_at, places, syntax_findings
from mongo_tables.jsontext.model import Path
from mongo_tables.jsontext.parsing import parse
from mongo_tables.schemas.validation import schema_findings
from mongo_tables.specs.origins import Origin, Written

Stage = Mapping[str, Any]
_NO_FIELDS: Final[Mapping[str, str]] = {}
_NO_TEXTS: Final[Mapping[str, str]] = {}


class SharedPipeline(NamedTuple):
    """One shared stage list, other shared lists in it expanded.

    ``fields`` has the meaning of fields that the stages make. ``file`` is None when there is no such list; ``known``
    then holds the names that there are. ``findings`` are complaints about the file (and those it names); stages with
    an error are not to be run. ``written`` says for each stage where it stands, be it in a list that this one names.
    """

    name: str
    file: str | None
    stages: tuple[Stage, ...] = ()
    findings: tuple[Finding, ...] = ()
    known: tuple[str, ...] = ()
    fields: Mapping[str, str] = _NO_FIELDS
    written: tuple[Written, ...] = ()


Lookup = Callable[[str], SharedPipeline | None]


class Expanded(NamedTuple):
    """A pipeline without names: its stages, where each of them comes from, findings, and what fields mean."""

    stages: tuple[Stage, ...]
    origins: tuple[Origin, ...]
    findings: tuple[Finding, ...]
    fields: Mapping[str, str] = _NO_FIELDS


class SharedPipelines:
    """The shared stage lists of a folder, each read once; call it with a name. A missing folder has none.

    ``texts`` are read in the place of files that are about to be written, by the names that findings have for them.
    """

    def __init__(self, folder: FilePath, texts: Mapping[str, str] = _NO_TEXTS) -> None:
        self.folder = folder
        self._texts = texts
        self._read: dict[str, SharedPipeline] = {}
        self._named: dict[str, dict[str, None]] = {}

    def __call__(self, name: str) -> SharedPipeline:
        """Give the list called ``name``; never raises for what stands in the folder."""
        return self._load(name, ())

    def files_of(self, names: Iterable[str]) -> list[FilePath]:
        """Give the files of lists, and of those that these name in turn, each once; of names without a file none."""
        found: dict[str, FilePath] = {}
        waiting = list(names)
        while waiting:
            name = waiting.pop(0)
            if name not in found and self(name).file is not None:
                found[name] = self.folder / f"{name}.json"
                waiting += self._named.get(name, ())
        return list(found.values())

    def _load(self, name: str, within: tuple[str, ...]) -> SharedPipeline:
        if name not in self._read:
            path = self.folder / f"{name}.json"
            names = (*within, name)
            there = path.as_posix() in self._texts or may_be_file(path)
            if not re.fullmatch(NAME, name) or not there:
                return SharedPipeline(name, None, known=_names(self.folder))
            self._read[name] = self._read_list(path, name, lambda inner: self._inner(inner, names))
        return self._read[name]

    def _read_list(self, path: FilePath, name: str, shared: Lookup) -> SharedPipeline:
        text = self._texts.get(path.as_posix())
        if text is None:
            return _read_file(path, name, shared)
        return read_shared(text, path.as_posix(), name, shared)

    def _inner(self, name: str, within: tuple[str, ...]) -> SharedPipeline:
        self._named.setdefault(within[-1], {})[name] = None
        if name in within:
            way = " → ".join((*within[within.index(name) :], name))
            # Place and file are those of the name, which only the reader of the naming list knows.
            cycle = rules.finding("MT141", "", (0, 0), f"`{name}` contains itself: {way}", _CYCLE_HINT)
            return SharedPipeline(name, "", findings=(cycle,))
        return self._load(name, within)


NAME = "[A-Za-z0-9][A-Za-z0-9_-]*"
_CYCLE_HINT = "remove one of the names from its list"
_LINK_HINT = "put the stages themselves into the folder; a link may lead only to another file in it"


def _names(folder: FilePath) -> tuple[str, ...]:
    files = filter(may_be_file, folder.glob("*.json")) if folder.is_dir() else ()
    return tuple(sorted(path.stem for path in files))


def _read_file(path: FilePath, name: str, shared: Lookup) -> SharedPipeline:
    file = path.as_posix()
    if not leads_within(path, path.parent):
        return _unread(file, name, (0, 0), "the file is a link that leads out of its folder", _LINK_HINT)
    try:
        content = path.read_bytes()
    except OSError as fault:
        return _unread(file, name, (0, 0), f"the file cannot be read ({fault.strerror})")
    if bad := bad_byte(content):
        message = f"the file is not UTF-8: byte 0x{bad.value:02x} stands here"
        return _unread(file, name, (bad.line, bad.column), message)
    return read_shared(content.decode(), file, name, shared)


def _unread(file: str, name: str, at: tuple[int, int], message: str, hint: str = "") -> SharedPipeline:
    return SharedPipeline(name, file, findings=(rules.finding("MT142", file, at, message, hint),))


def read_shared(text: str, file: str, name: str, shared: Lookup) -> SharedPipeline:
    """Read the text of one shared list; findings name ``file``, ``shared`` gives the lists that it names."""
    document = Document(file, parse(text), places(text))
    found = syntax_findings(document)
    if document.parsed.readable:
        found += schema_findings(document, "pipeline", "a shared stage list")
    if any(finding.severity == "error" for finding in found):
        return SharedPipeline(name, file, findings=tuple(found))
    value = document.parsed.value
    base: Path = ("pipeline",) if isinstance(value, dict) else ()
    result = expand(document, base, value["pipeline"] if base else value, shared)
    told = {**result.fields, **value.get("fields", {})} if base else result.fields
    written = tuple(each.written or Written(document, each.path) for each in result.origins)
    return SharedPipeline(name, file, result.stages, (*found, *result.findings), fields=told, written=written)


def expand(document: Document, base: Path, written: list[Any], shared: Lookup) -> Expanded:
    """Decode the stages written at ``base``, with the stages of shared lists in the place of their names."""
    stages: list[Stage] = []
    origins: list[Origin] = []
    found: list[Finding] = []
    fields: dict[str, str] = {}
    for index, stage in enumerate(written):
        here = (*base, index)
        if isinstance(stage, str):
            if not re.fullmatch(NAME, stage):  # The schema complains; and no name leads out of the folder.
                continue
            part = shared(stage) or SharedPipeline(stage, None)
            stages += part.stages
            origins += [Origin(here, "shared", written=each) for each in part.written]
            found += _list_findings(document, here, part)
            fields |= part.fields
        else:
            value, malformed = decode_at(document, here, stage)
            stages.append(value)
            origins.append(Origin(here))
            found += malformed
    return Expanded(tuple(stages), tuple(origins), tuple(found), fields)


def _list_findings(document: Document, here: Path, part: SharedPipeline) -> list[Finding]:
    """Give the findings of the shared list named at ``here``; findings without a file are placed there."""
    if part.file is None:
        hint = did_you_mean(part.name, part.known) or _suggest_known(part)
        return [document.finding("MT140", here, f"there is no shared stage list `{part.name}`", hint)]
    return [
        each if each.file else document.finding(each.rule, here, each.message, each.hint)
        for each in part.findings
    ]


def _suggest_known(part: SharedPipeline) -> str:
    if not part.known:
        return f"add the file {part.name}.json to the folder of shared pipelines"
    return "possible names: " + ", ".join(f"`{name}`" for name in part.known)


def hint_on_inner_name(pipeline: Iterable[Any], path: Path) -> str:
    """What to do where a path leads to a name instead of a stage, within a pipeline; "" where it leads elsewhere."""
    value: Any = list(pipeline)
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return ""
    if not isinstance(value, str) or value.startswith("$") or not path or not isinstance(path[-1], int):
        return ""  # What begins so is an expression, and no file's name.
    return f"a shared stage list is named in the outermost pipeline alone: write the stages of `{value}` in its place"
