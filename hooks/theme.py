"""Mends what the theme leaves without a name or empty (a MkDocs hook, see ``mkdocs.yml``)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig

_SEARCH: Final = 'data-md-component="search" role="dialog"'


def on_post_page(output: str, **_: object) -> str:
    """Tells who cannot see the search dialog what it is."""
    return output.replace(_SEARCH, f'{_SEARCH} aria-label="Search"', 1)


def on_post_template(output_content: str, **_: object) -> str:
    """The page of a missing address has the dialog too."""
    return on_post_page(output_content)


def on_post_build(config: MkDocsConfig) -> None:
    """Removes the sitemap where the site has no address: all addresses in it are absolute, so it has none."""
    if not config.site_url:
        for file in Path(config.site_dir).glob("sitemap.xml*"):
            file.unlink()
