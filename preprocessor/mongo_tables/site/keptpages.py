"""A page as it is kept, in this build and for the next one: packed, since a site may have thousands of them.

Its head is what its conversion needs. Its body has the figures with a table and the files behind them; they are large,
and needed when the page is written. The words by which figures are found may be needed later.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mongo_tables.site.plainmarkdown import Plain
from mongo_tables.site.spool import Packed, Spool, bytes_of

_LEVEL: Final = 1
"""Of compression: more takes longer than it spares."""


class Broken(Exception):
    """What was kept is no text of ours, whatever its digest says."""


class Head(NamedTuple):
    """The text of a page with tokens, and by token the figure and what stands for it in Markdown.

    Of the ``large`` figures, which are in the body, the tokens are here. ``anchors`` are those of all figures.
    """

    text: str
    figures: Mapping[str, str]
    plain: Mapping[str, Plain]
    large: Sequence[str]
    anchors: Sequence[str]


class Body(NamedTuple):
    """The large figures of a page by token, and the files that figures link to by path."""

    figures: Mapping[str, str]
    files: Mapping[str, str]


class Made(NamedTuple):
    """What was made for a page, as in ``Head`` and ``Body``; the large figures are those that have ``words``, by token.

    ``told`` are the indexes of the figures that tell of tables on other pages.
    """

    text: str
    figures: Mapping[str, str] = {}
    plain: Mapping[str, Plain] = {}
    files: Mapping[str, str] = {}
    words: Mapping[str, str] = {}
    told: Sequence[int] = ()
    anchors: Sequence[str] = ()


class KeptPage(NamedTuple):
    """One page: what it was made from (``hash_given``), ``told`` as in ``Made``, and the rest packed.

    Of one that was made by itself ``text`` is a digest of it as it is on disk, ``ids`` are those of its tables, and
    ``quoted`` the tables that it quotes, as often as it does.
    """

    given: str
    told: Sequence[int]
    head: Packed
    body: Packed
    words: Packed
    text: str = ""
    ids: Sequence[str] = ()
    quoted: Sequence[str] = ()

    @classmethod
    def of(cls, given: str, made: Made) -> KeptPage:
        """Pack what was made."""
        large = list(made.words)
        figures = {token: "" if token in made.words else html for token, html in made.figures.items()}
        head = Head(made.text, figures, made.plain, large, made.anchors)
        body = Body({token: made.figures[token] for token in large}, made.files)
        return cls(given, made.told, _pack(head), _pack(body), pack_words(made.words))

    def spooled(self, spool: Spool) -> KeptPage:
        """The page with what is packed in a file."""
        head, body, words = (spool.put(bytes_of(each)) for each in (self.head, self.body, self.words))
        return self._replace(head=head, body=body, words=words)

    def open_head(self) -> Head:
        """Unpack the head. Raises ``Broken``."""
        text, figures, plain, large, anchors = _unpack(self.head, str, dict, dict, list, list)
        return Head(text, figures, {token: Plain(*each) for token, each in plain.items()}, large, anchors)

    def open_body(self) -> Body:
        """Unpack the body. Raises ``Broken``."""
        return Body(*_unpack(self.body, dict, dict))

    def open_words(self) -> Mapping[str, str]:
        """Unpack the words. Raises ``Broken``."""
        return open_words(self.words)

    def with_changes(self, figures: Mapping[str, str], plain: Mapping[str, Plain]) -> KeptPage:
        """The page with other figures, none of them large. Raises ``Broken``."""
        head = self.open_head()
        return self._replace(head=_pack(head._replace(figures={**head.figures, **figures}, plain=plain)))


def pack_words(words: Mapping[str, str]) -> bytes:
    """Pack the words of figures, by token."""
    return _pack([words])


def open_words(packed: Packed) -> Mapping[str, str]:
    """Unpack the words of figures. Raises ``Broken``."""
    (words,) = _unpack(packed, dict)
    return dict(words)


def large_figures(figures: Mapping[str, str], told: Iterable[int]) -> list[str]:
    """The tokens of figures that search plugins get as words, and readers when their page is written."""
    others = set(told)
    return [
        token
        for number, (token, html) in enumerate(figures.items())
        if "<table" in html and number not in others
    ]


def _pack(parts: Sequence[Any]) -> bytes:
    return zlib.compress(json.dumps(parts, ensure_ascii=True).encode("ascii"), _LEVEL)


def _unpack(packed: Packed, *kinds: type) -> Sequence[Any]:
    try:
        parts = json.loads(zlib.decompress(bytes_of(packed)))
    except (zlib.error, OSError, ValueError, RecursionError) as error:
        raise Broken from error
    if type(parts) is not list or [*map(type, parts)] != [*kinds]:
        raise Broken
    return parts
