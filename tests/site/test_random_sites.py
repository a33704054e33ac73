"""A random site, edited at random: what is built from what was kept is what would be built from nothing.

Pages are written by authors, by a hook, and by both; they include files, speak of each other's tables and share a
pipeline. After each edit the site is built twice, with the cache of all builds before and page by page, and without any
and all pages at once, and every file of the two must be equal, or both builds must end with the same faults.

    MONGO_TABLES_STEPS=2000 python -m pytest tests/site/test_random_sites.py   # as many edits, other ones each time
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from mongo_tables.site import pagebypage
from tests.site.inprocess import Outcome, built, write

STEPS = int(os.environ.get("MONGO_TABLES_STEPS", "0"))
EDITS = 20
"""Of one site, before another one is begun."""

CONFIG = """\
site_name: Random
site_dir: {site}
theme:
  name: null
  custom_dir: theme
plugins:
  - include-markdown
  - mongo-tables
hooks: [hook.py]
"""
MAIN = """\
{{ page.title }}|{% for item in page.toc %}{{ item.title }} {{ item.id }}|{% endfor %}
{{ page.content }}
{{ page.markdown | e }}
"""
HOOK = """
from pathlib import Path
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import File

ROOT = Path(__file__).parent

def on_files(files, *, config):
    for file in sorted((ROOT / "generated").glob("*.md")):
        files.append(File.generated(config, file.name, content=file.read_text(encoding="utf-8")))
    return files

@event_priority(50)
def before(markdown, *, page, config, files):
    told = ROOT / "written" / f"{page.file.name}.txt"
    return markdown + told.read_text(encoding="utf-8") if told.exists() else markdown

@event_priority(-50)
def after(markdown, *, page, config, files):
    return markdown + (ROOT / "behind.txt").read_text(encoding="utf-8")

on_page_markdown = CombinedEvent(before, after)
"""
# Of these each has a table of its own: a file is read before, or after, those that speak of its table.
FILES = {
    "a": "docs/a.md",
    "index": "docs/index.md",
    "m": "docs/m.md",
    "g": "generated/g.md",
    "z": "generated/z.md",
    "in-a": "written/a.txt",
    "in-z": "written/z.txt",
    "part": "parts/part.md",
}
ADDED = ["g", "z"]
WRITTEN_INTO = ["in-a", "in-z", "part"]
"""A site without these has no page that comes as another text than the one on disk, or the one that a hook added."""
INCLUDES = '\n{% include-markdown "../parts/part.md" %}\n'
SORTED = [
    '{"$sort": {"_id": 1}}',
    '{"$sort": {"_id": -1}}',
    '"shared"',
    '{"$match": {"n": {"$gte": 0}}}, "shared"',
]
WORDS = st.sampled_from(["one", "two words", "*three*", "& four"])
FACTORS = st.integers(1, 3)


def table(name: str, stages: str, factor: int) -> str:
    scaled = json.dumps({"$set": {"n": {"$multiply": ["$n", factor]}}})
    keys = f'"id": "{name}", "collection": "r", "pipeline": [{stages}, {scaled}]'
    return f'\n<!-- MONGO_TABLE: {{{keys}, "columns": ["a", "n"], "headers": ["Kind", "Trains"]}} -->\n'


def chart(name: str) -> str:
    keys = '"collection": "r", "pipeline": ["shared"], "mark": "bar", "x": "a", "y": "n"'
    return f'\n<!-- MONGO_CHART: {{"id": "{name}-drawn", {keys}}} -->\n'


def value(name: str, row: str) -> str:
    return f'<!-- MONGO_VALUE: {{"table": "{name}", "where": {{"a": "{row}"}}, "column": "n"}} -->'


def check(name: str) -> str:
    keys = f'"table": "{name}", "where": {{}}, "expect": {{"n": {{"$gt": 2}}}}'
    return f"\nAll are above. <!-- MONGO_CHECK: {{{keys}}} -->\n"


def blocks(names: list[str]) -> st.SearchStrategy[str]:
    values = st.builds(value, st.sampled_from(names), st.sampled_from("xy"))
    return st.one_of(
        WORDS.map(lambda words: f"\n{words}\n"),
        WORDS.map(lambda words: f"\n## {words}\n"),
        values.map(lambda each: f"\n## There are {each}\n"),
        st.builds("\nOf {} it has {} and {}.\n".format, WORDS, values, values),
        st.builds("\n- item {}\n\n    more {}\n".format, values, WORDS),
        st.sampled_from(names).map(check),
        st.just("\n<!-- off for now -->\n"),
        st.just("\n<pre>\n<!-- MONGO_TABLE: {} -->\n</pre>\n"),
    )


@st.composite
def texts(draw: st.DrawFn, name: str, names: list[str]) -> str:
    """What stands in a file: nearly always its table, so that most sites have no fault."""
    found = draw(st.lists(blocks(names), max_size=4))
    if draw(st.integers(0, 79)):
        own = table(name, draw(st.sampled_from(SORTED)), draw(FACTORS))
        found.insert(draw(st.integers(0, len(found))), own)
    if not draw(st.integers(0, 5)):
        found.append(chart(name))
    if name == "m" and "part" in names:
        found.insert(draw(st.integers(0, len(found))), INCLUDES)
    return "".join([f"# Page {name}\n" if FILES[name].endswith(f"{name}.md") else "", *found])


class Site(RuleBasedStateMachine):
    """A site in a folder of its own, and the cache of its builds."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="random-site-"))
        write(self.root, {"theme/main.html": MAIN, "hook.py": HOOK, "behind.txt": "\nBehind.\n"})

    @initialize(written_into=st.booleans(), data=st.data())
    def begin(self, written_into: bool, data: st.DataObject) -> None:
        self.names = [name for name in FILES if written_into or name not in WRITTEN_INTO]
        self.others = [name for name in self.names if name in (*ADDED, *WRITTEN_INTO)]
        write(self.root, {FILES[name]: data.draw(texts(name, self.names)) for name in self.names})
        self._write_data(3, 5)
        self._write_shared(1)
        self.built_alike()

    @rule(data=st.data())
    def edit_a_file(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self.names + self.others))
        write(self.root, {FILES[name]: data.draw(texts(name, self.names))})
        self.built_alike()

    @rule(data=st.data())
    def take_a_file_away_and_put_it_back(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from([name for name in self.others if name != "part"]))
        file = self.root / FILES[name]
        text = file.read_text(encoding="utf-8")
        file.unlink()
        self.built_alike()
        write(self.root, {FILES[name]: text})
        self.built_alike()

    @rule(data=st.data())
    def swap_two_tables_and_swap_them_back(self, data: st.DataObject) -> None:
        one, other = data.draw(st.lists(st.sampled_from(self.names), min_size=2, max_size=2, unique=True))
        before = {FILES[name]: (self.root / FILES[name]).read_text(encoding="utf-8") for name in (one, other)}
        names = {one: other, other: one}
        swapped = {
            path: re.sub('"id": "([^"]+)"', lambda found: f'"id": "{names.get(found[1], found[1])}"', text)
            for path, text in before.items()
        }
        write(self.root, swapped)
        self.built_alike()
        write(self.root, before)
        self.built_alike()

    @rule(first=st.integers(3, 9), second=st.integers(3, 9))
    def measure_anew(self, first: int, second: int) -> None:
        self._write_data(first, second)
        self.built_alike()

    @rule(direction=st.sampled_from([1, -1]))
    def edit_the_shared_pipeline(self, direction: int) -> None:
        self._write_shared(direction)
        self.built_alike()

    @rule(words=WORDS)
    def write_behind_every_page(self, words: str) -> None:
        write(self.root, {"behind.txt": f"\n{words}\n"})
        self.built_alike()

    @rule()
    def edit_nothing(self) -> None:
        self.built_alike()

    def built_alike(self) -> None:
        warm, cold = self._build("warm"), self._build("cold")
        assert (warm.done, warm.errors) == (cold.done, cold.errors)
        assert self._files("warm") == self._files("cold")

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    def _build(self, how: str) -> Outcome:
        write(self.root, {"mkdocs.yml": CONFIG.format(site=f"built-{how}")})
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.root)
            patch.setenv("MONGO_TABLES_CACHE", str(self.root / "cache") if how == "warm" else "")
            patch.setattr(pagebypage, "MANY", 1 if how == "warm" else 10**6)
            return built(self.root)

    def _files(self, how: str) -> dict[str, bytes]:
        built_to = self.root / f"built-{how}"
        return {
            str(file.relative_to(built_to)): file.read_bytes()
            for file in built_to.rglob("*")
            if file.is_file()
        }

    def _write_data(self, first: int, second: int) -> None:
        rows = [{"_id": 1, "a": "x", "n": first}, {"_id": 2, "a": "y", "n": second}]
        write(self.root, {"fixtures/r/r.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})

    def _write_shared(self, direction: int) -> None:
        write(self.root, {"docs/pipelines/shared.json": json.dumps([{"$sort": {"n": direction, "_id": 1}}])})


@pytest.mark.timeout(0 if STEPS else 300)
def test_a_site_built_from_what_was_kept_is_the_one_built_from_nothing() -> None:
    run_state_machine_as_test(
        Site,
        settings=settings(
            max_examples=max(1, (STEPS or 40) // EDITS),
            stateful_step_count=EDITS,
            derandomize=not STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
