"""The plugin and the Markdown extension in one configuration: both must read and refuse the same."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mongo_tables.hosts.source import results_source

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

    from mongo_tables.hosts.options import MongoTablesConfig

_EXTENSION: Final = "mongo-tables"


def two_sources(plugin: MongoTablesConfig, site: MkDocsConfig, folder: Path) -> str:
    """The message about an option that the extension and the plugin set differently; "" without one.

    Paths are relative to ``folder``. The figures of one site would come from two sources, and nothing would say so.
    """
    if _EXTENSION not in site.markdown_extensions:
        return ""
    theirs = site.mdx_configs.get(_EXTENSION) or {}
    results = theirs.get("results", "fixtures")
    if _same(results_source(plugin.results, folder)) != _same(results_source(results, folder)):
        return _refusal("results")
    own = folder / plugin.pipelines if plugin.pipelines else Path(site.docs_dir, "pipelines")
    if _same(str(own)) != _same(str(folder / theirs.get("pipelines", "docs/pipelines"))):
        return _refusal("pipelines")
    if plugin.server != theirs.get("server", ""):
        return _refusal("server", "what is told of a pipeline must not depend on which of them sees it")
    if plugin.fail_on != theirs.get("fail_on", "error"):
        return _refusal("fail_on", "what ends a build must not depend on which of them sees a comment")
    return ""


def _same(where: str) -> str:
    """One name for each folder, so that two can be compared; an address stays as it is."""
    return os.path.abspath(where)  # noqa: PTH100 (a path that need not exist)


def _refusal(option: str, reason: str = "figures of one site come from one source") -> str:
    """The message says no source: it may have a password in it."""
    return (
        f"`{option}` of the plugin and `{option}` of the Markdown extension are not the same; "
        f"give both the same in this file, for {reason}"
    )
