"""The data type of all findings, and the known words that they suggest.

A fault is data: code that detects one records a ``Finding`` and continues, so that one run reports all faults of all
files. Only ``mongo_tables.findings.reporters`` turns findings into text, JSON, annotations and exit codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, Literal, NamedTuple, TypeVar


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "did you mean `…`?" for the known word nearest to ``word``, or for two if both are; else an empty string.

    Example:
        >>> did_you_mean("colums", ["columns", "headers"])
        'did you mean `columns`?'
        >>> did_you_mean("p60", ["p50", "p90"])
        'did you mean `p50` or `p90`?'
    """
    return suggest(nearest_words(word, known))


def suggest(near: Sequence[str]) -> str:
    """Return "did you mean `…`?" for words, or an empty string without any."""
    return f"did you mean {' or '.join(f'`{one}`' for one in sorted(near))}?" if near else ""


def nearest_word(word: str, known: Iterable[str]) -> str:
    """Return the known word nearest to ``word``, ignoring case, or an empty string."""
    return next(iter(nearest_words(word, known)), "")


def nearest_words(word: str, known: Iterable[str]) -> list[str]:
    """Return the known word nearest to ``word``, or two that are equally near."""
    from difflib import SequenceMatcher, get_close_matches  # late import: only needed for a misspelt word

    by_small = {each.lower(): each for each in sorted(known, reverse=True)}
    near = get_close_matches(word.lower(), sorted(by_small), n=2, cutoff=0.65)
    ratios = [SequenceMatcher(None, one, word.lower()).ratio() for one in near]
    if not near:
        meant = _MEANT.get(word.lower().lstrip("$").replace("_", ""), ())
        return [by_small[one] for name in meant for one in (name, f"${name}") if one in by_small][:1]
    return [by_small[one] for one, ratio in zip(near, ratios, strict=True) if ratio == ratios[0]]


_MEANT: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys(("orderby", "order", "ascending", "descending"), ("sort",)),
    **dict.fromkeys(("filter", "query", "find", "having", "match"), ("where", "match")),
    **dict.fromkeys(("select", "fields"), ("columns", "project")),
    **dict.fromkeys(("top", "head", "take"), ("limit",)),
    **dict.fromkeys(("from", "source", "file", "data", "table"), ("collection",)),
    **dict.fromkeys(("type", "kind"), ("mark",)),
    **dict.fromkeys(("digits", "precision", "round"), ("decimals",)),
    "where": ("match",),
    "join": ("lookup",),
    "explode": ("unwind",),
}
"""Words of other languages for keys and stages, without signs."""


At = TypeVar("At", bound=int | tuple[str | int, ...])
Severity = Literal["error", "warning", "note"]


class Place(NamedTuple):
    """A place in a file; line and column as in a ``Finding``."""

    file: str
    line: int
    column: int


class StandIn(tuple[int, int]):
    """Line and column of text that refers to something in another file, which is at ``meant``."""

    meant: Place

    @classmethod
    def of(cls, at: tuple[int, int], meant: Place) -> StandIn:
        """Return the place ``at``, where the page names what is at ``meant``."""
        place = cls(at)
        place.meant = meant
        return place


@dataclass(frozen=True, slots=True)
class Complaint(Generic[At]):
    """A fault of a text or a value, from code that does not know its file.

    ``at`` is its place: an offset in a text, or the path from the root ``()`` to a value; with ``on_key`` the place is
    the key of that value. ``rule`` is "" if only the caller knows which rule applies.
    """

    message: str
    hint: str
    at: At
    rule: str = ""
    on_key: bool = False


class Finding(NamedTuple):
    """One fault and its place.

    ``line`` and ``column`` count from 1, in characters, in the Markdown file on disk; 0 means that the finding is about
    the file (or the run) as a whole. ``hint`` says how to fix it. ``related`` lists places in other files. For a
    finding on a page: the place in the shared pipeline that the page names. For a finding in a shared pipeline: the
    pages that use the pipeline.
    """

    file: str
    line: int
    column: int
    rule: str
    severity: Severity
    message: str
    hint: str = ""
    related: tuple[Place, ...] = ()


def find_in_lists(findings: Iterable[Finding], folder: Path) -> list[Finding]:
    """Return findings of pages about a shared pipeline of ``folder``, each once, at its place there.

    The pages become the related places.
    """
    pages: dict[Finding, set[Place]] = {}
    for one in findings:
        for place in one.related:
            if Path(place.file).parent == folder:
                there = one._replace(file=place.file, line=place.line, column=place.column, related=())
                pages.setdefault(there, set()).add(Place(one.file, one.line, one.column))
    return [there._replace(related=tuple(sorted(places))) for there, places in sorted(pages.items())]
