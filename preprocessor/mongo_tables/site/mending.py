"""Files anew with what the hints of their findings say, where each finding is gone by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.site.rewrites import Edit, Rewrite, apply_edits, rewrites_of

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding

Texts = Mapping[str, str]
"""The texts of files by the names that findings have for them."""
Judge = Callable[[Texts], Sequence["Finding"]]
_Mark = tuple[str, str, str]

_ROUNDS: Final = 50
"""After so many rewrites behind each other a file stays as it is then."""


class _Chosen(NamedTuple):
    finding: Finding
    rewrite: Rewrite


def mend(texts: Texts, found: Sequence[Finding], judge: Judge) -> dict[str, str]:
    """The texts with every preferred rewrite of their findings, those among them that show only once others are done.

    ``found`` are the findings of ``texts``, and ``judge`` gives those of other texts of the same files. A rewrite by
    which its finding does not go is not made.
    """
    mended, vain = dict(texts), set[_Mark]()
    for _ in range(_ROUNDS):
        chosen = list(_choose(found, mended, vain))
        if not chosen:
            break
        tried = _apply(mended, chosen)
        after = judge(tried)
        stayed = _find_stayed(chosen, found, after)
        if stayed:
            vain |= stayed
        else:
            mended, found = tried, after
    return mended


def has_rewrite(finding: Finding, text: str) -> bool:
    """Whether `mend` would try to do what a finding's hint says."""
    return any(rewrite.preferred for rewrite in rewrites_of(finding, text))


def _choose(found: Iterable[Finding], texts: Texts, vain: set[_Mark]) -> Iterator[_Chosen]:
    """The preferred rewrites of findings; of those that overlap the first."""
    taken: dict[str, list[Edit]] = {}
    for finding in sorted(found):
        if finding.file not in texts or _mark(finding) in vain:
            continue
        rewrites = rewrites_of(finding, texts[finding.file])
        rewrite = next((one for one in rewrites if one.preferred), None)
        others = taken.setdefault(finding.file, [])
        if rewrite is not None and not _overlap(rewrite.edits, others):
            others += rewrite.edits
            yield _Chosen(finding, rewrite)


def _overlap(edits: Iterable[Edit], others: Sequence[Edit]) -> bool:
    return any(one.start <= other.end and other.start <= one.end for one in edits for other in others)


def _apply(texts: Texts, chosen: Iterable[_Chosen]) -> dict[str, str]:
    edits: dict[str, list[Edit]] = {}
    for finding, rewrite in chosen:
        edits.setdefault(finding.file, []).extend(rewrite.edits)
    return {**texts, **{file: apply_edits(texts[file], each) for file, each in edits.items()}}


def _find_stayed(
    chosen: Iterable[_Chosen], before: Iterable[Finding], after: Iterable[Finding]
) -> set[_Mark]:
    """The marks of which there are more findings left than rewrites should have left."""
    left = Counter(map(_mark, before))
    left.subtract(_mark(finding) for finding, _ in chosen)
    now = Counter(map(_mark, after))
    return {_mark(finding) for finding, _ in chosen if now[_mark(finding)] > left[_mark(finding)]}


def _mark(finding: Finding) -> _Mark:
    """What a finding is known by, wherever it stands now."""
    return finding.file, finding.rule, finding.message
