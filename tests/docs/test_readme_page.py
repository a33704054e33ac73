"""The page about READMEs: its files are written, its commands run one after the other, word by word, as a reader would."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import forked
from tests.docs.pageblocks import NAMED_FILE, assert_says, blocks

PAGE = Path(__file__).parents[2] / "docs" / "authors" / "readme.md"
_STATUS = re.compile(r"<!-- exit status: (\d) -->")


def test_every_command_of_the_page_does_what_the_page_says(tmp_path: Path) -> None:
    results = ""
    said = ""
    ran = 0
    for block in blocks(PAGE):
        if block.language == "sh":
            status = _STATUS.search(block.before)
            said = "".join(_run(block.text, tmp_path, int(status[1]) if status else 0))
            ran += len(block.text.splitlines())
        elif block.language == "text":
            assert_says(said, block.text)
        elif block.language == "json":
            results = (NAMED_FILE.findall(block.before) or [results])[-1]
            _write(tmp_path / results, block.text)
        elif block.language == "markdown" and (named := NAMED_FILE.findall(block.before)):
            _write(tmp_path / named[-1], block.text)
    assert ran == 8


def _write(file: Path, text: str) -> None:
    assert file.parent.is_dir(), f"{file.parent} was not made before"
    file.write_text(text, "utf-8")


def _run(text: str, folder: Path, expect: int) -> Iterator[str]:
    for line in text.splitlines():
        program, *arguments = shlex.split(line)
        if program == "pip":  # It is installed.
            continue
        if program == "mkdir":
            os.makedirs(folder / arguments[-1])  # noqa: PTH103
            continue
        done = forked.completed(program, arguments, folder, dict(os.environ))
        assert done.returncode == expect, (line, done.stdout, done.stderr)
        yield done.stdout + done.stderr


@pytest.mark.parametrize("name", ["database", "findings", "sources", "testing", "trust"])
def test_values_of_the_pages_for_authors_are_in_place_for_readers_of_the_code_host(name: str) -> None:
    text = (PAGE.parent / f"{name}.md").read_text("utf-8")
    prose = re.sub(r"(?ms)^```.*?^```$|`[^`\n]*`", "", text)
    comments = re.findall(r"(?s)<!-- (?:MONGO|RESULT)_(?:VALUE|TABLE): .*?-->(.{24})", prose)
    assert comments
    assert {text.strip()[:18] for text in comments} == {"<!-- mongo-tables:"}
