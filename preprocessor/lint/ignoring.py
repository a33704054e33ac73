"""What a comment silences with ``"ignore": {"MT402": "why"}``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from preprocessor.findings import Finding
from preprocessor.rules import finding
from preprocessor.specs import Spec

_FIRST_IGNORABLE_ERROR: Final = "MT302"
_ABOUT_SENTENCES: Final = "MT324"
"""A rule that speaks only when it is asked for, and not of the comment that ignores it."""
SEEN_IN_ROWS: Final = frozenset({"MT408", "MT411", "MT418", "MT419", "MT424", "MT425", "MT426", "MT508"})
"""Rules of the linter that speak only when pipelines are run."""
_NEED_ROWS: Final = frozenset({"MT302", "MT303", "MT304", "MT332", "MT333"}) | SEEN_IN_ROWS


def is_silenced(found: Finding, ignore: Mapping[str, str]) -> bool:
    """Whether the comment takes the finding upon itself.

    An error of syntax, of safety or of a pipeline that cannot run stays one, whatever the comment says.
    """
    return found.rule in ignore and (found.severity != "error" or found.rule >= _FIRST_IGNORABLE_ERROR)


def _is_about(found: Finding, spec: Spec) -> bool:
    """Whether a finding stands within the comment."""
    comment = spec.comment
    last = comment.body_lines[-1][0] if comment.body_lines else comment.line
    return found.file == spec.file and comment.line <= found.line <= last


def without_silenced(found: Iterable[Finding], specs: Iterable[Spec]) -> list[Finding]:
    """The findings that no comment takes upon itself."""
    ignoring = [spec for spec in specs if spec.ignore]
    return [
        one
        for one in found
        if not any(is_silenced(one, spec.ignore) and _is_about(one, spec) for spec in ignoring)
    ]


def unused_ignores(found: Sequence[Finding], specs: Iterable[Spec], *, ran: bool) -> list[Finding]:
    """A finding for every rule that a comment ignores in vain.

    ``found``: all findings, the silenced included. ``ran``: whether pipelines were run; where they were not, rules
    that need rows have not spoken.
    """
    waiting = frozenset[str]() if ran else _NEED_ROWS
    return [
        finding(
            "MT507",
            spec.file,
            spec.locate(("ignore", rule), key=True),
            f"{rule} is ignored, but finds nothing here that can be ignored.",
            "Take it out of the ignore list, lest it hide what comes later.",
        )
        for spec in specs
        for rule in spec.ignore
        if rule not in waiting
        and rule != _ABOUT_SENTENCES
        and not any(is_silenced(one, {rule: ""}) and _is_about(one, spec) for one in found)
    ]
