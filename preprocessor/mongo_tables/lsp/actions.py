"""Code actions for findings: apply the hint, or ignore the rule in the comment with a reason.

The fixes of ``check --fix`` come from ``site.rewrites``; the actions here need the author's decision, and the editor
shows their effect at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from mongo_tables.files.text_changes import TextChange
from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext.reader import Path
from mongo_tables.lint.linter import is_silenced
from mongo_tables.lsp.diagnostics import Diagnostic, Lines, offset_of
from mongo_tables.lsp.typed_json import PIPELINE, Body, Token, read_tokens
from mongo_tables.site.rewrites import Rewrite, rewrites_of

REASON: Final = "say why"
"""A placeholder that the author replaces by the reason."""


_AT_END: Final = (
    r"(?:end the pipeline with(?: a `\$sort` .*, for example)?|sort them:|on a time axis, to scale:) (\{.*\})"
)
"""The hints that contain a stage for the end of the pipeline."""


class Action(NamedTuple):
    """An edit with its title, and the finding that it resolves, if any."""

    rewrite: Rewrite
    about: Diagnostic | None


class _FindingText(NamedTuple):
    """A finding with its text: the tokens of the surrounding JSON, and the token at its position."""

    one: Finding
    text: str
    tokens: Sequence[Token]
    token: Token | None

    @property
    def written(self) -> str:
        """The text of the token."""
        return self.text[self.token.start : self.token.end] if self.token else ""


def list_actions(found: Sequence[Diagnostic], lines: Lines, body: Body | None) -> Iterator[Action]:
    """Yield the actions for findings of a text. ``body`` is the JSON that contains them, None outside JSON."""
    text = lines.text
    tokens = read_tokens(text, body.start, body.end).found if body else ()
    in_comment = body is not None and body.kind != PIPELINE
    for diagnostic in found:
        one = diagnostic.finding
        start = offset_of(one, lines)
        token = next((each for each in tokens if each.start == start), None)
        place = _FindingText(one, text, tokens, token)
        names_list = in_comment and one.related  # The mistake is in the list, not in its name here.
        for rewrite in () if names_list else rewrites_of(one, text):
            yield Action(rewrite, diagnostic)
        for way in _WAYS:
            for rewrite in way(place):
                yield Action(rewrite, diagnostic)
    for diagnostic in found:
        ignored = _ignore(diagnostic.finding, text, tokens) if in_comment else None
        if ignored is not None:
            yield Action(ignored, diagnostic)


def _sort_at_end(place: _FindingText) -> Iterator[Rewrite]:
    """Yield a `$sort` at the end of the pipeline, or a sort of array elements there."""
    match = re.search(_AT_END, place.one.hint)
    edit = _append_element(place.text, place.tokens, ("pipeline",), match[1]) if match else None
    if match and edit:
        yield Rewrite(f"End the pipeline with {match[1]}", (edit,), preferred=False)


def _sort_by_more(place: _FindingText) -> Iterator[Rewrite]:
    """Yield a replacement of sort keys with ties by keys that distinguish the documents."""
    match = re.search(r'for example (?:\{("\$sort": .*)\}|("sort": .*?))(?:, or show both)?$', place.one.hint)
    if match is None or place.one.rule not in ("MT418", "MT419", "MT424") or place.token is None:
        return
    written = match[1] or match[2]
    sorts = [one for one in place.tokens if one.kind == "key" and one.start <= place.token.start]
    name, depth = ("$sort", 3) if match[1] else ("sort", 1)
    sort = next((one for one in reversed(sorts) if one.path[-1] == name and len(one.path) == depth), None)
    if sort is not None:
        edit = TextChange(sort.start, _end_of(place.tokens, sort.path), written)
        yield Rewrite(f"Sort by {written}", (edit,), preferred=False)


def _match_before(place: _FindingText) -> Iterator[Rewrite]:
    """Yield the insertion of a stage from a hint, before the stage with the finding."""
    match = re.fullmatch(r'add (\{"\$match": .*\})', place.one.hint)
    if match and place.token and place.token.path[:1] == ("pipeline",):
        start = next(one.start for one in place.tokens if one.path == place.token.path[:2])
        edit = TextChange(start, start, f"{match[1]},{_gap_before(place.text, start)}")
        yield Rewrite(f"Put {match[1]} before this stage", (edit,), preferred=False)


def _add_key(place: _FindingText) -> Iterator[Rewrite]:
    """Yield the insertion of a key with its value from a hint, in the comment or in the object with the finding."""
    match = re.search(
        r'(?:add a `sort` .*?, for example|round what readers see:) "(\w+)": (.+?)(?: for the newest)?$',
        place.one.hint,
    )
    within = re.match(r'(?:for example:|add) "(\w+)": (.+?)(?:, or .*)?$', place.one.hint)
    path: Path = ()
    if within and place.one.rule in ("MT131", "MT505") and place.token and place.token.kind == "open":
        match, path = within, place.token.path
    edit = _add_member(place.text, place.tokens, path, match[1], match[2]) if match else None
    if match and edit:
        yield Rewrite(f'Add "{match[1]}": {match[2]}', (edit,), preferred=False)


def _write_header(place: _FindingText) -> Iterator[Rewrite]:
    """Yield a header without stray blanks, in words, or that describes all its values."""
    match = re.fullmatch(
        r'write "(.*)"|write it in words: "(.*)"|say so in the header, for example “(.*)”', place.one.hint
    )
    if match is None or place.token is None or place.token.kind != "string":
        return
    if place.one.rule in ("MT503", "MT504", "MT413"):
        written = json.dumps(next(filter(None, match.groups()), ""), ensure_ascii=False)
        trims = place.one.rule == "MT503"
        edit = TextChange(place.token.start, place.token.end, written)
        yield Rewrite("Remove stray blanks" if trims else f"Write {written}", (edit,), preferred=trims)


def _read_copy(place: _FindingText) -> Iterator[Rewrite]:
    """Yield the replacement of a field path by the copy that the neighbouring fields come from (MT415)."""
    match = re.fullmatch(r"read `([^`]+)`", place.one.hint)
    if place.one.rule == "MT415" and match and place.token and place.token.kind == "string":
        yield Rewrite(
            f"Read `{match[1]}`",
            (TextChange(place.token.start, place.token.end, json.dumps(f"${match[1]}")),),
        )


def _take_out(place: _FindingText) -> Iterator[Rewrite]:
    """Yield the removal of a useless member: an ignored rule without findings, a duplicate key, an unused field."""
    if place.token is None or place.token.kind != "key":
        return
    in_vain = place.one.rule in ("MT507", "MT122")
    if in_vain or (place.one.rule in ("MT501", "MT502") and _is_one_of_several(place.token, place.tokens)):
        edit = _remove_member(place.tokens, place.token)
        yield Rewrite(f"Remove {place.written}", (edit,), preferred=in_vain)


def _is_one_of_several(field: Token, tokens: Sequence[Token]) -> bool:
    """Return whether a field is created by a stage that creates others as well."""
    above = field.path[:-1]
    beside = [one for one in tokens if one.kind == "key" and one.path[:-1] == above]
    return len(beside) > 1 and above[-1:] in (("$project",), ("$set",), ("$addFields",), ("$group",))


_WAYS: Final[Sequence[Callable[[_FindingText], Iterator[Rewrite]]]] = (
    _sort_at_end,
    _sort_by_more,
    _match_before,
    _add_key,
    _write_header,
    _read_copy,
    _take_out,
)


def _ignore(one: Finding, text: str, tokens: Sequence[Token]) -> Rewrite | None:
    """Return the edit that ignores the finding in the comment, or None if no comment can do that."""
    if not is_silenced(one, {one.rule: REASON}) or one.rule == "MT507":
        return None
    if any(token.kind == "key" and token.path[:-1] == ("ignore",) for token in tokens):
        edit = _add_member(text, tokens, ("ignore",), one.rule, json.dumps(REASON))
    else:
        edit = _add_member(text, tokens, (), "ignore", json.dumps({one.rule: REASON}))
    return Rewrite(f"Ignore {one.rule} here, with a reason", (edit,), preferred=False) if edit else None


def _add_member(text: str, tokens: Sequence[Token], path: Path, key: str, value: str) -> TextChange | None:
    """Return an edit that adds a last member to an object, or None if the object is empty or has this member."""
    keys = [one for one in tokens if one.kind == "key" and one.path[:-1] == path]
    if not keys or any(one.path[-1] == key for one in keys):
        return None
    end = _end_of(tokens, keys[-1].path)
    return TextChange(end, end, f",{_gap_before(text, keys[-1].start)}{json.dumps(key)}: {value}")


def _append_element(text: str, tokens: Sequence[Token], path: Path, value: str) -> TextChange | None:
    """Return an edit that adds a last element to a list, or None if the list is empty."""
    elements = [one for one in tokens if one.path[:-1] == path and one.path != path and one.kind != "close"]
    if not elements or not isinstance(elements[-1].path[-1], int):
        return None
    end = _end_of(tokens, elements[-1].path)
    return TextChange(end, end, f",{_gap_before(text, elements[-1].start)}{value}")


def _remove_member(tokens: Sequence[Token], key: Token) -> TextChange:
    """Return an edit that removes a member with the comma that separates it from its neighbours."""
    end = _end_of(tokens, key.path)
    following = [one for one in tokens if one.start >= end]
    if following and following[0].kind == "comma":
        return TextChange(key.start, following[1].start if len(following) > 1 else following[0].end, "")
    before = [one for one in tokens if one.end <= key.start]
    return TextChange(before[-1].start if before and before[-1].kind == "comma" else key.start, end, "")


def _end_of(tokens: Sequence[Token], path: Path) -> int:
    """Return the end of the value at a path."""
    return max(one.end for one in tokens if one.path[: len(path)] == path)


def _gap_before(text: str, at: int) -> str:
    """Return the gap before an element: a line break with blanks if it begins its line, else a blank."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    lead = text[start:at]
    if not start or lead.strip("> \t"):
        return " "
    return ("\r\n" if text[max(start - 2, 0) : start] == "\r\n" else text[start - 1]) + lead
