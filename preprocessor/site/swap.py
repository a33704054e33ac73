"""Comments out of the Markdown, figures into the HTML, with a token in between.

A figure never passes through the Markdown parser: no cell can be taken for markup, and a table costs
nothing to parse. Each comment becomes a one-line HTML comment in the same container, which every Markdown
parser keeps where it stands; after the conversion the token is swapped for the figure. A token carries a
digest of its page, so that no text of the page can be one.

What belongs to a sentence (a value, a statement beside its words) has its token in a ``<span>``: a comment
alone would begin a block of its own wherever it begins a line.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from preprocessor.comments import Comment
    from preprocessor.pages import Page

TOKEN: Final = re.compile(r"<!--mongo-tables:[0-9a-f]{16}-\d+-->")
_IN_SENTENCE: Final = re.compile(rf"<span>{TOKEN.pattern}</span>")
ANY_TOKEN: Final = re.compile(rf"{_IN_SENTENCE.pattern}|{TOKEN.pattern}")
_ANY_SHOWN: Final = re.compile(f"{ANY_TOKEN.pattern}|{escape(ANY_TOKEN.pattern)}")
_LEFT_OVER: Final = re.compile(r"<!--\s*(MONGO_(?:TABLE|CHART|VALUE|CHECK))\s*:.*?(?:-->|\Z)", re.DOTALL)
_RAW_TEXT: Final = re.compile(r"<(script|style|textarea)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_OPENING: Final = re.compile(r"<p(?:\s[^>]*)?>")
_MARK: Final = re.compile(rf"<p[ >]|</p>|{TOKEN.pattern}")
_PREFIX: Final = re.compile(r"[\s>]+")


class LeftOver(NamedTuple):
    """A comment in finished HTML: its keyword, and all of it."""

    keyword: str
    text: str


def tokens(page: Page) -> tuple[str, ...]:
    """One token for each comment of the page: the same page, the same tokens."""
    key = hashlib.sha256(page.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return tuple(_token(key, number, comment) for number, comment in enumerate(page.comments))


def _token(key: str, number: int, comment: Comment) -> str:
    token = f"<!--mongo-tables:{key}-{number}-->"
    # A statement on lines of its own stays a block: it must not become a row of the pipe table above it.
    in_sentence = comment.keyword == "MONGO_VALUE" or (comment.keyword == "MONGO_CHECK" and comment.inline)
    return f"<span>{token}</span>" if in_sentence else token


def with_tokens(page: Page) -> str:
    """The page's text with a token for each comment; generated regions and rejected comments are left out."""
    edits = [(start, end, "") for start, end in page.rejected]
    for comment, token in zip(page.comments, tokens(page), strict=True):
        end = comment.region.end if comment.region else comment.end
        # Only what is a block at the margin must be parted from the text behind it.
        stand_in = comment.before + token if token.startswith("<span>") else comment.stand_in(token)
        edits.append((comment.start, end, stand_in))
    pieces, done = [], 0
    for start, end, replacement in sorted(edits):
        pieces += [page.text[done:start], replacement]
        done = max(done, end)
    return "".join([*pieces, page.text[done:]])


def swapped(html: str, figures: Mapping[str, str]) -> tuple[str, list[str]]:
    """The HTML with the figure in the place of each token, and the tokens that were not met, in order.

    A figure cannot stand in a paragraph: where Markdown has put the token into one, the paragraph is
    divided, except by what belongs to a sentence. A token that Markdown shows as code is not met; it stays as
    it is.
    """
    met: set[str] = set()
    if any(token.startswith("<span>") for token in figures):
        html = _sentences(html, figures, met)
    html = _blocks(html, figures, met)
    return html, [token for token in figures if token not in met]


def _sentences(html: str, figures: Mapping[str, str], met: set[str]) -> str:
    def figure(match: re.Match[str]) -> str:
        if match[0] in figures:
            met.add(match[0])
        return figures.get(match[0], match[0])

    return _IN_SENTENCE.sub(figure, html)


def _blocks(html: str, figures: Mapping[str, str], met: set[str]) -> str:
    pieces: list[str] = []
    done = 0
    for token, (start, end) in _with_paragraphs(html):
        if start < done or token not in figures:
            continue
        pieces.append(html[done:start])
        pieces += _divided(html[start:end], figures, met)
        done = end
    pieces.append(html[done:])
    return "".join(pieces)


def _with_paragraphs(html: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Every token, with start and end of the paragraph around it, or of itself where it stands in none."""
    opened, last_close = -1, html.rfind("</p>")
    for match in _MARK.finditer(html):
        if match[0] == "</p>":
            opened = -1
        elif match[0].startswith("<p"):
            opened = match.start()
        elif 0 <= opened < last_close and match.start() < last_close:
            yield match[0], (opened, html.index("</p>", match.end()) + len("</p>"))
        else:
            yield match[0], match.span()


def _divided(paragraph: str, figures: Mapping[str, str], met: set[str]) -> list[str]:
    """A paragraph, or a token alone, as what stands between the tokens and the figures, in order."""
    opening = _OPENING.match(paragraph)
    inner = paragraph[opening.end() : -len("</p>")] if opening else paragraph
    tag = opening[0] if opening else ""
    pieces, done = [], 0
    for match in TOKEN.finditer(inner):
        if match[0] in figures:
            text = inner[done : match.start()].strip()
            pieces += [f"{tag}{text}</p>\n" if text else "", figures[match[0]]]
            # Attributes of the paragraph, an id above all, must not appear twice.
            tag = "<p>" if text and tag else tag
            met.add(match[0])
            done = match.end()
    rest = inner[done:].strip()
    return [*pieces, f"\n{tag}{rest}</p>" if rest else ""]


def shown_again(html: str, lost: Mapping[str, str]) -> str:
    """The HTML with the comments themselves, as text, where their tokens are shown as code."""
    shown = {escape(token): escape(source) for token, source in lost.items()} | dict.fromkeys(lost, "")
    return _ANY_SHOWN.sub(lambda match: shown.get(match[0], match[0]), html)


def switched_off(page: Page) -> list[str]:
    """The comments of the page that are text by intention: in another comment, or in HTML that hides them."""
    return [page.text[start:end] for start, end in page.off]


def left_over(html: str, off: Iterable[str]) -> tuple[str, Sequence[LeftOver]]:
    """The HTML without any live ``MONGO_…`` comment, and those that were there, in order.

    Such a comment came in after the page was read, from an included file for example. Nobody would see that
    its table is missing, and everybody could read its pipeline. Those that are ``off`` stay where they are.
    """
    if "MONGO_" not in html:
        return html, ()
    known = Counter(map(_bare, off))
    found: list[LeftOver] = []

    def gone(match: re.Match[str]) -> str:
        if known[bare := _bare(match[0])] > 0:
            known[bare] -= 1
            return match[0]
        found.append(LeftOver(match[1], match[0]))
        return ""

    return _LEFT_OVER.sub(gone, html), found


def first_live_comment(html: str, off: Set[str]) -> LeftOver | None:
    """The first ``MONGO_…`` comment of finished HTML that is not among those ``off``; None where there is none.

    What stands in a script, a style sheet or a text field is text. ``off`` are comments without their prefixes.
    """
    if "MONGO_" not in html:
        return None
    found = _LEFT_OVER.finditer(_RAW_TEXT.sub("", html))
    return next((LeftOver(each[1], each[0]) for each in found if _bare(each[0]) not in off), None)


def bare_comments(comments: Iterable[str]) -> set[str]:
    """Comments as ``first_live_comment`` compares them."""
    return set(map(_bare, comments))


def _bare(comment: str) -> str:
    """A comment without what its container puts before each of its lines."""
    return _PREFIX.sub("", comment)
