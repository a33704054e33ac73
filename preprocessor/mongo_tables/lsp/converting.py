"""Places, changes and findings, in the words of the protocol and in ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lsprotocol import types as lsp

from mongo_tables import SITE
from mongo_tables.lsp.diagnostics import Diagnostic
from mongo_tables.lsp.positions import Edit, Position, Span

_SEVERITIES: Final = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}


def edit_of(change: lsp.TextDocumentContentChangeEvent) -> Edit:
    """What was typed, or pasted."""
    if isinstance(change, lsp.TextDocumentContentChangePartial):
        return Edit(span_of(change.range), change.text)
    return Edit(None, change.text)


def span_of(given: lsp.Range) -> Span:
    """A range of the protocol."""
    return Span(position_of(given.start), position_of(given.end))


def position_of(given: lsp.Position) -> Position:
    """A position of the protocol."""
    return Position(given.line, given.character)


def range_of(span: Span) -> lsp.Range:
    """A range for the protocol."""
    return lsp.Range(lsp.Position(*span.start), lsp.Position(*span.end))


def diagnostic_of(one: Diagnostic, uri_of: Callable[[str], str]) -> lsp.Diagnostic:
    """A finding for the protocol; ``uri_of`` gives the address of a file."""
    found = one.finding
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(uri_of(each.file), range_of(each.span)), f"in {each.file}"
        )
        for each in one.related
    ]
    return lsp.Diagnostic(
        range_of(one.span),
        f"{found.message}\n{found.hint}" if found.hint else found.message,
        severity=_SEVERITIES[found.severity],
        code=found.rule,
        code_description=lsp.CodeDescription(f"{SITE}reference/rules/"),
        source="mongo-tables",
        related_information=related or None,
    )
