"""Tokens that take the place of comments in the Markdown. In the HTML, figures replace them.

Figures therefore never pass through the Markdown parser: their cells cannot be read as markup, and tables cost no time
for parsing. A token is an element with a name as its text: ``<div>NAME</div>`` on separate lines, ``<span>NAME</span>``
in a sentence.

A name consists of control characters that even Windows-1252 leaves undefined. No text of a page has them, Markdown does
not change them, anchors of headings drop them, and a name can be found in any notation (UTF-8, JSON, XML), even if it
is cut in half. These characters are below U+0100, because Python stores a text with higher characters in more bytes,
and MkDocs keeps the texts of all pages. A name contains a digest of its page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Final

from mongo_tables.directives.containers import OPAQUE
from mongo_tables.directives.keywords import LIVE, place_of
from mongo_tables.files.memo import digest_of

if TYPE_CHECKING:
    from mongo_tables.site.pages import Page

BEGIN: Final = "\x81"
END: Final = "\x8d"
DIGITS: Final = "\x8f\x90\x9d"
"""The characters with which a name begins and ends, and its digits. Three of these digits stand for one hexadecimal
digit.
"""
_TRIPLES: Final = str.maketrans(
    dict(zip("0123456789abcdef", map("".join, product(DIGITS, repeat=3)), strict=False))
)
NAME: Final = re.compile(f"{BEGIN}[{DIGITS}]{{51,}}{END}")
MARK: Final = re.compile(f"<!--({NAME.pattern})-->")
"""A comment before and after the text of a figure, with the name of the figure."""
_MARKED: Final = re.compile(rf"{MARK.pattern}.*?<!--\1-->", re.DOTALL)
_IN_SENTENCE: Final = re.compile(rf"<span>({NAME.pattern})</span>")
_BLOCK: Final = rf"<div>({NAME.pattern})</div>"
_MARK: Final = re.compile(rf"<p[ >]|</p>|{_BLOCK}")
_IN_PARAGRAPH: Final = re.compile(_BLOCK)
TAGS: Final = "(?:span|div)"
"""The elements of tokens."""
_SHOWN: Final = re.compile(
    rf"&lt;{TAGS}&gt;({NAME.pattern})&lt;/{TAGS}&gt;|(?:<{TAGS}>)?({NAME.pattern})(?:</{TAGS}>)?"
)
_VALUE: Final = re.compile(r'<span class="mongo-value"[^>]*>(.*?)</span>', re.DOTALL)
_FAULT: Final = 'class="mongo-table-fault"'
_DRAWING: Final = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_TAG: Final = re.compile("<[^>]*>")
_TEXT: Final = re.compile(r">\s*([^\s<][^<]*)")
_LIVE: Final = re.compile(LIVE)
_COMMENT_OR_OPAQUE: Final = re.compile(rf"<!--|<({'|'.join(sorted(OPAQUE))})\b", re.IGNORECASE)
_OPENING: Final = re.compile(r"<p(?:\s[^>]*)?>")


def names(page: Page, url: str = "") -> tuple[str, ...]:
    """Return the names of a page's comments, in order. They depend on the URL and the text of the page."""
    digest = digest_of(url, page.text)[:16]
    found: list[str] = []
    for number in range(len(page.comments)):
        digits = f"{digest}{number:x}".translate(_TRIPLES)
        found.append(f"{BEGIN}{digits}{END}")
    return tuple(found)


def with_tokens(page: Page, named: Sequence[str]) -> str:
    """Return the text of the page with a token in place of each comment.

    Generated regions and rejected comments are removed.
    """
    edits: list[tuple[int, int, str]] = []
    for start, end in page.rejected:
        edits.append((start, end, ""))
    for comment, name in zip(page.comments, named, strict=True):
        end, place = comment.region.end if comment.region else comment.end, place_of(comment.keyword)
        # A statement on lines of its own is a block, because a sentence could become a row of the table above it.
        if place == "sentence" or (place == "either" and comment.inline):
            token = f"<span>{name}</span>"
        else:  # ``after`` separates a block at the margin from the text after it.
            token = f"<div>{name}</div>{comment.after}"
        edits.append((comment.start, end, comment.before + token))
    pieces, done = [], 0
    for start, end, replacement in sorted(edits):
        pieces += [page.text[done:start], replacement]
        done = max(done, end)
    return "".join([*pieces, page.text[done:]])


def swap_tokens(html: str, figures: Mapping[str, str]) -> tuple[str, set[str]]:
    """Replace each token by its figure. Return the HTML and the names of the replaced tokens.

    A block is not valid in a paragraph. If Markdown has put its token into a paragraph, the paragraph is split. Tokens
    that Markdown shows as code stay.
    """
    if BEGIN not in html:
        return html, set()
    met: set[str] = set()

    def figure(match: re.Match[str]) -> str:
        if match[1] in figures:
            met.add(match[1])
        return figures.get(match[1], match[0])

    html = _IN_SENTENCE.sub(figure, html)
    pieces, done = list[str](), 0
    opened, last_close = -1, html.rfind("</p>")
    for match in _MARK.finditer(html):
        if match[0] == "</p>":
            opened = -1
        elif match[0].startswith("<p"):
            opened = match.start()
        elif match[1] in figures:
            start, end = match.span()
            if 0 <= opened < last_close and start < last_close:  # The token is in a paragraph.
                start, end = opened, html.index("</p>", end) + len("</p>")
            if start >= done:
                pieces.append(html[done:start])
                pieces += _divide(html[start:end], figures, met)
                done = end
    return "".join([*pieces, html[done:]]), met


def met_names(html: str) -> set[str]:
    """Return the names of all tokens that ``swap_tokens`` would replace."""
    return {*_IN_SENTENCE.findall(html), *_IN_PARAGRAPH.findall(html)} if BEGIN in html else set()


def figure_text(figure: str) -> str:
    """Return the text of a figure's HTML, escaped and on one line. Faults have the text "".

    The text of a value in a sentence is only the value, without its drawing.
    """
    if value := _VALUE.match(figure):
        return " ".join(_TAG.sub("", _DRAWING.sub("", value[1])).split())
    texts = _TEXT.findall(_DRAWING.sub(" ", figure))
    return "" if _FAULT in figure else " ".join(" ".join(texts).split())


def swap_marked(html: str, figures: Mapping[str, str]) -> str:
    """Replace each text between marks by its figure."""
    return _MARKED.sub(lambda marked: figures.get(marked[1], marked[0]), html) if BEGIN in html else html


def swap_names(text: str, text_of: Callable[[str], str | None]) -> str:
    """Replace each name without an element, as in a title, by ``text_of(name)``. If that is None, the name stays."""
    if BEGIN not in text:
        return text

    def bare(name: re.Match[str]) -> str:
        # A name in a comment is a mark (``MARK``).
        given = None if text.endswith("<!--", 0, name.start()) else text_of(name[0])
        return name[0] if given is None else given

    return NAME.sub(bare, text)


def _divide(paragraph: str, figures: Mapping[str, str], met: set[str]) -> list[str]:
    """Split a paragraph, or a single token, into figures and the text between them."""
    opening = _OPENING.match(paragraph)
    inner = paragraph[opening.end() : -len("</p>")] if opening else paragraph
    tag = opening[0] if opening else ""
    pieces, done = [], 0
    for match in _IN_PARAGRAPH.finditer(inner):
        if match[1] in figures:
            text = inner[done : match.start()].strip()
            pieces += [f"{tag}{text}</p>\n" if text else "", figures[match[1]]]
            # Attributes of the paragraph, such as an id, must not appear twice.
            tag = "<p>" if text and tag else tag
            met.add(match[1])
            done = match.end()
    rest = inner[done:].strip()
    return [*pieces, f"\n{tag}{rest}</p>" if rest else ""]


def show_comments_again(html: str, lost: Mapping[str, str]) -> str:
    """Replace tokens in code by the text of their comments. ``lost`` has the texts of the comments, by name."""

    def shown(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return match[0] if name not in lost else escape(lost[name]) if match[1] else ""

    return _SHOWN.sub(shown, html)


def take_out_live_comments(html: str) -> tuple[str, list[str]]:
    """Remove our live comments from the HTML. Return the HTML, and the keywords of the comments in order.

    Such a comment was added after the page was read, for example from an included file. Its table would be missing, and
    its pipeline would be public. Inactive comments stay: those within another comment, or within an element whose
    content is not HTML, such as a script.
    """
    found: list[str] = []
    pieces, done = [], 0
    for start, end in _comments(html) if _LIVE.search(html) else ():
        if live := _LIVE.match(html, start):
            found.append(live[1])
            pieces.append(html[done:start])
            done = end
    return "".join([*pieces, html[done:]]), found


def _comments(html: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each comment outside of ``OPAQUE`` elements.

    An unclosed comment extends to the end of the HTML.
    """
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
