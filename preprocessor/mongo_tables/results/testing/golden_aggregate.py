"""The fixture ``mongo_aggregate``: runs a pipeline on a test's fixtures and compares its rows with a golden file."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import pytest

from mongo_tables.aggregation.errors import format_path
from mongo_tables.files.text import place_at, shorten_path
from mongo_tables.jsontext.document import Document, decode_at, syntax_findings
from mongo_tables.jsontext.reader import Path as Place
from mongo_tables.jsontext.reader import parse
from mongo_tables.results.file_source import FileSource
from mongo_tables.results.model import Query, ResultsError, combine_faults, file_fault
from mongo_tables.results.testing import UPDATE, golden_files
from mongo_tables.results.testing.failures import fail, read_text, say, say_error
from mongo_tables.results.testing.golden_files import Line, describe, is_ordered

FOLDER: Final = "golden"
"""The folder next to the test file; in it each test file has a folder of its name."""
_UNSAFE: Final = r"[^\w.,=+@\[\]-]+"
_LONGEST: Final = 120

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
        lines = golden_files.write_lines(rows, ordered=ordered)
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
            golden = golden_files.read_lines(path, ordered=ordered)
        except ResultsError as error:
            fail(say_error(caller, error))
        if told := describe(golden, lines):
            head = f"the rows are not those of {shorten_path(path)} (- is there, + is now)"
            fail("\n".join([say(caller, head), *told, f"  hint: where they are right, {hint}"]))

    def _write(self, path: Path, lines: Sequence[Line], caller: str) -> None:
        """Write the golden file, unless a test wrote other rows to it in this run."""
        content = golden_files.content_of(lines)
        if self._written.setdefault(path, content) != content:
            message = f"another test of this run has other rows for {shorten_path(path)}"
            fail(say(caller, message, 'give each its own name: golden="…"'))
        try:
            golden_files.write(path, content)
        except OSError as error:
            fail(say(caller, f"{shorten_path(path)} cannot be written: {error.strerror}"))


def _name_of_test(node: pytest.Item) -> str:
    """Return a unique file name for a test: its classes, its own name and its parameters."""
    name = ".".join(one.name for one in node.listchain() if isinstance(one, pytest.Class | pytest.Item))
    safe = re.sub(_UNSAFE, "_", name)[:_LONGEST]
    return safe if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _place_of_call(frame: FrameType) -> str:
    """Return ``FILE:LINE:COLUMN`` of the current call in a frame."""
    at = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    line, column = at[0] or frame.f_lineno, (at[2] or 0) + 1
    return f"{shorten_path(Path(frame.f_code.co_filename))}:{line}:{column}"


_HINT = 'a pipeline is an array of stages, or {"pipeline": […]}'


class PipelineFile(NamedTuple):
    """The stages in a file, in Extended JSON; ``base`` is the path to them."""

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
