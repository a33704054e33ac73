"""A file of any format with something wrong in it is read, or refused in clear lines: no traceback, nothing half read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import bson
import pytest
from jsonschema import Draft7Validator

from mongo_tables.directives.schemas import load
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.results.extended_json import write_line
from mongo_tables.results.file_source import FileSource
from mongo_tables.results.formats import find_format
from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.model import ResultsError
from mongo_tables.results.source_text import SourcePart
from tests.results.formats.test_recorded import FILES

DRAWS = 400
"""The mutated files of a test run. ``mutate_and_read(5000, seed)`` and ``change_and_read`` try more."""
VALIDATOR = Draft7Validator(load("benchmark"))
PLAIN = {
    "t.json": '[{"name": "a", "n": 1, "at": {"$date": "2026-01-01T00:00:00Z"}}, {"name": "b", "n": 2.5, "l": [1, null]}]',
    "t.jsonl": '{"name": "a", "n": 1}\n{"name": "b", "n": {"$numberDecimal": "2.50"}}\n',
    "t.csv": "name,version,n,day\na,3.9,1.50,2026-10-01\nb,3.10,2.25,2026-10-02\n",
    "t.tsv": "name\tn\na\t1\nb\t\n",
}
PIECES = [
    b"", b"\0", b"\xff\xfe", b"\xed\xa0\x80", b'"', b"'", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r\n", b"\t", b"#", b"-",
    b"NaN", b"-Infinity", b"null", b"true", b"1e999", b"1e300", b"9" * 40, b"18446744073709551616", b"-1", b"0.1", b"007",
    b'{"$date": "yesterday"}', b'{"$oid": "5f"}', b'"\\ud800"', b'"\\u0000"', b"[" * 200, b'{"a":' * 120, b"Benchmark",
    b"panic: x\n", b"test x ... bench: 1 ns", b"[READ], ", b"\xc3\xa9", "\u2028".encode(), b"3.10", b"--- FAIL: x\n",
]  # fmt: skip


def mutate(content: bytes, random: Random) -> bytes:
    """Change a content in one to three places."""
    for _ in range(random.randint(1, 3)):
        start = random.randrange(len(content) + 1)
        end = min(len(content), start + random.choice((0, 1, 5, 40, 400)))
        numbers = list(re.finditer(rb"-?\d+(?:\.\d+)?|\"[^\"\n]*\"|null|true", content[start : start + 4000]))
        match random.randrange(6):
            case 0:
                content = content[:start] + random.choice(PIECES) + content[end:]
            case 1:
                content = content[:start] + content[end:]
            case 2:
                content = content[:end] + content[start:]
            case 3 if numbers:  # A value becomes another one.
                chosen = random.choice(numbers)
                content = (
                    content[: start + chosen.start()]
                    + random.choice(PIECES)
                    + content[start + chosen.end() :]
                )
            case 4:
                content = content[:start] if random.random() < 0.5 else content[start:]
            case _ if random.random() < 0.1:
                content = content.decode("utf-8", "replace").encode(
                    random.choice(("utf-16", "utf-16-le", "utf-32"))
                )
    return content


OPTIONAL = {b"data"}
"""Keys that a tool writes on request: nobody can know that one is missing."""


def change_once(content: bytes, random: Random) -> bytes:
    """Change a key, a number or a line of a content."""
    match random.randrange(3):
        case 0 if keys := sorted(set(re.findall(rb'"([A-Za-z_]\w*)"\s*:', content)) - OPTIONAL):
            key = random.choice(keys)
            other = random.choice((key + b"x", key[1:], key.upper(), b"zz"))
            pattern = rb'"' + key + rb'"(\s*:)'
            return re.sub(pattern, rb'"' + other + rb'"\1', content, count=random.randrange(2))
        case 1:
            number = random.choice(list(re.finditer(rb"-?\d+(?:\.\d+)?", content)))
            other = random.choice((b"", b"x", b"-1", b"1e999", b"null", b'"a"', b"NaN", b"[]"))
            return content[: number.start()] + other + content[number.end() :]
    lines = content.splitlines(keepends=True)
    index = random.choice([number for number, line in enumerate(lines) if b'"data"' not in line])
    line = lines[index]
    at = random.randrange(len(line))
    lines[index] = random.choice(
        (line[1:], line[:at] + line[at + 1 :], line[:at] + random.choice(PIECES) + line[at:], line * 2)
    )
    return b"".join(lines)


MARKS = {
    "hyperfine": rb'"command"\s*:', "JMH": rb'"primaryMetric"\s*:', "pytest-benchmark": rb'"fullname"\s*:',
    "Vitest": rb'"rme"\s*:', "Rust benchmark": rb"ns/iter", "Criterion": rb'"measured_values"', "Go benchmark": rb"ns/op",
    "YCSB": rb"(?m)^\[?\S+\]?, \S+, [\d.]+", "Google Benchmark": rb'"real_time"\s*:', "Bencher Metric Format": rb'"value"\s*:',
}  # fmt: skip
"""What each record has, by format."""


def figures_of(path: Path) -> tuple[str, int, int]:
    """The format of a file, its records by their marks, and the figures that are read."""
    documents = FileSource("fuzz", [SourcePart("", str(path), "")]).documents(path.stem)
    found = find_format(SourceFile(path))
    assert found is not None
    figures = sum(one.get("count", 1) if "samples" in one else 1 for one in documents)
    lost = sum("not finite" in str(one.get("failed")) for one in documents)
    return found.name, len(re.findall(MARKS[found.name], path.read_bytes())), figures + lost


def change_and_read(draws: int, seed: int, folder: Path) -> int:
    """Read files with one change; return how many were refused. Others have the records of the unchanged file."""
    random, refused = Random(seed), 0
    for draw in range(draws):
        original = random.choice([path for path in FILES if path.name != "private-estimates.json"])
        path = folder / f"{draw}{original.suffix}"
        path.write_bytes(original.read_bytes())
        tool, records, figures = figures_of(path)
        path.write_bytes(change_once(path.read_bytes(), random))
        try:
            read_as, now, left = figures_of(path)
        except ResultsError as error:
            assert "\n" not in error.message, draw
            refused += 1
        else:
            assert read_as == tool, draw
            assert left - figures >= min(0, now - records), draw
        path.unlink()
    return refused


def mutate_and_read(draws: int, seed: int, folder: Path) -> int:
    """Read mutated files through a source; return how many were refused. Any other exception is a failure."""
    random, refused = Random(seed), 0
    originals = [(path.name, path.read_bytes()) for path in FILES]
    originals += [(name, text.encode()) for name, text in PLAIN.items()]
    for draw in range(draws):
        name, content = random.choice(originals)
        path = folder / f"{draw}{Path(name).suffix}"
        path.write_bytes(mutate(content, random))
        source = FileSource("fuzz", [SourcePart("", str(path), "")])
        try:
            documents = source.documents(str(draw))
        except ResultsError as error:
            refused += 1
            assert "\n" not in error.message, draw
            assert error.message.startswith(str(path)), draw
            assert escape_control_chars(error.message).isprintable(), draw
            continue
        found = find_format(SourceFile(path))
        for one in documents:
            line = write_line(bson.encode(one))
            if found is not None and found.marks:
                assert [*VALIDATOR.iter_errors(json.loads(line))] == [], draw
        path.unlink()
    return refused


@pytest.mark.parametrize("seed", range(4))
def test_a_mutated_file_is_read_or_refused_in_clear_lines(tmp_path: Path, seed: int) -> None:
    assert mutate_and_read(DRAWS // 4, seed, tmp_path) > 0


@pytest.mark.parametrize("seed", range(4))
def test_a_file_of_a_tool_with_one_change_is_read_whole_or_refused(tmp_path: Path, seed: int) -> None:
    assert change_and_read(DRAWS // 4, seed, tmp_path) > 0
