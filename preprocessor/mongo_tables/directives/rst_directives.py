"""The directives and roles of a reStructuredText page, as comments.

``.. result-table::`` with JSON as its content is ``<!-- RESULT_TABLE: … -->``, the role ``:result-value:`{…}``` is
``<!-- RESULT_VALUE: {…} -->``, and ``:result:`name``` is ``<!-- RESULT: name -->``. Directives in literal blocks, code
and comments (https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html) are samples and have no effect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from mongo_tables.directives.comments import Comment, Scan
from mongo_tables.directives.html_comments import NEWLINE, PageLines
from mongo_tables.directives.keywords import Opening, opening_at, place_of
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding

_LITERAL: Final = re.compile(r"(?:code|code-block|sourcecode|parsed-literal|raw|math|highlight|prompt)\Z")
"""Directives whose content is not reStructuredText."""
_OURS: Final = re.compile(r"(?:mongo|results?)(?:-|\Z)")
_MARGIN: Final = re.compile(r"[ \t]*(?:(?:[-*+•]|\(?[\w#]{1,4}[.)])[ \t]+)*")
"""The indentation of a line, and the marks of list items at its beginning."""
_DIRECTIVE: Final = re.compile(r"\.\.[ \t]+(?P<name>[\w:.+-]+?)[ \t]*::(?=[ \t]|$)")
_COMMENT: Final = re.compile(r"\.\.(?:[ \t]+(?!\[[^\]]+\](?:[ \t]|$)|_|\|)|$)")
"""The beginning of a comment: two dots, but no directive, footnote, target or substitution."""
_ROLE: Final = re.compile(
    r"``.+?``|(?<![\w:`\\]):(?P<name>(?:mongo|results?)(?:-\w+)*):`(?P<body>[^`]*)`", re.DOTALL
)


class _Span(NamedTuple):
    """A directive or a role. The offsets are those of its start, of its body, and of the end of the body."""

    start: int
    body: int
    end: int
    name: str
    is_role: bool


def find(text: str, file: str) -> Scan:
    """Find the directives and roles of a page. Never raises.

    Example:
        >>> find('.. result-table::\\n\\n   {"id": "speed"}\\n', "page.rst").comments[0].keyword
        'RESULT_TABLE'
    """
    page = PageLines(text)
    comments, findings, rejected = list[Comment](), list[Finding](), list[tuple[int, int]]()
    for span in _list_spans(page):
        keyword = span.name.upper().replace("-", "_")
        opening = opening_at(f"<!-- {keyword}: {text[span.body : span.end].strip()} -->", 0)
        if opening is None:
            continue  # a directive of another program
        if fault := _fault_of(span, opening):
            findings.append(finding("MT103", file, page.position(span.start), *fault))
            rejected.append((span.start, span.end))
        else:
            comments.append(_comment(page, span, keyword))
    return Scan(tuple(comments), tuple(findings), tuple(rejected))


def _fault_of(span: _Span, opening: Opening) -> tuple[str, str] | None:
    """Return message and hint for an unknown name, a role instead of a directive, or a directive instead of a role."""
    name, is_role = opening.meant.lower().replace("_", "-"), place_of(opening.meant) == "sentence"
    if opening.exact and span.is_role == is_role:
        return None
    written = f":{name}:" if is_role else f".. {name}::"
    return f"there is no {'role' if span.is_role else 'directive'} {span.name}", f"did you mean `{written}`?"


def _comment(page: PageLines, span: _Span, keyword: str) -> Comment:
    """Return the comment of a directive or a role. The indentation of further lines stays in its body."""
    line, column = page.position(span.start)
    body_line, first = page.position(span.body)
    lines = NEWLINE.split(page.text[span.body : span.end])
    return Comment(
        keyword=keyword,
        body="\n".join(lines),
        start=span.start,
        end=span.end + span.is_role,
        line=line,
        column=column,
        body_line=body_line,
        begins=(first,),
        prefix=" " * (column - 1),
        inline=span.is_role,
    )


def _list_spans(page: PageLines) -> list[_Span]:
    found, paragraphs, index = list[_Span](), [list[int]()], 0
    while index < len(page.lines):
        line, start = page.lines[index], page.starts[index]
        margin = _MARGIN.match(line).end()  # type: ignore[union-attr]  # it matches the empty text
        directive = _DIRECTIVE.match(line, margin)
        name = directive["name"] if directive else ""
        is_ours, is_comment = bool(_OURS.match(name)), not directive and bool(_COMMENT.match(line, margin))
        end = index + 1
        if is_ours or is_comment or _LITERAL.match(name) or (not directive and line.rstrip().endswith("::")):
            end = _end_of_block(page.lines, index, margin)
        if directive and is_ours:
            last = page.starts[end - 1] + len(page.lines[end - 1])
            found.append(_Span(start + margin, start + directive.end(), last, name, is_role=False))
        elif line.strip() and not is_comment:
            paragraphs[-1].append(index)
        if end > index + 1 or not line.strip() or is_ours or is_comment:
            paragraphs.append([])
        index = end
    for lines in filter(None, paragraphs):
        start, end = page.starts[lines[0]], page.starts[lines[-1]] + len(page.lines[lines[-1]])
        found += (
            _Span(role.start(), role.start("body"), role.end("body"), role["name"], is_role=True)
            for role in _ROLE.finditer(page.text, start, end)
            if role["name"]
        )
    return sorted(found)


def _end_of_block(lines: Sequence[str], index: int, margin: int) -> int:
    """Return the index after the lines under the line at ``index`` that are indented by more than ``margin``."""
    end = index + 1
    for number in range(index + 1, len(lines)):
        text = lines[number].expandtabs(8)
        if not text.strip():
            continue
        if len(text) - len(text.lstrip()) <= margin:
            break
        end = number + 1
    return end
