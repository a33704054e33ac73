"""The inputs of a build, read once: the text of every page, shared pipelines, settings and the date.

A snapshot is a plain value. `mongo_tables.build.build` computes a site from it and from the answers of a results
source, and opens no file and reads no clock. `mongo_tables.site.disk` makes snapshots of files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import quote

from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.site.includes import Inclusions

if TYPE_CHECKING:
    from mongo_tables.aggregation.limits import PipelineLimits
    from mongo_tables.files.folders import BadByte
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.pages import Page

Needs = Literal["nothing", "rows", "figures"]
"""What a caller needs from the results source: nothing, rows, or rows with their provenance."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page, or of an included file.

    Attributes:
        file: The path as findings name it.
        path: The real path of the file.
        asked: Whether findings are about this page. Any other page only provides tables and values.
        included: Whether it is only a part of other pages.
        on_disk: The text of the file if a host changed it. Comments get their places in this text.
        bad: The first byte that is not UTF-8.
        page: The parsed page, if a host has already parsed it.
        inclusions: The included files.
    """

    file: str
    text: str
    path: Path = Path()
    asked: bool = True
    included: bool = False
    on_disk: str | None = None
    bad: BadByte | None = None
    page: Page | None = None
    inclusions: Inclusions | None = None


class WrittenFile(NamedTuple):
    """The file at the path of a drawing: its text if our program wrote it, or else the ``obstacle``."""

    text: str | None
    obstacle: str = ""


class ProjectVersion(NamedTuple):
    """The version of a page's project. If it is unknown, ``fault`` says why.

    ``path`` is the file that has the version, or None for a tag.
    """

    text: str = ""
    path: Path | None = None
    fault: str = ""


Versions = Mapping[tuple[str, str], ProjectVersion]
"""Versions, under two keys: the ``file`` of a page, and the file or tag that ``measured_of`` names on this page."""


def relative_address(path: Path) -> str:
    """Return the address of a file in the folder of a page."""
    return quote(path.name)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All inputs of a build, except the results.

    Attributes:
        pages: The pages of one site in order, with included files.
        server: The version of MongoDB that pipelines must run on.
        limits: The limits of pipelines on files.
        results: The name of the results source, or of the file that names it, for findings.
        in_place: The pages, by ``file``, that code hosts show as they are.
        drawings: The files of drawings in the folders of these pages.
        address_of: Returns the address of a drawing by the path of its file.
        faults: Findings about the settings.
        built: Whether templates and plugins have already changed the pages.
        versions: The versions of the project that comments ask for.
    """

    pages: tuple[PageText, ...]
    shared: SharedPipelines
    today: date
    needs: Needs = "rows"
    server: str = ""
    limits: PipelineLimits | None = None
    results: str = "fixtures"
    in_place: frozenset[str] | None = None
    drawings: Mapping[Path, WrittenFile] = field(default_factory=dict)
    address_of: Callable[[Path], str] = relative_address
    faults: tuple[Finding, ...] = ()
    built: bool = False
    versions: Versions = field(default_factory=dict)
