"""What one keystroke may do about a finding: what its hint says, or to take it upon the comment with a reason.

What ``check --fix`` does comes from ``pages.rewrites``; here is what only an author can decide, who sees it at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from preprocessor.editor.bodies import Body
from preprocessor.editor.diagnostics import Diagnostic, offset_of
from preprocessor.editor.members import add_member, append_element, remove_member
from preprocessor.editor.positions import Lines
from preprocessor.editor.tokens import Token, read_tokens
from preprocessor.findings.finding import Finding
from preprocessor.lint.suppressions import is_silenced
from preprocessor.pages.rewrites import Edit, Rewrite, rewrites_of

REASON: Final = "say why"
"""What an author writes something else for."""


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
    for diagnostic in found:
        one = diagnostic.finding
        start = offset_of(one, lines)
        token = next((each for each in tokens if each.start == start), None)
        place = _Place(one, text, tokens, token)
        for rewrite in rewrites_of(one, text):
            yield Action(rewrite, diagnostic)
        for way in _WAYS:
            for rewrite in way(place):
                yield Action(rewrite, diagnostic)
    for diagnostic in found:
        ignored = _ignore(diagnostic.finding, text, tokens) if body else None
        if ignored is not None:
            yield Action(ignored, diagnostic)


def _sort_at_end(place: _Place) -> Iterator[Rewrite]:
    """A `$sort` at the end of the pipeline, or elements of an array put in order there."""
    match = re.search(
        r"(?:end the pipeline with a `\$sort` .*, for example|sort them:) (\{.*\})", place.one.hint
    )
    edit = append_element(place.text, place.tokens, ("pipeline",), match[1]) if match else None
    if match and edit:
        yield Rewrite(f"End the pipeline with {match[1]}", (edit,), preferred=False)


def _add_key(place: _Place) -> Iterator[Rewrite]:
    """A key that a hint writes with its value."""
    match = re.search(
        r'(?:add a `sort` .*?, for example|round what readers see:) "(\w+)": (.+?)(?: for the newest)?$',
        place.one.hint,
    )
    edit = add_member(place.text, place.tokens, (), match[1], match[2]) if match else None
    if match and edit:
        yield Rewrite(f'Add "{match[1]}": {match[2]}', (edit,), preferred=False)


def _trim_header(place: _Place) -> Iterator[Rewrite]:
    """A header without stray blanks."""
    match = re.fullmatch(r'write "(.*)"', place.one.hint)
    if place.one.rule == "MT503" and match and place.token and place.token.kind == "string":
        written = json.dumps(match[1], ensure_ascii=False)
        yield Rewrite("Remove stray blanks", (Edit(place.token.start, place.token.end, written),))


def _read_copy(place: _Place) -> Iterator[Rewrite]:
    """The copy of a value that what stands beside it is read from."""
    match = re.fullmatch(r"read `([^`]+)`", place.one.hint)
    if place.one.rule == "MT415" and match and place.token and place.token.kind == "string":
        yield Rewrite(
            f"Read `{match[1]}`", (Edit(place.token.start, place.token.end, json.dumps(f"${match[1]}")),)
        )


def _take_out(place: _Place) -> Iterator[Rewrite]:
    """A member that says nothing: a rule that is ignored in vain, a key that stands there twice."""
    if place.one.rule in ("MT507", "MT122") and place.token and place.token.kind == "key":
        yield Rewrite(f"Remove {place.written}", (remove_member(place.tokens, place.token),))


_WAYS: Final[Sequence[Callable[[_Place], Iterator[Rewrite]]]] = (
    _sort_at_end,
    _add_key,
    _trim_header,
    _read_copy,
    _take_out,
)


def _ignore(one: Finding, text: str, tokens: Sequence[Token]) -> Rewrite | None:
    """The finding taken upon the comment; None where no comment can do that."""
    if not is_silenced(one, {one.rule: REASON}) or one.rule == "MT507":
        return None
    if any(token.kind == "key" and token.path[:-1] == ("ignore",) for token in tokens):
        edit = add_member(text, tokens, ("ignore",), one.rule, json.dumps(REASON))
    else:
        edit = add_member(text, tokens, (), "ignore", json.dumps({one.rule: REASON}))
    return Rewrite(f"Ignore {one.rule} here, with a reason", (edit,), preferred=False) if edit else None
