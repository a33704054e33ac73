"""A small site, the contents that its files may have, and what each door shows of it in the working folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from mongo_tables.cli import main
from mongo_tables.commands.check.pages import check_paths
from mongo_tables.lsp.session import Session, request_of
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import Request
from mongo_tables.site.site_config import find_site
from tests.hosts.inprocess import CONFIG, Outcome, built, seen, value, write


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


def check() -> Any:
    with closing(Answers("fixtures")) as source:
        request = Request(find_site(Path()), "docs/pipelines", "fixtures")  # type: ignore[arg-type]
        return list(check_paths(["docs"], request, source).findings)


def render() -> Any:
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
    "mkdocs preview": (PLUGIN, partial(mkdocs, preview=True)),
    "extension": (EXTENSION, mkdocs),
    "extension preview": (EXTENSION, partial(mkdocs, preview=True)),
    "editor": (PLUGIN, editor),
}


def shown_by(door: str, state: State, folder: Path) -> Any:
    """What a door shows of files at rest, in a folder that nobody has seen."""
    config, show = DOORS[door]
    write(folder, {"mkdocs.yml": config, **state})
    return show()
