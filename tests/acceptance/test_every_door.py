"""Every page of the tests through every door: ``check``, ``render``, the plugin and the Markdown extension agree.

The pages of a folder are one site, gone through once by each door; ``check`` looks at some of them alone as well.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Final

import pytest
from markdown import Markdown
from mkdocs.config import load_config
from mkdocs.structure.files import get_files
from mkdocs.structure.pages import _RelativePathTreeprocessor
from mkdocs.utils.meta import get_data

from mongo_tables.cli import main
from mongo_tables.findings.finding import Finding
from mongo_tables.hosts.markdown_extension import MongoTablesError, makeExtension
from mongo_tables.site.figures import line_of
from tests.hosts.inprocess import built

TESTS: Final = Path(__file__).parents[1]
CONFIG: Final = """\
site_name: Every door
theme: {name: null, custom_dir: theme}
plugins:
  - mongo-tables: {fail_on: note}
"""
SITES: Final = {
    "lint": (
        "lint/pages/fixtures",
        ["lint/pages", "directives/faulty", "directives/fixtures", "acceptance/pages"],
    ),
    "faulty": ("acceptance/faulty/fixtures", ["acceptance/faulty"]),
    "sample": ("hosts/sample/fixtures", ["hosts/sample/docs"]),
    "together": ("hosts/sample/fixtures", []),
}
"""The fixtures of each site, and the folders of its pages; those of ``together`` stand in ``TOGETHER``."""

STAGES: Final = '[{"$set": {"double": {"$multiply": ["$qps", 2]}}}, {"$sort": {"threads": 1}}]'


def table(name: str, stages: str = STAGES) -> str:
    keys = f'"id": "{name}", "collection": "runs", "pipeline": {stages}'
    return f'<!-- MONGO_TABLE: {{{keys}, "columns": ["threads", "qps"], "headers": ["Threads", "Queries/s"]}} -->'


def value(name: str, column: str = "qps", where: str = '{"threads": 8}') -> str:
    return f'<!-- MONGO_VALUE: {{"table": "{name}", "column": "{column}", "where": {where}}} -->'


def statement(name: str) -> str:
    return f'<!-- MONGO_CHECK: {{"table": "{name}", "expect": {{"qps": {{"$lt": 0}}}}}} -->'


TOGETHER: Final = {
    "tables.md": [
        table("shown"),
        table("spoken-of"),
        table("misspelt", '[{"$srt": {"threads": 1}}]'),
        table("empty", '[{"$match": {"threads": -1}}]'),
        table("twice"),
    ],
    "prose.md": [
        "Shown: " + value("shown"),
        "Not shown there: " + value("spoken-of", "double"),
        "Faulty: " + value("misspelt"),
        "Faulty, on a page of its own: " + value("alone"),
        "Empty: " + value("empty"),
        "Nowhere: " + value("nowhere"),
        "No column: " + value("shown", "none"),
        "Several rows: " + value("shown", where="{}"),
        statement("shown"),
        statement("empty"),
    ],
    "faulty.md": [table("alone", '[{"$srt": {"threads": 1}}]')],
    "third.md": [table("twice"), value("twice")],
    "parts/deep.markdown": ["Of another suffix: " + value("other-suffix"), table("of-deep")],
    "other.mkd": [table("other-suffix"), value("of-deep")],
}

CONVERSION: Final = {"MT118", "MT119"}
"""What only a door that converts Markdown to HTML can see: a figure without a place, a comment that came in late."""

LINTER: Final = {"MT305", "MT312", "MT314"}
"""Rules of the linter beside those of MT4 and MT5; ``render`` does not ask it, as a plain build does not."""
OF_CELLS: Final = {"MT335", "MT430", "MT431"}
"""What rows show of how their cells are written, which every door tells."""


def write_site(name: str, root: Path) -> Path:
    fixtures, folders = SITES[name]
    shutil.copytree(TESTS / fixtures, root / "fixtures")
    for folder in folders:
        shutil.copytree(TESTS / folder, root / "docs" / folder, ignore=shutil.ignore_patterns("*.py*"))
    for pipelines in root.glob("docs/**/pipelines"):
        shutil.copytree(pipelines, root / "docs/pipelines")
    for page, parts in TOGETHER.items() if name == "together" else ():
        (root / "docs" / page).parent.mkdir(parents=True, exist_ok=True)
        (root / "docs" / page).write_text("# Page\n\n" + "\n\n".join(parts) + "\n")
    (root / "theme").mkdir()
    (root / "theme/main.html").write_text("{{ page.content }}")
    (root / "mkdocs.yml").write_text(CONFIG)
    return root


Site = tuple[str, set[str]]
"""The name of a site, and what ``check`` says of all its pages at once."""


@pytest.fixture(scope="module", params=SITES)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterable[Site]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(write_site(request.param, tmp_path_factory.mktemp(request.param)))
        yield request.param, checked("docs")


def command(*arguments: str) -> tuple[str, str]:
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        main(arguments)
    return out.getvalue(), err.getvalue()


def checked(path: str) -> set[str]:
    """What ``check`` says, as the other doors write it."""
    out, _ = command("check", path, "--format", "json")
    fields = [name for name in Finding._fields if name != "related"]  # no part of the line
    found = (Finding(**{name: one[name] for name in fields}) for one in json.loads(out)["findings"])
    return set(map(line_of, found))


def converted() -> set[str]:
    """What the Markdown extension says of each page, converted by itself as MkDocs does without the plugin."""
    config = load_config("mkdocs.yml")
    files = get_files(config)
    found: set[str] = set()
    for file in files.documentation_pages():
        text, _ = get_data(Path(file.abs_src_path or "").read_text("utf-8-sig"))
        md = Markdown(extensions=[makeExtension(fail_on="note")])
        _RelativePathTreeprocessor(file, files, config)._register(md)
        try:
            md.convert(text)
        except MongoTablesError as error:
            found |= set(str(error).splitlines())
    return found


def rule_of(line: str) -> str:
    found = re.search(r" (MT\d{3}) ", line)
    return found[1] if found else ""


def without(rules: Callable[[str], bool], lines: Iterable[str]) -> set[str]:
    return {line for line in lines if not rules(rule_of(line))}


def test_a_build_says_what_check_says_and_what_only_the_conversion_shows(site: Site) -> None:
    *listed, last = built(Path.cwd()).errors
    assert last.endswith("listed above; nothing was built.")
    assert without(CONVERSION.__contains__, listed) == site[1]


def test_the_markdown_extension_says_what_check_says_page_by_page(site: Site) -> None:
    assert without(CONVERSION.__contains__, converted()) == site[1]


def test_render_says_what_check_says_without_the_linter(site: Site) -> None:
    _, err = command("render", "docs", "--output", "rendered")
    said = re.findall(r"^(docs/\S+?:\d+:\d+): \w+ (MT.*)$", err, re.MULTILINE)
    checked = without(
        lambda rule: rule not in OF_CELLS and (rule in LINTER or rule[:3] in ("MT4", "MT5")), site[1]
    )
    assert len(said) == len(checked)
    for place, message in said:
        assert any(line.startswith(f"{place}: {message}") for line in checked), place


def test_check_says_of_a_page_alone_what_it_says_of_it_among_all(site: Site) -> None:
    pages = sorted(Path("docs").rglob("*.m*"))
    for page in pages if len(pages) < 20 else pages[::20]:
        alone, among = (
            {each for each in said if each.startswith(f"{page}:")} for said in (checked(str(page)), site[1])
        )
        assert alone == among


def test_there_are_enough_pages_and_findings_to_mean_something(site: Site) -> None:
    pages, findings = {"lint": (260, 450), "faulty": (1, 12), "sample": (2, 0), "together": (6, 7)}[site[0]]
    assert len(list(Path("docs").rglob("*.m*"))) >= pages
    assert len(site[1]) >= findings
