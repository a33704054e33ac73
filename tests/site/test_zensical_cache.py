"""What Zensical keeps of a page with figures or faults is of no use to the next process, however this one ends."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mongo_tables.site.zensicalhost import has_own_theme
from tests.signals import heed_signals
from tests.site.builds import article, build, environment, sample
from tests.site.test_build import with_extension
from tests.site.test_serve import Preview
from tests.site.test_zensical import BOX, FIXTURE, PAGE, edit

WATCHING = '''\
"""Writes down each page that Zensical asks for; where DIE is set, ends as soon as a page has been kept."""

import os
import signal
from pathlib import Path

from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor


class Watching(Preprocessor):
    def run(self, lines):
        if "DIE" in os.environ and any(map(is_of_page, Path(".cache").iterdir())):
            os.kill(os.getpid(), getattr(signal, os.environ["DIE"]))
        page = next(each.page for each in self.md.preprocessors if hasattr(each, "page"))
        with open("asked", "a") as asked:
            print(page.path, file=asked)
        return lines


def is_of_page(kept):
    return kept.is_file() and b'"toc"' in kept.read_bytes()


class WatchingExtension(Extension):
    def extendMarkdown(self, md):
        md.preprocessors.register(Watching(md), "watching", 1000)


def makeExtension(**options):
    return WatchingExtension(**options)
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The sample with the same figures on three pages, one of which has no heading, and a page without any."""
    site = with_extension(sample(tmp_path))
    docs = site / "docs"
    for name in ("guide.md", "third.md"):
        shutil.copy(docs / "index.md", docs / name)
    edit(site, "docs/third.md", "# Sample\n", "Words.\n")
    (docs / "words.md").write_text("# Words\n\nNo figures.\n", encoding="utf-8")
    (site / "watching.py").write_text(WATCHING, encoding="utf-8")
    edit(site, "mkdocs.yml", "  - tables\n", "  - tables\n  - watching\n")
    return site


def begin_and_die(site: Path, command: str, sign: signal.Signals = signal.SIGKILL) -> None:
    """Have a process of Zensical end once it has kept a page, before it converts the next."""
    (site / "docs" / "words.md").unlink()
    ended = subprocess.run(
        [sys.executable, "-m", "zensical", command],
        cwd=site,
        env=environment(DIE=sign.name),
        capture_output=True,
        timeout=60,
        preexec_fn=heed_signals,
    )
    assert ended.returncode == -sign, ended.stderr


def pages_asked_for(site: Path) -> list[str]:
    """The pages that a build has converted."""
    asked = site / "asked"
    asked.unlink(missing_ok=True)
    done = build(site, program="zensical")
    assert done.returncode == 0, done.stderr
    return sorted(asked.read_text(encoding="utf-8").splitlines())


def articles(site: Path) -> list[str]:
    return [article(site / "site" / f"{name}.html") for name in ("index", "guide", "third")]


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_a_build_after_one_that_was_killed_shows_the_results_as_they_are(
    sign: signal.Signals, site: Path
) -> None:
    begin_and_die(site, "build", sign)
    edit(site, FIXTURE, "139.8", "140.25")
    done = build(site, program="zensical")
    assert done.returncode == 0, done.stderr
    assert ["140.25" in each and "139.8" not in each for each in articles(site)] == [True, True, True]


def test_a_build_after_a_preview_that_was_killed_publishes_none_of_its_faults(site: Path) -> None:
    edit(site, FIXTURE, "139.8", "139..8")
    begin_and_die(site, "serve")
    assert build(site, program="zensical").returncode != 0

    edit(site, FIXTURE, "139..8", "139.8")
    done = build(site, program="zensical")
    assert done.returncode == 0, done.stderr
    assert ["139.8" in each and BOX not in each for each in articles(site)] == [True, True, True]


def test_a_fault_of_a_page_without_figures_is_told_by_the_build_after_a_preview(site: Path) -> None:
    value = 'title: "<!-- MONGO_VALUE: {} -->"'
    (site / "docs" / "words.md").write_text(f"---\n{value}\n---\n\n# Words\n", encoding="utf-8")
    with Preview(site, program="zensical") as preview:
        preview.wait("words.html", "Words")
    done = build(site, program="zensical")
    assert done.returncode != 0
    assert "docs/words.md:2:9: MT127" in done.stderr


def test_only_pages_with_figures_are_converted_at_each_build(site: Path) -> None:
    assert pages_asked_for(site) == ["guide.md", "index.md", "third.md", "words.md"]
    assert pages_asked_for(site) == ["guide.md", "index.md", "third.md"]


def test_a_page_whose_figures_come_from_code_that_it_runs_is_converted_at_each_build(site: Path) -> None:
    edit(site, "mkdocs.yml", "  - search\n", "  - search\n  - markdown-exec\n")
    table = (site / PAGE).read_text(encoding="utf-8").partition("# Sample")[2]
    code = f"print({'# Within' + table!r})"
    (site / "docs" / "words.md").write_text(
        f'# Words\n\n```python exec="true"\n{code}\n```\n', encoding="utf-8"
    )
    assert "words.md" in pages_asked_for(site)
    assert "139.8" in article(site / "site" / "words.html")
    assert "words.md" in pages_asked_for(site)


def test_nothing_of_how_a_page_is_kept_is_seen_in_it(site: Path) -> None:
    (site / "docs" / "words.md").write_text("# Words\n\n## More\n\nWords.\n", encoding="utf-8")
    edit(site, PAGE, "A table between", "## Second\n\nA table between")
    pages_asked_for(site)
    html = {name: (site / "site" / f"{name}.html").read_text(encoding="utf-8") for name in ("index", "words")}
    headings = html["index"].count('class="md-nav__link"'), html["words"].count('class="md-nav__link"')
    assert headings[0] == headings[1]
    assert "ask again" not in html["index"] and 'href="#"' not in html["index"]


def test_a_theme_that_lists_all_headings_shows_those_of_the_page(site: Path) -> None:
    edit(site, "mkdocs.yml", "  font: false\n", "  font: false\n  custom_dir: own\n")
    listing = "{% for each in page.toc recursive %}[{{ each.title }}{{ loop(each.children) }}]{% endfor %}"
    own = site / "own"
    own.mkdir()
    (own / "main.html").write_text(
        f'{{% extends "base.html" %}}{{% block footer %}}{listing}{{% endblock %}}'
    )
    assert "index.md" in pages_asked_for(site)
    html = (site / "site" / "index.html").read_text(encoding="utf-8")
    assert "[Sample]" in html and "[Sample][" not in html
    assert "index.md" in pages_asked_for(site)


@pytest.mark.parametrize(
    ("theme", "template", "is_own"),
    [
        ({}, None, True),
        ({"name": "material"}, None, True),
        ({"name": "other"}, None, False),
        ({"custom_dir": "own"}, "{% block footer %}Ours{% endblock %}", True),
        ({"custom_dir": "own"}, "{% for each in page.toc %}{% endfor %}", False),
    ],
)
def test_templates_that_show_no_contents_are_no_other_theme(
    theme: dict[str, str], template: str | None, is_own: bool, tmp_path: Path
) -> None:
    if template:
        (tmp_path / "own/partials").mkdir(parents=True)
        (tmp_path / "own/partials/footer.html").write_text(template)
    assert has_own_theme({"theme": theme}, tmp_path) is is_own
