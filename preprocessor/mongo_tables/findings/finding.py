"""The data type of all findings, and suggestions for misspelt words.

Code that detects a fault records a ``Finding`` and continues, so that one run reports all faults of all files. Only
``mongo_tables.findings.reporters`` turns findings into text, JSON, annotations and SARIF.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, Literal, NamedTuple, TypeVar


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "did you mean `…`?" with the known word nearest to ``word``, or "" if no known word is similar.

    Two equally similar words are both named.

    Example:
        >>> did_you_mean("colums", ["columns", "headers"])
        'did you mean `columns`?'
        >>> did_you_mean("p60", ["p50", "p90"])
        'did you mean `p50` or `p90`?'
    """
    return suggest(nearest_words(word, known))


def suggest(near: Sequence[str]) -> str:
    """Return "did you mean `…`?" with all words, or "" if there are none."""
    return f"did you mean {' or '.join(f'`{one}`' for one in sorted(near))}?" if near else ""


def nearest_word(word: str, known: Iterable[str]) -> str:
    """Return the known word most similar to ``word``, ignoring case, or "" if none is similar."""
    return next(iter(nearest_words(word, known)), "")


def nearest_words(word: str, known: Iterable[str]) -> list[str]:
    """Return the known word most similar to ``word``, or both words if two are equally similar.

    If no known word is similar, ``word`` may belong to another query language. Then return the known word with the same
    meaning, such as ``sort`` for ``orderby``.
    """
    from difflib import SequenceMatcher, get_close_matches  # only needed for a misspelt word

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
"""Words of other query languages, and the keys or stages that do the same, both without ``$`` and underscores."""


At = TypeVar("At", bound=int | tuple[str | int, ...])
Severity = Literal["error", "warning", "note"]


class Place(NamedTuple):
    """A place in a file; line and column as in a ``Finding``."""

    file: str
    line: int
    column: int


class StandIn(tuple[int, int]):
    """The line and column of a name on a page. The thing with this name is in another file, at ``meant``."""

    meant: Place

    @classmethod
    def of(cls, at: tuple[int, int], meant: Place) -> StandIn:
        """Return the place ``at`` of a name, with the place ``meant`` of the named thing."""
        place = cls(at)
        place.meant = meant
        return place


@dataclass(frozen=True, slots=True)
class Complaint(Generic[At]):
    """A fault in a text or a value, reported by code that does not know the file.

    Attributes:
        at: The place of the fault: an offset in the text, or the path from the root ``()`` to the value.
        rule: The id of the rule, or "" if the caller chooses the rule.
        on_key: Whether the place is the key of the value instead of the value.
    """

    message: str
    hint: str
    at: At
    rule: str = ""
    on_key: bool = False


class Finding(NamedTuple):
    """One fault and its place.

    Attributes:
        line: The line in the file on disk, from 1, or 0 for a finding about the whole file or the whole run.
        column: The column in characters, from 1, or 0.
        hint: How to fix the fault.
        related: Places in other files. A finding on a page about a shared pipeline has the place in that pipeline. A
            finding in a shared pipeline has the places on pages that use the pipeline.
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
    """Return the findings about the shared pipelines in ``folder``, each once, at its place in the pipeline's file.

    The pages that use the pipeline become related places.
    """
    pages: dict[Finding, set[Place]] = {}
    for one in findings:
        for place in one.related:
            if Path(place.file).parent == folder:
                there = one._replace(file=place.file, line=place.line, column=place.column, related=())
                pages.setdefault(there, set()).add(Place(one.file, one.line, one.column))
    return [there._replace(related=tuple(sorted(places))) for there, places in sorted(pages.items())]
