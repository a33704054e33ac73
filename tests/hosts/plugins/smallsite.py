"""A small site with every kind of comment, what its readers must see, and what they do see.

It comes in editions, which differ in a word of the text or in the data: a site is built, edited and built again.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

_TOKEN = re.compile(
    r"[\x81\x8d\x8f\x90\x9d]|\\u00(?:8[1df]|9[0d])|&#(?:129|141|143|144|157);|MONGO_(?:TABLE|CHART|VALUE|CHECK)"
)


@dataclass(frozen=True)
class Edition:
    """A word that stands in the text, and the numbers of the two rows."""

    word: str
    x: int
    y: int


SORTED = '{"$sort": {"_id": 1}}'
"""The only stage of each pipeline, as it stands in the text."""

COLD = Edition("winter", 3, 5)
REWORDED = Edition("summer", 3, 5)
WARM = Edition("summer", 31, 57)


@dataclass
class Seen:
    """What a reader of a page sees of our figures, in order.

    ``headings`` are those with a value in them, ``values`` all values, ``tables`` the cells of tables and of the
    values behind charts, ``labels`` the numbers that are drawn in charts, ``faults`` the boxes; ``dead`` are links of
    figures to what the page does not have.
    """

    headings: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)

    def __add__(self, other: Seen) -> Seen:
        return Seen(*(getattr(self, name) + getattr(other, name) for name in vars(self)))


@dataclass(frozen=True)
class Site:
    """The files of a small site, and what must be seen in its pages and stand in its other files, by their paths."""

    files: Mapping[str, str]
    pages: Mapping[str, Seen]
    others: Mapping[str, Sequence[str]] = field(default_factory=dict)


def _comment(keyword: str, **keys: object) -> str:
    return f"<!-- MONGO_{keyword}: {json.dumps(keys)} -->"


def value(of: str, row: str, **keys: object) -> str:
    """A value of the table ``of``: its number in the row ``x`` or ``y``."""
    return _comment("VALUE", table=of, column="n", where={"a": row}, **keys)


def table(name: str) -> str:
    """A table of the two rows."""
    keys = {"pipeline": [{"$sort": {"_id": 1}}], "columns": ["a", "n"], "headers": ["Kind", "Trains"]}
    return _comment("TABLE", id=name, collection="r", **keys)


def figures(name: str) -> str:
    """A table, a number in a sentence, a sentence held to the table, and a chart."""
    check = _comment("CHECK", table=name, where={}, expect={"n": {"$gt": 2}})
    drawn = {"pipeline": [{"$sort": {"_id": 1}}], "mark": "bar", "x": "a", "y": "n"}
    chart = _comment("CHART", id=f"{name}-drawn", title="Drawn", collection="r", **drawn)
    return f"""We count {value(name, "x")} here.

{table(name)}

More than two each. {check}

{chart}
"""


def text(edition: Edition, name: str) -> str:
    """A page: a heading with the edition's word and a value in it, and figures below."""
    return f"# The {edition.word} has {value(name, 'y')} trains\n\n{figures(name)}"


def seen_table(edition: Edition) -> list[list[str]]:
    """The cells of a ``table``."""
    return [["Kind", "Trains"], ["x", str(edition.x)], ["y", str(edition.y)]]


def seen_figures(edition: Edition) -> Seen:
    """What must be seen of ``figures``."""
    chart = [["a", "n"], *seen_table(edition)[1:]]
    return Seen(
        values=[str(edition.x)],
        tables=[seen_table(edition), chart],
        labels=[str(edition.x), str(edition.y)],
    )


def seen_text(edition: Edition) -> Seen:
    """What must be seen of ``text``."""
    heading = Seen([f"The {edition.word} has {edition.y} trains"], [str(edition.y)])
    return heading + seen_figures(edition)


def data(edition: Edition) -> str:
    """The fixture file of an edition."""
    rows = [{"_id": 1, "a": "x", "n": edition.x}, {"_id": 2, "a": "y", "n": edition.y}]
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(site: Site, folder: Path) -> None:
    """Put the site's files below a folder."""
    for name, content in site.files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")


class _Reader(HTMLParser):
    """Reads figures, and headings with values."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen = Seen()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self._open: list[tuple[str, str]] = []
        self._heading = ""
        self._with_value = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("meta", "link", "br", "img", "input", "hr", "path", "rect", "line", "circle", "use"):
            return
        given = {name: text or "" for name, text in attrs}
        kind = given.get("class", "")
        self._open.append((tag, kind))
        self.anchors.add(given.get("id", ""))
        if given.get("href", "").startswith("#") and self._within("mongo-table"):
            self.links.append(given["href"])
        if re.fullmatch("h[1-6]", tag):
            self._heading, self._with_value = "", False
        elif tag == "span" and kind == "mongo-value":
            self.seen.values.append("")
            self._with_value = True
        elif tag == "table" and self._within("mongo-table"):
            self.seen.tables.append([])
        elif tag == "tr" and self._within("mongo-table"):
            self.seen.tables[-1].append([])
        elif tag in ("td", "th") and self._within("mongo-table"):
            self.seen.tables[-1][-1].append("")
        elif kind == "mongo-chart__value" and not self._within("mongo-chart__narrow"):
            self.seen.labels.append("")
        elif kind == "mongo-table-fault":
            self.seen.faults.append("")

    def handle_endtag(self, tag: str) -> None:
        while any(tag == name for name, _ in self._open):
            if self._open.pop()[0] == tag:
                break
        if re.fullmatch("h[1-6]", tag) and self._with_value:
            self.seen.headings.append(" ".join(self._heading.split()))
            self._with_value = False

    def handle_data(self, data: str) -> None:
        if any(kind == "headerlink" for _, kind in self._open):
            return
        if any(re.fullmatch("h[1-6]", name) for name, _ in self._open):
            self._heading += data
        if self._within("mongo-value"):
            self.seen.values[-1] += data
        elif self._within("mongo-chart__value") and not self._within("mongo-chart__narrow"):
            self.seen.labels[-1] += data
        elif self._within("mongo-table-fault"):
            self.seen.faults[-1] += data
        elif self._within("mongo-table") and {"td", "th"} & {name for name, _ in self._open}:
            self.seen.tables[-1][-1][-1] += data.strip("\n")

    def _within(self, wanted: str) -> bool:
        return any(kind == wanted for _, kind in self._open)


def read(html: str) -> Seen:
    """What a reader of the page sees."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.seen.dead = [link for link in reader.links if link[1:] not in reader.anchors]
    return reader.seen


def with_tokens(built: Path) -> list[str]:
    """The files of a built site in which a token or a comment of ours is left."""
    files = sorted(path for path in built.rglob("*") if path.is_file())
    return [str(path.relative_to(built)) for path in files if _TOKEN.search(_text(path))]


def _text(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    return "" if b"\0" in content else content.decode("utf-8", "replace")
