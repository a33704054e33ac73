"""The HTML of what a comment asks for, faults included: the same for every kind of site."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from mongo_tables.directives.keywords import place_of
from mongo_tables.directives.references import unknown_tables
from mongo_tables.directives.specs import QuotingSpec
from mongo_tables.lint.suppressions import without_silenced
from mongo_tables.render.anchors import with_anchors
from mongo_tables.site.drawing import FigureContext, Find, Place
from mongo_tables.site.faultboxes import fault_box, fault_in_sentence
from mongo_tables.site.ids import list_written_ids
from mongo_tables.site.kinds import KINDS
from mongo_tables.site.placing import by_comment

if TYPE_CHECKING:
    from mongo_tables.directives.comments import Comment
    from mongo_tables.directives.specs import Spec
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.judging import Judge
    from mongo_tables.site.model import Page


def figures_of(page: Page, judge: Judge, place: Place, find: Find = lambda collection, key: "") -> list[str]:
    """One piece of HTML for each comment of the page: what it asks for, or a box with what is wrong.

    The rows of its figures go to ``place`` as files; ``find`` tells where the documents behind them are.
    """
    here = judge.within(page)
    context = FigureContext(here.answers, here.tables, here.provenance, place, find)
    made = zip(page.comments, page.specs, with_anchors(page.specs), _errors_by_comment(page), strict=True)
    return [
        _figure(spec, anchored, page, here, context) if spec and anchored else _box_for(comment)(errors)
        for comment, spec, anchored, errors in made
    ]


def loose_findings(page: Page) -> Sequence[Finding]:
    """Errors of reading the page that no comment's box shows, such as those of a shared pipeline's file."""
    errors = _errors(page.findings)
    boxed = {each for found in _errors_by_comment(page) for each in found} if errors else set()
    return [each for each in errors if each not in boxed]


def _errors_by_comment(page: Page) -> list[list[Finding]]:
    if page.owned:
        return [_errors(found) for found in page.owned]
    return by_comment(page.comments, _errors(page.findings))


def _errors(findings: Iterable[Finding]) -> list[Finding]:
    return [each for each in findings if each.severity == "error"]


def _figure(spec: Spec, anchored: Spec, page: Page, judge: Judge, context: FigureContext) -> str:
    """A box of its faults, then what it asks for; in a sentence only one of the two has its place."""
    faults = _box_for(spec.comment)(_faults(spec, judge, _unknown_table(spec, page, judge)))
    if faults and place_of(spec.comment.keyword) != "block":
        return faults
    return "\n".join(part for part in (faults, KINDS[type(spec)].html(anchored, context)) if part)


def _box_for(comment: Comment) -> Callable[[Iterable[Finding]], str]:
    return fault_box if place_of(comment.keyword) == "block" else fault_in_sentence


def _faults(spec: Spec, judge: Judge, others: Iterable[Finding] = ()) -> list[Finding]:
    """The errors of a sound comment that its rows bring to light, and others, without those that it ignores."""
    found = _errors([*others, *judge.judge(spec)])
    if not (found and spec.ignore):
        return found
    return without_silenced(found, [spec])


def _unknown_table(spec: Spec, page: Page, judge: Judge) -> list[Finding]:
    if not isinstance(spec, QuotingSpec) or spec.table in judge.tables:
        return []
    return unknown_tables([spec], [name for each in (page, *judge.pages) for name in list_written_ids(each)])
