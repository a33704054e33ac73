"""Names of our comments: which name a comment begins with, and which one its author may have meant.

A name says where rows come from, ``MONGO`` or plainly ``RESULT``, and what is shown: ``MONGO_TABLE``, ``RESULT_TABLE``.
The first word makes no difference to what a comment does.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from mongo_tables.directives.schemas import comment_names, load


class _Family(NamedTuple):
    """Keywords with one first word, and the pattern of how authors write that word.

    ``ours``: whoever begins a comment so means us, whatever follows. With another word many tools make marks of their
    own (``<!-- RESULTS:START -->``): it means us only in a name that is nearly one of ours, before a JSON object.
    ``likeness``, from 0 to 1, is how near that is.
    """

    word: str
    pattern: str
    ours: bool
    likeness: float

    def keyword(self, kind: str) -> str:
        """The keyword for a kind of comment."""
        return f"{self.word}_{kind.upper()}"

    @property
    def keywords(self) -> list[str]:
        """One keyword for each kind."""
        return [self.keyword(kind) for kind in comment_names()]

    @property
    def beginning(self) -> str:
        """The pattern of what stands after the opening of a comment that is meant for us."""
        return f"{self.word}_" if self.ours else rf"(?:{'|'.join(self.keywords)})\s*:"


_FAMILIES: Final = (
    _Family("MONGO", "mongo", ours=True, likeness=0.75),
    _Family("RESULT", "results?", ours=False, likeness=0.85),
)

KEYWORDS: Final[Mapping[str, str]] = {
    family.keyword(kind): kind for family in _FAMILIES for kind in comment_names()
}
"""The names that a comment can begin with, each with the kind of comment, which is the name of its schema too."""

PREFIXES: Final = tuple(f"{family.word}_" for family in _FAMILIES)
"""How keywords begin: a text with none of these has no comment of ours."""

_ANY_WORD: Final = "|".join(family.pattern for family in _FAMILIES)

SUSPECT: Final = rf"<!--[\s-]*(?:{_ANY_WORD})"
"""The pattern, in any case, of how a comment of ours may begin, or one that is nearly so."""

LIVE: Final = rf"<!--\s*({'|'.join(KEYWORDS)})\s*:"
"""The pattern of how a comment begins, once nothing can hide it."""

BEGINNING: Final = rf"<!--\s*(?:{'|'.join(family.beginning for family in _FAMILIES)})"
"""The pattern of how a comment begins that its author means for us."""

Place = Literal["block", "sentence", "either"]
"""Where a comment stands: on lines of its own, in a sentence, or as its author wrote it."""


def place_of(keyword: str) -> Place:
    """Where the comment stands, as its schema says."""
    place: Place = load(KEYWORDS[keyword])["x-place"]
    return place


def keyword_like(written: str, kind: str) -> str:
    """The keyword of a kind that suits the keyword ``written`` beside it: ``MONGO_VALUE`` beside ``MONGO_TABLE``.

    Where nothing is written yet (""), the one that speaks of no database.
    """
    word = written.partition("_")[0]
    family = next((one for one in _FAMILIES if one.word == word), _FAMILIES[-1])
    return family.keyword(kind)


# Names are compared loosely, so that a near miss is met too; a page without a match costs this search only.
_SUSPECT = re.compile(SUSPECT, re.IGNORECASE)


def may_have_comment(text: str) -> bool:
    """Whether a page may have a comment of ours, live or not: a quick look, before the scan."""
    return _SUSPECT.search(text) is not None


_NAME = re.compile(
    rf"<!--(?P<dashes>-*)\s*(?P<name>(?:{_ANY_WORD})(?:[_-]|[ \t]+(?=\w+[ \t]*(?:[:{{]|-->)))?\w*)[ \t]*(?P<colon>:?)",
    re.I,
)

_OBJECT = re.compile(r"\s*\{")


class Opening(NamedTuple):
    """How a comment begins: its name as written, the offset after its colon, the keyword that is probably
    meant.

    ``exact`` is true when nothing is wrong with it.
    """

    name: str
    body: int
    meant: str
    exact: bool


def opening_at(text: str, start: int) -> Opening | None:
    """Read the name of the comment at ``start``; None when it is an ordinary comment.

    Example:
        >>> opening_at("<!-- MONGO_TABEL: {} -->", 0).meant
        'MONGO_TABLE'
    """
    match = _NAME.match(text, start)
    if match is None:
        return None
    name, colon = match["name"], bool(match["colon"])
    if name in KEYWORDS and colon and not match["dashes"]:
        return Opening(name, match.end(), name, exact=True)
    family = next(one for one in _FAMILIES if re.match(one.pattern, name, re.I))
    if not family.ours and not _OBJECT.match(text, match.end()):
        return None
    meant = _find_nearest(name, family)
    return Opening(name, match.end(), meant, exact=False) if meant else None


def _find_nearest(name: str, family: _Family) -> str:
    """Give the keyword of the family that ``name`` is nearest to, or nothing when it is some other word."""
    plain = re.sub(r"[\s_-]", "", name).upper()
    if plain in ("MONGO", "MONGODB") or len(plain) > 30:
        return ""
    written = {keyword.replace("_", ""): keyword for keyword in family.keywords}
    if known := written.get(plain.removesuffix("S")):
        return known  # `mongo-tables:` begins each region of a page with figures in place
    from difflib import SequenceMatcher  # only pages with such a comment pay for it

    def likeness(keyword: str) -> float:
        return SequenceMatcher(None, plain, keyword.replace("_", "")).ratio()

    # Of those that are as near, the one that most authors write.
    best = max(family.keywords, key=lambda keyword: (likeness(keyword), KEYWORDS[keyword] == "table"))
    claimed = family.ours and re.match(rf"(?:{family.pattern})[_-]", name, re.I)
    return best if likeness(best) >= family.likeness or claimed else ""
