"""Published data files of a site: the rows behind figures, and the result documents behind rows.

A file is named by its page and its figure, or by the ``_id`` of its document, so that its address is the same
in every build. Links are relative, so they also work from a folder opened as files. Pages have no folders of
their own, because many file systems take longer for hundreds of small folders than for the files.

The site for programs: the Markdown of each page, ``llms.txt``, and schema.org ``Dataset`` in pages with results.

The Markdown of a page has the path of its source, so its links to other pages and files hold. No file that is there
already is touched: another plugin wrote it, or it is a file of the site.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from html import escape, unescape
from pathlib import Path
from posixpath import relpath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urljoin

from mkdocs.structure.nav import Section
from mkdocs.structure.pages import Page as SitePage
from mkdocs.utils import get_relative_url

from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.render.markup import distinct, with_anchors, words
from mongo_tables.results.conclusions import variant_name
from mongo_tables.results.file_documents import fixture_documents
from mongo_tables.results.model import ResultsError

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

    from mongo_tables.build import Report
    from mongo_tables.hosts.page_figures import Given
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.provenance import Provenance

ROWS_FOLDER: Final = "rows"
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class Shelf:
    """The files of one page: ``page`` is its path in the docs folder, ``url`` its address within the site.

    ``files`` maps paths in the site to texts.
    """

    page: str
    url: str
    files: dict[str, str] = field(default_factory=dict)

    def place(self, name: str, text: str) -> str:
        """Add a file. Return its address relative to the page, quoted like ``url``."""
        self.files[f"{self._stem}.{name}"] = text
        return f"{self._way}.{quote(name)}"

    @cached_property
    def _stem(self) -> str:
        return f"{ROWS_FOLDER}/{self.page.rpartition('.')[0]}"

    @cached_property
    def _way(self) -> str:
        """Return the common part of the paths from the page to its files."""
        here = self.url if self.url.endswith("/") else self.url.rpartition("/")[0]
        return relpath(f"/{quote(self._stem)}", f"/{here}")


def put(files: Mapping[str, str | bytes], folder: Path) -> None:
    """Write files, text or bytes by path, below a folder. Raises ``OSError``, which names the file."""
    for path, content in files.items():
        place = f"{folder}/{path}"
        encoded = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
        try:
            _write(place, encoded)
        except FileNotFoundError:  # The first file of a folder: checking before each write would take longer.
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            _write(place, encoded)


def _write(place: str, content: bytes) -> None:
    """Write a file completely or not at all: readers could not see that rows are missing at its end."""
    try:
        # For thousands of files, file objects cost as much as the files.
        file = os.open(place, _FLAGS, 0o666)
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(file, left) :]
        finally:
            os.close(file)
    except OSError as error:
        with suppress(OSError):
            Path(place).unlink()
        raise OSError(error.errno, error.strerror, place) from None


DOCUMENTS_FOLDER: Final = "documents"
_LONGEST: Final = 120
"""Maximum characters of a file's name without its folder."""
_ID_FIRST: Final = re.compile(r'\s*\{\s*"_id"\s*:\s*')
_SCANNER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class PublishedDocuments:
    """The published documents of a collection: ``paths`` in the site by ``repr(_id)``, ``files`` by path."""

    collection: str
    paths: Mapping[str, str]
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, local: FileSource | None, collection: str) -> PublishedDocuments:
        """Publish the local documents, or none if they cannot be read, which the results source reports."""
        try:
            lines = list(local.lines(collection)) if local is not None and collection else []
            keys = _keys(lines)
        except (ResultsError, ValueError):
            return cls(collection, {}, {})
        names = distinct((f"{_path_of(collection)}/{_name(key)}" for key in keys), set())
        paths = {repr(key): f"{name}.json" for key, name in zip(keys, names, strict=True)}
        files = {f"{name}.json": line for name, line in zip(names, lines, strict=True)}
        return cls(collection, paths, files)

    @property
    def together(self) -> bytes:
        """Return all documents as JSON Lines for ``mongoimport``, in the order of the source's files."""
        return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in self.files.values())

    def address(self, page: str, collection: str, key: Any) -> str:
        """Return the relative path from a page's address to a document, or "" if it is not published."""
        path = self.paths.get(repr(key)) if collection == self.collection else None
        here = page if page.endswith("/") else page.rpartition("/")[0]
        return relpath(f"/{path}", f"/{here}") if path else ""


def path_of_all(collection: str) -> str:
    """Return the path of the file with all documents of a collection. Known before any document is read."""
    return f"{_path_of(collection)}.jsonl"


def _path_of(collection: str) -> str:
    return f"{DOCUMENTS_FOLDER}/{words(collection) or DOCUMENTS_FOLDER}"


def _keys(lines: list[bytes]) -> list[Any]:
    """Return each document's ``_id`` as a results source gives it. Usually parses only a line's start."""
    if not lines:
        return []
    content = "\n".join(_with_id_alone(line.decode()) for line in lines).encode()
    return [one["_id"] for one in fixture_documents(Path(DOCUMENTS_FOLDER), content)]


def _with_id_alone(line: str) -> str:
    """Return the line without the text after its ``_id``, if that comes first."""
    start = _ID_FIRST.match(line)
    if start is None:
        return line
    end = _SCANNER.raw_decode(line, start.end())[1]
    return f"{line[:end]}}}"


def _name(key: Any) -> str:
    """Return experiment and variant, as in ``insert-docsize.docsizekb-4``, in letters valid in addresses."""
    parts = key if isinstance(key, Mapping) else {"_id": key}
    named = [str(parts.get("testname", "")), variant_name(parts)]
    return ".".join(filter(None, (words(each, _LONGEST) for each in named))) or "document"


LLMS: Final = "llms.txt"
_BLANK_LINES: Final = re.compile(r"\n\s*\n")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_SENTENCE: Final = re.compile(r".{20,}?\.(?= |$)|.+")
_LONGEST_TEXT: Final = 240


def alternate_link(page: SitePage) -> str:
    """Return the element of a page's head that leads to its Markdown.

    It stands in ``noscript``, since the script of Material asks for a sitemap beside every alternate that it finds.
    """
    address = escape(get_relative_url(quote(page.file.src_uri), page.url))
    return f'<noscript><link rel="alternate" type="text/markdown" href="{address}"></noscript>'


def first_sentence(markdown: str) -> str:
    """Return the first sentence of a page as plain text, or "" if its text begins with something else."""
    paragraphs = (one.strip() for one in _BLANK_LINES.split(markdown))
    first = next((one for one in paragraphs if one and one[0] not in "#<"), "")
    if not (first[:1].isalnum() or first.startswith(("[", "**"))):
        return ""
    text = " ".join(unescape(_LINK.sub(r"\1", first)).replace("**", "").split())
    found = _SENTENCE.match(text)
    return found[0] if found and len(found[0]) <= _LONGEST_TEXT else ""


def llms_text(
    config: MkDocsConfig, items: Sequence[Any], about: Mapping[str, str], data: Mapping[str, str]
) -> str:
    """Return ``llms.txt`` (https://llmstxt.org): the pages of the navigation ``items``, and ``data`` by path.

    ``about`` has a sentence for each page whose Markdown was written, by its path.
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
    """Return schema.org ``Dataset`` as JSON-LD for a page whose tables have results, else "".

    ``files`` are the files of its figures, by path; ``text`` is a sentence about the page, or "".
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
    titles = ", ".join(dict.fromkeys(str(spec.title) for spec, _ in shown if spec.title))
    about = {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": str(page.title),
        "description": f"{text or page.title} ({titles})",
        "includedInDataCatalog": {"@type": "DataCatalog", "name": config.site_name},
        **({"url": page.canonical_url} if page.canonical_url else {}),
        **({"keywords": page.meta["keywords"]} if page.meta.get("keywords") else {}),
        **_coverage([source for _, source in shown]),
        "distribution": downloads,
    }
    script = json.dumps(about, ensure_ascii=False, default=str).replace("<", "\\u003c")
    return f'<script type="application/ld+json">{script}</script>'


def _coverage(sources: Sequence[Provenance]) -> dict[str, str]:
    """Return from which day to which the results were measured, if that is known."""
    days = [day.date().isoformat() for one in sources for day in (one.first, one.last) if day]
    return {"temporalCoverage": f"{min(days)}/{max(days)}"} if days else {}
