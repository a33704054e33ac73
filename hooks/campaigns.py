"""The rows of each campaign as a file to take away, and a list of them on the page of the history (a MkDocs hook).

A pooled row has the runs of one campaign; those of the others are in these files. See ``mkdocs.yml``.
"""

from __future__ import annotations

import re
from os.path import relpath
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from mongo_tables.hosts.options import root_of

_PAGE: Final = "changes.md"
_KEPT: Final = "fixtures/campaigns"
_FOLDER: Final = "documents/campaigns"
_NAMED: Final = re.compile(r"\b[0-9a-f]{12}(?=(?: of|, begun) [0-9]{4}-)(?![^<]*>)")
"""A campaign in a text of a page, with its day; an attribute is no text."""
_HEAD: Final = """
### Rows of each campaign {#campaign-rows}

The result documents of a campaign, with what each of its blocks measured, as JSON Lines:

"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a file for each campaign whose rows are kept beside those that the tables show."""
    for folder in list_kept(root_of(config)):
        files.append(File.generated(config, address_of(folder), content=read_rows(folder)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lists the files at the end of the page."""
    kept = list_kept(root_of(config)) if page.file.src_uri == _PAGE else []
    if not kept:
        return markdown
    # As a link of a page's Markdown: MkDocs makes an address of it, and says where nothing is there.
    folder = Path(page.file.src_uri).parent
    links = (f"* [{one.name}]({relpath(address_of(one), folder)})\n" for one in kept)
    return f"{markdown}{_HEAD}{''.join(links)}"


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Links campaigns to their rows: a pooled row has the runs of one campaign alone."""
    kept = {one.name: address_of(one) for one in list_kept(root_of(config))}

    def link(found: re.Match[str]) -> str:
        address = kept.get(found[0])
        return f'<a href="{get_relative_url(address, page.url)}">{found[0]}</a>' if address else found[0]

    return _NAMED.sub(link, output)


def list_kept(root: Path) -> list[Path]:
    """The folders of the campaigns, by their names; none where no campaign was kept."""
    return sorted(one for one in (root / _KEPT).glob("*") if one.is_dir())


def address_of(folder: Path) -> str:
    """Where the rows of a campaign lie in the site."""
    return f"{_FOLDER}/{folder.name}.jsonl"


def read_rows(folder: Path) -> str:
    """The rows of all experiments of a campaign, a line each."""
    return "".join(file.read_text("utf-8") for file in sorted(folder.glob("*/*.jsonl")))
