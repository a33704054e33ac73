"""Makes "this site's source" a link: to the repository where ``repo_url`` is set, else to an archive in the site.

A MkDocs hook, see ``mkdocs.yml``. The archive is that of the commit that the site is built from, so it is made only
where that is a Git repository, and it holds no change that is not committed.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from html import escape
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

ARCHIVE: Final = "source.tar.gz"
_NAMED: Final = re.compile(r"this site(?:'|’|&#39;|&#x27;|&rsquo;)s\s+source")


def on_post_page(output: str, config: MkDocsConfig, page: Page) -> str:
    """In code as well, which has no links in Markdown: the commands to run it are where readers look for it."""
    address = config.repo_url
    if not address and _archive(Path(config.config_file_path).parent):
        address = get_relative_url(ARCHIVE, page.url)
    if not address:
        return output
    start = f'<a href="{escape(address)}">'
    return _NAMED.sub(lambda found: f"{start}{found[0]}</a>", output)


def on_post_build(config: MkDocsConfig) -> None:
    """Write the archive where no repository is named."""
    folder = Path(config.config_file_path).parent
    if not config.repo_url and (archive := _archive(folder)):
        (Path(config.site_dir) / ARCHIVE).write_bytes(archive)


@cache
def _archive(folder: Path) -> bytes:
    """The files of the last commit, packed, once for all pages; empty where there is no Git repository."""
    return _run_git(folder, "archive", "--format=tar.gz", "--prefix=source/", "HEAD")


def _run_git(folder: Path, *arguments: str) -> bytes:
    try:
        return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return b""
