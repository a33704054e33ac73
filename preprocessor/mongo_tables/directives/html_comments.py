"""Comments of a Markdown page, each folded to a token on one line, so that the rest can be read line by line.

Fences and code spans are skipped, because a ``<!--`` inside them opens no comment. In MDX, expressions and modules are
folded like comments, because a comment inside them is JavaScript (https://mdxjs.com/docs/what-is-mdx/).
`mongo_tables.directives.containers` decides whether a folded comment is in an indented code block or in raw HTML.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from mongo_tables.directives.keywords import OPEN, OURS_IN_MDX, Opening, opening_at

_PREFIX = re.compile(r"[> \t]*")
# After the mark: a language, then {attributes} or options. With an unknown option the line opens no fence.
_OPENING = re.compile(
    r"(?P<mark>~{3,}|`{3,})(?:[ \t]*\.?[\w#.+-]+(?=[\t ]|$))?"
    r"(?:[ \t]*\{[^\n]*\}"
    r"|(?:[ \t]*(?:hl_lines|linenums|title|title_mode)=(?:\"[^\"]*\"|'[^']*')(?=[\t ]|$))+)?[ \t]*$"
)
_MARK = re.compile(r"(?P<mark>`{3,})[^`]*$|(?P<tildes>~{3,})")
_MARKS = ("```", "~~~")
_FENCE_MARK = re.compile("```|~~~")


class Fence(NamedTuple):
    """A fence, or a line that looks like the opening of one.

    ``last`` is the index of the closing line. If ``closed`` is false, the site treats the line as text, and ``last`` is
    the index of the last line that was searched for a closing line. No other fence begins before ``last``.
    """

    first: int
    last: int
    closed: bool


def fence_at(lines: Sequence[str], index: int, mdx: bool = False) -> Fence | None:
    """Return the fence that the line at ``index`` opens, or None. In MDX any text may follow the mark."""
    match = _PREFIX.match(lines[index])
    assert match is not None  # the pattern matches the empty string
    opening = (_MARK if mdx else _OPENING).match(lines[index], match.end())
    if opening is None:
        mark = _MARK.match(lines[index], match.end())
        return Fence(index, index, closed=False) if mark else None
    sign = opening["mark"] or opening["tildes"]
    before = match[0].expandtabs(4)
    quotes = before.count(">")
    closing = re.compile(rf"{sign}{f'{sign[0]}*' if mdx else ''}[ \t]*$")
    blank_seen = False
    for number in range(index + 1, len(lines)):
        prefix, content = _split(lines[number], len(before))
        depth = prefix.count(">")
        blank = not content.strip() and (quotes > 0 or not prefix.strip())
        outdented = len(prefix) < len(before) if quotes else len(prefix) != len(before)
        if depth > quotes or (not blank and (outdented or (blank_seen and depth < quotes))):
            return Fence(index, number, closed=False)
        if closing.match(content):
            return Fence(index, number, closed=True)
        blank_seen = blank or (blank_seen and not content)
    return Fence(index, len(lines) - 1, closed=False)


def closed_fences(lines: Sequence[str], mdx: bool = False) -> Iterator[Fence]:
    """Yield the fences of a page, in order."""
    number = 0
    while number < len(lines):
        fence = fence_at(lines, number, mdx) if any(mark in lines[number] for mark in _MARKS) else None
        if fence is not None and fence.closed:
            yield fence
        number = fence.last + 1 if fence is not None else number + 1


def is_fenced(text: str, offset: int, mdx: bool = False) -> bool:
    """Return whether an offset of a page is inside fenced code."""
    if not any(mark in text[:offset] for mark in _MARKS):
        return False
    place = text.count("\n", 0, offset)
    return any(fence.first < place < fence.last for fence in closed_fences(text.split("\n"), mdx))


def _split(line: str, width: int) -> tuple[str, str]:
    """Split a line into a prefix of blanks and quote marks, at most ``width`` columns wide, and the rest."""
    columns, end = 0, 0
    for char in line:
        if columns >= width or char not in "> \t":
            break
        columns += 4 - columns % 4 if char == "\t" else 1
        end += 1
    return line[:end].expandtabs(4), line[end:]


NEWLINE = re.compile(r"\r\n|\r|\n")
TOKEN = "<!--\ue000{}-->"
CLOSE = re.compile(r"--!?>")
_CLOSE_IN_MDX = re.compile(r"\*/\s*\}")
_OPENS = re.compile(r"<!--|\{\s*/\*")
_OPENS_IN_MDX = re.compile(r"<!--|\{|^(?:import|export) ", re.MULTILINE)
_INTEREST = re.compile(r"<!--|\{\s*/\*|`+|\\`")
# The value of an attribute is no Markdown.
_INTEREST_IN_MDX = re.compile(r"""<!--|\{|`+|\\[`{]|=(?:"[^"\r\n]*"|'[^'\r\n]*')""")
_MODULE = re.compile(r"(?:import|export) ")
_ENDS_PARAGRAPH = re.compile(rf"[> \t]*(?:$|(?P<mark>`{{3}}|~{{3}}))| {{0,3}}{OPEN}")
_SCRIPT = re.compile(
    r"""(?P<text>"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'|`(?:[^`\\]|\\.)*`|//[^\r\n]*|/\*.*?\*/)"""
    r"|(?P<open>[{(\[])|(?P<close>[})\]])|(?P<blank>(?:\r\n?|\n)(?=[ \t]*(?:[\r\n]|\Z)))",
    re.DOTALL,
)


def script_end(text: str, start: int) -> int:
    """Return the end of the expression in braces at ``start``, or of the JavaScript statements up to a blank line.

    Return 0 for an expression that is not closed.

    Example:
        >>> script_end("{f('}')} b", 0)
        8
    """
    is_expression, depth = text.startswith("{", start), 0
    for token in _SCRIPT.finditer(text, start):
        depth += (token.lastgroup == "open") - (token.lastgroup == "close")
        if depth <= 0 and token.lastgroup == ("close" if is_expression else "blank"):
            return token.end() if is_expression else token.start()
    return 0 if is_expression else len(text)


class HtmlComment(NamedTuple):
    """A comment or, in MDX, an expression or the statements of a module.

    ``end`` is the end of the page if the comment is not ``closed``. ``fence`` is the index of the nearest line above
    that looks like a fence, but that the site does not recognise. ``opening`` is None if the comment's name is not
    similar to a keyword.
    """

    number: int
    start: int
    end: int
    closed: bool
    fence: int | None
    opening: Opening | None


class Folded(NamedTuple):
    """The lines of a page with comments folded to tokens.

    The keys of ``fenced`` are the indexes of lines of fenced code; the values say whether the line opens the fence.
    """

    lines: list[str]
    fenced: dict[int, bool]


class PageLines:
    """The lines of a page without line endings, and their offsets."""

    def __init__(self, text: str) -> None:
        self.text = text
        if "\r" in text:
            self.lines = NEWLINE.split(text)
            self.starts = [0, *(ending.end() for ending in NEWLINE.finditer(text))]
        else:  # ten times as fast, for nearly all pages
            self.lines = text.split("\n")
            self.starts = list(accumulate([len(line) + 1 for line in self.lines[:-1]], initial=0))

    def line_index(self, offset: int) -> int:
        """Return the index, from 0, of the line that contains ``offset``."""
        return bisect_right(self.starts, offset) - 1

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of ``offset``, both from 1, in characters. A byte order mark does not count."""
        index = self.line_index(offset)
        mark = index == 0 and offset > 0 and self.text.startswith("\ufeff")
        return index + 1, offset - self.starts[index] + 1 - mark


def fold(page: PageLines, first_line: int, mdx: bool = False) -> tuple[Folded, list[HtmlComment]]:
    """Fold the comments of ``page`` from line ``first_line`` on. The lines above it are front matter."""
    text, lines, starts = page.text, page.lines, page.starts
    folded = Folded([], {})
    folding = _Folding(page, mdx, _INTEREST_IN_MDX if mdx else _INTEREST, len(text) + 1, folded.lines)
    opens = _OPENS_IN_MDX if mdx else _OPENS
    # The offsets of the next mark that may open a comment, of the paragraph around it, in which a code span may reach
    # the mark, and of the next mark that may open a fence. Lines before them are copied unchanged.
    nowhere = len(text) + 1
    opening, paragraph, mark = -1, -1, -1 if any(each in text for each in _MARKS) else nowhere
    index = first_line
    while index < len(lines):
        start = starts[index]
        if opening < start:
            found = opens.search(text, start)
            opening = found.start() if found else nowhere
            paragraph = text.rfind("\n\n", start, opening) + 2 if found else nowhere
        if mark < start:
            found = _FENCE_MARK.search(text, start)
            mark = found.start() if found else nowhere
        following = max(index, page.line_index(min(paragraph, mark)))
        if following > index:
            folded.lines.extend(lines[index:following])
            index = following
        line, end = lines[index], starts[index] + len(lines[index])
        fence = folding.fence_at(index) if mark < end else None
        if fence is not None and fence.closed:
            for number in range(index, fence.last + 1):
                folded.fenced[len(folded.lines)] = number == index
                folded.lines.append(lines[number])
            index = fence.last + 1
        elif opening < end or ("`" in line and paragraph <= end):
            index = folding.fold_line(index) + 1
        else:
            folded.lines.append(line)
            index += 1
    return folded, folding.comments


@dataclass(eq=False)
class _Folding:
    """The state while the lines of a page are folded from top to bottom."""

    page: PageLines
    mdx: bool
    interest: re.Pattern[str]
    no_close_after: int
    folded: list[str]
    comments: list[HtmlComment] = field(default_factory=list)
    fence: Fence | None = None
    disputed: int | None = None
    unbalanced: bool = False
    paragraph_end: int = -1
    paragraph_runs: dict[int, list[int]] = field(default_factory=dict)

    def fence_at(self, index: int) -> Fence | None:
        """Return the fence that the line with ``index`` opens, or None if it is inside an earlier fence."""
        if self.fence is not None and index <= self.fence.last:
            return None
        fence = fence_at(self.page.lines, index, self.mdx)
        self.fence = fence or self.fence
        if fence is not None and not fence.closed:
            self.disputed = index
        return fence

    def fold_line(self, index: int) -> int:
        """Fold the line with ``index``, and the further lines of its comments. Return the index of the last line."""
        text, starts, lines = self.page.text, self.page.starts, self.page.lines
        at = starts[index]
        pieces: list[str] = []
        follows_blank = not self.folded or not self.folded[-1].strip()
        match = _MODULE.match(text, at) if self.mdx and follows_blank else None
        while True:
            line_end = starts[index] + len(lines[index])
            match = match or self.interest.search(text, at, line_end)
            if match is None:
                self.folded.append("".join([*pieces, text[at:line_end]]))
                return index
            pieces.append(text[at : match.start()])
            if match[0][0] in "<{ie":  # a comment or, in MDX, an expression, ``import`` or ``export``
                comment = self._comment(match.start(), index)
                pieces.append(TOKEN.format(comment.number) if comment else match[0])
                at = comment.end if comment else match.end()
                index = self.page.line_index(at)
            else:
                at = self._span_end(match, index)
                pieces.append(text[match.start() : min(at, line_end)])
                if at > line_end:  # a code span continues on the next lines, which are text up to its end
                    last = self.page.line_index(at)
                    self.folded.append("".join(pieces))
                    for number in range(index + 1, last):
                        self.fence_at(number)  # an unclosed fence still hides the openings of others
                        self.folded.append(lines[number])
                    self.fence_at(last)
                    index, pieces = last, [text[starts[last] : at]]
            match = None

    def _comment(self, start: int, index: int) -> HtmlComment | None:
        """Record the comment, expression or module that begins at ``start`` in the line with ``index``."""
        text = self.page.text
        opening = opening_at(text, start)
        if text[start] in "ie":  # import or export
            end = script_end(text, start)
        elif text[start] == "{" and not OURS_IN_MDX.match(text, start):
            end = script_end(text, start) if self.mdx and not self.unbalanced else 0
            self.unbalanced = not end  # After an unclosed brace, do not search the page again for each brace.
            if not end:
                return None
        else:
            end = self._close_after(start)
            if end and text[start] == "<" and opening is None:
                end = self._close_outside_fences(end, index)
        comment = HtmlComment(len(self.comments), start, end or len(text), end > 0, self.disputed, opening)
        self.comments.append(comment)
        return comment

    def _close_after(self, start: int) -> int:
        """Return the offset after the closing mark of the comment at ``start``, or 0 if it is not closed."""
        if self.page.text.startswith("{", start):
            found = _CLOSE_IN_MDX.search(self.page.text, start)
            return found.end() if found else 0
        if start + 4 >= self.no_close_after:
            return 0
        match = CLOSE.search(self.page.text, start + 4)
        if match is None:
            self.no_close_after = start + 4
            return 0
        return match.end()

    def _close_outside_fences(self, end: int, index: int) -> int:
        """Return the end of an ordinary comment. A closing mark in a fence does not count, because the site reads
        fences first.
        """
        index += 1
        while index <= self.page.line_index(end):
            fence = self.fence_at(index)
            if fence is not None and fence.closed:
                if end <= self.page.starts[fence.last]:
                    end = self._close_after(self.page.starts[fence.last] - 4) or end
                    if end <= self.page.starts[fence.last]:
                        return end
                index = fence.last
            index += 1
        return end

    def _span_end(self, run: re.Match[str], index: int) -> int:
        """Return the offset after the code span that a run of backticks begins, or after a run that begins no span."""
        if not run[0].startswith("`"):
            return run.end()
        if run.start() >= self.paragraph_end:
            self._read_paragraph(run.start(), index)
        ends = self.paragraph_runs.get(len(run[0]), [])
        position = bisect_right(ends, run.end())
        return ends[position] if position < len(ends) else self._span_end_over_comment(run, index)

    def _span_end_over_comment(self, run: re.Match[str], index: int) -> int:
        """Return the end of a code span around one of our comments, even if the comment has blank lines."""
        line_end = self.page.starts[index] + len(self.page.lines[index])
        start = self.page.text.find("<!--", run.end(), line_end)
        if start < 0 or opening_at(self.page.text, start) is None:
            return run.end()
        close = self._close_after(start)
        last = self.page.line_index(close)
        closing = re.compile(rf"(?<!`){run[0]}(?!`)").search(
            self.page.text, close, self.page.starts[last] + len(self.page.lines[last])
        )
        return closing.end() if close and closing else run.end()

    def _read_paragraph(self, start: int, index: int) -> None:
        """Record where runs of backticks end, from ``start`` to the end of the paragraph, by the length of the run."""
        lines, starts = self.page.lines, self.page.starts
        index += 1
        while index < len(lines):
            end = _ENDS_PARAGRAPH.match(lines[index])
            fence = fence_at(lines, index, self.mdx) if end and end["mark"] else None
            if end and (not end["mark"] or (fence and fence.closed)):
                break
            index += 1
        self.paragraph_end = starts[index] if index < len(lines) else len(self.page.text)
        self.paragraph_runs = {}
        for match in re.finditer(r"`+", self.page.text[start : self.paragraph_end]):
            self.paragraph_runs.setdefault(len(match[0]), []).append(start + match.end())
