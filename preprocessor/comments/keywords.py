"""Names of MONGO_* comments: which name a comment begins with, and which one its author may have meant."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from preprocessor.schemas.loading import comment_names, load

_PREFIX = "MONGO_"

KEYWORDS = tuple(_PREFIX + name.upper() for name in comment_names())
"""The names that a comment can begin with: one for each schema of a comment."""

LIVE = rf"<!--\s*({'|'.join(KEYWORDS)})\s*:"
"""The pattern of how a comment begins, once nothing can hide it."""

Place = Literal["block", "sentence", "either"]
"""Where a comment stands: on lines of its own, in a sentence, or as its author wrote it."""


def schema_of(keyword: str) -> str:
    """The name of the schema that describes the comment: "table" of MONGO_TABLE."""
    return keyword.removeprefix(_PREFIX).lower()


def place_of(keyword: str) -> Place:
    """Where the comment stands, as its schema says."""
    place: Place = load(schema_of(keyword))["x-place"]
    return place


_NAME = re.compile(
    r"<!--(?P<dashes>-*)\s*(?P<name>mongo(?:[_-]|[ \t]+(?=\w+[ \t]*(?:[:{]|-->)))?\w*)[ \t]*(?P<colon>:?)",
    re.I,
)

# What the plugin puts in the place of a comment (``pages.placeholders``); the Markdown extension meets it on its pages.
_TOKEN = re.compile(r"<!--mongo-tables:[0-9a-f]{16}-\d+-->")


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
    """Read the name of the comment at ``start``; None when it is an ordinary comment."""
    match = _NAME.match(text, start)
    if match is None or _TOKEN.match(text, start):
        return None
    name, colon = match["name"], bool(match["colon"])
    if name in KEYWORDS and colon and not match["dashes"]:
        return Opening(name, match.end(), name, exact=True)
    meant = _find_nearest(name)
    return Opening(name, match.end(), meant, exact=False) if meant else None


def _find_nearest(name: str) -> str:
    """Give the keyword that ``name`` is nearest to, or nothing when it is some other word."""
    plain = re.sub(r"[\s_-]", "", name).upper()
    if plain in ("MONGO", "MONGODB") or len(plain) > 30:
        return ""
    from difflib import SequenceMatcher  # only pages with such a comment pay for it

    def likeness(keyword: str) -> float:
        return SequenceMatcher(None, plain, keyword.replace("_", "")).ratio()

    # Of those that are as near, the one that most authors write.
    best = max(KEYWORDS, key=lambda keyword: (likeness(keyword), keyword == "MONGO_TABLE"))
    return best if likeness(best) >= 0.75 or re.match(r"mongo[_-]", name, re.I) else ""
