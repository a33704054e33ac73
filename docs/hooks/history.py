"""The Atom feed of changes, beside the page that shows them (a MkDocs hook, see ``mkdocs.yml``)."""

from __future__ import annotations

from contextlib import closing
from html import escape
from typing import Any, Final

import bson
from bson.codec_options import CodecOptions
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from mongo_tables.commands.history.series import format_feed
from mongo_tables.hosts.options import root_of
from mongo_tables.results.model import ResultsError
from mongo_tables.results.opening import open_source
from mongo_tables.site.site_config import results_source

PAGE: Final = "changes.md"
FEED: Final = "changes.xml"
_TITLE: Final = "Changes of speed"
_OPTIONS: Final[CodecOptions[dict[str, Any]]] = CodecOptions(tz_aware=True)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the feed, made from the collection that the page shows; a site without our plugin has none."""
    page, plugin = files.get_file_from_path(PAGE), config.plugins.get("mongo-tables")
    if page is not None and plugin is not None:
        where = results_source(plugin.config["results"], root_of(config))
        feed = make_feed(where, page.url, config.site_url or "")
        files.append(File.generated(config, FEED, content=feed))
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Names the feed in the head of the page, where readers of feeds look for it."""
    if page.file.src_uri != PAGE:
        return output
    address = escape(get_relative_url(FEED, page.url))
    # The theme takes a link that is an alternate alone for the page in another language.
    link = f'<link rel="alternate feed" type="application/atom+xml" title="{_TITLE}" href="{address}">'
    return output.replace("</head>", f"{link}\n</head>", 1)


def make_feed(where: str, page: str, site: str) -> str:
    """The feed of the results in a source; addresses are relative to it where the site has none of its own."""
    try:
        with closing(open_source(where)) as source:
            documents = [bson.decode(raw, _OPTIONS) for raw in source.raws("history")]
    except ResultsError as error:
        raise PluginError(f"{FEED}: {error}") from None
    name = f"{site.rstrip('/')}/{page}" if site else "urn:mongo-tables:changes"
    return format_feed(documents, name, name if site else page)
