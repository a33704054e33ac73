"""Front matter: the block at the top of a page that MkDocs reads as metadata and does not show.

MkDocs recognises a ``---`` block at the very top only if it is a YAML mapping; anything else is text of the page
(https://www.mkdocs.org/user-guide/writing-your-docs/#meta-data). Without that block it recognises leading ``Key:
value`` lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mongo_tables.directives.html_comments import PageLines
from mongo_tables.directives.keywords import SUSPECT, opening_at
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding

_FENCE = re.compile(r"---[ \t]*$")
_END = re.compile(r"(?:---|\.\.\.)[ \t]*$")
# A line of a YAML mapping at the margin begins like this; a value, or a list under a key, is indented or has a dash.
_MAPPING_LINE = re.compile(r"(?:[ \t]|#|- |-$|$|[}\]]|[^\s#<>&*!|%@`\-][^:]*:(?:[ \t]|$)|\{)")
_KEY = re.compile(r" {0,3}[A-Za-z0-9_-]+:")


def front_matter_lines(lines: Sequence[str]) -> int:
    """Return the number of lines of front matter at the top of a page, or 0 if there are none."""
    if not lines:
        return 0
    first = lines[0].removeprefix("\ufeff")
    if _FENCE.match(first):
        return _yaml_lines(lines)
    count = 0
    for line in [first, *lines[1:]]:
        more = count and line.strip() and re.match(r" {4}|\t", line)
        if not (_KEY.match(line) or more):
            break
        count += 1
    return count


def _yaml_lines(lines: Sequence[str]) -> int:
    """Return the number of lines of a YAML mapping between ``---`` lines, or 0 if it is not one, or never ends."""
    keys = False
    for index in range(1, len(lines)):
        line = lines[index]
        if _END.match(line):
            return index + 1 if keys else 0
        if not _MAPPING_LINE.match(line):
            return 0
        keys = keys or (bool(line.strip()) and line[0] not in " \t#-")
    return 0


_BEGIN = re.compile(SUSPECT, re.IGNORECASE)
_HINT = (
    "write the number itself there, or remove the comment; a title may come from the page's heading, which may "
    "contain values"
)


def front_matter_findings(page: PageLines, file: str) -> list[Finding]:
    """MT127: report comments in the values of front matter; readers never see one in a YAML comment."""
    count = front_matter_lines(page.lines)
    end = page.starts[count] if count < len(page.starts) else len(page.text)
    begins = [match.start() for match in _BEGIN.finditer(page.text, 0, end)]
    if not begins:
        return []
    told = []
    values = list(_values(page, count))
    for begin in begins:
        opening = opening_at(page.text, begin)
        if opening is None or not any(start <= begin < stop for start, stop in values):
            continue
        message = f"{opening.name} is in front matter, which is published unchanged, in titles and feeds"
        told.append(finding("MT127", file, page.position(begin), message, _HINT))
    return told


def _values(page: PageLines, count: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end offsets of keys and values in the front matter. YAML comments are skipped."""
    lines = range(count)
    if page.lines[0].removeprefix("\ufeff").startswith("---"):
        import yaml  # late import: only pages with a comment in their front matter need it

        first = page.starts[1]
        try:
            tokens = list(yaml.scan(page.text[first : page.starts[count - 1]]))
        except yaml.YAMLError:  # MkDocs shows it as text
            lines = range(1, count - 1)
        else:
            scalars = (token for token in tokens if isinstance(token, yaml.ScalarToken))
            yield from ((first + one.start_mark.index, first + one.end_mark.index) for one in scalars)
            return
    for index in lines:
        if not page.lines[index].lstrip().startswith("#"):
            yield page.starts[index], page.starts[index] + len(page.lines[index])
