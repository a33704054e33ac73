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
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.comments.keywords import LIVE, PREFIXES, place_of
from mongo_tables.comments.rawhtml import OPAQUE

if TYPE_CHECKING:
    from mongo_tables.comments.model import Comment
    from mongo_tables.pages.model import Page

TOKEN: Final = re.compile(r"<!--mongo-tables:[0-9a-f]{16}-\d+-->")
_IN_SENTENCE: Final = re.compile(rf"<span>{TOKEN.pattern}</span>")
ANY_TOKEN: Final = re.compile(rf"{_IN_SENTENCE.pattern}|{TOKEN.pattern}")
_ANY_SHOWN: Final = re.compile(f"{ANY_TOKEN.pattern}|{escape(ANY_TOKEN.pattern)}")
_LIVE: Final = re.compile(LIVE)
_COMMENT_OR_OPAQUE: Final = re.compile(rf"<!--|<({'|'.join(sorted(OPAQUE))})\b", re.IGNORECASE)
_OPENING: Final = re.compile(r"<p(?:\s[^>]*)?>")
_MARK: Final = re.compile(rf"<p[ >]|</p>|{TOKEN.pattern}")


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
    place = place_of(comment.keyword)
    in_sentence = place == "sentence" or (place == "either" and comment.inline)
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


def swap_tokens(html: str, figures: Mapping[str, str]) -> tuple[str, list[str]]:
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
        pieces += _divide(html[start:end], figures, met)
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


def _divide(paragraph: str, figures: Mapping[str, str], met: set[str]) -> list[str]:
    """Divide a paragraph, or a token alone, into figures and the text between them, in order."""
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


def show_comments_again(html: str, lost: Mapping[str, str]) -> str:
    """Replace tokens that the HTML shows as code by the text of their comments."""
    shown = {escape(token): escape(source) for token, source in lost.items()} | dict.fromkeys(lost, "")
    return _ANY_SHOWN.sub(lambda match: shown.get(match[0], match[0]), html)


def take_out_live_comments(html: str) -> tuple[str, Sequence[LeftOver]]:
    """The HTML without any live comment of ours, and those that were there, in order.

    Such a comment came in after its page was read, from an included file for example. Nobody would see that its table
    is missing, and everybody could read its pipeline. What is switched off stays where it is: in another comment, or
    in an element whose content no page runs (``rawhtml``).
    """
    found: list[LeftOver] = []
    pieces, done = [], 0
    for start, end in _comments(html) if any(prefix in html for prefix in PREFIXES) else ():
        if live := _LIVE.match(html, start):
            found.append(LeftOver(live[1], html[start:end]))
            pieces.append(html[done:start])
            done = end
    return "".join([*pieces, html[done:]]), found


def _comments(html: str) -> Iterator[tuple[int, int]]:
    """Start and end of each comment outside ``OPAQUE`` elements; what is never closed goes to the end of all."""
    endless: set[str] = set()
    at = 0
    while match := _COMMENT_OR_OPAQUE.search(html, at):
        at = match.end()
        if match[1] is None:
            closed = html.find("-->", at)
            at = closed + len("-->") if closed >= 0 else len(html)
            yield match.start(), at
        elif (element := match[1].lower()) not in endless:
            closing = re.compile(rf"</{element}\s*>", re.IGNORECASE).search(html, at)
            at = closing.end() if closing else at
            endless |= set() if closing else {element}
