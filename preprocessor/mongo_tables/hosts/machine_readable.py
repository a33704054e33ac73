"""The site for programs: the Markdown of each page, ``llms.txt``, and schema.org ``Dataset`` in pages with results.

The Markdown of a page has the path of its source, so that its links to other pages and files work. Existing files of
the site are not overwritten.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urljoin

from mkdocs.structure.nav import Section
from mkdocs.structure.pages import Page as SitePage
from mkdocs.utils import get_relative_url

from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.render.markup import with_anchors

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

    from mongo_tables.build import Report
    from mongo_tables.hosts.page_figures import Given


LLMS: Final = "llms.txt"
_BLANK_LINES: Final = re.compile(r"\n\s*\n")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_SENTENCE: Final = re.compile(r".{20,}?\.(?= |$)|.+")
_LONGEST: Final = 240


def alternate_link(page: SitePage) -> str:
    """Return the link to a page's Markdown, for the head of the page.

    The link is in ``noscript``, because the script of Material would request a sitemap for every ``alternate`` link.
    """
    address = escape(get_relative_url(quote(page.file.src_uri), page.url))
    return f'<noscript><link rel="alternate" type="text/markdown" href="{address}"></noscript>'


def first_sentence(markdown: str) -> str:
    """Return the first sentence of a page as plain text, or "" if the page does not begin with a short sentence."""
    paragraphs = (one.strip() for one in _BLANK_LINES.split(markdown))
    first = next((one for one in paragraphs if one and one[0] not in "#<"), "")
    if not (first[:1].isalnum() or first.startswith(("[", "**"))):
        return ""
    text = " ".join(unescape(_LINK.sub(r"\1", first)).replace("**", "").split())
    found = _SENTENCE.match(text)
    return found[0] if found and len(found[0]) <= _LONGEST else ""


def llms_text(
    config: MkDocsConfig, items: Sequence[Any], about: Mapping[str, str], data: Mapping[str, str]
) -> str:
    """Return ``llms.txt`` (https://llmstxt.org).

    Args:
        config: The configuration of MkDocs.
        items: The entries of the navigation.
        about: A sentence about each page whose Markdown was written, by its path.
        data: A description of each file with data, by its path.
    """

    def link(title: str, path: str, text: str) -> str:
        said = f": {text}" if text else ""
        return f"- [{title}]({urljoin(config.site_url or '', quote(path))}){said}"

    def links(some: Sequence[Any], above: str = "") -> Iterator[str]:
        for item in some:
            if isinstance(item, Section):
                yield from links(item.children, f"{above}{item.title}: ")
            elif isinstance(item, SitePage) and item.file.src_uri in about:
                yield link(f"{above}{item.title}", item.file.src_uri, about[item.file.src_uri])

    loose = [item for item in items if not isinstance(item, Section)]
    parts = [("Pages", list(links(loose)))]
    parts += [(str(item.title), list(links(item.children))) for item in items if isinstance(item, Section)]
    parts.append(("Data", [link(path, path, text) for path, text in data.items()]))
    lines = [f"# {config.site_name}", ""]
    lines += [f"> {config.site_description}", ""] if config.site_description else []
    for title, listed in parts:
        lines += [f"## {title}", "", *listed, ""] if listed else []
    return "\n".join(lines)


def dataset_script(
    given: Given, report: Report, files: Mapping[str, str], config: MkDocsConfig, text: str
) -> str:
    """Return schema.org ``Dataset`` as JSON-LD for a page with downloads of results, else "".

    Args:
        given: The page.
        report: The report on the site.
        files: The files of the page's figures, by path.
        config: The configuration of MkDocs.
        text: A sentence about the page, or "".
    """
    page, judge = given.page, report.figures.judge.within(given.read)
    shown = [
        (spec, source)
        for spec in with_anchors(given.read.specs)
        if isinstance(spec, PipelineSpec) and spec.provenance is not False
        if (source := judge.provenance(spec)) and source.documents and source.results
    ]
    downloads = [
        {
            "@type": "DataDownload",
            "name": f"{spec.title or spec.id} ({kind})",
            "encodingFormat": form,
            "contentUrl": urljoin(page.canonical_url or "", get_relative_url(quote(path), page.url)),
        }
        for spec, _ in shown
        for kind, form in (("CSV", "text/csv"), ("JSON", "application/json"))
        for path in files
        if path.endswith(f".{spec.id}.{kind.lower()}")
    ]
    if not downloads:
        return ""
    days = [day.date().isoformat() for _, one in shown for day in (one.first, one.last) if day]
    titles = ", ".join(dict.fromkeys(str(spec.title) for spec, _ in shown if spec.title))
    about = {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": str(page.title),
        "description": f"{text or page.title} ({titles})",
        "includedInDataCatalog": {"@type": "DataCatalog", "name": config.site_name},
        **({"url": page.canonical_url} if page.canonical_url else {}),
        **({"keywords": page.meta["keywords"]} if page.meta.get("keywords") else {}),
        **({"temporalCoverage": f"{min(days)}/{max(days)}"} if days else {}),
        "distribution": downloads,
    }
    script = json.dumps(about, ensure_ascii=False, default=str).replace("<", "\\u003c")
    return f'<script type="application/ld+json">{script}</script>'
