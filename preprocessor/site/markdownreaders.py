"""Finds out whether anything may read the Markdown of pages once their figures are there.

Hardly any site has such a reader, and pipe tables for all pages would cost a third of making their figures. So they are
made where a plugin, a hook or a template might read them. One that is not known here is taken for a reader; were one to
read tokens nevertheless, the look at what was written ends the build (``tokensleft``).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

# Over before the first page has its Markdown.
_EARLY: Final = frozenset({"startup", "config", "pre_build", "files", "nav"})
# Plugins that read HTML, files or front matter alone, by the modules of their classes.
_OTHERWISE: Final = (
    "preprocessor.site.",
    "mkdocs.contrib.search",
    "properdocs.contrib.search",
    "material.plugins.group.",
    "material.plugins.info.",
    "material.plugins.meta.",
    "material.plugins.offline.",
    "material.plugins.optimize.",
    "material.plugins.privacy.",
    "material.plugins.search.",
)
# Themes whose templates never show it.
_THEMES: Final = frozenset({"material", "mkdocs", "readthedocs"})


def markdown_is_read(config: MkDocsConfig) -> bool:
    """Whether a plugin, a hook or a template of the site may read ``page.markdown`` after the conversion."""
    late = (each for event, every in config.plugins.events.items() if event not in _EARLY for each in every)
    return any(map(_may_read, late)) or bool(config.extra_templates) or _templates_may_read(config)


def _may_read(handler: Callable[..., Any]) -> bool:
    plugin = getattr(handler, "__self__", None)
    return plugin is None or not f"{type(plugin).__module__}.".startswith(_OTHERWISE)


def _templates_may_read(config: MkDocsConfig) -> bool:
    """Whether the theme is not a known one, or a template that the site puts over one speaks of Markdown."""
    theme = config.theme
    if theme.name not in _THEMES:
        return True
    own = theme.custom_dir
    files = Path(own).rglob("*") if own else ()
    return any(b"markdown" in file.read_bytes() for file in files if file.is_file())
