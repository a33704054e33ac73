"""Words of figures that go into the index of a search plugin once it is written.

The parsers of search plugins take each row for a paragraph, and two calls for each tag: of a page of tables that costs
as much as its conversion, in every build. So they may get a mark in the place of each figure, which comes out of them
as it went in; in the file of their index it is replaced by what they would have made of the words.

That is done where nothing else looks at what search plugins get, or at the index before it is whole. A mark that went
elsewhere ends the build, as a token does (``tokensleft``): it has the name of one in it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from html import escape, unescape
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from mongo_tables.files import atomic
from mongo_tables.site.keptpages import open_words, pack_words
from mongo_tables.site.markdownreaders import MKDOCS_SEARCH, may_read
from mongo_tables.site.spool import Packed
from mongo_tables.site.tokensleft import NAME

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

_INDEX: Final = "search/search_index.json"
_READ_BY: Final = ".*search_index.*"
"""How a hook speaks of the file, or of what it is written from."""
_MARK: Final = re.compile(rb"(%b)-(\d+)" % NAME.pattern)
_LONGEST: Final = 100
"""Bytes that no mark is longer than."""
_BLOCK: Final = 2**20
_MATERIAL: Final = "material.plugins.search.plugin"
_OPENING: Final = re.compile("<p [^>]*>")
_TAG: Final = re.compile("<[^>]*>")
_PIECE: Final = re.compile("(</?p>)")
_GAP: Final = re.compile("[ \t\n\r\f\v]+")


class WaitingWords:
    """The words of figures that have a mark in what a search plugin gets; ``paragraphs``: it keeps those apart."""

    def __init__(self, *, paragraphs: bool) -> None:
        self._paragraphs = paragraphs
        self._pages: list[Packed] = []
        self._opened: tuple[int, Mapping[str, str]] = -1, {}

    def mark(self, words: Mapping[str, str]) -> Mapping[str, str]:
        """A mark for each figure of a page, by token."""
        return self.mark_packed(words, pack_words(words))

    def mark_packed(self, tokens: Iterable[str], words: Packed) -> Mapping[str, str]:
        """The same, of words that are packed."""
        self._pages.append(words)
        return {token: f"{token[len('<!--') : -len('-->')]}-{len(self._pages) - 1}" for token in tokens}

    def fill_index(self, site: Path) -> None:
        """Put the words into the index, if there is one. Raises ``OSError``, and ``Broken`` for kept words."""
        file = site / _INDEX
        if self._pages and file.is_file():
            with file.open("rb") as written:
                atomic.write(file, self._with_words(written))

    def _with_words(self, written: BinaryIO) -> Iterator[bytes]:
        """The index, block by block: it has all words of a site, which may be many."""
        rest = b""
        for block in chain(iter(partial(written.read, _BLOCK), b""), (b"",)):
            rest += block
            done, until = 0, len(rest) - (_LONGEST if block else 0)
            for mark in _MARK.finditer(rest):
                if mark.start() >= until:
                    break  # It may go on in the next block.
                if (words := self._find(mark)) is not None:
                    yield from (rest[done : mark.start()], words)
                    done = mark.end()
            end = max(done, until)
            yield rest[done:end]
            rest = rest[end:]

    def _find(self, mark: re.Match[bytes]) -> bytes | None:
        """What stands in JSON for a mark; None where a page only looks as if it had one."""
        page = int(mark[2])
        if page >= len(self._pages):
            return None
        if page != self._opened[0]:
            self._opened = page, open_words(self._pages[page])
        words = self._opened[1].get(f"<!--{mark[1].decode()}-->")
        return None if words is None else json.dumps(self._as_indexed(words))[1:-1].encode("ascii")

    def _as_indexed(self, words: str) -> str:
        """What the search of Material makes of words, or that of MkDocs, which passes over paragraphs."""
        if not self._paragraphs:
            return _GAP.sub(" ", unescape(_TAG.sub(" ", words)).replace("\u00a0", " ")).strip()
        pieces = _PIECE.split(_OPENING.sub("<p>", words.strip()))
        texts = (escape(unescape(piece).replace("\n", " "), quote=False) for piece in pieces[::2])
        return "".join(chain.from_iterable(zip_longest(texts, pieces[1::2], fillvalue="")))


def find_waiting(config: MkDocsConfig, plugin: object) -> WaitingWords | None:
    """Where the words of a site can wait; None where its search plugins have to get them from ``plugin`` at once."""
    readers = config.plugins.events["page_context"]
    own = [number for number, each in enumerate(readers) if getattr(each, "__self__", None) is plugin]
    between = [getattr(each, "__self__", None) for each in readers[own[0] + 1 : own[1]]]
    if len(between) != 1 or any(may_read(each, _READ_BY) for each in config.plugins.events["post_build"]):
        return None
    search = between[0]
    module = type(search).__module__
    if module == _MATERIAL:
        # With it, texts are cut into words as they come.
        return None if getattr(sys.modules[module], "jieba", None) else WaitingWords(paragraphs=True)
    prepared = module not in MKDOCS_SEARCH or getattr(search, "config")["prebuild_index"]  # noqa: B009 (of any plugin)
    return None if prepared else WaitingWords(paragraphs=False)
