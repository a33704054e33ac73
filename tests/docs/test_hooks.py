"""What the hooks of this project's own site do for its readers."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from material.plugins.search.plugin import Parser

from hooks.repository import on_post_build, on_post_page
from hooks.rules import EXAMPLES, rule_page
from hooks.searchwords import on_page_context

DOCS = Path(__file__).parents[2] / "docs"
EXPERIMENTS = sorted(DOCS.glob("experiments/*.md"))
SOURCE = "<code># in this site&#39;s source</code> <p>of this site's\nsource</p>"


def config(folder: Path, repo_url: str | None = None) -> SimpleNamespace:
    return SimpleNamespace(
        repo_url=repo_url, config_file_path=str(folder / "mkdocs.yml"), site_dir=str(folder / "site")
    )


def test_the_repository_is_a_link_in_text_and_in_code_where_its_address_is_known(tmp_path: Path) -> None:
    linked = on_post_page(SOURCE, config(tmp_path, 'https://host/a?b&c"'), SimpleNamespace(url="a/b/"))
    start = '<a href="https://host/a?b&amp;c&quot;">'
    assert f"<code># in {start}this site&#39;s source</a></code>" in linked
    assert f"of {start}this site's\nsource</a></p>" in linked


def test_without_an_address_the_site_has_the_files_of_its_last_commit(tmp_path: Path) -> None:
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        (tmp_path / "page.md").write_text("committed")
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *command], cwd=tmp_path, check=True)
    (tmp_path / "page.md").write_text("not committed")
    (tmp_path / "site").mkdir()
    linked = on_post_page(SOURCE, config(tmp_path), SimpleNamespace(url="a/b/"))
    assert '<a href="../../source.tar.gz">this site&#39;s source</a>' in linked
    on_post_build(config(tmp_path))
    with tarfile.open(tmp_path / "site/source.tar.gz") as archive:
        member = archive.extractfile("source/page.md")
        assert member is not None
        assert member.read() == b"committed"


@pytest.mark.parametrize("unknown", [None, ""])
def test_without_an_address_and_a_repository_none_is_invented(tmp_path: Path, unknown: str | None) -> None:
    assert on_post_page(SOURCE, config(tmp_path, unknown), SimpleNamespace(url="a/")) == SOURCE
    on_post_build(config(tmp_path, unknown))
    assert not (tmp_path / "site").exists()


def page(meta: dict[str, str], at: str = "a.md") -> SimpleNamespace:
    return SimpleNamespace(
        file=SimpleNamespace(src_uri=at),
        meta=meta,
        content='<h1 id="top">Inserts</h1>\n<p>Text.</p>\n<h2 id="b">B</h2>\n<h1>C</h1>',
    )


def test_a_page_is_found_by_words_that_it_does_not_show() -> None:
    inserts = page({"keywords": "insertMany, bulk <write>"})
    on_page_context({}, inserts)
    assert inserts.content.count("<p hidden>Related search terms: insertMany, bulk &lt;write&gt;.</p>") == 1
    parser = Parser()
    parser.feed(inserts.content)
    assert "insertMany" in "".join(parser.data[0].text)
    assert "insertMany" not in "".join(parser.data[1].text)


def test_a_page_without_such_words_stays_as_it_is() -> None:
    plain = page({})
    on_page_context({}, plain)
    assert (plain.content, plain.meta) == (page({}).content, {})


@pytest.mark.parametrize("at", ["authors/trust.md", "reference/commands/compare.md", "contributing/a.md"])
def test_results_are_found_before_pages_about_the_tool(at: str) -> None:
    about_the_tool = page({}, at)
    on_page_context({}, about_the_tool)
    assert 0 < about_the_tool.meta["search"]["boost"] < 1


@pytest.mark.parametrize("path", EXPERIMENTS, ids=[path.stem for path in EXPERIMENTS])
def test_every_experiment_is_found_by_what_others_call_it(path: Path) -> None:
    _, front, _ = path.read_text("utf-8").split("---\n", 2)
    assert "benchmark" in yaml.safe_load(front)["keywords"]


def test_the_page_of_every_rule_says_why_it_matters() -> None:
    for folder in sorted(EXAMPLES.glob("MT*")):
        assert "## Why it matters\n\n> " in rule_page(folder), folder.name


def test_the_page_of_a_rule_tells_how_to_ignore_it_only_if_that_is_possible() -> None:
    assert '"ignore": {"MT401": "' in rule_page(EXAMPLES / "MT401")
    assert '"ignore"' not in rule_page(EXAMPLES / "MT202")
