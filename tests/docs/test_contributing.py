"""CONTRIBUTING and the architecture page: the files that they name exist, and a change touches few of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "preprocessor" / "mongo_tables"
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
ARCHITECTURE = (ROOT / "docs" / "contributing" / "architecture.md").read_text("utf-8")
RECIPES = dict(re.findall(r"^### (.+)\n\n(.+?)(?=^##)", TEXT, re.MULTILINE | re.DOTALL))
MOST_STEPS = 5
_NAMED = re.compile(r"`([\w./-]+(?:/|\.(?:py|md|json|jsonl|toml|yml|txt|css)))`")
_VARIABLE = re.compile(r"(?<![A-Za-z])(?:NAME|TOPIC|ID|WHAT|FOLDER|X)(?![A-Za-z])")


def exists(name: str) -> bool:
    """Whether a file or folder is there; of a name with a variable part, the folder before that part."""
    variable = _VARIABLE.search(name)
    known = Path(name[: variable.start()] + "…").parent if variable else Path(name)
    return any((root / known).exists() for root in (ROOT, PACKAGE, PACKAGE.parent))


@pytest.mark.parametrize("name", sorted(set(_NAMED.findall(TEXT + ARCHITECTURE))))
def test_each_path_exists(name: str) -> None:
    assert exists(name)


@pytest.mark.parametrize("what", RECIPES)
def test_a_change_takes_at_most_five_steps(what: str) -> None:
    assert 1 <= len(re.findall(r"^\d+\. ", RECIPES[what], re.MULTILINE)) <= MOST_STEPS


def test_a_path_that_is_not_there_is_seen() -> None:
    assert not exists("lint/nothing.py")
    assert not exists("nowhere/NAME.py")


def test_it_is_read_in_one_sitting() -> None:
    assert len(TEXT.splitlines()) <= 150
