"""A file that is one JSON text, for the readers of formats of tools: its value, with the place of every part."""

from __future__ import annotations

from preprocessor.files.text import place_at
from preprocessor.jsontext.document import nearest
from preprocessor.jsontext.model import Path
from preprocessor.jsontext.parsing import Parsed, parse
from preprocessor.results.fixturetext import combine_faults
from preprocessor.results.formats.model import SourceFile
from preprocessor.results.model import Fault, ResultsError


def parse_file(file: SourceFile) -> Parsed:
    """The value of the file, with places. Raises ``ResultsError`` that tells every fault of its JSON."""
    parsed = parse(file.text())
    if parsed.problems:
        raise combine_faults(
            [
                Fault(file.path, *place_at(parsed.text, each.offset), each.message, each.hint)
                for each in parsed.problems
            ]
        )
    return parsed


def refuse_part(file: SourceFile, parsed: Parsed, path: Path, message: str, hint: str = "") -> ResultsError:
    """The error that the part at ``path`` is not as its format has it."""
    return file.refuse(message, *place_at(parsed.text, nearest(parsed.positions, path)), hint)
