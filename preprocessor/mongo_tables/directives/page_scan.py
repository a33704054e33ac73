"""The scan of one page: fold the HTML comments, find the place of each, compare with CommonMark, and find faults.

Front matter is the block at the top of a page that MkDocs reads as metadata and does not show: a ``---`` block with a
YAML mapping or, without such a block, ``Key: value`` lines
(https://www.mkdocs.org/user-guide/writing-your-docs/#meta-data).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mongo_tables.directives.comments import RAW_HTML, Comment, Region, Scan
from mongo_tables.directives.containers import (
    FORMULA,
    HEADING,
    TITLE,
    UNFIT,
    Placement,
    places,
    prefix_length,
)
from mongo_tables.directives.html_comments import NEWLINE, Folded, HtmlComment, PageLines, fold
from mongo_tables.directives.keywords import (
    BEGINNING,
    HTML,
    KEYWORDS,
    MDX,
    OURS_IN_MDX,
    RST,
    SUSPECT,
    Opening,
    is_mdx,
    keyword_like,
    marks_at,
    may_have_comment,
    opening_at,
    place_of,
)
from mongo_tables.directives.regions import Marker, attach_regions, level_regions, marker_at
from mongo_tables.findings.finding import Complaint, Finding
from mongo_tables.findings.rules import RULES, finding

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FENCE = re.compile(r"---[ \t]*$")
_END = re.compile(r"(?:---|\.\.\.)[ \t]*$")
# The beginnings of lines in a YAML mapping.
_MAPPING_LINE = re.compile(r"(?:[ \t]|#|- |-$|$|[}\]]|[^\s#<>&*!|%@`\-][^:]*:(?:[ \t]|$)|\{)")
_KEY = re.compile(r" {0,3}[A-Za-z0-9_-]+:")


def front_matter_lines(lines: Sequence[str]) -> int:
    """Return the number of lines of front matter at the top of a page, or 0 if there are none."""
    first = lines[0].removeprefix("\ufeff")
    if _FENCE.match(first):
        keys = False
        for index in range(1, len(lines)):
            line = lines[index]
            if _END.match(line):
                return index + 1 if keys else 0
            if not _MAPPING_LINE.match(line):
                return 0
            keys = keys or (bool(line.strip()) and line[0] not in " \t#-")
        return 0
    count = 0
    while count < len(lines):
        line = lines[count] if count else first
        more = count and line.strip() and line.startswith(("    ", "\t"))
        if not (_KEY.match(line) or more):
            break
        count += 1
    return count


_BEGIN = re.compile(SUSPECT, re.IGNORECASE)
_YAML_COMMENT = re.compile(r"(?:^|[ \t])#")
_HINT = (
    "write the number instead of the comment, or write the title as a heading of the page, where comments are "
    "replaced"
)


def front_matter_findings(page: PageLines, file: str) -> list[Finding]:
    """Return MT127 for comments in front matter, except in YAML comments, which readers never see."""
    told = []
    for line in range(front_matter_lines(page.lines)):
        for match in _BEGIN.finditer(page.lines[line]):
            begin = page.starts[line] + match.start()
            opening = opening_at(page.text, begin)
            if opening is not None and not _YAML_COMMENT.search(page.lines[line], 0, match.start()):
                message = (
                    f"{opening.name} is in front matter, which is published unchanged, in titles and feeds"
                )
                told.append(finding("MT127", file, page.position(begin), message, _HINT))
    return told


_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?P<closed>")?', re.DOTALL)
_SECOND_END = re.compile(r"[\r\n][> \t]*-->|(?<=-->)[ \t]*-->")
_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[> \t]*[\r\n]")
_NEXT_DIRECTIVE = re.compile(BEGINNING)
_TO_QUOTE = re.compile(r'[^"\r\n]*"')
_INDENT_HINT: Final = (
    "indent it by exactly four columns for each list item, admonition or tab around it, and leave a blank line above "
    "a list; to show a sample, put it in a fence"
)
_FENCE_HINT: Final = (
    "close it with a mark of the same length and indentation, indent its lines alike, and write only a language "
    "and known options after its opening mark"
)

_ADDRESS_HINT: Final = (
    'put it into the text, with "url": "https://…{value}…"; the value is then a link, or a picture if the address is '
    "that of a badge"
)


class _Candidate(NamedTuple):
    """A comment with one of our names or a similar one. It may be live, or have a fault."""

    html: HtmlComment
    opening: Opening
    place: Placement | None
    opinion: Opinion | None


def find(text: str, file: str) -> Scan:
    """Find the live comments of a page, or the directives and roles of a page in reStructuredText. Never raises.

    Example:
        >>> find('<!-- RESULT_TABLE: {"id": "speed"} -->', "page.md").comments[0].keyword
        'RESULT_TABLE'
    """
    if not may_have_comment(text):
        return Scan((), ())
    if file.endswith(RST):
        from mongo_tables.directives import rst_directives  # for few pages

        return rst_directives.find(text, file)
    page, mdx = PageLines(text), is_mdx(text, file)
    first_line = front_matter_lines(page.lines)
    folded, html_comments = fold(page, first_line, mdx)
    told = front_matter_findings(page, file) if first_line else []
    if mdx and "mdx-code-block" in text:
        told += _unfenced_findings(page, file)
    openings, hiding = dict[int, Opening](), list[int]()  # our comments; ordinary comments around ours
    markers: dict[int, Marker | None] = {}
    for html in html_comments:
        if html.opening is not None:
            openings[html.number] = html.opening
            markers[html.number] = None if html.opening.exact else marker_at(text, html)
        elif _NEXT_DIRECTIVE.search(text, html.start + 4, html.end):
            hiding.append(html.number)
    if not (openings or hiding):
        return Scan((), tuple(told))
    folded = level_regions(folded, markers) if any(markers.values()) else folded
    found_places = places(folded, {*openings, *hiding}, mdx)
    disputed = html_comments[-1].fence is not None or not _is_plain(folded, found_places, mdx)
    opinions = _second_opinions(folded, mdx) if disputed else {}
    judge, comments, marked = _Judge(text, mdx), list[Comment](), list[Marker]()
    for number, opening in openings.items():
        html, where = html_comments[number], found_places.get(number)
        marker = markers[number]
        if marker is None:
            if judge.accepts(_Candidate(html, opening, where, opinions.get(number))) and where is not None:
                comments.append(_comment(page, html, opening, where))
        elif where is not None and where.kind == "live":
            marked.append(marker._replace(prefix=where.prefix))
    for number, following in pairwise([*hiding, len(html_comments)]):
        until = html_comments[following].start if following < len(html_comments) else len(text)
        judge.judge_enclosing(html_comments[number:following], found_places.get(number), until)
    generated: list[Region] = []
    if marked:
        comments, faults = attach_regions(page, file, comments, marked)
        told += faults
        generated = [one.region for one in comments if one.region is not None]
    for fault in judge.complaints:
        if not any(region.start <= fault.at < region.end for region in generated):
            told.append(finding(fault.rule, file, page.position(fault.at), fault.message, fault.hint))
    return Scan(tuple(comments), tuple(sorted(told)), tuple(sorted(judge.rejected)))


_UNFENCED: Final = re.compile(
    r"^([> \t]*[`~]{3,})[ \t]*mdx-code-block\b.*?^\1[ \t]*$", re.DOTALL | re.MULTILINE
)
"""A fence whose lines Docusaurus compiles: https://docusaurus.io/docs/markdown-features/react."""


def _unfenced_findings(page: PageLines, file: str) -> list[Finding]:
    """Return MT112 for comments in fences with the word ``mdx-code-block``: Docusaurus would show nothing."""
    told = []
    for block in _UNFENCED.finditer(page.text):
        for found in re.finditer(OURS_IN_MDX, page.text[block.start() : block.end()]):
            at = block.start() + found.start()
            message = (
                "Docusaurus compiles the text in this fence, so it shows nothing in place of the comment"
            )
            told.append(
                finding(
                    "MT112", file, page.position(at), message, "put the comment outside of the mdx-code-block"
                )
            )
    return told


def _is_title(comment: HtmlComment, text: str) -> bool:
    """Return whether a comment is in a heading of level 1, which no table of contents shows."""
    line = text[text.rfind("\n", 0, comment.start) + 1 : comment.start].lstrip("> \t")
    under = text[comment.end :].partition("\n")[2].lstrip("> \t")
    return not line.startswith("##") and (line.startswith("#") or under.startswith("="))


@dataclass(eq=False)
class _Judge:
    """Collects the faults of comments, which are judged one after the other."""

    text: str
    mdx: bool
    complaints: list[Complaint[int]] = field(default_factory=list)
    rejected: list[tuple[int, int]] = field(default_factory=list)

    def accepts(self, one: _Candidate) -> bool:
        """Return whether a comment is live. Record its fault if it has one."""
        text, place, name, at = self.text, one.place, one.opening.name, one.html.start
        fault: Complaint[int] | None
        live = False
        if place is None or place.kind == "code" or one.opinion == "span":
            fault = _code_fault(one)
        elif place.kind == "hidden":
            message = f"{name} inside <{place.element}> is neither run nor shown"
            hint = f"move it out of <{place.element}>; to show a sample, write &lt;!-- or use a fence"
            fault = Complaint(message, hint, at, "MT111")
        elif not one.opening.exact:
            fault = _name_fault(one, text)
        elif self.mdx and marks_at(text, at) is HTML:
            message = f"MDX has no HTML comments, so {name} makes the build of the site fail"
            fault = Complaint(message, f"write {{/* {name}: … */}}", at, "MT107")
        else:
            fault = _end_fault(one, text) or _place_fault(one, place, text)
            live = fault is None
            if live and one.opinion == "code" and not place.foreign:
                message = f"GitHub and editors show this {name} as code; the site does not"
                hint = "indent it by exactly four columns for each list item around it"
                self.complaints.append(Complaint(message, hint, at, "MT115"))
            if live and self.mdx and place.holder == HEADING and not _is_title(one.html, text):
                message = f"in a heading, Docusaurus shows the source of {name} in the address and table of contents"
                hint = "write the heading without the number, and put the value into the text under it"
                self.complaints.append(Complaint(message, hint, at, "MT128"))
        if fault is not None:
            self.complaints.append(fault)
        if fault is not None and RULES[fault.rule].severity == "error":
            self.rejected.append((at, one.html.end))
        return live

    def judge_enclosing(self, comments: Sequence[HtmlComment], place: Placement | None, until: int) -> None:
        """Record a fault of an ordinary comment that begins before one of our comments and encloses its beginning.

        ``comments`` are the ordinary comment and the comments after it, up to the offset ``until``.
        """
        html, *behind = comments
        found = _NEXT_DIRECTIVE.search(self.text, html.start + 4, html.end)
        if found is None or place is None or not self.text.startswith(HTML.open, html.start):
            return
        inner = found.start()
        if place.kind == "live" and not place.margin and not place.raw:
            # Away from the margin Python-Markdown begins a comment at the innermost `<!--`, and prints the outer one.
            message = "another comment begins inside this comment, so the site shows this comment as text"
            hint = f"remove one of them, or close the outer one before the inner one; {_switch_off(self.text, inner)}"
            self.complaints.append(Complaint(message, hint, html.start, "MT116"))
            self.rejected.append((html.start, html.end))
            return
        ends_with_inner = html.closed and self.text.find("-->", inner, html.end - 1) < 0
        gaps = pairwise([html.end, *(at for one in behind for at in (one.start, one.end)), until])
        second_end = any(_SECOND_END.search(self.text, *gap) for gap in list(gaps)[::2])
        if (
            place.kind == "live"
            and ends_with_inner
            and (second_end or _BLANK_LINE.search(self.text, html.start, inner))
        ):
            message = "this comment ends at the `-->` of the comment inside it"
            hint = f"write --> before the inner comment; {_switch_off(self.text, inner)}"
            self.complaints.append(Complaint(message, hint, html.start, "MT124"))


# -- comparison with CommonMark --

Opinion = Literal["live", "code", "fence", "span", "tag"]
"""How CommonMark parses a comment: as an HTML comment, indented code, fenced code, a code span, or part of a tag."""

_FOLDED = re.compile(r"<!--\ue000(\d+)-->")

_DEEP = re.compile(r" {4}|.*(?:\t| {5})")
_ATTRIBUTES = r"(?:\s[^<>\"'`]*(?:\"[^\"<`]*\"[^<>\"'`]*)*)?"
_WHOLE_TAG = re.compile(
    rf"</?(?!(?:pre|script|style|textarea)\b)[a-z][\w-]*{_ATTRIBUTES}>|<script{_ATTRIBUTES}></script>",
    re.IGNORECASE,
)


def _is_plain(folded: Folded, found: Mapping[int, Placement], mdx: bool) -> bool:
    """Return whether CommonMark certainly reads the comments as the site does. The page is then not parsed with
    CommonMark.

    All dialects agree at the margin, and in text that is not indented, if the page has only simple tags, code spans
    and fences. It is no fault if CommonMark reads admonitions, tabs and footnotes as code, because it does not have
    them.
    """
    unsure, may_be_code = False, set[int]()
    for number, place in found.items():
        if not place.margin and place.kind != "live":
            return False
        unsure = unsure or not (place.margin or (place.foreign and not place.inline))
        if not (place.margin or place.foreign):
            may_be_code.add(number)
    if not unsure or mdx:
        return not unsure
    mark, margin, in_html = "", "", False
    for index, text in enumerate(folded.lines):
        opens = folded.fenced.get(index)
        if opens:
            bare = text.lstrip(" ")
            mark, margin = bare[: len(bare) - len(bare.lstrip(bare[:1]))], text[: len(text) - len(bare)]
            if in_html or len(margin) > 3 or mark[:3] not in ("```", "~~~") or "`" in bare[len(mark) :]:
                return False
        elif opens is not None:  # fenced code
            if text.strip() and not text.startswith(margin):
                return False
            if text.lstrip().startswith(mark[:3]) and text.rstrip() != margin + mark:
                return False
        elif not _is_plain_text(text) or (
            "\ue000" in text
            and _DEEP.match(text)
            and not may_be_code.isdisjoint(map(int, _FOLDED.findall(text)))
        ):
            return False
        else:
            in_html = (in_html or "<" in text) and bool(text.strip())
    return True


def _is_plain_text(text: str) -> bool:
    """Return whether tags are complete, and code spans have single backticks and do not cross table cells."""
    if "`" in text and (
        "``" in text or "\\`" in text or any(part.count("`") % 2 for part in text.split("|"))
    ):
        return False
    if "<" in text and text.count("<") != text.count("<!--\ue000"):
        text = _WHOLE_TAG.sub("", text)
        if text.count("<") != text.count("<!--\ue000"):
            return False
    return "~~~" not in text


_BLOCKS: dict[str, Opinion] = {"html_block": "live", "code_block": "code", "fence": "fence"}


def _second_opinions(folded: Folded, mdx: bool) -> Mapping[int, Opinion]:
    """Return how CommonMark parses the comments, by number. Some have no entry, such as comments in a link
    definition.

    GitHub and editors follow CommonMark (https://spec.commonmark.org). If CommonMark and Python-Markdown disagree,
    readers in one of the two places see JSON, so the author gets a finding.
    """
    opinions: dict[int, Opinion] = {}
    parser = _block_parser(mdx)
    for token in parser.parse("\n".join(folded.lines)):
        if "\ue000" in token.content and token.type == "inline":
            inner: list[Token] = []
            parser.inline.parse(token.content, parser, {}, inner)
            for one in inner:
                if one.type == "html_inline":
                    _note(one.content, "live" if one.content.startswith("<!--") else "tag", opinions)
                elif one.type == "code_inline":
                    _note(one.content, "span", opinions)
        elif token.type in _BLOCKS:
            _note(token.content, _BLOCKS[token.type], opinions)
    return opinions


@cache
def _block_parser(mdx: bool) -> MarkdownIt:
    """Return the parser of blocks. ``_second_opinions`` parses the text inside a block if it has a comment."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    return parser.disable(["code", "html_block"]) if mdx else parser


def _note(content: str, opinion: Opinion, found: dict[int, Opinion]) -> None:
    for number in _FOLDED.findall(content):
        found[int(number)] = opinion


# -- faults --


def _switch_off(text: str, start: int) -> str:
    opening = opening_at(text, start)
    name = opening.meant if opening else ""
    return f"to switch off the inner one, write a word before its name: <!-- off {name}: … -->"


def _code_fault(one: _Candidate) -> Complaint[int] | None:
    """Return the fault of a comment that the site shows as code, unless its author certainly meant code."""
    name, place, at = one.opening.name, one.place, one.html.start
    if not one.opening.exact or one.opinion == "span":
        return None
    if place is not None and place.holder == TITLE:
        message = f"{name} is in {TITLE}, where the site does not show it"
        return Complaint(message, "put it into the text under the title", at, "MT112")
    if one.opinion == "live":
        message = f"the site shows this {name} as code; GitHub and editors do not"
        return Complaint(message, _INDENT_HINT, at, "MT112")
    if place is not None and place.contained:
        return Complaint(f"{name} is indented so far that it is shown as code", _INDENT_HINT, at, "MT117")
    return None


def _name_fault(one: _Candidate, text: str) -> Complaint[int]:
    name, meant, at = one.opening.name, one.opening.meant, one.html.start
    begin = f"{marks_at(text, at).open} {meant}:"
    message, hint = f"{name} is not a known comment", f"did you mean `{begin}`?"
    if name in KEYWORDS:
        too_many = text.startswith("<!---", at)
        message = f"{name} comes after too many dashes" if too_many else f"{name} has no colon"
        hint = f"write `{begin}`"
    has_json = text[one.opening.body : one.html.end].lstrip().startswith("{")
    return Complaint(message, hint, at, "MT103" if has_json else "MT104")


def _end_fault(one: _Candidate, text: str) -> Complaint[int] | None:
    html, name, at = one.html, one.opening.name, one.html.start
    body, marks = text[one.opening.body : html.end], marks_at(text, at)
    # In MDX only the brace may be missing.
    add = f"{'write' if marks is MDX else 'add'} {marks.close} after the JSON"
    if not html.closed:
        return Complaint(f"{name} is never closed", add, at, "MT101")
    if ("<!--" in body or "/*" in body) and _NEXT_DIRECTIVE.search(body):  # the plain search is faster
        return Complaint(f"{name} is not closed before the next comment begins", add, at, "MT101")
    end = text.rindex(marks.close[:2], 0, html.end)
    close = " ".join(text[end : html.end].split())
    # A quote after it on the line may end the string.
    if (
        '"' in body
        and _TO_QUOTE.match(text, html.end)
        and not all(one["closed"] for one in _STRING.finditer(body))
    ):
        written = close.replace("*/", "*\\/") if marks is MDX else close.replace(">", "\\u003e")
        hint = f"write {written} in the string: JSON reads it as {close}"
        return Complaint(f"{close} inside a JSON string closes {name} here", hint, end, "MT102")
    if not body.endswith(marks.close):
        return Complaint(f"{name} is closed by {close}", f"write {marks.close} instead", end, "MT107")
    if marks is MDX and (inner := text.find("*/", one.opening.body)) < end:
        message = f"*/ ends {name} here, as everywhere in JavaScript"
        return Complaint(message, "write *\\/ in a string: JSON reads it as */", inner, "MT102")
    return None


def _place_fault(one: _Candidate, place: Placement, text: str) -> Complaint[int] | None:
    """Return the fault of a comment in a place where it cannot be replaced, or None."""
    html, name, at = one.html, one.opening.name, one.html.start
    is_block = bool(place.holder) and place_of(name) == "block"
    if at and text[at - 1] == "\\":
        message = (
            f"a backslash does not turn {name} into text: the site treats it as a comment and shows nothing"
        )
        hint = "remove the backslash, or write the sample as `code` or in a fence"
        return Complaint(message, hint, at, "MT110")
    if one.opinion == "fence":
        where = "above" if html.fence is None else f"in line {html.fence + 1}"
        message = f"the site does not recognise the fence {where}, so it does not show {name} as code"
        return Complaint(message, _FENCE_HINT, at, "MT106")
    if one.opinion == "tag":
        return Complaint(f"{name} is inside an HTML tag", "move it out of the tag", at, "MT114")
    if place.holder in UNFIT and place_of(name) == "sentence":
        message = f"{name} is in {place.holder}, which cannot contain it"
        hint = "put it into the text next to it" if place.holder == FORMULA else _ADDRESS_HINT
        return Complaint(message, hint, at, "MT113")
    if place.holder in UNFIT or (place.holder and is_block):
        hint = f"; for one number use {keyword_like(name, 'value')}" if is_block else ""
        message = f"{name} is in {place.holder}, which cannot contain it"
        where = "put it on a line of its own" if place.inline else "leave a blank line above it"
        return Complaint(message, f"{where}{hint}", at, "MT113")
    return None


def _comment(page: PageLines, html: HtmlComment, opening: Opening, place: Placement) -> Comment:
    line, column = page.position(html.start)
    before = page.text[page.starts[line - 1] : html.start].removeprefix("\ufeff")
    prefix = place.prefix if before.strip("> \t") else before.expandtabs(4)
    body_line, first_column = page.position(opening.body)
    body, columns = page.text[opening.body : html.end - len("-->")], [first_column]
    if prefix or "\r" in body:
        first, *others = NEWLINE.split(body)
        lengths = [prefix_length(each, prefix) for each in others]
        body = "\n".join([first, *(each[length:] for each, length in zip(others, lengths, strict=True))])
        columns += [length + 1 for length in lengths]
        while columns[-1] == 1:
            columns.pop()
    return Comment(
        keyword=opening.name,
        body=body,
        start=html.start,
        end=html.end,
        line=line,
        column=column,
        body_line=body_line,
        begins=tuple(columns),
        prefix=place.prefix,
        inline=place.inline,
        before=place.before,
        after=place.after,
        holder=RAW_HTML if place.raw else place.holder,
        marks=marks_at(page.text, html.start),
    )
