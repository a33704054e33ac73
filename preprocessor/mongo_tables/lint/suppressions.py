"""Suppression of findings by a comment: ``"ignore": {"MT402": "why"}``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from mongo_tables.directives.specs import Spec
from mongo_tables.findings.finding import Finding, Severity
from mongo_tables.findings.rules import RULES, finding

_FIRST_IGNORABLE_ERROR: Final = "MT302"
_ABOUT_SENTENCES: Final = "MT324"
"""This rule needs `--numbers`, and its finding is in the text: an ``ignore`` of it is never reported as unused."""


def is_silenced(found: Finding, ignore: Mapping[str, str]) -> bool:
    """Return whether the comment suppresses the finding."""
    return found.rule in ignore and may_be_ignored(found.rule, found.severity)


def may_be_ignored(rule: str, severity: Severity) -> bool:
    """Return whether a comment may suppress findings of a rule.

    Errors of syntax, of safety and of pipelines that cannot run cannot be suppressed.
    """
    return severity != "error" or rule >= _FIRST_IGNORABLE_ERROR


Places = Mapping[tuple[str, int], Sequence[Finding]]
"""Findings by file and line, so that each comment looks only at its own lines."""


def _by_place(found: Iterable[Finding]) -> Places:
    places: dict[tuple[str, int], list[Finding]] = {}
    for one in found:
        places.setdefault((one.file, one.line), []).append(one)
    return places


def _about(spec: Spec, places: Places) -> Iterator[Finding]:
    """Yield the findings within the lines of the comment."""
    comment = spec.comment
    last = comment.body_line + len(comment.columns) - 1
    for line in range(comment.line, last + 1):
        yield from places.get((spec.file, line), ())


def without_silenced(found: Iterable[Finding], specs: Iterable[Spec]) -> list[Finding]:
    """Return the findings that no comment suppresses."""
    listed = list(found)
    places = _by_place(listed)
    ignoring = (spec for spec in specs if spec.ignore)
    silenced = {one for spec in ignoring for one in _about(spec, places) if is_silenced(one, spec.ignore)}
    return [one for one in listed if one not in silenced]


def find_unused_ignores(found: Sequence[Finding], specs: Iterable[Spec], *, ran: bool) -> list[Finding]:
    """Return a finding for every rule that a comment ignores in vain.

    ``found``: all findings, including suppressed ones. ``ran``: whether pipelines were run; otherwise the rules that
    need rows were not applied.
    """
    places = _by_place(found)
    return [
        finding(
            "MT507",
            spec.file,
            spec.locate(("ignore", rule), key=True),
            f"{rule} is ignored, but has no finding here",
            "remove it from the ignore list, or it will hide later findings",
        )
        for spec in specs
        for rule in spec.ignore
        if (ran or rule not in RULES or not RULES[rule].rows)
        and rule != _ABOUT_SENTENCES
        and not any(is_silenced(one, {rule: ""}) for one in _about(spec, places))
    ]
