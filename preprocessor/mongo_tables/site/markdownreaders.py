"""Finds out whether anything may read the Markdown or the HTML of pages once their figures are there.

Hardly any site has such a reader, and pipe tables for all pages would cost a third of making their figures. So they are
made where a plugin, a hook or a template might read them. One that is not known here is taken for a reader; were one to
read tokens nevertheless, the look at what was written ends the build (``tokensleft``). Of HTML it is the same: large
figures come into a page when it is written.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

MKDOCS_SEARCH: Final = ("mkdocs.contrib.search", "properdocs.contrib.search")
"""The modules of the search plugin of MkDocs, under either of its names."""
# Over before the first page has its Markdown.
_EARLY: Final = frozenset({"startup", "config", "pre_build", "files", "nav"})
# Plugins that read HTML, files or front matter alone, by the modules of their classes.
_OTHERWISE: Final = (
    "mongo_tables.site.",
    *MKDOCS_SEARCH,
    "material.plugins.group.",
    "material.plugins.info.",
    "material.plugins.meta.",
    "material.plugins.offline.",
    "material.plugins.optimize.",
    "material.plugins.privacy.",
    "material.plugins.search.",
)
# Libraries to which no hook hands a page to be read, besides Python's own.
_NO_READERS: Final = sys.stdlib_module_names | {
    "bson",
    "jinja2",
    "markupsafe",
    "mkdocs",
    "preprocessor",
    "yaml",
}
_BY_ANY_NAME: Final = "getattr|vars|eval|exec|__dict__|__import__|import_module"
_TAKES: Final = rf"""\.\s*{{0}}\b|["']{{0}}["']|\b(?:{_BY_ANY_NAME})\b"""
_IMPORT: Final = r"(?m)^[ \t]*(?:from[ \t]+([\w.]+)|import[ \t]+([\w., \t]+))"
# Themes whose templates never show it.
_THEMES: Final = frozenset({"material", "mkdocs", "readthedocs"})


def markdown_is_read(config: MkDocsConfig) -> bool:
    """Whether a plugin, a hook or a template of the site may read ``page.markdown`` after the conversion."""
    return _is_read(config, "markdown") or bool(config.extra_templates) or config.theme.name not in _THEMES


def content_is_read(config: MkDocsConfig) -> bool:
    """Whether a hook or a template may read ``page.content`` before the page is written, or after; as for Markdown."""
    return _is_read(config, "content")


def _is_read(config: MkDocsConfig, attribute: str) -> bool:
    late = (each for event, every in config.plugins.events.items() if event not in _EARLY for each in every)
    return any(may_read(each, attribute) for each in late) or _templates_may_read(config, attribute)


def may_read(handler: Callable[..., Any], attribute: str) -> bool:
    """Whether the handler of an event may take an attribute (a pattern) of a page, or of whatever else."""
    plugin = getattr(handler, "__self__", None)
    if plugin is None:
        return _speaks_of(attribute, str(getattr(handler, "__module__", "")), set())
    return not f"{type(plugin).__module__}.".startswith(_OTHERWISE)


def _speaks_of(attribute: str, module: str, seen: set[str]) -> bool:
    """Whether the file of a hook, or one of the site's own that it imports, may take the attribute of a page.

    What hands a page on to a library that is not known here may do so as well.
    """
    if module in seen or module.partition(".")[0] in _NO_READERS:
        return False
    seen.add(module)
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or "site-packages" in Path(file).parts:
        return True
    text = Path(file).read_text("utf-8", "replace")
    if re.search(_TAKES.format(attribute), text):
        return True
    imported = (each for found in re.finditer(_IMPORT, text) for each in (found[1] or found[2]).split(","))
    return any(_speaks_of(attribute, each.split()[0], seen) for each in imported if each.strip())


def _templates_may_read(config: MkDocsConfig, attribute: str) -> bool:
    """Whether a template that the site puts over one of the theme speaks of the attribute."""
    own = config.theme.custom_dir
    files = Path(own).rglob("*") if own else ()
    return any(attribute.encode() in file.read_bytes() for file in files if file.is_file())
