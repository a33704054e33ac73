"""The fixture ``mongo_aggregate``: runs a pipeline on a test's fixtures and compares its rows with a golden file.

A golden file has the rows in Extended JSON, one per line, in the form of fixture files. The notation is that of
``extended_json``: as plain as possible, and each line decodes to the same values, types and order of fields. If the
pipeline does not decide the order of rows, they are sorted, because servers may differ in it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import pytest

from mongo_tables.aggregation.errors import format_path
from mongo_tables.aggregation.fields import Order, record_of
from mongo_tables.aggregation.value_order import key
from mongo_tables.files import atomic
from mongo_tables.files.folders import place_at, shorten_path
from mongo_tables.findings.finding import Complaint
from mongo_tables.jsontext.document import Document, decode_at, syntax_findings
from mongo_tables.jsontext.reader import Path as Place
from mongo_tables.jsontext.reader import parse
from mongo_tables.results import extended_json
from mongo_tables.results.extended_json import Form
from mongo_tables.results.file_source import FileSource
from mongo_tables.results.model import Query, ResultsError, combine_faults, file_fault
from mongo_tables.results.testing import UPDATE
from mongo_tables.results.testing.plugin import fail, read_text, say, say_error

FOLDER: Final = "golden"
"""The folder next to the test file; in it each test file has a folder of its name."""
_UNSAFE: Final = r"[^\w.,=+@\[\]-]+"
_LONGEST_NAME: Final = 120

Pipeline = Sequence[Mapping[str, Any]] | str | Path


class GoldenAggregate:
    """Runs pipelines for one test. Each call has its own golden file, named after the test or by the call."""

    def __init__(
        self, request: pytest.FixtureRequest, source: FileSource, written: dict[Path, bytes]
    ) -> None:
        self._request = request
        self._source = source
        self._written = written
        self._compared: set[Path] = set()

    def __call__(
        self,
        collection: str,
        pipeline: Pipeline,
        *,
        let: Mapping[str, Any] | None = None,
        golden: str = "",
    ) -> list[dict[str, Any]]:
        """Return the rows of a pipeline, after comparing them with the golden file or writing them to it.

        ``let`` are the variables of the command, ``golden`` names the file if it is not named after the test. The test
        fails if rows differ, the file does not exist, or a server would refuse the pipeline.
        """
        caller = _place_of_call(sys._getframe(1))
        path = self._find_golden_file(golden, caller)
        stages, rows = self._run(collection, pipeline, let or {}, caller)
        ordered = is_ordered(stages)
        lines = write_lines(rows, ordered=ordered)
        if self._request.config.getoption(UPDATE):
            self._write(path, lines, caller)
        else:
            self._compare(path, lines, ordered, caller)
        return rows

    def _run(
        self, collection: str, pipeline: Pipeline, let: Mapping[str, Any], caller: str
    ) -> tuple[Sequence[Mapping[str, Any]], list[dict[str, Any]]]:
        """Return the stages of a pipeline, and its rows."""
        file: PipelineFile | None = None
        try:
            if isinstance(pipeline, str | Path):
                file = read_pipeline(self._request.path.parent / pipeline)
                stages = file.stages
            else:
                stages = tuple(pipeline)
            return stages, self._source.aggregate(Query(collection, stages, let))
        except ResultsError as error:
            path = error.path or ()
            place = caller if file is None or not path else file.locate(path)
            fail(say_error(place, error, f" (at {format_path(path)})" if path and file is None else ""))

    def _find_golden_file(self, name: str, caller: str) -> Path:
        """Return the golden file of a call. Two calls of one test cannot share one."""
        if re.search(_UNSAFE, name) or name.startswith("."):
            message = f"`golden` is not the name of a file: {name!r}"
            fail(say(caller, message, "letters, digits and -_.,=+@[] make one"))
        file = self._request.path
        path = file.parent / FOLDER / file.stem / f"{name or _name_of_test(self._request.node)}.jsonl"
        if path in self._compared:
            message = f"the golden file {shorten_path(path)} is compared twice in one test"
            fail(say(caller, message, 'give each call a name: golden="…"'))
        self._compared.add(path)
        return path

    def _compare(self, path: Path, lines: Sequence[Line], ordered: bool, caller: str) -> None:
        hint = f"write it with: pytest {UPDATE} {shorten_path(self._request.path)}"
        if not path.exists():
            message = f"there is no golden file {shorten_path(path)}"
            fail(say(caller, message, hint))
        try:
            golden = read_lines(path, ordered=ordered)
        except ResultsError as error:
            fail(say_error(caller, error))
        if told := describe(golden, lines):
            head = f"the rows are not those of {shorten_path(path)} (- is there, + is now)"
            fail("\n".join([say(caller, head), *told, f"  hint: where they are right, {hint}"]))

    def _write(self, path: Path, lines: Sequence[Line], caller: str) -> None:
        """Write the golden file, unless a test wrote other rows to it in this run."""
        content = "".join(f"{line.text}\n" for line in lines).encode()
        if self._written.setdefault(path, content) != content:
            message = f"another test of this run has other rows for {shorten_path(path)}"
            fail(say(caller, message, 'give each its own name: golden="…"'))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_bytes() != content:
                atomic.write(path, content)
        except OSError as error:
            fail(say(caller, f"{shorten_path(path)} cannot be written: {error.strerror}"))


def _name_of_test(node: pytest.Item) -> str:
    """Return a unique file name for a test: its classes, its own name and its parameters."""
    name = ".".join(one.name for one in node.listchain() if isinstance(one, pytest.Class | pytest.Item))
    safe = re.sub(_UNSAFE, "_", name)[:_LONGEST_NAME]
    return safe if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _place_of_call(frame: FrameType) -> str:
    """Return ``FILE:LINE:COLUMN`` of the current call in a frame."""
    at = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    line, column = at[0] or frame.f_lineno, (at[2] or 0) + 1
    return f"{shorten_path(Path(frame.f_code.co_filename))}:{line}:{column}"


_HINT = 'a pipeline is an array of stages, or {"pipeline": […]}'


class PipelineFile(NamedTuple):
    """The stages in a file, in Extended JSON. ``base`` is the path to them."""

    stages: tuple[Mapping[str, Any], ...]
    document: Document
    base: Place

    def locate(self, path: Place) -> str:
        """Return ``FILE:LINE:COLUMN`` of a part of the pipeline: of its key, or of the nearest part above it."""
        line, column = self.document.at_key((*self.base, *path))
        return f"{self.document.file}:{line}:{column}"


def read_pipeline(path: Path) -> PipelineFile:
    """Return the pipeline of a file. Raises ``ResultsError`` with all its faults and their places."""
    text = read_text(path)
    document = Document(shorten_path(path), parse(text), lambda offset: place_at(text, offset))
    findings = syntax_findings(document)
    value = document.parsed.value
    base: Place = ("pipeline",) if isinstance(value, dict) and "pipeline" in value else ()
    stages, malformed = decode_at(document, base, value["pipeline"] if base else value)
    faults = [*findings, *malformed]
    if not faults and not isinstance(stages, list):
        faults = [file_fault(path, document.at(base), "not a pipeline", _HINT)]
    if faults:
        raise combine_faults(faults)
    return PipelineFile(tuple(stages), document, base)


# -- golden files --


def is_ordered(pipeline: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the pipeline decides the order of rows.

    It does if the last stage with an effect on the order sorts, or gives a single document.

    Documents come as they are stored, groups and unions in any order. ``pipeline`` has run without an error.
    """
    ordered = False
    for stage in pipeline:
        ((name, argument),) = stage.items()
        record = record_of(name)
        if record is None:
            continue
        if record.single(argument):
            ordered = True
        elif (order := record.order(argument)) is not Order.KEPT:
            ordered = order is Order.SORTED
    return ordered


_WRAPPED: Final = '{"":'
"""A row is written and read as the field of another document: PyMongo would move the ``_id`` of an outer one."""
_ANY_ROW: Final = Form(needs_id=False)


class Line(NamedTuple):
    """A row as text, and its line number if it was read from a file."""

    text: str
    number: int = 0


def write_lines(rows: Iterable[dict[str, Any]], *, ordered: bool) -> list[Line]:
    """Return the lines of rows, in their order if they are ``ordered``, else sorted by the rows' values."""
    return _put_in_order(((row, Line(extended_json.write_value(row))) for row in rows), ordered)


def read_lines(path: Path, *, ordered: bool) -> list[Line]:
    """Return the lines of a golden file, each as ``write_lines`` would write it.

    Raises ``ResultsError`` for all faults. A row in another notation, with blanks or as canonical Extended JSON, is the
    same row.
    """
    found: list[tuple[dict[str, Any], Line]] = []
    faults = []
    for number, text in enumerate(read_text(path).split("\n"), 1):
        for one in _read_row(text) if text.strip() else ():
            if isinstance(one, Complaint):
                faults.append(file_fault(path, (number, one.at + 1), one.message, one.hint))
            else:
                found.append((one[""], Line(extended_json.write_value(one[""]), number)))
    if faults:
        raise combine_faults(faults)
    return _put_in_order(found, ordered)


def _put_in_order(found: Iterable[tuple[dict[str, Any], Line]], ordered: bool) -> list[Line]:
    # As a server sorts documents, equal ones by their text.
    lines = list(found) if ordered else sorted(found, key=lambda one: (key(one[0]), one[1].text))
    return [line for _, line in lines]


def _read_row(text: str) -> Iterator[dict[str, Any] | Complaint[int]]:
    """Yield the row of a line, which is parsed within another document, or its faults, located in the line itself."""
    faults = [one for one in extended_json.read(text, _ANY_ROW) if isinstance(one, Complaint)]
    yield from faults or extended_json.read(f"{_WRAPPED}{text}}}", _ANY_ROW)


_ROWS_SHOWN: Final = 10
_LONGEST: Final = 160
_NONE: Final = Line("")


def describe(golden: Sequence[Line], found: Sequence[Line]) -> list[str]:
    """Return the lines that describe all differences, or the first ones of many, or nothing if there are none.

    ``-`` marks the rows of the golden file, ``+`` the new ones.
    """
    told = list(_differences(golden, found))
    lines = [line for one in told[:_ROWS_SHOWN] for line in one]
    return [*lines, f"and {len(told) - _ROWS_SHOWN} more rows"] if len(told) > _ROWS_SHOWN else lines


def _differences(golden: Sequence[Line], found: Sequence[Line]) -> Iterator[list[str]]:
    """Yield the lines about each row that differs, or is on one side only."""
    texts = [line.text for line in golden], [line.text for line in found]
    for kind, start, end, begin, stop in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        there, here = islice(golden, start, end), islice(found, begin, stop)
        for number, (old, new) in enumerate(zip_longest(there, here, fillvalue=_NONE), begin + 1):
            yield _describe_row(old, new, number)


def _describe_row(old: Line, new: Line, number: int) -> list[str]:
    if not new.text:
        return [f"line {old.number} has a row that is not there now:", f"  - {_cut(old.text)}"]
    if not old.text:
        return [f"row {number} is new:", f"  + {_cut(new.text)}"]
    return [
        f"row {number}, line {old.number}:",
        *_describe_fields(json.loads(old.text), json.loads(new.text)),
    ]


def _describe_fields(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    differences = [
        f"  {sign} {path}: {_cut(_text(value))}"
        for path, pair in _fields(old, new, "")
        for sign, value in pair
    ]
    order = [
        f"  {sign} fields in this order: {_cut(', '.join(row))}" for sign, row in (("-", old), ("+", new))
    ]
    # If only a nested document has another order, both rows are shown whole.
    whole = [f"  {sign} {_cut(_text(row))}" for sign, row in (("-", old), ("+", new))]
    return differences or (order if list(old) != list(new) else whole)


_Pair = list[tuple[str, Any]]


def _fields(old: dict[str, Any], new: dict[str, Any], above: str) -> Iterator[tuple[str, _Pair]]:
    """Yield every field that differs, by its path, with both values. An array is one value."""
    for name in dict.fromkeys([*old, *new]):
        path = f"{above}{name}"
        pair: _Pair = [(sign, row[name]) for sign, row in (("-", old), ("+", new)) if name in row]
        values = [value for _, value in pair]
        if len(pair) == 2 and all(map(_is_document, values)):
            yield from _fields(values[0], values[1], f"{path}.")
        elif len(pair) == 1 or _text(values[0]) != _text(values[1]):
            yield path, pair


def _is_document(value: Any) -> bool:
    """Return whether a value is a document, not a wrapper of Extended JSON such as ``{"$numberLong": "5"}``."""
    return isinstance(value, dict) and not any(name.startswith("$") for name in value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
