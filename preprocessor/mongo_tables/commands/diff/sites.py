"""The tables of a built site, read back from its pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

from mongo_tables.commands.diff.states import Cell, Cells, Table

_FRACTION = re.compile(r"-?[\d,]*\.\d")


def is_site(folder: Path) -> bool:
    """Whether a folder holds a built site: a home page, which no fixture folder has."""
    return (folder / "index.html").is_file()


def tables_of_site(folder: Path) -> list[Table]:
    """Every table that the plugin wrote into a site's pages, in the order of the pages' paths."""
    found: list[Table] = []
    for file in sorted(folder.rglob("*.html")):
        text = file.read_text("utf-8")
        if 'class="mongo-table"' in text:
            reader = _Reader(file.relative_to(folder).as_posix())
            reader.feed(text)
            reader.close()
            found += reader.tables
    return found


class _Reader(HTMLParser):
    """Reads the tables in figures of class ``mongo-table``; other tables are hand-written."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[Table] = []
        self._page = page
        self._figure: str | None = None
        self._name = ""
        self._rows: list[list[Cell]] | None = None
        self._text: str | None = None
        self._raw: str | None = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a figure, a table, a row or a cell."""
        own = dict(attrs)
        if tag == "figure" and own.get("class") == "mongo-table":
            self._figure = own.get("id") or ""
        elif self._figure is None:
            return
        elif own.get("class") == "mongo-table__source":
            self._figure = None  # What follows tells of the measurement: its runs are no cells of the table.
        elif tag == "div" and own.get("aria-label"):
            self._name = own["aria-label"] or ""
        elif tag == "table":
            self._rows = []
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th") and self._rows:
            self._text, self._raw = "", None if own.get("data-t") else own.get("data-v") or ""
        elif tag == "br" and self._text is not None:
            self._text += "\n"

    def handle_data(self, data: str) -> None:
        """Take what a cell shows."""
        if self._text is not None:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        """End a cell, a table or a figure."""
        if tag in ("td", "th") and self._text is not None and self._rows:
            text = " ".join(self._text.split())
            self._rows[-1].append(Cell(text, text if self._raw == "" else self._raw))
            self._text = None
        elif tag == "table" and self._rows:
            self._end_table(self._rows)
        elif tag == "figure":
            self._figure = None

    def _end_table(self, rows: list[list[Cell]]) -> None:
        head, *body = rows
        headers = tuple(cell.text for cell in head)
        cells = tuple(map(tuple, body))
        name = self._figure or self._name
        self.tables.append(Table(self._page, 0, name, headers, cells, _find_naming_columns(headers, cells)))
        self._rows = None


def _find_naming_columns(headers: Sequence[str], rows: Sequence[Cells]) -> tuple[int, ...]:
    """The first column, and all others but those of fractions, which are measured."""
    return (0, *(at for at in range(1, len(headers)) if not any(_is_fraction(row[at]) for row in rows)))


def _is_fraction(cell: Cell) -> bool:
    return _FRACTION.match(cell.raw or "") is not None
