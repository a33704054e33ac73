"""Makes "this site's repository" a link to it, where `repo_url` is set (a MkDocs hook, see ``mkdocs.yml``)."""

from __future__ import annotations

import re
from html import escape
from typing import Final

from mkdocs.config.defaults import MkDocsConfig

_NAMED: Final = re.compile(r"this site(?:'|’|&#39;|&#x27;|&rsquo;)s\s+repository")


def on_post_page(output: str, config: MkDocsConfig, **_: object) -> str:
    """In code as well, which has no links in Markdown: the command to clone it is where readers look for it."""
    if not config.repo_url:
        return output
    start = f'<a href="{escape(config.repo_url)}">'
    return _NAMED.sub(lambda found: f"{start}{found[0]}</a>", output)
