"""Regular expressions as the server (PCRE, UTF-8) runs them, for `$regexFind` and for queries."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from preprocessor.aggregation import pcre
from preprocessor.aggregation.errors import AggregationError, NotOffline

# "u" asks for UTF-8, which is always on.
OPTIONS = frozenset("imsux")
# Python takes these for the other case of "i", PCRE does not.
_TURKISH = ("\u0130", "\u0131")


class Found(NamedTuple):
    """A match: from where to where in the text (code points), and what the groups captured."""

    start: int
    end: int
    captures: tuple[str | None, ...]


class Pattern(NamedTuple):
    """A compiled regular expression."""

    compiled: re.Pattern[str]
    groups: tuple[int, ...]
    keep: int | None
    caseless: bool

    def matches(self, text: str) -> bool:
        """Whether the expression is found anywhere in the text."""
        self.check(text)
        return self.compiled.search(text) is not None

    def search(self, text: str, start: int = 0) -> Found | None:
        """The first match at or after ``start``."""
        self.check(text)
        match = self.compiled.search(text, start)
        if match is None:
            return None
        begin = match.start() if self.keep is None else match.start(self.keep)
        return Found(begin, match.end(), tuple(match[group] for group in self.groups))

    def check(self, text: str) -> None:
        """Raises NotOffline for a text in which Python and PCRE differ about upper and lower case."""
        if self.caseless and not text.isascii() and any(letter in text for letter in _TURKISH):
            raise NotOffline("the option 'i' on a text with a Turkish i is not available offline")


@lru_cache(maxsize=512)
def compile_pattern(pattern: str, options: str = "") -> Pattern:
    """The expression with the option letters ``i``, ``m``, ``s``, ``u``, ``x``.

    Raises AggregationError for a pattern or an option that the server refuses, NotOffline for what Python
    cannot do.
    """
    for letter in options:
        if letter not in OPTIONS:
            raise AggregationError(f"a regular expression has no option '{letter}'", code=51108)
    if "\0" in pattern:
        raise AggregationError("a regular expression must not hold a NUL character", code=51109)
    translation = pcre.translate(pattern, options)
    try:
        compiled = re.compile(translation.pattern)
    except (re.error, OverflowError, RecursionError) as error:
        if "fixed-width" in str(error):
            raise AggregationError("a look-behind must have a fixed length", code=51111) from None
        raise NotOffline(f"the regular expression is not available offline: {error}") from None
    found = Pattern(compiled, translation.groups, translation.keep, "(?i:" in translation.pattern)
    found.check(pattern)
    return found
