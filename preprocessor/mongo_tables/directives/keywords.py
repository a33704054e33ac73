"""The keywords of our comments: the keyword that a comment begins with, and the one that its author probably meant.

A keyword says where rows come from, ``MONGO`` or simply ``RESULT``, and what is shown: ``MONGO_TABLE``,
``RESULT_TABLE``. The first word does not change what a comment does.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from mongo_tables.directives.schemas import COMMENTS, load


class _Family(NamedTuple):
    """Keywords with one first word, and the pattern of that word in its spelling variants.

    ``ours``: a comment with this word is meant for this program, whatever follows. Many tools use marks with the other
    words (``<!-- RESULTS:START -->``): such a comment is only meant for this program if its name resembles a keyword
    and a JSON object follows. ``likeness``, from 0 to 1, is the required similarity.
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
"""The keywords, each with its kind of comment, which is also the name of its schema."""

RST: Final = ".rst"
"""The suffix of pages in reStructuredText, where directives and roles take the place of comments."""

NAMED: Final = "RESULT"
"""The keyword of a value that the settings name: ``<!-- RESULT: saved -->``."""

KINDS: Final[Mapping[str, str]] = {**KEYWORDS, NAMED: "value"}
"""The kind of comment of each keyword, and of ``NAMED``."""

PREFIXES: Final = (f"{_MONGO.word}_", f"{_RESULT.word}_")
"""The beginnings of keywords: a text without any of these has none of our comments."""

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
"""The case-insensitive pattern of the beginning of one of our comments, or of a similar text."""

LIVE: Final = rf"{OPEN}\s*({'|'.join(KEYWORDS)})\s*:"
"""The pattern of the beginning of a comment, once nothing can hide it."""

BEGINNING: Final = rf"{OPEN}\s*(?:{_MONGO.word}_|(?:{'|'.join(KEYWORDS)})\s*:|mongo-tables:)"
"""The pattern of the beginning of a comment that its author means for this program, or of a region's marker."""

Placement = Literal["block", "sentence", "either"]
"""The place of a comment: on separate lines, in a sentence, or as its author wrote it."""


def place_of(keyword: str) -> Placement:
    """Return the place of the comment, according to its schema."""
    place: Placement = load(KINDS[keyword])["x-place"]
    return place


def keyword_like(written: str, kind: str) -> str:
    """Return the keyword of a kind that begins as another keyword does: ``MONGO_VALUE`` beside ``MONGO_TABLE``.

    For "" (no keyword yet), return the one that does not mention a database.
    """
    word = written.partition("_")[0]
    return f"{word or _RESULT.word}_{kind.upper()}"


# Names are compared loosely to find near misses; for a page without a match, this search is the only cost.
_SUSPECT = re.compile(SUSPECT, re.IGNORECASE)


_DIRECTIVE = re.compile(rf"(?:\.\.[ \t]+|:)(?:{_ANY_WORD})[\w-]*:[:`]")


def may_have_comment(text: str) -> bool:
    """Return whether a page may have one of our comments, live or not: a quick test before the scan.

    In reStructuredText it looks for directives and roles.
    """
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
    """Return whether a page is MDX: by its name, or because it has our comments in MDX and no comment in HTML.

    Docusaurus reads ``.md`` as MDX, too (https://docusaurus.io/docs/markdown-features/react).
    """
    return file.lower().endswith(".mdx") or (HTML.open not in text and OURS_IN_MDX.search(text) is not None)


class Opening(NamedTuple):
    """The beginning of a comment: its name as written, the offset after its colon, the keyword probably meant.

    ``exact`` is true if the beginning is correct.
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
    if name == NAMED:  # Other tools have such marks, too.
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
    """Return the keyword of the family that is nearest to ``name``, or "" if it is another word."""
    plain = re.sub(r"[\s_-]", "", name).upper()
    if plain in ("MONGO", "MONGODB") or len(plain) > 30:
        return ""
    keywords = [one for one in KEYWORDS if one.startswith(family.word)]
    written = {keyword.replace("_", ""): keyword for keyword in keywords}
    if known := written.get(plain.removesuffix("S")):
        return known  # `mongo-tables:` begins each region on a page with figures in place
    from difflib import SequenceMatcher  # late import: only pages with such a comment need it

    def likeness(keyword: str) -> float:
        return SequenceMatcher(None, plain, keyword.replace("_", "")).ratio()

    # Of several equally similar keywords, the most frequent one.
    best = max(keywords, key=lambda keyword: (likeness(keyword), KEYWORDS[keyword] == "table"))
    claimed = family.ours and re.match(rf"(?:{family.pattern})[_-]", name, re.I)
    return best if likeness(best) >= family.likeness or claimed else ""
