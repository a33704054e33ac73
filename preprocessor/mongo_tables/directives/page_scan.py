"""The scan of one page for `mongo_tables.directives.find`: fold, place, ask for a second opinion, decide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.directives.comments import RAW_HTML, Comment, Scan
from mongo_tables.directives.containers import IMAGE, TITLE, Place, places, prefix_length
from mongo_tables.directives.front_matter import front_matter_findings, front_matter_lines
from mongo_tables.directives.html_comments import FoldedLine, HtmlComment, Page, fold
from mongo_tables.directives.keywords import (
    BEGINNING,
    KEYWORDS,
    Opening,
    keyword_like,
    may_have_comment,
    opening_at,
    place_of,
)
from mongo_tables.directives.regions import Marker, attach_regions, marker_at
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding

if TYPE_CHECKING:
    from mongo_tables.directives.commonmark import Opinion


_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?P<closed>")?', re.DOTALL)
_SECOND_END = re.compile(r"[\r\n][> \t]*-->|(?<=-->)[ \t]*-->")
_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[> \t]*[\r\n]")
_DIRECTIVE = re.compile(BEGINNING)
_NEXT_DIRECTIVE = re.compile(rf"{BEGINNING}|<!--\s*mongo-tables:")


def _switch_off(text: str, start: int) -> str:
    """How to switch off the comment that begins at ``start``."""
    opening = opening_at(text, start)
    name = opening.meant if opening else ""
    return f"to switch it off, write a word before its name: <!-- off {name}: … -->"


class _Candidate(NamedTuple):
    """A comment with a name of ours, or nearly: still to be judged."""

    html: HtmlComment
    opening: Opening
    place: Place | None
    opinion: Opinion | None


def scan_page(text: str, file: str) -> Scan:
    """Do what `mongo_tables.directives.find` promises, for a text that has at least one suspicious comment."""
    page = Page(text)
    folded, html_comments = fold(page, front_matter_lines(page.lines))
    openings = {html.number: opening_at(text, html.start) for html in html_comments}
    markers = {html.number: marker for html in html_comments if (marker := marker_at(text, html))}
    hiding = {
        html.number
        for html in html_comments
        if openings[html.number] is None and _NEXT_DIRECTIVE.search(text, html.start + 4, html.end)
    }
    wanted = {number for number, opening in openings.items() if opening is not None} | set(markers) | hiding
    above = front_matter_findings(page, file)
    if not wanted:
        return Scan((), tuple(above))
    found_places = places(folded, wanted)
    undisputed = html_comments[-1].fence is None and all(map(_is_undisputed, found_places.values()))
    second = {} if undisputed else _second_opinions(folded, html_comments[-1].fence is None)
    following = _following(html_comments, sorted(hiding), len(text))
    judge = _Judge(page, file)
    live: list[Comment | Marker] = []
    for html in html_comments:
        place, opening = found_places.get(html.number), openings[html.number]
        if html.number in markers:
            if place is not None and place.kind == "live":
                live.append(markers[html.number]._replace(prefix=place.prefix))
        elif html.number in hiding and place is not None:
            judge.judge_enclosing_comment(html, place, following[html.number])
        elif opening is not None:
            candidate = _Candidate(html, opening, place, second.get(html.number))
            comment = judge.comment(candidate)
            live += [comment] if comment is not None else []
    comments, findings = attach_regions(page, file, live)
    generated = [
        (page.position(comment.region.start), page.position(comment.region.end))
        for comment in comments
        if comment.region is not None
    ]
    own = [one for one in judge.findings if not any(a <= (one.line, one.column) < b for a, b in generated)]
    settled = not markers and not hiding and html_comments[-1].fence is None
    return Scan(
        tuple(comments),
        tuple(sorted([*above, *own, *findings])),
        tuple(judge.rejected),
        tuple(judge.off),
        settled,
    )


def _second_opinions(folded: Sequence[FoldedLine], all_fences: bool) -> Mapping[int, Opinion]:
    """What CommonMark makes of the comments, by their numbers; ``all_fences``: what looks like a fence is one."""
    from mongo_tables.directives.commonmark import agrees

    if all_fences and agrees(line.text for line in folded):
        return {}
    from mongo_tables.directives.commonmark import opinions

    return opinions("\n".join(line.text for line in folded))


def _is_undisputed(place: Place) -> bool:
    """Whether a second opinion about a comment cannot change anything.

    At the margin all kinds of Markdown agree; of admonitions, tabs and footnotes CommonMark knows nothing.
    """
    return place.margin or (place.foreign and place.kind == "live" and not place.inline)


class _Following(NamedTuple):
    """The comments behind one that is around others, and the offset of the next such, or of the end of the page."""

    comments: Sequence[HtmlComment]
    until: int


def _following(comments: Sequence[HtmlComment], hiding: Sequence[int], end: int) -> Mapping[int, _Following]:
    """What stands behind each comment around others, by its number; ``hiding`` are those numbers, in order."""
    return {
        number: _Following(
            comments[number + 1 : other], comments[other].start if other < len(comments) else end
        )
        for number, other in pairwise([*hiding, len(comments)])
    }


class _Judge:
    """Decides about one comment after the other, and collects the complaints."""

    def __init__(self, page: Page, file: str) -> None:
        self.page = page
        self.file = file
        self.findings: list[Finding] = []
        self.rejected: list[tuple[int, int]] = []
        self.off: list[tuple[int, int]] = []

    def comment(self, candidate: _Candidate) -> Comment | None:
        """Give the live comment that ``candidate`` is, or None, with a complaint if its author must know."""
        errors = len(self.findings)
        comment = self._judge_candidate(candidate)
        if comment is None:
            extent = (candidate.html.start, candidate.html.end)
            if any(item.severity == "error" for item in self.findings[errors:]):
                self.rejected.append(extent)
            elif candidate.place is not None and candidate.place.kind == "hidden":
                self.off.append(extent)
        return comment

    def _judge_candidate(self, candidate: _Candidate) -> Comment | None:
        if candidate.place is None or candidate.place.kind == "code" or candidate.opinion == "span":
            self._complain_about_code(candidate)
        elif candidate.place.kind == "hidden":
            self._complain_about_hidden(candidate)
        elif not candidate.opening.exact:
            self._complain_about_name(candidate)
        elif not self._faulty(candidate):
            return self._live(candidate, candidate.place)
        return None

    def judge_enclosing_comment(self, html: HtmlComment, place: Place, after: _Following) -> None:
        """Judge a comment around one of ours: it switches that one off, or does not hide it.

        Away from the margin Python-Markdown begins a comment at the innermost ``<!--``, and prints the
        outer one.
        """
        text = self.page.text
        inner = _NEXT_DIRECTIVE.search(text, html.start + 4, html.end)
        assert inner is not None  # It is what made the comment one that hides.
        if place.kind == "live" and not place.margin and not place.raw:
            self.rejected.append((html.start, html.end))
            self._report(
                "MT116",
                html.start,
                "another comment begins inside this one; the site shows the outer one as text here",
                f"remove one of the two, or close the first before the second; {_switch_off(text, inner.start())}",
            )
            return
        self.off.append((inner.start(), html.end))
        ends_with_inner = text.find("-->", inner.start(), html.end - 1) < 0
        if place.kind == "live" and html.closed and ends_with_inner:
            self._complain_about_end(html, inner.start(), after)

    def _complain_about_end(self, html: HtmlComment, inner: int, after: _Following) -> None:
        """A comment around others ends where the first of them does: say what its author did not mean."""
        text = self.page.text
        ends = [html.end, *(one.end for one in after.comments)]
        starts = [*(one.start for one in after.comments), after.until]
        for number, (end, start) in enumerate(zip(ends, starts, strict=True)):
            second = _SECOND_END.search(text, end, start)
            if second is None:
                continue
            message = "the comments above end at the first `-->`: readers see this one as text"
            self._report(
                "MT124", second.end() - len("-->"), message, f"remove it; {_switch_off(text, inner)}"
            )
            for one in after.comments[:number]:
                if _DIRECTIVE.match(text, one.start):
                    message = "this comment is not switched off: the one around it ends before it"
                    self._report("MT125", one.start, message, _switch_off(text, one.start))
            return
        if _BLANK_LINE.search(text, html.start, inner):
            self._report(
                "MT126",
                html.start,
                "this comment has no end before the next one: readers see neither that one nor what is between",
                "write --> where it ends",
            )

    def _report(self, rule: str, offset: int, message: str, hint: str) -> None:
        self.findings.append(finding(rule, self.file, self.page.position(offset), message, hint))

    def _complain_about_code(self, candidate: _Candidate) -> None:
        """Code is text; but a comment that only the site takes for code would show its JSON there."""
        name, place = candidate.opening.name, candidate.place
        if not candidate.opening.exact or candidate.opinion == "span":
            return
        if place is not None and place.holder == TITLE:
            message = f"{name} stands in {TITLE}, where the site shows nothing of it"
            self._report("MT112", candidate.html.start, message, "put it into the text under the title")
            return
        if candidate.opinion == "live":
            rule = "MT112"
            message = f"the site shows this {name} as code; GitHub and editors do not"
        elif place is not None and place.contained:
            rule = "MT117"
            message = f"{name} is indented so far that it is shown as code"
        else:
            return
        self._report(
            rule,
            candidate.html.start,
            message,
            "indent it by exactly four columns for each list item, admonition or tab around it, and leave a "
            "blank line above a list; to show a sample, put it in a fence",
        )

    def _complain_about_hidden(self, candidate: _Candidate) -> None:
        assert candidate.place is not None
        self._report(
            "MT111",
            candidate.html.start,
            f"{candidate.opening.name} inside <{candidate.place.element}> is neither run nor shown",
            f"move it out of <{candidate.place.element}>; to show a sample, write &lt;!-- or use a fence",
        )

    def _complain_about_name(self, candidate: _Candidate) -> None:
        opening = candidate.opening
        body = self.page.text[opening.body : candidate.html.end].lstrip()
        known = opening.name in KEYWORDS
        message = f"{opening.name} is not a comment that is known"
        if known:
            dashes = self.page.text.startswith("<!---", candidate.html.start)
            message = (
                f"{opening.name} stands behind too many dashes" if dashes else f"{opening.name} has no colon"
            )
        rule = "MT103" if body.startswith("{") else "MT104"
        hint = f"write `<!-- {opening.meant}:`" if known else f"did you mean `<!-- {opening.meant}:`?"
        self._report(rule, candidate.html.start, message, hint)

    def _faulty(self, candidate: _Candidate) -> bool:
        """Whether the site shows an HTML comment here that cannot be replaced; the reason is reported."""
        return self._badly_closed(candidate) or self._badly_placed(candidate)

    def _badly_closed(self, candidate: _Candidate) -> bool:
        html, name, text = candidate.html, candidate.opening.name, self.page.text
        body = text[candidate.opening.body : html.end]
        if not html.closed:
            self._report("MT101", html.start, f"{name} is never closed", "add --> after the JSON")
        elif _NEXT_DIRECTIVE.search(body):
            self._report(
                "MT101",
                html.start,
                f"{name} is not closed before the next one begins",
                "add --> after the JSON",
            )
        elif body.endswith("--!>"):
            self._report("MT107", html.end - 4, f"{name} is closed by --!>", "write --> instead")
        elif closes_in_string(text, candidate.opening.body, html.end):
            self._report(
                "MT102",
                html.end - 3,
                f"--> inside a JSON string closes {name} here",
                "write --\\u003e in the string: JSON reads it as -->",
            )
        else:
            return False
        return True

    def _badly_placed(self, candidate: _Candidate) -> bool:
        html, name, place = candidate.html, candidate.opening.name, candidate.place
        assert place is not None
        if html.start and self.page.text[html.start - 1] == "\\":
            self._report(
                "MT110",
                html.start,
                f"a backslash does not make {name} text: on the site it is a comment, and nothing is shown",
                "remove the backslash, or write the sample as `code` or in a fence",
            )
        elif candidate.opinion == "fence":
            where = "above" if html.fence is None else f"in line {html.fence + 1}"
            self._report(
                "MT106",
                html.start,
                f"the fence {where} is none for the site, so {name} under it is not taken as code",
                "close it by a mark of the same length and indentation, indent what is between alike, and "
                "write nothing but a language and known options behind its opening mark",
            )
        elif candidate.opinion == "tag":
            self._report("MT114", html.start, f"{name} stands inside an HTML tag", "move it out of the tag")
        elif place.holder == IMAGE or (place.holder and place_of(name) == "block"):
            self._report(
                "MT113",
                html.start,
                f"{name} stands in {place.holder}, which cannot hold it",
                "put it on a line of its own"
                + (
                    f"; for one number use {keyword_like(name, 'value')}" if place_of(name) == "block" else ""
                ),
            )
        else:
            return False
        return True

    def _live(self, candidate: _Candidate, place: Place) -> Comment:
        if candidate.opinion == "code" and not place.foreign:
            self._report(
                "MT115",
                candidate.html.start,
                f"GitHub and editors show this {candidate.opening.name} as code; the site does not",
                "indent it by exactly four columns for each list item around it",
            )
        html, opening = candidate.html, candidate.opening
        line, column = self.page.position(html.start)
        body, body_line, columns = read_body(self.page, html.start, opening.body, html.end, place.prefix)
        return Comment(
            opening.name,
            body,
            html.start,
            html.end,
            line,
            column,
            body_line,
            columns,
            place.prefix,
            place.inline,
            None,
            place.before,
            place.after,
            RAW_HTML if place.raw else place.holder,
        )


def closes_in_string(text: str, body: int, end: int) -> bool:
    """Whether the end of a comment, whose body begins at an offset, is one within a JSON string of its author's."""
    return _in_string(text[body:end]) and '"' in rest_of_line(text, end)


def _in_string(body: str) -> bool:
    """Whether ``body`` ends inside a JSON string."""
    if "\\" not in body:
        return body.count('"') % 2 == 1
    return any(not string["closed"] for string in _STRING.finditer(body))


def rest_of_line(text: str, at: int) -> str:
    """What stands in a line from an offset on."""
    match = re.compile(r"[^\r\n]*").match(text, at)
    return match[0] if match else ""


def read_body(page: Page, opened: int, start: int, end: int, prefix: str) -> tuple[str, int, tuple[int, ...]]:
    """Give the body of a comment, its first line, and the column in which each of its lines begins.

    The comment begins at ``opened`` and ends at ``end``, its body begins at ``start``; ``prefix`` is that of its place.
    """
    before = page.text[page.starts[page.line_index(opened)] : opened].removeprefix("\ufeff")
    own = prefix if before.strip("> \t") else before.expandtabs(4)
    return _body(page, start, end - len("-->"), own)


def _body(page: Page, start: int, end: int, prefix: str) -> tuple[str, int, tuple[int, ...]]:
    """Give the text from ``start`` to ``end`` without ``prefix`` on its further lines, its first line, and the column
    in which each line begins.
    """
    first, last = page.line_index(start), page.line_index(end)
    stripped: list[str] = []
    columns: list[int] = []
    for index in range(first, last + 1):
        if not prefix and first < index < last:
            stripped.append(page.lines[index])
            columns.append(1)
            continue
        line_start = page.starts[index]
        line_end = min(line_start + len(page.lines[index]), end)
        begin = start if index == first else line_start + prefix_length(page.lines[index], prefix)
        begin = min(begin, line_end)
        stripped.append(page.text[begin:line_end])
        columns.append(page.position(begin)[1])
    return "\n".join(stripped), first + 1, tuple(columns)


def find(text: str, file: str) -> Scan:
    """Find the live comments of a page; findings name ``file``. Never raises, whatever the text."""
    if not may_have_comment(text):
        return Scan((), ())
    return scan_page(text, file)
