"""What a build reads, read once: the text of every page, shared pipelines, settings and the day.

A snapshot is a plain value. `mongo_tables.build.build` computes a whole site from it and from the answers of a results
source; it opens no file and asks for no time. `mongo_tables.site.disk` makes snapshots of files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.site.includes import Inclusions

if TYPE_CHECKING:
    from mongo_tables.aggregation.limits import Limits
    from mongo_tables.files.text import BadByte
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.pages import Page

Needs = Literal["nothing", "rows", "figures"]
"""What a door needs of the results source: no answer, the rows of pipelines, or also where they come from."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page, or of a file that comes into pages.

    ``file`` is its path as findings name it, ``path`` the file that this leads to. ``on_disk`` is the text of the file
    where a host altered it: comments keep their places there. ``asked``: findings are about this page; else it is
    here for its tables and values. ``included``: it is no page, and comes into one. ``bad`` is its first byte that is
    not UTF-8. ``page`` is what was read of it, where a host needed that before. ``inclusions`` are the files that come
    into it, ``whole`` those that come as a whole, as often as they do.
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
    whole: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """What is on disk where a drawing of a page belongs: a text of ours, or why there is none."""

    text: str | None
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that a build reads, but for the results.

    ``pages`` are those of one site in their order, with the files that come into them; ``left_out`` those that the
    site's build leaves out. ``in_place`` are the pages, as ``file`` names them, that code hosts show as they are;
    ``drawings`` the files beside them. ``built``: pages have what templates and plugins write into them. ``server`` is
    the version of MongoDB that pipelines are for, ``limits`` what they may cost on files. ``results`` names the results
    source, or the file that names it, in findings. ``faults`` are those of the settings.
    """

    pages: tuple[PageText, ...]
    shared: SharedPipelines
    today: date
    needs: Needs = "rows"
    server: str = ""
    limits: Limits | None = None
    results: str = "fixtures"
    left_out: tuple[PageText, ...] = ()
    in_place: frozenset[str] | None = None
    drawings: Mapping[Path, WrittenFile] = field(default_factory=dict)
    faults: tuple[Finding, ...] = ()
    built: bool = False
