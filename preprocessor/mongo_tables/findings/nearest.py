"""Suggestions of known words for misspelt ones: "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "did you mean `…`?" for the known word nearest to ``word``, or an empty string.

    Example:
        >>> did_you_mean("colums", ["columns", "headers"])
        'did you mean `columns`?'
    """
    near = nearest_word(word, known)
    return f"did you mean `{near}`?" if near else ""


def nearest_word(word: str, known: Iterable[str]) -> str:
    """Return the known word nearest to ``word``, ignoring case, or an empty string."""
    from difflib import get_close_matches  # late import: only needed for a misspelt word

    by_small = {each.lower(): each for each in sorted(known, reverse=True)}
    near = get_close_matches(word.lower(), sorted(by_small), n=1, cutoff=0.65)
    return by_small[near[0]] if near else ""
