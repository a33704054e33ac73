"""Edits that carry out the hint of a finding, for `check --fix` and for quick fixes in an editor.

A rewrite is derived from the finding and the text of its file. If the text at the place of the finding is not the
expected one, there is no rewrite.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from mongo_tables.directives.keywords import HTML, MDX, OPEN, marks_at
from mongo_tables.findings.finding import Finding, nearest_word
from mongo_tables.jsontext.tokens import end_of_scalar


class TextChange(NamedTuple):
    """A text that replaces the text from ``start`` to ``end``, which are offsets in characters."""

    start: int
    end: int
    text: str


class Rewrite(NamedTuple):
    """One way to follow a hint: its title for a menu, and its edits, in order and without overlaps.

    ``preferred`` is true if the author certainly meant the new text. Otherwise it is an example, which the author must
    check.
    """

    title: str
    edits: tuple[TextChange, ...]
    preferred: bool = True


_MEANT: Final = r"did you mean `([^`]+)`\?(?:; .+)?"
_NAME: Final = r"(?:write|did you mean) `(?:<!--|\{/\*) ([A-Z_]+):`\??"
_STRING: Final = r'"([^"\\\n]*)"'
_LINE_END: Final = r"\r\n|\r|\n"
_SYNTAX: Final = "MT120"
_ENDS: Final = ("MT101", "MT102", "MT107", "MT110")


def rewrites_of(finding: Finding, text: str) -> tuple[Rewrite, ...]:
    """Return the rewrites that follow the hint of a finding, the most likely first.

    ``text`` is the content of the file when the finding was made.
    """
    at = find_offset(text, finding.line, finding.column)
    if at is None:
        return ()
    if finding.rule == _SYNTAX:
        return tuple(_mend_syntax(finding.hint, text, at))
    if finding.rule in _ENDS:
        return tuple(_mend_end(finding.rule, text, at))
    if name := re.fullmatch(_NAME, finding.hint):
        return tuple(_rename_comment(name[1], text, at))
    meant = re.fullmatch(_MEANT, finding.hint)
    return tuple(_replace_word(meant[1], text, at)) if meant else ()


def apply_edits(text: str, edits: Iterable[TextChange]) -> str:
    """Return the text with the edits, which must not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def find_offset(text: str, line: int, column: int) -> int | None:
    """Return the offset of the place of a finding, or None outside of the text.

    Lines and columns count from 1, without a byte order mark.
    """
    start = 1 if text.startswith("\ufeff") else 0
    for _ in range(line - 1):
        end = re.compile(_LINE_END).search(text, start)
        if end is None:
            return None
        start = end.end()
    at = start + column - 1
    return at if line and at <= len(text) else None


# -- a word that is nearly a known one --


def _replace_word(meant: str, text: str, at: int) -> Iterator[Rewrite]:
    # A fault of a variable may be reported at the key of its expression.
    key = re.compile(rf"{_STRING}\s*:\s*").match(text, at) if meant.startswith("$$") else None
    string = re.compile(_STRING).match(text, key.end() if key else at)
    # The word must need no escapes in a JSON string, be complete, and not end a comment.
    if (
        string is None
        or json.dumps(meant, ensure_ascii=False) != f'"{meant}"'
        or "--" in meant
        or "…" in meant
    ):
        return
    near: list[tuple[int, int]] = []
    for span in _list_words(string[1], meant):
        word = string[1][slice(*span)]
        if word != meant and nearest_word(word, [meant]):
            near.append(span)
    if len(near) == 1:
        start, end = (string.start(1) + offset for offset in near[0])
        title = f"Replace `{text[start:end]}` by `{meant}`"
        yield Rewrite(title, (TextChange(start, end, meant),), _is_slip(text[start:end], meant))


def _is_slip(written: str, meant: str) -> bool:
    """Return whether one letter is missing, added, wrong or swapped. In a long word, two such mistakes are allowed."""
    both = len(written) + len(meant)
    blocks = SequenceMatcher(None, written.lower(), meant.lower(), autojunk=False).get_matching_blocks()
    return both - 2 * sum(block.size for block in blocks) <= max(2, both / 5)


def _list_words(string: str, meant: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of words that may be misspellings of ``meant``.

    They are the whole string, or as many parts of a path as ``meant`` has.
    """
    if meant.startswith("$"):
        # The fields behind the name of a variable stay.
        yield 0, string.find(".") if "." in string and meant.startswith("$$") else len(string)
        return
    first = len(string) - len(string.lstrip("$-"))
    dots = [first - 1, *(dot.start() for dot in re.finditer(r"\.", string)), len(string)]
    for before, behind in zip(dots, dots[meant.count(".") + 1 :], strict=False):
        yield before + 1, behind


def _rename_comment(name: str, text: str, at: int) -> Iterator[Rewrite]:
    written = re.compile(r"(?:<!--+|\{\s*/\*+)[ \t]*(\w+)(?:[ \t]*:)?").match(text, at)
    begin = f"{marks_at(text, at).open} {name}:"
    if written is not None:
        yield Rewrite(f"Write `{begin}`", (TextChange(written.start(), written.end(), begin),))


# -- where a comment begins and ends --


def _mend_end(rule: str, text: str, at: int) -> Iterator[Rewrite]:
    if rule == "MT107" and text.startswith("<!--", at):
        end = text.find("-->", at)
        changes = TextChange(at, at + 4, MDX.open), TextChange(end, end + 3, MDX.close)
        yield from [Rewrite("Write {/* … */}", changes)] if end > 0 else []
    elif rule == "MT107" and (written := re.compile(r"--!>|\*/\s*\}").match(text, at)):
        close = HTML.close if written[0] == "--!>" else MDX.close
        yield Rewrite(f"Write {close}", (TextChange(at, written.end(), close),))
    elif rule == "MT102" and text.startswith("*/", at):
        yield Rewrite(r"Write *\/", (TextChange(at, at + 2, r"*\/"),))
    elif rule == "MT102" and text.startswith("-->", at):
        yield Rewrite(r"Write --\u003e", (TextChange(at, at + 3, r"--\u003e"),))
    elif rule == "MT110" and text[at - 1 : at] == "\\":
        yield Rewrite("Remove the backslash", (TextChange(at - 1, at, ""),), preferred=False)
    elif rule == "MT101" and (end := _end_of_body(text, at)):
        mistyped, close = _MISTYPED_END.match(text, end), marks_at(text, at).close
        yield Rewrite(
            f"{'Write' if mistyped else 'Add'} {close}",
            (TextChange(end, mistyped.end() if mistyped else end, f" {close}"),),
        )


_MISTYPED_END: Final = re.compile(r"[ \t]*[-–—](?:[ \t]*[-–—])*[ \t]*>|[ \t]*\*/")
"""A mistyped end of a comment: `->`, `-- >`, a dash in place of two hyphens, or `*/` without its brace."""


def _end_of_body(text: str, at: int) -> int:
    """Return the end of the JSON in the comment at ``at``, or 0 if it is unclear."""
    body = re.compile(rf"{OPEN}\s*\w+\s*:\s*").match(text, at)
    try:
        return json.JSONDecoder().raw_decode(text, body.end())[1] if body else 0
    except (ValueError, RecursionError):
        return 0


# -- what is not JSON --


def _mend_syntax(hint: str, text: str, at: int) -> Iterator[Rewrite]:
    if hint == "remove the comma":
        yield Rewrite("Remove the comma", (TextChange(at, at + 1, ""),))
    elif hint == "write a comma":
        yield Rewrite("Write a comma", (TextChange(at, at, ","),))
    elif hint == "write a colon":
        yield Rewrite("Write a colon", (TextChange(at, at + (2 if text.startswith("=>", at) else 1), ":"),))
    elif hint.startswith("write "):
        value, rest = _read_value(hint.removeprefix("write "))
        end = end_of_scalar(text, at)
        if value and end is not None and "--" not in value:
            preferred = rest in ("", ", in double quotes")
            yield Rewrite(f"Write {value}", (TextChange(at, end, value),), preferred)


def _read_value(words: str) -> tuple[str, str]:
    """Return the JSON value at the start of a hint, or "", and the text after it."""
    quoted = re.fullmatch(r"`(null|true|false)`", words)
    if quoted:
        return quoted[1], ""
    try:
        _, end = json.JSONDecoder().raw_decode(words)
    except ValueError:
        return "", ""
    return words[:end], words[end:]


Texts = Mapping[str, str]
"""The texts of files, by their names in findings."""
Judge = Callable[[Texts], Sequence[Finding]]
_Chosen = tuple[Finding, Rewrite]


class _Mark(NamedTuple):
    """The identity of a finding, independent of its place. ``comment`` is the file and number of its comment."""

    comment: tuple[str, int]
    rule: str
    message: str


_BEGINNING: Final = re.compile(rf"{OPEN}|^[ \t]*\.\.[ \t]", re.MULTILINE)

_ROUNDS: Final = 50
"""After this many rounds of rewrites, the file is left as it is."""


def mend(texts: Texts, found: Sequence[Finding], judge: Judge) -> dict[str, str]:
    """Apply all preferred rewrites, and those of findings that appear after other rewrites.

    ``found`` are the findings of ``texts``. ``judge`` returns the findings of other texts of the same files. A rewrite
    is undone if it does not remove its finding. If a comment is not JSON after all rewrites, those of its syntax are
    undone, too.
    """
    mended, left = dict(texts), found
    applied, vain = set[_Mark](), set[_Mark]()
    for _ in range(_ROUNDS):
        chosen = list(_choose(left, mended, vain))
        marks = [_mark(finding, mended) for finding, _ in chosen]
        if chosen:
            tried = _apply(mended, chosen)
            after = judge(tried)
            expected, now = Counter(_marks(left, mended)), Counter(_marks(after, tried))
            expected.subtract(marks)
            useless = {mark for mark in marks if now[mark] > expected[mark]}
            if not useless:
                mended, left = tried, after
                applied.update(marks)
        else:
            broken = {mark.comment for mark in _marks(left, mended) if mark.rule == _SYNTAX}
            useless = {mark for mark in applied if mark.rule == _SYNTAX and mark.comment in broken}
            if not useless:
                break
            mended, left, applied = dict(texts), found, set()
        vain |= useless
    return mended


def has_rewrite(finding: Finding, text: str) -> bool:
    """Return whether `mend` would try a rewrite for a finding."""
    return any(rewrite.preferred for rewrite in rewrites_of(finding, text))


def _choose(found: Iterable[Finding], texts: Texts, vain: set[_Mark]) -> Iterator[_Chosen]:
    """Yield the preferred rewrites of findings. If several overlap, only the first is applied."""
    taken: dict[str, list[TextChange]] = {}
    for finding in sorted(found):
        if finding.file not in texts or _mark(finding, texts) in vain:
            continue
        rewrites = rewrites_of(finding, texts[finding.file])
        rewrite = next((one for one in rewrites if one.preferred), None)
        others = taken.setdefault(finding.file, [])
        if rewrite is None or any(
            one.start <= other.end and other.start <= one.end for one in rewrite.edits for other in others
        ):
            continue
        others += rewrite.edits
        yield finding, rewrite


def _apply(texts: Texts, chosen: Iterable[_Chosen]) -> dict[str, str]:
    edits: dict[str, list[TextChange]] = {}
    for finding, rewrite in chosen:
        edits.setdefault(finding.file, []).extend(rewrite.edits)
    return {**texts, **{file: apply_edits(texts[file], each) for file, each in edits.items()}}


def _marks(findings: Iterable[Finding], texts: Texts) -> list[_Mark]:
    return [_mark(finding, texts) for finding in findings]


def _mark(finding: Finding, texts: Texts) -> _Mark:
    text = texts.get(finding.file, "")
    before = _BEGINNING.findall(text, 0, find_offset(text, finding.line, finding.column) or 0)
    return _Mark((finding.file, len(before)), finding.rule, finding.message)
