"""A pipeline that stands in a JSON file: its stages, and the place of each part."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mongo_tables.files.text import place_at, shorten_path
from mongo_tables.jsontext.document import Document, decode_at, syntax_findings
from mongo_tables.jsontext.reader import Path as Place
from mongo_tables.jsontext.reader import parse
from mongo_tables.results.model import Fault, combine_faults
from mongo_tables.results.testing.textfile import read_text

_HINT = 'a pipeline is an array of stages, or {"pipeline": […]}'


class PipelineFile(NamedTuple):
    """The stages that stand in a file, in Extended JSON; ``base`` leads to them."""

    stages: tuple[Mapping[str, Any], ...]
    document: Document
    base: Place

    def locate(self, path: Place) -> str:
        """Where a part of the pipeline stands: ``FILE:LINE:COLUMN`` of its key, or of what is nearest above it."""
        line, column = self.document.at_key((*self.base, *path))
        return f"{self.document.file}:{line}:{column}"


def read_pipeline(path: Path) -> PipelineFile:
    """The pipeline of a file. Raises ``ResultsError`` that tells all its faults, each with its place."""
    text = read_text(path)
    document = Document(shorten_path(path), parse(text), lambda offset: place_at(text, offset))
    findings = syntax_findings(document)
    value = document.parsed.value
    base: Place = ("pipeline",) if isinstance(value, dict) and "pipeline" in value else ()
    stages, malformed = decode_at(document, base, value["pipeline"] if base else value)
    faults = [Fault(path, one.line, one.column, one.message, one.hint) for one in (*findings, *malformed)]
    if not faults and not isinstance(stages, list):
        faults = [Fault(path, *document.at(base), "not a pipeline", _HINT)]
    if faults:
        raise combine_faults(faults)
    return PipelineFile(tuple(stages), document, base)
