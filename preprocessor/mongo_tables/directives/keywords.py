"""The keywords of our comments, and the keyword that an author probably meant by a misspelt one.

A keyword has two words, such as ``MONGO_TABLE`` or ``RESULT_TABLE``. The first word has no effect.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from mongo_tables.directives.schemas import COMMENTS, load


class _Family(NamedTuple):
    """The keywords with the same first word.

    Attributes:
        word: The first word.
        pattern: The pattern of the word and its variants.
        ours: Whether every comment that begins with this word is meant for this program. Other tools also have
            comments with ``RESULTS`` (``<!-- RESULTS:START -->``), so comments with this word are ours only if their
            name is similar to a keyword and JSON follows.
        likeness: The required similarity to a keyword, from 0 to 1.
    """

    word: str
    pattern: str
    ours: bool
    likeness: float


_MONGO: Final = _Family("MONGO", "mongo", ours=True, likeness=0.75)
_RESULT: Final = _Family("RESULT", "results?", ours=False, likeness=0.85)

KEYWORDS: Final[Mapping[str, str]] = {
    f"{family.word}_{kind.upper()}": kind for family in (_MONGO, _RESULT) for kind in COMMENTS
}
"""For each keyword, the kind of the comment, which is also the name of its schema."""

RST: Final = ".rst"
"""The suffix of pages in reStructuredText, which have directives and roles instead of comments."""

NAMED: Final = "RESULT"
"""The keyword of a value that is defined in the settings: ``<!-- RESULT: saved -->``."""

KINDS: Final[Mapping[str, str]] = {**KEYWORDS, NAMED: "value"}
"""For each keyword, including ``NAMED``, the kind of the comment."""

PREFIXES: Final = (f"{_MONGO.word}_", f"{_RESULT.word}_")
"""The beginnings of all keywords except ``NAMED``."""

_ANY_WORD: Final = f"{_MONGO.pattern}|{_RESULT.pattern}"


class Marks(NamedTuple):
    """The marks around a comment."""

    open: str
    close: str


HTML: Final = Marks("<!--", "-->")
MDX: Final = Marks("{/*", "*/}")

OPEN: Final = r"(?:<!--|\{\s*/\*+)"
"""The pattern of the mark that opens a comment."""

SUSPECT: Final = rf"{OPEN}[\s-]*(?:{_ANY_WORD})"
"""The pattern of the beginning of one of our comments or a similar comment. Use it with ``re.IGNORECASE``."""

LIVE: Final = rf"{OPEN}\s*({'|'.join(KEYWORDS)})\s*:"
"""The pattern of the beginning of one of our comments, for texts in which no comment is inside code."""

BEGINNING: Final = rf"{OPEN}\s*(?:{_MONGO.word}_|(?:{'|'.join(KEYWORDS)})\s*:|mongo-tables:)"
"""The pattern of the beginning of one of our comments, or of the marker of a region."""

Placement = Literal["block", "sentence", "either"]
"""The place of a comment: on separate lines, in a sentence, or in either place."""


def place_of(keyword: str) -> Placement:
    """Return the allowed place of comments with a keyword."""
    place: Placement = load(KINDS[keyword])["x-place"]
    return place


def keyword_like(written: str, kind: str) -> str:
    """Return the keyword of ``kind`` with the first word of the keyword ``written``, or with ``RESULT`` for "".

    Example:
        >>> keyword_like("MONGO_TABLE", "value")
        'MONGO_VALUE'
    """
    word = written.partition("_")[0]
    return f"{word or _RESULT.word}_{kind.upper()}"


_SUSPECT = re.compile(SUSPECT, re.IGNORECASE)


_DIRECTIVE = re.compile(rf"(?:\.\.[ \t]+|:)(?:{_ANY_WORD})[\w-]*:[:`]")


def may_have_comment(text: str) -> bool:
    """Return whether a page may have comments of ours, or directives and roles in reStructuredText: a quick test."""
    if (HTML.open in text or "/*" in text) and _SUSPECT.search(text) is not None:
        return True
    return ("::" in text or ":`" in text) and _DIRECTIVE.search(text) is not None


_NAME = re.compile(
    rf"{OPEN}(?P<dashes>-*)\s*(?P<name>(?:{_ANY_WORD})(?:[_-]|[ \t]+(?=\w+[ \t]*(?:[:{{]|-->|\*/)))?\w*)"
    r"[ \t]*(?P<colon>:?)",
    re.I,
)

_OBJECT = re.compile(r"\s*\{")
_VALUE_NAME = re.compile(r"\s*[a-z][a-z0-9_-]*\s*(?:-->|\*/\})")
OURS_IN_MDX: Final = re.compile(rf"\{{\s*/\*+\s*(?:(?:{'|'.join(KEYWORDS)}|{NAMED})\s*:|mongo-tables:)")
"""The beginning of one of our comments, or of the marker of a region, with the marks of MDX."""


def marks_at(text: str, start: int) -> Marks:
    """Return the marks of the comment at ``start``."""
    return MDX if text.startswith("{", start) else HTML


def is_mdx(text: str, file: str) -> bool:
    """Return whether a page is MDX: its suffix is ``.mdx``, or it has our comments in MDX and no HTML comments.

    Docusaurus reads ``.md`` files as MDX (https://docusaurus.io/docs/markdown-features/react).
    """
    return file.lower().endswith(".mdx") or (HTML.open not in text and OURS_IN_MDX.search(text) is not None)


class Opening(NamedTuple):
    """The beginning of a comment.

    ``name`` is the name as written, ``meant`` the keyword that the author probably meant. ``body`` is the offset
    after the beginning. ``exact`` says whether the beginning has no fault.
    """

    name: str
    body: int
    meant: str
    exact: bool


def opening_at(text: str, start: int) -> Opening | None:
    """Read the name of the comment at ``start``. Return None for an ordinary comment.

    Example:
        >>> opening_at("<!-- MONGO_TABEL: {} -->", 0).meant
        'MONGO_TABLE'
    """
    match = _NAME.match(text, start)
    if match is None:
        return None
    name, colon = match["name"], bool(match["colon"])
    if name == NAMED:  # Other tools also have comments with this word.
        named = colon and not match["dashes"] and _VALUE_NAME.match(text, match.end())
        return Opening(name, match.end(), name, exact=True) if named else None
    if name in KEYWORDS and colon and not match["dashes"]:
        return Opening(name, match.end(), name, exact=True)
    family = _MONGO if re.match(_MONGO.pattern, name, re.I) else _RESULT
    if not family.ours and not _OBJECT.match(text, match.end()):
        return None
    meant = _find_nearest(name, family)
    return Opening(name, match.end(), meant, exact=False) if meant else None


def _find_nearest(name: str, family: _Family) -> str:
    """Return the keyword of the family that is most similar to ``name``, or "" if none is similar enough."""
    plain = re.sub(r"[\s_-]", "", name).upper()
    if plain in ("MONGO", "MONGODB") or len(plain) > 30:
        return ""
    keywords = [one for one in KEYWORDS if one.startswith(family.word)]
    written = {keyword.replace("_", ""): keyword for keyword in keywords}
    if known := written.get(plain.removesuffix("S")):
        return known  # `mongo-tables:` begins each region on a page with figures in place
    from difflib import SequenceMatcher  # only needed for misspelt keywords

    def likeness(keyword: str) -> float:
        return SequenceMatcher(None, plain, keyword.replace("_", "")).ratio()

    # Of equally similar keywords, choose the most frequent one: that of a table.
    best = max(keywords, key=lambda keyword: (likeness(keyword), KEYWORDS[keyword] == "table"))
    claimed = family.ours and re.match(rf"(?:{family.pattern})[_-]", name, re.I)
    return best if likeness(best) >= family.likeness or claimed else ""
