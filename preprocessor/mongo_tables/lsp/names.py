"""Ids of tables and names of shared pipelines: their definitions, their uses, and renaming."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote as unquote_path

from mongo_tables.directives.comments import Comment
from mongo_tables.directives.containers import places
from mongo_tables.directives.html_comments import PageLines, fold
from mongo_tables.directives.page_scan import front_matter_lines
from mongo_tables.directives.pipelines import NAME
from mongo_tables.jsontext.reader import Path
from mongo_tables.lsp.diagnostics import Lines
from mongo_tables.lsp.typed_json import PIPELINE, Body, Token, body_of, read_tokens, unquote

Sort = Literal["table", "list"]


class Name(NamedTuple):
    """The name of a table (its id) or of a list of stages (its file name)."""

    sort: Sort
    word: str


class Mention(NamedTuple):
    """An occurrence of a name: its file, its offsets without quotes, and whether it is the definition."""

    file: str
    start: int
    end: int
    name: Name
    gives: bool


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of pages with their comments, and of shared pipelines by their names; each file by its path.

    ``folders`` are those of the pages, in which paths of links may begin.
    """

    pages: Mapping[str, tuple[str, tuple[Comment, ...]]]
    lists: Mapping[str, tuple[str, str]]
    folders: Sequence[str] = ()

    def text(self, file: str) -> str:
        """Return the text of a page or a shared pipeline."""
        lists = (text for path, text in self.lists.values() if path == file)
        return self.pages[file][0] if file in self.pages else next(lists, "")

    def lines(self, file: str) -> Lines:
        """Return the lines of a file."""
        return Lines(self.text(file))


_QUOTED: Final[Mapping[str, Sequence[Path]]] = {
    "value": [("table",)],
    "check": [("table",)],
    "chart": [("title", "table")],
}
"""The paths of the name of a table that a comment quotes, by kind."""


def mentions_in_body(text: str, file: str, body: Body) -> Iterator[Mention]:
    """Yield the names in a body."""
    for token in read_tokens(text, body.start, body.end).found:
        if token.kind == "string" and (name := _name_of(token, text, body)):
            quoted = text[token.start : token.end]
            end = token.end - (len(quoted) > 1 and quoted.endswith('"'))
            gives = token.path == ("id",)
            yield Mention(file, token.start + 1, end, name, gives)


def _name_of(token: Token, text: str, body: Body) -> Name | None:
    word = unquote(text[token.start : token.end])
    if token.path in _QUOTED.get(body.kind, ()):
        return Name("table", word)
    if token.path == ("id",) and body.kind != PIPELINE:
        return Name("table", word)
    in_list = len(token.path) == 1 and body.kind == PIPELINE
    if token.path and isinstance(token.path[-1], int) and (in_list or token.path[:-1] == ("pipeline",)):
        return Name("list", word)
    return None


def mentions(texts: Texts) -> Iterator[Mention]:
    """Yield the names in all comments and shared pipelines."""
    for file, (text, comments) in texts.pages.items():
        for comment in comments:
            yield from mentions_in_body(text, file, body_of(comment, text))
    for file, text in texts.lists.values():
        yield from mentions_in_body(text, file, Body(PIPELINE, 0, len(text)))


def mention_at(found: Iterable[Mention], file: str, offset: int) -> Mention | None:
    """Return the name at an offset of a file, or None."""
    return next((one for one in found if one.file == file and one.start <= offset <= one.end), None)


_ID: Final = re.compile(r"[a-z][a-z0-9-]*")


def refuse_name(name: Name, new: str, texts: Texts) -> str:
    """Return why a name cannot be changed to another one, or "" if it can."""
    if name.sort == "table":
        if not _ID.fullmatch(new):
            return "an id has small letters, digits and hyphens, and begins with a letter"
        taken = any(one.name == Name("table", new) and one.gives for one in mentions(texts))
        return f"the id `{new}` is taken already" if taken else ""
    if not re.fullmatch(NAME, new):
        return "the name of a shared pipeline has letters, digits, hyphens and underscores only"
    return f"there is a shared pipeline `{new}` already" if new in texts.lists else ""


class Renaming(NamedTuple):
    """The new text between two offsets of a file."""

    file: str
    start: int
    end: int
    text: str


def rename(name: Name, new: str, texts: Texts) -> list[Renaming]:
    """Return the changes that rename something, including links to it."""
    found = [
        Renaming(one.file, one.start, one.end, json.dumps(new)[1:-1])
        for one in mentions(texts)
        if one.name == name
    ]
    return [*found, *(_links_to_table if name.sort == "table" else _links_to_list)(name.word, new, texts)]


def _links_to_table(word: str, new: str, texts: Texts) -> Iterator[Renaming]:
    """Yield changes of links to the anchor of a table, from its page and from others."""
    homes = {one.file for one in mentions(texts) if one.name == Name("table", word) and one.gives}
    for file, link in _list_links(word, texts):
        if link.anchor == word and any(link.leads_to(home, file, texts.folders) for home in homes):
            yield Renaming(file, link.anchor_start, link.anchor_start + len(word), new)


def _links_to_list(word: str, new: str, texts: Texts) -> Iterator[Renaming]:
    """Yield changes of links to the file of a shared pipeline."""
    home = texts.lists[word][0] if word in texts.lists else ""
    for file, link in _list_links(f"{word}.json", texts):
        if home and link.leads_to(home, file, texts.folders):
            start = link.start + link.path.rindex(f"{word}.json")
            yield Renaming(file, start, start + len(word), new)


def _list_links(word: str, texts: Texts) -> Iterator[tuple[str, LinkTarget]]:
    """Yield the links of pages that contain a word, each with its page."""
    for file, (text, comments) in texts.pages.items():
        if word in text:
            yield from ((file, link) for link in find_links(text, comments))


_LINK: Final = re.compile(
    r"\]\([ \t]*<?(?P<inline>[^)>\s]+)"
    r"|^[> \t]*\[[^\]\n]+\]:[ \t]*<?(?P<defined>[^>\s]+)"
    r"""|<a\s(?:[^>]*\s)?href\s*=\s*["']?(?P<html>[^"'\\>\s]+)""",
    re.MULTILINE | re.IGNORECASE,
)
_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_PROBE: Final = "<!-- -->"


class LinkTarget(NamedTuple):
    """The offset of a link's target, and the target: a path, which may be empty, and the fragment after ``#``."""

    start: int
    path: str
    anchor: str

    def leads_to(self, file: str, page: str, folders: Sequence[str]) -> bool:
        """Return whether it leads from ``page`` to a file. An absolute path may start in any of ``folders``."""
        if _ELSEWHERE.match(self.path):
            return False
        path = unquote_path(self.path.partition("?")[0])
        if path.startswith("/"):
            return any(posixpath.normpath(f"{folder}{path}") == file for folder in (".", *folders))
        return posixpath.normpath(posixpath.join(posixpath.dirname(page), path) if path else page) == file

    @property
    def anchor_start(self) -> int:
        """The offset of the fragment after the ``#``."""
        return self.start + len(self.path) + 1


def find_links(text: str, comments: Sequence[Comment]) -> Iterator[LinkTarget]:
    """Yield the links of a page, including those in captions and cells of its ``comments``.

    Links in generated text are skipped.
    """
    written = [one for one in _LINK.finditer(text) if not _is_generated(one.start(), comments)]
    live = _list_live(text, [one.start() for one in written])
    for one in written:
        start = one.start()
        if start in live or any(each.start <= start < each.end for each in comments):
            kind = str(one.lastgroup)
            path, _, anchor = one[kind].partition("#")
            yield LinkTarget(one.start(kind), path, anchor)


def _is_generated(at: int, comments: Sequence[Comment]) -> bool:
    return any(each.region and each.region.start <= at < each.region.end for each in comments)


def _list_live(text: str, starts: Sequence[int]) -> set[int]:
    """Return the offsets that are neither in code nor in comments, where a comment would be live."""
    page = PageLines(text)
    first_line = front_matter_lines(page.lines)
    _, hidden = fold(page, first_line)
    open_to = [at for at in starts if not any(one.start <= at < one.end for one in hidden)]
    cuts = [0, *open_to, len(text)]
    probed = _PROBE.join(text[start:end] for start, end in pairwise(cuts))
    folded, found = fold(PageLines(probed), first_line)
    meant = {at + number * len(_PROBE): at for number, at in enumerate(open_to)}
    numbers = {one.number: meant[one.start] for one in found if one.start in meant}
    where = places(folded, numbers.keys())
    return {at for number, at in numbers.items() if number in where and where[number].kind == "live"}
