"""Pages and results that are edited before, between and during builds, by chance: no door mixes contents of a file.

* During a build each file counts with one whole content that it had then, the same for all pages: what a door shows
  is what it shows of a folder in which every file rests at one of these contents.
* What a door keeps in memory between two builds never shows: a process that starts then shows the same.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from mkdocs.config.defaults import MkDocsConfig

from mongo_tables.cli import main
from mongo_tables.commands.check.pages import check_paths
from mongo_tables.lsp.session import Session, request_of
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import Request
from mongo_tables.site.site_config import find_site
from tests.hosts.inprocess import CONFIG, Outcome, built, seen, value, write

SEEDS: Final = [*range(3), *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(3, 60))]


def table(name: str, stages: str) -> str:
    return (
        f'<!-- MONGO_TABLE: {{"id": "{name}", "collection": "r", "pipeline": [{stages}{{"$sort": {{"_id": 1}}}}], '
        '"columns": ["a", "n"], "headers": ["Kind", "Trains"]} -->'
    )


def documents(*numbers: int, first: int = 1) -> str:
    names = {1: "x", 2: "y", 3: "z"}
    return "".join(
        f'{{"_id": {at}, "a": "{names.get(at, at)}", "n": {number}}}\n'
        for at, number in enumerate(numbers, first)
    )


LATE: Final = '"late", '

CONTENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "docs/index.md": (
        f"# The first\n\n{table('one', '')}\n\nIt has {value('one')}.\n",
        f"# The first\n\nNew words, and {value('one', row='x')}.\n\n{table('one', '')}\n",
        f"# The first\n\n{table('one', '')}\n\nIt has {value('one', column='m')}.\n",
        f"# Without\n\n{table('another', '')}\n",
    ),
    "docs/other.md": (
        f"# The second\n\n{table('other', LATE)}\n\nThe other page says {value('one')}.\n",
        f'# The second\n\nThe other page says {value("one", row="x")}.\n\n--8<-- "docs/part.txt"\n',
        f"# The second\n\n{table('one', '')}\n",
    ),
    "docs/pipelines/late.json": (
        '[{"$match": {"n": {"$gt": 4}}}]\n',
        '[{"$match": {"n": {"$gt": 0}}}, {"$limit": 1}]\n',
        '[{"$match": {"n": {"$gt": 0}}]\n',
    ),
    "docs/part.txt": (
        f"A part with {value('one')}.\n",
        f"A part with {value('one', row='x')} and {value('none')}.\n",
    ),
    "fixtures/r/a.jsonl": (documents(3, 5), documents(30, 50), documents(30), '{"_id": 1,\n'),
    "fixtures/r/b.jsonl": (documents(7, first=3), documents(70, 71, first=3), documents(5, first=2)),
}
"""What files may have: of the first two everything is sound, of others not."""

State = Mapping[str, str]
REST: Final[State] = {name: contents[0] for name, contents in CONTENTS.items()}


# -- doors: what each shows of the site in the working folder --


def check() -> Any:
    with closing(Answers("fixtures")) as source:
        request = Request(find_site(Path()), "docs/pipelines", "fixtures")  # type: ignore[arg-type]
        return list(check_paths(["docs"], request, source).findings)


def render(capsys: pytest.CaptureFixture[str] | None = None) -> Any:
    status = main(["render", "docs", "--output", "out"])
    files = {file.as_posix(): file.read_text("utf-8") for file in sorted(Path("out").rglob("*.md"))}
    shutil.rmtree("out", ignore_errors=True)
    return status, files


def mkdocs(*, preview: bool = False, build: Callable[..., Outcome] = built) -> Any:
    outcome = build(Path(), preview=preview)
    shown = {}
    if outcome.done:
        shown = {page: seen(Path(), f"{page}index.html") for page in ("", "other/")}
    shutil.rmtree("site", ignore_errors=True)
    logged = [line.replace(f"{Path.cwd()}/", "") for line in (*outcome.errors, *outcome.warnings)]
    return outcome.done, sorted(logged), shown


def editor(session: Session | None = None) -> Any:
    session = session or Session(lambda: request_of(None, "fixtures", None, database=False))
    session.look_again()
    found = (one for each in session.check().diagnostics.values() for one in each)
    # Of other files than pages a check has findings alone: their places are looked up once more.
    return [(one.finding, one.span if one.finding.file.endswith(".md") else None) for one in found]


PLUGIN: Final = f"{CONFIG}plugins: [mongo-tables]\nexclude_docs: part.txt\n"
EXTENSION: Final = f"{CONFIG}plugins: []\nmarkdown_extensions: [mongo-tables]\nexclude_docs: pipelines/\n"
DOORS: Final[Mapping[str, tuple[str, Callable[[], Any]]]] = {
    "check": (PLUGIN, check),
    "render": (PLUGIN, render),
    "mkdocs": (PLUGIN, mkdocs),
    "extension": (EXTENSION, mkdocs),
    "editor": (PLUGIN, editor),
}


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


def lay_out(folder: Path, config: str, state: State) -> Path:
    return write(folder, {"mkdocs.yml": config, **state})


class Fresh:
    """What a door shows of files at rest, in a folder that nobody has seen."""

    def __init__(self, root: Path, door: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.patch = root, monkeypatch
        self.config, self.show = DOORS[door]
        self.folders = 0

    def of(self, state: State, **options: Any) -> Any:
        self.folders += 1
        folder = lay_out(self.root / f"fresh-{self.folders}", self.config, state)
        with self.patch.context() as patch:
            patch.chdir(folder)
            return self.show(**options)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("door", DOORS)
def test_a_file_counts_with_one_content_that_it_had_during_a_build(
    door: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(f"{door} {seed}")
    config, show = DOORS[door]
    fresh = Fresh(tmp_path, door, monkeypatch)
    before = {name: chance.choice(contents[:2] * 2 + contents) for name, contents in CONTENTS.items()}
    with monkeypatch.context() as patch:
        patch.chdir(lay_out(tmp_path / "counted", config, before))
        with edited(Edits(str(Path.cwd()))) as counted:
            show()
    assert counted.opened >= len(CONTENTS) - 2
    moments = sorted(chance.sample(range(1, counted.opened + 1), 2))
    edits = [(name, chance.choice(CONTENTS[name])) for name in chance.choices([*CONTENTS], k=2)]
    folder = lay_out(tmp_path / "edited", config, before)
    monkeypatch.chdir(folder)
    with edited(Edits(str(folder), dict(zip(moments, edits, strict=True)))):
        found = show()
    had = {
        name: dict.fromkeys([before[name], *(text for other, text in edits if other == name)])
        for name in before
    }
    possible = [dict(zip(had, contents, strict=True)) for contents in product(*had.values())]
    assert any(fresh.of(state) == found for state in possible), (moments, edits, found)


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


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("door", ["mkdocs", "extension", "editor"])
def test_what_is_kept_between_builds_never_shows(
    door: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(f"{door} {seed}")
    fresh = Fresh(tmp_path, door, monkeypatch)
    state = dict(REST)
    folder = lay_out(tmp_path / "kept", DOORS[door][0], state)
    monkeypatch.chdir(folder)
    session = Session(lambda: request_of(None, "fixtures", None, database=False))
    build = partial(rebuilt, plugins=Kept())
    for number in range(4):
        for name in chance.sample([*CONTENTS], chance.choice([0, 1, 1, 2])) if number else ():
            # Back to what it was is an edit, too.
            state[name] = chance.choice(CONTENTS[name])
            Edits(str(folder)).make(name, state[name])
        if door == "editor":
            assert editor(session) == fresh.of(state), (number, state)
        else:
            shown = mkdocs(preview=True, build=build)
            assert shown == fresh.of(state, preview=True), (number, state)
