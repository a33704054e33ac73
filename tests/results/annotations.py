"""How well places of change agree with those that people annotated."""

from __future__ import annotations

from statistics import fmean


def covering(annotated, found, margin=5):
    """The annotated places that a found one is near to, each found one for one of them."""
    left, near = set(found), 0
    for place in annotated:
        closest = min(
            (one for one in left if abs(one - place) <= margin),
            key=lambda one: abs(one - place),
            default=None,
        )
        if closest is not None:
            left.remove(closest)
            near += 1
    return near


def f1(annotations, found):
    """As G. J. J. van den Burg and C. K. I. Williams have it (arXiv 2003.06222, section 4.2.2)."""
    people = [{0, *places} for places in annotations.values()]
    told = {0, *found}
    precision = covering(sorted(set().union(*people)), told) / len(told)
    recall = fmean(covering(sorted(one), told) / len(one) for one in people)
    return 2 * precision * recall / (precision + recall)
