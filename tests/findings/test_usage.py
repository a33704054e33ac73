"""Whatever ends a command is said in one way."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.findings.rules import finding
from mongo_tables.findings.usage import CommandError, print_failure
from mongo_tables.results.model import ResultsError, combine_faults, file_fault


@pytest.mark.parametrize(
    "error",
    [
        CommandError("no\x1b[2J such", "name it"),
        ResultsError("no\x1b[2J such", hint="name it"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_error_is_a_line_and_a_hint_that_no_terminal_obeys(
    error: CommandError, capsys: pytest.CaptureFixture[str]
) -> None:
    assert print_failure(error) == 2
    assert capsys.readouterr() == ("", "mongo-tables: no\\x1b[2J such\n  hint: name it\n")


@pytest.mark.parametrize(
    "error",
    [
        CommandError("bad", findings=[finding("MT310", "a.toml", (2, 3), "wrong", "mend it")], sources={"a.toml": "x\ny = 1\n"}),
        combine_faults([file_fault(Path("a.jsonl"), (line, 3), "wrong", "mend it") for line in range(2, 26)]),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_what_is_wrong_in_files_is_said_with_its_places(
    error: CommandError, capsys: pytest.CaptureFixture[str]
) -> None:
    assert print_failure(error) == 2
    told = capsys.readouterr().err
    assert ":2:3: error MT310 wrong\n" in told
    assert "\n  hint: mend it\n" in told
    assert ("y = 1" in told) == ("a.toml" in told)
    assert ("4 more faults" in told) == ("a.jsonl" in told)
