"""Names for what the theme leaves without one (a MkDocs hook, see ``mkdocs.yml``)."""

from __future__ import annotations

from typing import Final

_SEARCH: Final = 'data-md-component="search" role="dialog"'


def on_post_page(output: str, **_: object) -> str:
    """Tells who cannot see the search dialog what it is."""
    return output.replace(_SEARCH, f'{_SEARCH} aria-label="Search"', 1)


def on_post_template(output_content: str, **_: object) -> str:
    """The page of a missing address has the dialog too."""
    return on_post_page(output_content)
