"""Which known word was meant: the one form of "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Give "did you mean `…`?" for the known word nearest to ``word``, or an empty string.

    Example:
        >>> did_you_mean("colums", ["columns", "headers"])
        'did you mean `columns`?'
    """
    near = nearest_word(word, known)
    return f"did you mean `{near}`?" if near else ""


def nearest_word(word: str, known: Iterable[str]) -> str:
    """Give the known word nearest to ``word``, small and capital letters alike, or an empty string."""
    from difflib import get_close_matches  # only who mistyped pays for it

    by_small = {each.lower(): each for each in sorted(known, reverse=True)}
    near = get_close_matches(word.lower(), sorted(by_small), n=1, cutoff=0.65)
    return by_small[near[0]] if near else ""
