"""Pages that other plugins make or change are published as they are now, whatever was built before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.inprocess import CONFIG, ROWS, Outcome, built, html, seen, table, value, write

PLUGINS = "plugins:\n  - mongo-tables\n"

GENERATES = """
from pathlib import Path
from mkdocs.structure.files import File

def on_files(files, *, config):
    text = Path(config.config_file_path).parent.joinpath("made.txt")
    if text.exists():
        files.append(File.generated(config, "made.md", content=text.read_text()))
    return files
"""

CHANGES = """
from pathlib import Path
from mkdocs.plugins import event_priority

@event_priority({priority})
def on_page_markdown(markdown, *, page, config, files):
    told = Path(config.config_file_path).parent.joinpath("made.txt")
    if page.file.src_uri == "made.md":
        return markdown.replace("MADE", told.read_text() if told.exists() else "")
    return markdown
"""

GENERATES_FILE = """
import mkdocs_gen_files
from pathlib import Path

with mkdocs_gen_files.open("made.md", "w") as file:
    file.write(Path(__file__).with_name("made.txt").read_text())
"""

MACROS = """
from pathlib import Path

def define_env(env):
    env.variables["made"] = Path(env.project_dir).joinpath("made.txt").read_text()
"""

Maker = dict[str, str]
MAKERS: dict[str, Maker] = {
    "a hook that adds a page": {
        "mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n",
        "hook.py": GENERATES,
    },
    "gen-files listed after": {
        "mkdocs.yml": f"{CONFIG}{PLUGINS}  - gen-files:\n      scripts: [makes.py]\n",
        "makes.py": GENERATES_FILE,
    },
    "a hook that writes into a page before": {
        "mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n",
        "hook.py": CHANGES.format(priority=50),
        "docs/made.md": "MADE\n",
    },
    "macros listed before": {
        "mkdocs.yml": f"{CONFIG}plugins:\n  - macros:\n      module_name: macro\n  - mongo-tables\n",
        "macro.py": MACROS,
        "docs/made.md": "{{ made }}\n",
    },
    "an included file": {
        "mkdocs.yml": f"{CONFIG}plugins:\n  - include-markdown\n  - mongo-tables\nexclude_docs: made.txt\n",
        "docs/made.md": '{% include-markdown "../made.txt" %}\n',
    },
}


def first(text: str) -> str:
    return f"# First title\n\nfirst prose\n\n{text}\n"


def second(text: str) -> str:
    return f"# Second title\n\nsecond prose\n\n{text}\n"


def build(folder: Path) -> Outcome:
    outcome = built(folder)
    assert outcome.done, outcome.log
    assert "ERROR" not in outcome.log
    return outcome


@pytest.fixture(params=MAKERS)
def site(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with a page that is written by others, and two ordinary ones that speak of its table."""
    monkeypatch.chdir(tmp_path)
    speaks = f"There are {value('made')}.\n"
    ordinary = {
        "fixtures/r/r.jsonl": ROWS,
        "docs/index.md": f"# Home\n\n{table('one')}\n\n{speaks}",
        "docs/zuletzt.md": f"# Last\n\n{speaks}",
        "made.txt": first(table("made")),
    }
    return write(tmp_path, ordinary | MAKERS[request.param])


MADE = "made/index.html"
HEADER = ["Kind", "Trains"]


def told(site: Path) -> list[list[str]]:
    """What the two ordinary pages say of the page that others write."""
    return [seen(site, name).values for name in ("index.html", "zuletzt/index.html")]


def test_a_page_that_others_write_is_never_published_stale(site: Path) -> None:
    build(site)
    assert "first prose" in html(site, MADE)
    assert seen(site, MADE).tables == [[HEADER, ["x", "3"], ["y", "5"]]]
    build(site)
    write(site, {"made.txt": second(table("made", least=4))})
    build(site)
    assert "second prose" in html(site, MADE)
    assert "First title" not in html(site, MADE) + html(site, "index.html")
    assert seen(site, MADE).tables == [[HEADER, ["y", "5"]]]


def test_a_value_of_a_page_that_others_write_follows_its_table(site: Path) -> None:
    build(site)
    assert told(site) == [["5"], ["5"]]
    doubled = '[{"$sort": {"_id": 1}}, {"$set": {"n": {"$multiply": ["$n", 2]}}}]'
    write(site, {"made.txt": first(table("made", pipeline=doubled))})
    build(site)
    assert told(site) == [["10"], ["10"]]


def test_a_page_that_others_write_ends_the_build_when_it_is_broken(site: Path) -> None:
    build(site)
    write(site, {"made.txt": first(table("made", pipeline='[{"$mtch": {}}]'))})
    outcome = built(site)
    assert not outcome.done
    assert any("MT301" in line for line in outcome.errors)


def test_a_value_of_a_table_that_others_no_longer_write_ends_the_build(site: Path) -> None:
    build(site)
    write(site, {"made.txt": first("no table any more")})
    outcome = built(site)
    assert not outcome.done
    assert {line.split(" ")[0].split(":")[0] for line in outcome.errors if "MT139" in line} == {
        "docs/index.md",
        "docs/zuletzt.md",
    }


def test_a_page_that_a_hook_no_longer_adds_is_missed_by_those_that_speak_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n",
        "hook.py": GENERATES,
        "docs/index.md": f"# Home\n\nThere are {value('made')}.\n",
        "made.txt": first(table("made")),
        "fixtures/r/r.jsonl": ROWS,
    }
    write(tmp_path, files)
    build(tmp_path)
    (tmp_path / "made.txt").unlink()
    outcome = built(tmp_path)
    assert not outcome.done
    assert ["MT139" in line for line in outcome.errors] == [True, False]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace("<div>", "<!-- gone ").replace("</div>", "-->"), "MT118"),
        (lambda text: f"{text}\n\n{table('other')}\n", "MT119"),
    ],
    ids=["drops a table", "adds a table"],
)
def test_a_hook_that_writes_behind_the_tables_is_noticed_in_every_build(
    change: Callable[[str], str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "mkdocs.yml": f"{CONFIG}{PLUGINS}",
        "docs/index.md": f"# Home\n\n{table('one')}\n",
        "fixtures/r/r.jsonl": ROWS,
    }
    write(tmp_path, files)
    build(tmp_path)
    import mkdocs.plugins

    late = mkdocs.plugins.event_priority(-50)(lambda markdown, **_: change(markdown))
    started = mkdocs.plugins.PluginCollection.on_startup

    def with_hook(plugins: mkdocs.plugins.PluginCollection, **given: object) -> None:
        plugins._register_event("page_markdown", late, plugin_name="hook")
        started(plugins, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(mkdocs.plugins.PluginCollection, "on_startup", with_hook)
    outcome = built(tmp_path)
    assert not outcome.done
    assert any(says in line for line in outcome.errors), outcome.log


@pytest.mark.parametrize(
    "asks", ['"pipeline": [{"$set": {"n": {"$toLong": "$$NOW"}}}]', '"let": {"now": {"$toLong": "$$NOW"}}']
)
def test_a_table_that_asks_the_time_is_made_anew_by_every_build(
    asks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stages = "" if "pipeline" in asks else ', "pipeline": [{"$set": {"n": "$$now"}}]'
    comment = (
        f'<!-- MONGO_TABLE: {{"collection": "r", {asks}{stages}, "columns": ["n"], "headers": ["Now"]}} -->\n'
    )
    files = {"mkdocs.yml": f"{CONFIG}{PLUGINS}", "fixtures/r/r.jsonl": ROWS, "docs/index.md": comment}
    write(tmp_path, files)
    build(tmp_path)
    before = seen(tmp_path, "index.html")
    build(tmp_path)
    assert seen(tmp_path, "index.html") != before
