"""Comments in the front matter of a page: they stay text, and a site publishes that text as it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mongo_tables.directives.frontmatter import front_matter_lines
from mongo_tables.directives.htmlcomments import Page
from mongo_tables.directives.keywords import SUSPECT, opening_at
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding

_BEGIN = re.compile(SUSPECT, re.IGNORECASE)
_HINT = (
    "write the number itself there, or take the comment out; a title may come from the page's heading, which "
    "takes values"
)


def front_matter_findings(page: Page, file: str) -> list[Finding]:
    """MT127: the comments in the values of front matter; one in a remark of its YAML is nothing to readers."""
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
        message = (
            f"{opening.name} stands in front matter, which is published as it is written, in titles and feeds"
        )
        told.append(finding("MT127", file, page.position(begin), message, _HINT))
    return told


def _values(page: Page, count: int) -> Iterator[tuple[int, int]]:
    """From where to where in the page the front matter has keys and values, not remarks."""
    lines = range(count)
    if page.lines[0].removeprefix("\ufeff").startswith("---"):
        import yaml  # only pages with a comment in their front matter pay for it

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
