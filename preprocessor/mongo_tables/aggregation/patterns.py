"""Regular expressions as the server runs them, for `$regexFind` and for queries.

PCRE2 runs them, the same library in every installation, with a limit of steps: where MongoDB 6.0 gives up, so
does this. There an expression such as `$regexMatch` fails, as here, but `$match` drops the document without a word,
which is an error here: nobody could tell such a row from one that does not match.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import pcre2

from mongo_tables.aggregation import meter, pcre
from mongo_tables.aggregation.errors import AggregationError, NotOffline
from mongo_tables.aggregation.limits import LimitReached

# "u" asks for UTF-8, which is always on.
OPTIONS = frozenset("imsux")
_FLAGS = {
    "i": pcre2.IGNORECASE,
    "m": pcre2.MULTILINE,
    "s": pcre2.DOTALL,
    "u": pcre2.NOFLAG,
    "x": pcre2.VERBOSE,
}
# Error codes of PCRE2: a limit is reached; PCRE 8 takes it; a look-behind that is not of one length.
_LIMITS = (-47, -53, -63)
_NOT_IN_PCRE2 = (103, 107, 150, 183, 199)
_VARYING = (125, 200)
# Steps to one level of backtracking, as 6.0 has it: 200,000 and 4,000.
_STEPS_A_LEVEL = 50
_HEAP_KIB = 65_536
_CASELESS = re.compile(r"\(\?[a-zA-Z]*i")
# How many units of work a search counts for, so that the clock is looked at before many long ones have run.
_WORK = 256


class Found(NamedTuple):
    """A match: from where to where in the text (code points), and what the groups captured."""

    start: int
    end: int
    captures: tuple[str | None, ...]


class Pattern(NamedTuple):
    """A compiled regular expression, how many steps a search may take, and whether some part has the option i."""

    source: str
    options: str
    compiled: pcre2.Pattern
    steps: int
    caseless: bool

    def matches(self, text: str) -> bool:
        """Whether the expression is found anywhere in the text. Raises LimitReached."""
        return self._find(text, 0) is not None

    def search(self, text: str, start: int = 0) -> Found | None:
        """The first match at or after ``start``. Raises LimitReached."""
        match = self._find(text, start)
        if match is None:
            return None
        begin, end = match.span()
        return Found(begin, end, match.groups())

    def _find(self, text: str, start: int) -> pcre2.Match | None:
        meter.spend(_WORK)
        if self.caseless:
            check_case(text)
        steps = meter.limits().regex_steps
        # A pipeline that was compiled before may run under other limits now.
        compiled = (
            self.compiled if steps == self.steps else compile_pattern(self.source, self.options).compiled
        )
        try:
            return compiled.search(text, start)
        except pcre2.LibraryError as error:
            if error.code in _LIMITS:
                raise LimitReached(
                    f"a regular expression took more than {steps:,} steps on one text",
                    limit="regex_steps",
                    code=51156,
                ) from None
            raise NotOffline(f"the regular expression cannot be run offline: {error.msg}") from None
        except UnicodeEncodeError:
            raise NotOffline("a regular expression on half a character is not available offline") from None


def compile_pattern(pattern: str, options: str = "") -> Pattern:
    """The expression with the option letters ``i``, ``m``, ``s``, ``u``, ``x``.

    Raises AggregationError for a pattern or an option that the server refuses, NotOffline for what servers do not
    agree about.
    """
    return _compile_pcre(pattern, options, meter.limits().regex_steps)


def check_case(text: str) -> None:
    """Raises NotOffline for a letter whose other case only newer servers know."""
    if not text.isascii() and pcre.NEWER_CASE.search(text):
        raise NotOffline("the option 'i' on a letter whose other case is new is not available offline")


@lru_cache(maxsize=512)
def _compile_pcre(pattern: str, options: str, steps: int) -> Pattern:
    for letter in options:
        if letter not in OPTIONS:
            raise AggregationError(f"a regular expression has no option '{letter}'", code=51108)
    if "\0" in pattern:
        raise AggregationError("a regular expression must not hold a NUL character", code=51109)
    adapted, probe = pcre.adapt(pattern, options)
    depth = steps // _STEPS_A_LEVEL + 1
    limits = f"(*LIMIT_MATCH={steps})(*LIMIT_DEPTH={depth})(*LIMIT_HEAP={_HEAP_KIB})"
    compiled = _compile(limits + adapted, options)
    if probe:
        _compile(probe, options)
    caseless = "i" in options or _CASELESS.search(pattern) is not None
    if caseless:
        check_case(pattern + pcre.find_coded_letters(adapted))
    return Pattern(pattern, options, compiled, steps, caseless)


def _compile(pattern: str, options: str) -> pcre2.Pattern:
    """Compiled without machine code, whose steps are counted otherwise on every kind of processor."""
    flags = pcre2.ASCII
    for letter in options:
        flags |= _FLAGS[letter]
    try:
        return pcre2.compile(pattern, flags, jit=False)
    except pcre2.PatternError as error:
        reason = error.msg.partition("; ")[2]
        if error.code in _NOT_IN_PCRE2:
            raise NotOffline(f"the regular expression is not available offline: {reason}") from None
        if error.code in _VARYING:
            reason = "a look-behind must have a fixed length"
        raise AggregationError(f"the regular expression is not valid: {reason}", code=51111) from None
    except UnicodeEncodeError:
        raise NotOffline("half a character in a regular expression is not available offline") from None
