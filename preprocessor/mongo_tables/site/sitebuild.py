"""The state of one build of a site: its inputs, and its results so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.pages.build import Build
from mongo_tables.pages.model import Page
from mongo_tables.site.amending import Told
from mongo_tables.site.documents import Documents
from mongo_tables.site.keptpages import Body, Head, KeptPage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import File
    from mkdocs.structure.pages import Page as SitePage

    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.keptanswers import KeptAnswers
    from mongo_tables.site.options import MongoTablesConfig
    from mongo_tables.site.pagereader import PageReader
    from mongo_tables.site.pagesleft import PageByPage
    from mongo_tables.site.searchindex import WaitingWords


class Written(NamedTuple):
    """A page that is being written: what goes into it, and its HTML without that."""

    body: Body
    html: str


class Given(NamedTuple):
    """A page that came with a comment, and the length of its Markdown.

    ``markdown`` is that where other plugins changed it; what is in its file is not held, of thousands of pages.
    """

    page: SitePage
    length: int
    markdown: str | None


@dataclass(slots=True)
class SiteBuild:
    """One build. What it knows of pages it knows by their path in the docs folder.

    ``known`` are all pages so far: as they were given, those that did not come yet as they are on disk. ``files`` are
    those of pages, with their texts where no figures are kept; ``given`` the pages that came with a comment; ``pages``
    what was read of these. ``told`` is what they tell of tables on others. ``figures``: those with a table, by token,
    until readers get them, and ``excerpted`` all of those pages that are shown elsewhere too. ``tokens_in``: the
    Markdown with tokens of pages whose Markdown is looked at again.

    ``markdown_is_read``, ``rows_are_read`` and ``content_is_read`` say what plugins look at: the Markdown of pages that
    are converted, rows as paragraphs, and the HTML of pages before they are written. Where nothing does that, the HTML
    keeps the tokens of ``large_figures``, which are in ``bodies``, until then; ``written`` is the page in turn,
    ``waiting`` what is to be found in it, where a search plugin need not parse that.

    ``key`` is that under which figures are kept, ``writes`` tells whether what it was made from was written to since.
    ``kept`` are those of an earlier build, ``fresh`` those of this one,
    ``opened`` is the head of the page that is being converted.
    ``apart``: pages are let go of once they are done, none had a finding, and ``pages`` has few of them.
    ``downloads`` are the files that figures link to, ``documents`` those behind them. ``late`` is what only the
    conversion brought to light. ``copied`` are files that are no pages, ``tokens`` those that were put into pages.
    """

    config: MkDocsConfig
    options: MongoTablesConfig
    asked: KeptAnswers
    reader: PageReader
    serving: bool
    known: Build
    markdown_is_read: bool = True
    rows_are_read: bool = True
    content_is_read: bool = True
    files: dict[str, tuple[File, str]] = field(default_factory=dict)
    given: dict[str, Given] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    told: dict[str, Told] = field(default_factory=dict)
    figures: dict[str, dict[str, str]] = field(default_factory=dict)
    opened: tuple[str, Head] | None = None
    bodies: dict[str, KeptPage] = field(default_factory=dict)
    written: Written | None = None
    waiting: WaitingWords | None = None
    excerpted: dict[str, Mapping[str, str]] = field(default_factory=dict)
    tokens_in: dict[str, str] = field(default_factory=dict)
    key: str = ""
    writes: str = ""
    kept: dict[str, KeptPage] | None = None
    fresh: dict[str, KeptPage] = field(default_factory=dict)
    apart: PageByPage | None = None
    downloads: dict[str, str] = field(default_factory=dict)
    documents: Documents | None = None
    late: list[Finding] = field(default_factory=list)
    copied: set[str] = field(default_factory=set)
    tokens: set[bytes] = field(default_factory=set)

    def source_findings(self) -> list[Finding]:
        """Why no pipeline can be run at all, if so."""
        return self.known.source_findings(Path(self.config.config_file_path or "mkdocs.yml").name)


def root_of(config: MkDocsConfig) -> Path:
    """The folder that paths in the configuration are relative to."""
    return Path(config.config_file_path).parent if config.config_file_path else Path.cwd()


def pipelines_of(options: MongoTablesConfig, config: MkDocsConfig) -> Path:
    """The folder of shared stage lists."""
    return root_of(config) / options.pipelines if options.pipelines else Path(config.docs_dir) / "pipelines"
