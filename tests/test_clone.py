"""Who has a clone and nothing built finds what the pages speak of."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
CODE = re.compile(r"^(`{3,}).*?^\1`*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
MADE = {"documents/results.jsonl"}
"""What the build puts beside the pages."""
LINK = re.compile(r"\]\(([^)?#\s]+)(?:[?#][^)]*)?\)")


def links(page: Path) -> list[str]:
    """Where the links of a page lead within the project; without those of other hosts."""
    text = CODE.sub("", page.read_text("utf-8"))
    return [each for each in LINK.findall(text) if "://" not in each and not each.startswith("mailto:")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file_of_the_clone(page: Path) -> None:
    assert [each for each in links(page) if each not in MADE and not (page.parent / each).exists()] == []


def test_links_are_found_at_all() -> None:
    assert "../reference/keys.md" in links(ROOT / "docs/authors/guide.md")


def test_the_guide_names_no_version_that_nobody_can_fetch() -> None:
    # In an unpacked sdist there are none.
    tags = subprocess.run(
        ["git", "tag"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    for page in PAGES:
        for revision in re.findall(r"^ +rev: (\S+)", page.read_text("utf-8"), flags=re.MULTILINE):
            assert revision in {"…", *tags}, page


def test_the_first_page_of_the_guide_is_the_one_that_its_preview_opens() -> None:
    guide = (ROOT / "docs/authors/guide.md").read_text("utf-8")
    address = re.search(r"http://127\.0\.0\.1:8000/(\S*)", guide)
    assert address
    assert f"`docs/{address[1] or 'index'}.md`" in guide
