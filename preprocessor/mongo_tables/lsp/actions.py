"""What one keystroke may do about a finding: what its hint says, or to take it upon the comment with a reason.

What ``check --fix`` does comes from ``site.rewrites``; here is what only an author can decide, who sees it at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext.reader import Path
from mongo_tables.lint.suppressions import is_silenced
from mongo_tables.lsp.diagnostics import Diagnostic, offset_of
from mongo_tables.lsp.positions import Lines
from mongo_tables.lsp.typed_json import PIPELINE, Body, Token, read_tokens
from mongo_tables.site.rewrites import Edit, Rewrite, rewrites_of

REASON: Final = "say why"
"""What an author writes something else for."""


_AT_END: Final = (
    r"(?:end the pipeline with(?: a `\$sort` .*, for example)?|sort them:|on a time axis, to scale:) (\{.*\})"
)
"""The hints with a stage for the end of the pipeline."""


class Action(NamedTuple):
    """What may be done, and the finding that is gone by it; None where there is none."""

    rewrite: Rewrite
    about: Diagnostic | None


class _Place(NamedTuple):
    """A finding with its text: the tokens of the JSON around it, and the one at which it stands."""

    one: Finding
    text: str
    tokens: Sequence[Token]
    token: Token | None

    @property
    def written(self) -> str:
        """The token as it is written."""
        return self.text[self.token.start : self.token.end] if self.token else ""


def list_actions(found: Sequence[Diagnostic], lines: Lines, body: Body | None) -> Iterator[Action]:
    """What may be done about findings of a text; ``body`` is the JSON that they stand in, None where it is none."""
    text = lines.text
    tokens = read_tokens(text, body.start, body.end).found if body else ()
    in_comment = body is not None and body.kind != PIPELINE
    for diagnostic in found:
        one = diagnostic.finding
        start = offset_of(one, lines)
        token = next((each for each in tokens if each.start == start), None)
        place = _Place(one, text, tokens, token)
        names_list = in_comment and one.related  # What is mistyped is in the list, and not its name here.
        for rewrite in () if names_list else rewrites_of(one, text):
            yield Action(rewrite, diagnostic)
        for way in _WAYS:
            for rewrite in way(place):
                yield Action(rewrite, diagnostic)
    for diagnostic in found:
        ignored = _ignore(diagnostic.finding, text, tokens) if in_comment else None
        if ignored is not None:
            yield Action(ignored, diagnostic)


def _sort_at_end(place: _Place) -> Iterator[Rewrite]:
    """A `$sort` at the end of the pipeline, or elements of an array put in order there."""
    match = re.search(_AT_END, place.one.hint)
    edit = _append_element(place.text, place.tokens, ("pipeline",), match[1]) if match else None
    if match and edit:
        yield Rewrite(f"End the pipeline with {match[1]}", (edit,), preferred=False)


def _sort_by_more(place: _Place) -> Iterator[Rewrite]:
    """The keys of a sort by which documents differ, in the place of those by which some are equal."""
    match = re.search(r'for example (?:\{("\$sort": .*)\}|("sort": .*?))(?:, or show both)?$', place.one.hint)
    if match is None or place.one.rule not in ("MT418", "MT419", "MT424") or place.token is None:
        return
    written = match[1] or match[2]
    sorts = [one for one in place.tokens if one.kind == "key" and one.start <= place.token.start]
    name, depth = ("$sort", 3) if match[1] else ("sort", 1)
    sort = next((one for one in reversed(sorts) if one.path[-1] == name and len(one.path) == depth), None)
    if sort is not None:
        edit = Edit(sort.start, _end_of(place.tokens, sort.path), written)
        yield Rewrite(f"Sort by {written}", (edit,), preferred=False)


def _match_before(place: _Place) -> Iterator[Rewrite]:
    """A stage that a hint writes, put before the one in which the finding is."""
    match = re.fullmatch(r'add (\{"\$match": .*\})', place.one.hint)
    if match and place.token and place.token.path[:1] == ("pipeline",):
        edit = _insert_before(place.text, place.tokens, place.token.path[:2], match[1])
        yield Rewrite(f"Put {match[1]} before this stage", (edit,), preferred=False)


def _add_key(place: _Place) -> Iterator[Rewrite]:
    """A key that a hint writes with its value: in the comment, or in the object at which the finding stands."""
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


def _write_header(place: _Place) -> Iterator[Rewrite]:
    """A header without stray blanks, in words, or that says all that stands under it."""
    match = re.fullmatch(
        r'write "(.*)"|write it in words: "(.*)"|say so in the header, for example “(.*)”', place.one.hint
    )
    if match is None or place.token is None or place.token.kind != "string":
        return
    if place.one.rule in ("MT503", "MT504", "MT413"):
        written = json.dumps(next(filter(None, match.groups()), ""), ensure_ascii=False)
        trims = place.one.rule == "MT503"
        edit = Edit(place.token.start, place.token.end, written)
        yield Rewrite("Remove stray blanks" if trims else f"Write {written}", (edit,), preferred=trims)


def _read_copy(place: _Place) -> Iterator[Rewrite]:
    """The copy of a value that what stands beside it is read from."""
    match = re.fullmatch(r"read `([^`]+)`", place.one.hint)
    if place.one.rule == "MT415" and match and place.token and place.token.kind == "string":
        yield Rewrite(
            f"Read `{match[1]}`", (Edit(place.token.start, place.token.end, json.dumps(f"${match[1]}")),)
        )


def _take_out(place: _Place) -> Iterator[Rewrite]:
    """A member that says nothing: a rule that is ignored in vain, a key that stands there twice, a field not shown."""
    if place.token is None or place.token.kind != "key":
        return
    in_vain = place.one.rule in ("MT507", "MT122")
    if in_vain or (place.one.rule in ("MT501", "MT502") and _is_one_of_several(place.token, place.tokens)):
        edit = _remove_member(place.tokens, place.token)
        yield Rewrite(f"Remove {place.written}", (edit,), preferred=in_vain)


def _is_one_of_several(field: Token, tokens: Sequence[Token]) -> bool:
    """Whether a field is made by a stage that makes others as well."""
    above = field.path[:-1]
    beside = [one for one in tokens if one.kind == "key" and one.path[:-1] == above]
    return len(beside) > 1 and above[-1:] in (("$project",), ("$set",), ("$addFields",), ("$group",))


_WAYS: Final[Sequence[Callable[[_Place], Iterator[Rewrite]]]] = (
    _sort_at_end,
    _sort_by_more,
    _match_before,
    _add_key,
    _write_header,
    _read_copy,
    _take_out,
)


def _ignore(one: Finding, text: str, tokens: Sequence[Token]) -> Rewrite | None:
    """The finding taken upon the comment; None where no comment can do that."""
    if not is_silenced(one, {one.rule: REASON}) or one.rule == "MT507":
        return None
    if any(token.kind == "key" and token.path[:-1] == ("ignore",) for token in tokens):
        edit = _add_member(text, tokens, ("ignore",), one.rule, json.dumps(REASON))
    else:
        edit = _add_member(text, tokens, (), "ignore", json.dumps({one.rule: REASON}))
    return Rewrite(f"Ignore {one.rule} here, with a reason", (edit,), preferred=False) if edit else None


def _add_member(text: str, tokens: Sequence[Token], path: Path, key: str, value: str) -> Edit | None:
    """A new last member of an object; None where it has none to stand behind, or one of this name."""
    keys = [one for one in tokens if one.kind == "key" and one.path[:-1] == path]
    if not keys or any(one.path[-1] == key for one in keys):
        return None
    end = _end_of(tokens, keys[-1].path)
    return Edit(end, end, f",{_gap_before(text, keys[-1].start)}{json.dumps(key)}: {value}")


def _append_element(text: str, tokens: Sequence[Token], path: Path, value: str) -> Edit | None:
    """A new last element of a list; None where it has none to stand behind."""
    elements = [one for one in tokens if one.path[:-1] == path and one.path != path and one.kind != "close"]
    if not elements or not isinstance(elements[-1].path[-1], int):
        return None
    end = _end_of(tokens, elements[-1].path)
    return Edit(end, end, f",{_gap_before(text, elements[-1].start)}{value}")


def _insert_before(text: str, tokens: Sequence[Token], path: Path, value: str) -> Edit:
    """A new element of a list, before the one at a path."""
    start = next(one.start for one in tokens if one.path == path)
    return Edit(start, start, f"{value},{_gap_before(text, start)}")


def _remove_member(tokens: Sequence[Token], key: Token) -> Edit:
    """A member taken out, with the comma that parts it from its neighbours."""
    end = _end_of(tokens, key.path)
    following = [one for one in tokens if one.start >= end]
    if following and following[0].kind == "comma":
        return Edit(key.start, following[1].start if len(following) > 1 else following[0].end, "")
    before = [one for one in tokens if one.end <= key.start]
    return Edit(before[-1].start if before and before[-1].kind == "comma" else key.start, end, "")


def _end_of(tokens: Sequence[Token], path: Path) -> int:
    """Where the value at a path ends."""
    return max(one.end for one in tokens if one.path[: len(path)] == path)


def _gap_before(text: str, at: int) -> str:
    """What parts an element from the one before it: a line break with blanks where it begins its line, else a blank."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    lead = text[start:at]
    if not start or lead.strip("> \t"):
        return " "
    return ("\r\n" if text[max(start - 2, 0) : start] == "\r\n" else text[start - 1]) + lead
