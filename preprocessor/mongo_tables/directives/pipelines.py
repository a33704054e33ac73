"""Shared stage lists, ``docs/pipelines/NAME.json``. A pipeline includes one by its name in place of a stage.

A file has a list of stages, or ``{"description": …, "fields": {…}, "pipeline": […]}``. A shared list may include other
shared lists. ``fields`` explains the fields that the stages create, to readers of the tables. ``reasons`` says why a
row may lack a field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path as FilePath
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mongo_tables.directives.schemas.validation import schema_findings
from mongo_tables.files.folders import bad_byte, leads_within, may_be_file, place_at
from mongo_tables.files.memo import digest_of
from mongo_tables.findings import rules
from mongo_tables.findings.finding import Complaint, Finding, Place, did_you_mean
from mongo_tables.jsontext import Path
from mongo_tables.jsontext.reader import Document, decode_at, parse, value_at

Stage = Mapping[str, Any]
_NOTHING: Final[Mapping[Any, Any]] = {}


class SharedPipeline(NamedTuple):
    """One shared stage list, with included lists expanded.

    Attributes:
        name: The name of the list.
        file: Its file, or None if the list does not exist.
        stages: The stages, which must not run if a finding is an error.
        findings: Findings in the file and in the included files.
        known: The names of existing lists, if this list does not exist.
        fields: The meanings of fields that the stages create.
        reasons: The reasons why rows may lack fields, by field.
        written: The place of each stage, which may be in the file of an included list.
    """

    name: str
    file: str | None
    stages: tuple[Stage, ...] = ()
    findings: tuple[Finding, ...] = ()
    known: tuple[str, ...] = ()
    fields: Mapping[str, str] = _NOTHING
    reasons: Mapping[str, str] = _NOTHING
    written: tuple[SharedStage, ...] = ()


Lookup = Callable[[str], SharedPipeline | None]


class Expanded(NamedTuple):
    """A pipeline with its shared lists expanded.

    ``origins`` has the origin of each stage. It is empty if the comment has all stages in its own pipeline.
    """

    stages: tuple[Stage, ...]
    origins: tuple[Origin, ...]
    findings: tuple[Finding, ...]
    fields: Mapping[str, str] = _NOTHING
    reasons: Mapping[str, str] = _NOTHING


class SharedPipelines:
    """The shared stage lists of a folder, by name. A missing folder has no lists.

    The constructor reads all files of the folder, so later changes on disk have no effect.

    Args:
        folder: The folder of shared stage lists.
        texts: Texts that replace the texts of files, by the name of the file.
        values: The bodies of values that the settings define, by name.
    """

    def __init__(
        self,
        folder: FilePath,
        texts: Mapping[str, str] = _NOTHING,
        values: Mapping[str, Any] = _NOTHING,
    ) -> None:
        self.folder = folder
        self.values = values
        self._contents: dict[str, bytes | _Unread] = {}
        self._closed: _Unread | None = None
        files: list[FilePath] = []
        try:
            files += folder.iterdir()
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as fault:
            self._closed = Complaint(f"the file cannot be read ({fault.strerror})", "", 0)
        for path in files:
            if path.suffix == ".json" and may_be_file(path):
                self._contents[path.stem] = _read_content(path)
        for file, text in texts.items():
            if FilePath(file).parent == folder:
                self._contents[FilePath(file).stem] = text.encode("utf-8", "surrogatepass")
        self._lists: dict[str, SharedPipeline] = {}
        self._named: dict[str, dict[str, None]] = {}

    @cached_property
    def digest(self) -> str:
        """Return a digest of all data that a spec depends on besides its comment: the folder's name, all lists and
        all values.
        """
        lists = sorted(self._contents.items(), key=lambda pair: pair[0])
        return digest_of(self.folder.as_posix(), repr(self._closed), repr(lists), repr(self.values))

    @property
    def files(self) -> list[FilePath]:
        """Return the files of all lists, sorted."""
        return [self.folder / f"{name}.json" for name in sorted(self._contents)]

    def __call__(self, name: str) -> SharedPipeline:
        """Return the list called ``name``. Faults in its file are findings."""
        return self._load(name, ())

    def files_of(self, names: Iterable[str]) -> list[FilePath]:
        """Return the files of the named lists and of the lists that they include, each once. Names without a file
        are skipped.
        """
        found: dict[str, FilePath] = {}
        waiting = list(names)
        while waiting:
            name = waiting.pop(0)
            if name not in found and self(name).file is not None:
                found[name] = self.folder / f"{name}.json"
                waiting += self._named.get(name, ())
        return list(found.values())

    def _load(self, name: str, within: tuple[str, ...]) -> SharedPipeline:
        if name in self._lists:
            return self._lists[name]
        content = self._contents.get(name, self._closed)
        if content is None or not re.fullmatch(NAME, name):
            return SharedPipeline(name, None, known=tuple(sorted(self._contents)))
        file, names = (self.folder / f"{name}.json").as_posix(), (*within, name)
        if isinstance(content, Complaint):
            read = _unread(file, name, (0, 0), content.message, content.hint)
        elif bad := bad_byte(content):
            message = f"the file is not UTF-8: there is a byte 0x{bad.value:02x} here"
            read = _unread(file, name, (bad.line, bad.column), message)
        else:
            read = read_shared(content.decode(), file, name, lambda inner: self._inner(inner, names))
        self._lists[name] = read
        return read

    def _inner(self, name: str, within: tuple[str, ...]) -> SharedPipeline:
        self._named.setdefault(within[-1], {})[name] = None
        if name in within:
            way = " → ".join((*within[within.index(name) :], name))
            # ``_list_findings`` adds the place: that of the name in the including list.
            cycle = rules.finding("MT141", "", (0, 0), f"`{name}` contains itself: {way}", _CYCLE_HINT)
            return SharedPipeline(name, "", findings=(cycle,))
        return self._load(name, within)


NAME = "[A-Za-z0-9][A-Za-z0-9_-]*"
_CYCLE_HINT = "remove one of the names from its list"
_LINK_HINT = "replace the link by the file; a link may lead only to another file in the same folder"


_Unread: TypeAlias = Complaint[int]
"""The reason why a file cannot be read, with a hint."""


def _read_content(path: FilePath) -> bytes | _Unread:
    if not leads_within(path, path.parent):
        return Complaint("the file is a link that leads out of its folder", _LINK_HINT, 0)
    try:
        return path.read_bytes()
    except OSError as fault:
        return Complaint(f"the file cannot be read ({fault.strerror})", "", 0)


def _unread(file: str, name: str, at: tuple[int, int], message: str, hint: str = "") -> SharedPipeline:
    return SharedPipeline(name, file, findings=(rules.finding("MT142", file, at, message, hint),))


def read_shared(text: str, file: str, name: str, shared: Lookup) -> SharedPipeline:
    """Parse the text of a shared list. ``file`` is its name in findings; ``shared`` returns included lists."""
    document = Document(file, parse(text), partial(place_at, text))
    found = [document.locate(one) for one in document.parsed.problems]
    if document.parsed.readable:
        found += schema_findings(document, "pipeline", "a shared stage list")
    if any(finding.severity == "error" for finding in found):
        return SharedPipeline(name, file, findings=tuple(found))
    value = document.parsed.value
    base: Path = ("pipeline",) if isinstance(value, dict) else ()
    result = expand(document, base, value["pipeline"] if base else value, shared)
    own = value if base else {}
    fields, reasons = (
        {**inner, **own.get(key, {})}
        for key, inner in (("fields", result.fields), ("reasons", result.reasons))
    )
    written = tuple(each.written or SharedStage(document, each.path) for each in result.origins)
    found += result.findings
    return SharedPipeline(
        name, file, result.stages, tuple(found), fields=fields, reasons=reasons, written=written
    )


def expand(document: Document, base: Path, written: list[Any], shared: Lookup) -> Expanded:
    """Decode the stages at ``base``, and replace the names of shared lists by the stages of these lists."""
    stages: list[Stage] = []
    origins: list[Origin] = []
    found: list[Finding] = []
    fields: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for index, stage in enumerate(written):
        here = (*base, index)
        if isinstance(stage, str):
            if not re.fullmatch(
                NAME, stage
            ):  # The schema reports it. Such a name could lead out of the folder.
                continue
            part = shared(stage) or SharedPipeline(stage, None)
            stages += part.stages
            origins += [Origin(here, "shared", written=each) for each in part.written]
            found += _list_findings(document, here, part)
            fields |= part.fields
            reasons |= part.reasons
        else:
            value, malformed = decode_at(document, here, stage)
            stages.append(value)
            origins.append(Origin(here))
            found += malformed
    return Expanded(tuple(stages), tuple(origins), tuple(found), fields or _NOTHING, reasons or _NOTHING)


def _list_findings(document: Document, here: Path, part: SharedPipeline) -> list[Finding]:
    """Return the findings of the shared list named at ``here``. Findings without a file get the place ``here``."""
    if part.file is None:
        hint = did_you_mean(part.name, part.known)
        if not part.known:
            hint = f"add the file {part.name}.json to the folder of shared pipelines"
        elif not hint:
            hint = "possible names: " + ", ".join(f"`{name}`" for name in part.known)
        return [document.finding("MT140", here, f"unknown shared stage list `{part.name}`", hint)]
    return [
        each if each.file else document.finding(each.rule, here, each.message, each.hint)
        for each in part.findings
    ]


def hint_on_inner_name(pipeline: Iterable[Any], path: Path) -> str:
    """Return a hint if an inner pipeline has a string in place of a stage at ``path``, or else ""."""
    value = value_at(list(pipeline), path)
    if not isinstance(value, str) or value.startswith("$") or not path or not isinstance(path[-1], int):
        return ""  # A string with a dollar sign is an expression, not a name.
    return f"only the outermost pipeline can name a shared stage list: write the stages of `{value}` here instead"


class SharedStage(NamedTuple):
    """A stage in the file of a shared list, at ``path`` in ``document``."""

    document: Document
    path: Path

    def locate(self, inner: Path, *, key: bool) -> Place:
        """Return the place of the value at ``inner`` in the stage or, with ``key``, of its key."""
        path = (*self.path, *inner)
        line, column = self.document.at_key(path) if key else self.document.at(path)
        return Place(self.document.file, line, column)


class Origin(NamedTuple):
    """The place of a stage in a comment.

    Attributes:
        path: The path of the stage, of the name of its shared list, or of the key whose value is the stage's operand.
        form: Which of these three the path leads to.
        fields: The field names in the value of the key, if this value is a list of fields to sort by.
        written: The stage in the file of its shared list.
        offsets: For a computed column: where each part of the stage's operand is in the expression, by the path of the
            part.
    """

    path: Path
    form: Literal["stage", "shared", "key"] = "stage"
    fields: tuple[str, ...] = ()
    written: SharedStage | None = None
    offsets: Mapping[Path, int] = _NOTHING

    def offset(self, inner: Path) -> int | None:
        """Return the offset, in the expression, of the value at ``inner`` in the stage. Return None if there is no
        expression.
        """
        found = (self.offsets.get(inner[2:depth]) for depth in range(len(inner), 1, -1))
        return next((at for at in found if at is not None), None)

    def find(self, inner: Path) -> Path:
        """Return the path in the comment that corresponds to the path ``inner`` in the stage.

        If the comment has no value there, the result is the path of the nearest enclosing value.
        """
        if self.form == "stage":
            return (*self.path, *inner)
        operand = inner[1:]
        if self.form == "shared" or not operand:
            return self.path
        if self.fields:
            return (*self.path, self.fields.index(str(operand[0])))
        return (*self.path, *operand)
