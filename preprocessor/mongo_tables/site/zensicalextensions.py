"""The Markdown extensions that Zensical has where a site lists none; a list, of one entry even, takes their place.

They are ``DEFAULT_MARKDOWN_EXTENSIONS`` of its ``config.py``, in the form in which ``zensical new`` writes them:
https://zensical.org/docs/setup/extensions/about/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mongo_tables.site.siteconfig import options_among

OWN_EXTENSIONS: Final = """\
[project.markdown_extensions]
abbr = {}
admonition = {}
attr_list = {}
def_list = {}
footnotes = {}
md_in_html = {}
toc.permalink = true
pymdownx.arithmatex.generic = true
pymdownx.betterem = {}
pymdownx.caret = {}
pymdownx.details = {}
pymdownx.emoji.emoji_generator = "zensical.extensions.emoji.to_svg"
pymdownx.emoji.emoji_index = "zensical.extensions.emoji.twemoji"
pymdownx.highlight.anchor_linenums = true
pymdownx.highlight.line_spans = "__span"
pymdownx.highlight.pygments_lang_class = true
pymdownx.inlinehilite = {}
pymdownx.keys = {}
pymdownx.magiclink = {}
pymdownx.mark = {}
pymdownx.smartsymbols = {}
pymdownx.superfences.custom_fences = [{ name = "mermaid", class = "mermaid" }]
pymdownx.tabbed.alternate_style = true
pymdownx.tabbed.combine_header_slug = true
pymdownx.tasklist.custom_checkbox = true
pymdownx.tilde = {}
"""
"""A table of ``zensical.toml`` with all of them."""
_GROUP: Final = "pymdownx"


def read_own_extensions() -> dict[str, Any]:
    """The table as TOML has it: extension, or the first part of its name, → options."""
    import tomllib

    extensions: dict[str, Any] = tomllib.loads(OWN_EXTENSIONS)["project"]["markdown_extensions"]
    return extensions


def lists_none_of_them(listed: object) -> bool:
    """Whether a site has a list of extensions, and none of Zensical's own in it."""
    if listed is None:
        return False
    return all(options_among(listed, name) is None for name in _name_them(read_own_extensions()))


def _name_them(extensions: Mapping[str, Any]) -> Iterator[str]:
    yield from (name for name in extensions if name != _GROUP)
    yield from (f"{_GROUP}.{name}" for name in extensions[_GROUP])
