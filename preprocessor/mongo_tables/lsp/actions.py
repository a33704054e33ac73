"""Code actions for findings: rewrites of ``check --fix``, or ignoring the rule in the comment with a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from mongo_tables.files.text_changes import TextChange
from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext.reader import Path
from mongo_tables.lint.linter import is_silenced
from mongo_tables.lsp.diagnostics import Diagnostic, Lines
from mongo_tables.lsp.typed_json import PIPELINE, Body, Token, read_tokens
from mongo_tables.site.rewrites import Rewrite, rewrites_of

REASON: Final = "say why"
"""A placeholder that the author replaces by the reason."""


class Action(NamedTuple):
    """An edit with its title, and the finding that it resolves."""

    rewrite: Rewrite
    about: Diagnostic


def list_actions(found: Sequence[Diagnostic], lines: Lines, body: Body | None) -> Iterator[Action]:
    """Yield the actions for findings of a text. ``body`` is the JSON that contains them, None outside JSON."""
    in_comment = body is not None and body.kind != PIPELINE
    for diagnostic in found:
        # The mistake may be in the list, not in its name here.
        names_list = in_comment and diagnostic.finding.related
        for rewrite in () if names_list else rewrites_of(diagnostic.finding, lines.text):
            yield Action(rewrite, diagnostic)
    tokens = read_tokens(lines.text, body.start, body.end).found if body and in_comment else ()
    for diagnostic in found:
        if ignored := _ignore(diagnostic.finding, lines.text, tokens):
            yield Action(ignored, diagnostic)


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
