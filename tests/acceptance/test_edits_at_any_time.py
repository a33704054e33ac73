"""Pages and results that are edited before, between and during builds, by chance: no door mixes contents of a file.

* During a build or a preview each file counts with one whole content that it had then, the same for all pages: what a
  door shows is what it shows of a folder in which every file rests at one of these contents.
* What a door keeps in memory between two builds never shows: a process that starts then shows the same.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from mkdocs.config.defaults import MkDocsConfig

from mongo_tables.lsp.session import Session, request_of
from tests import forked
from tests.acceptance.edited_site import CONTENTS, DOORS, REST, State, editor, mkdocs, shown_by
from tests.hosts.inprocess import Outcome, built, write

SEEDS: Final = [*range(2), *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(2, 30))]


# -- edits --


@dataclass
class Edits:
    """Edits that are made when files of the site are opened for the n-th time."""

    folder: str
    due: dict[int, tuple[str, str]] = field(default_factory=dict)
    opened: int = 0

    def see(self, path: object) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        name = os.path.relpath(os.path.abspath(os.fsdecode(path)), self.folder)  # noqa: PTH100
        if name not in CONTENTS:
            return
        self.opened += 1
        if (edit := self.due.pop(self.opened, None)) is not None:
            self.make(*edit)

    def make(self, name: str, text: str) -> None:
        """Save as editors do: nobody sees half a file."""
        saved = Path(self.folder, "saved")
        saved.write_text(text, "utf-8")
        saved.replace(Path(self.folder, name))


_watching: list[Edits] = []


def _see(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _watching:
        _watching[-1].see(arguments[0])


sys.addaudithook(_see)


@contextmanager
def edited(edits: Edits) -> Iterator[Edits]:
    _watching.append(edits)
    try:
        yield edits
    finally:
        _watching.pop()


class Fresh:
    """What a door shows in a process that starts now, of files at rest."""

    def __init__(self, root: Path, door: str) -> None:
        self.root, self.door = root, door
        self.folders = 0

    def of(self, state: State) -> Any:
        self.folders += 1
        folder = self.root / f"fresh-{self.folders}"
        folder.mkdir()
        return forked.called(shown_by, self.door, state, folder, folder=folder)

    def shows(self, found: Any, before: State, edits: Sequence[tuple[str, str]]) -> bool:
        """Whether a door shows ``found`` where each file rests at a content that it had while it was edited."""
        had = {
            name: dict.fromkeys([text, *(new for edited, new in edits if edited == name)])
            for name, text in before.items()
        }
        return any(
            self.of(dict(zip(had, contents, strict=True))) == found for contents in product(*had.values())
        )


def draw_edits(chance: random.Random, opened: int) -> dict[int, tuple[str, str]]:
    """Two edits, and after how many files that were opened."""
    names = chance.choices([*CONTENTS], k=2)
    moments = sorted(chance.sample(range(1, opened + 1), 2))
    return {at: (name, chance.choice(CONTENTS[name])) for at, name in zip(moments, names, strict=True)}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("door", DOORS)
def test_a_file_counts_with_one_content_that_it_had_during_a_build(
    door: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(f"{door} {seed}")
    config, show = DOORS[door]
    before = {name: chance.choice(contents[:2] * 2 + contents) for name, contents in CONTENTS.items()}
    with monkeypatch.context() as patch:
        patch.chdir(write(tmp_path / "counted", {"mkdocs.yml": config, **before}))
        with edited(Edits(str(Path.cwd()))) as counted:
            show()
    assert counted.opened >= len(CONTENTS) - 2
    edits = draw_edits(chance, counted.opened)
    folder = write(tmp_path / "edited", {"mkdocs.yml": config, **before})
    monkeypatch.chdir(folder)
    with edited(Edits(str(folder), dict(edits))):
        found = show()
    assert Fresh(tmp_path, door).shows(found, before, [*edits.values()]), (edits, found)


class Kept(dict[Any, Any]):
    """The plugins of a preview, which MkDocs keeps between two builds."""

    def clear(self) -> None:
        """Leave them."""


def rebuilt(folder: Path, *, preview: bool, plugins: Kept) -> Outcome:
    """Build again in the process of a preview."""
    option = dict(MkDocsConfig._schema)["plugins"]
    others, option.plugin_cache = option.plugin_cache, plugins
    try:
        return built(folder, preview=preview)
    finally:
        option.plugin_cache = others


def lasting(door: str) -> Callable[[], Any]:
    """A door that stays open: what it shows now."""
    if door == "editor":
        return partial(editor, Session(lambda: request_of(None, "fixtures", None, database=False)))
    return partial(mkdocs, preview=True, build=partial(rebuilt, plugins=Kept()))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("door", ["mkdocs preview", "extension preview", "editor"])
def test_what_is_kept_between_builds_never_shows(
    door: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(f"{door} {seed}")
    fresh = Fresh(tmp_path, door)
    state = dict(REST)
    folder = write(tmp_path / "kept", {"mkdocs.yml": DOORS[door][0], **state})
    monkeypatch.chdir(folder)
    show = lasting(door)
    for number in range(3):
        for name in chance.sample([*CONTENTS], chance.choice([0, 1, 1, 2])) if number else ():
            # Back to what it was is an edit, too.
            state[name] = chance.choice(CONTENTS[name])
            Edits(str(folder)).make(name, state[name])
        with edited(Edits(str(folder))) as counted:
            assert show() == fresh.of(state), (number, state)
        edits = draw_edits(chance, max(2, counted.opened))
        with edited(Edits(str(folder), dict(edits))) as during:
            found = show()
        made = [edit for at, edit in edits.items() if at not in during.due]
        assert fresh.shows(found, state, made), (number, state, edits, found)
        state |= made
