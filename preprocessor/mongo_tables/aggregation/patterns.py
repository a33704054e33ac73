"""Regular expressions as the server runs them, for `$regexFind` and for queries.

PCRE2 runs them, with the same library in every installation. A search may take as many steps as in MongoDB 6.0. At
that limit, the server fails in an expression such as `$regexMatch`, but `$match` silently drops the document. Here
both are errors, because a dropped document would look like a document that does not match.

Nearly every pattern has the same meaning in PCRE2 and in PCRE 8, which servers before 6.1 use. ``adapt`` rewrites
syntax that the two libraries spell differently. It refuses syntax that they read differently, because an error is
better than a wrong row.

Sources: https://www.pcre.org/original/doc/html/pcrepattern.html,
https://pcre2project.github.io/pcre2/doc/pcre2pattern/
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, NoReturn

import pcre2

from mongo_tables.aggregation.errors import AggregationError, NotOffline
from mongo_tables.aggregation.limits import LimitReached, current, spend

# The pieces of a pattern. No piece may contain the start of another. Names in braces have at most 100
# characters, because searches for the ends of longer names would take quadratic time.
_PIECES = re.compile(
    r"""
    (?P<quoted> \\Q .*? (?:\\E|\Z) )
  | (?P<code> \\x (?: \{ (?P<braced> [^}]* ) (?P<closed> \}? ) | (?P<plain> [0-9A-Fa-f]{0,2} ) ) )
  | (?P<property> \\(?P<sign>[pP]) \{ (?P<inverse>\^?) (?P<name>[^}]{0,100}) \} )
  | (?P<call> \\g ['<] )
  | (?P<reference> \\[gko] \{ (?= [^}\s]{0,100} \s ) [^}]{0,100} \} )
  | (?P<escape> \\(?:c.|.) )
  | (?P<remark> \(\?\# [^)]* \)? )
  | (?P<class> \[ \^? \]? )
  | (?P<behind> \(\?<[=!] )
  | (?P<group> \( )
  | (?P<end> \) )
  | (?P<branch> \| )
  | (?P<brace> \{ )
  | (?P<other> . )
    """,
    re.S | re.X,
)
_IN_CLASS = re.compile(r"\[[:.=][^\]\\]{0,100}[:.=]\]|\\Q.*?(?:\\E|\Z)|\\.|.", re.S)
_REFERENCE = re.compile(r"\\[1-9gk]")
_GROUP_NAME = re.compile(r"\(\?(?:P?<|')([A-Za-z_]\w{0,31})[>']", re.A)
_CONDITION = re.compile(r"\(\?\((?:[+-]?\d+|[<']?[A-Za-z_]\w{0,31}[>']?)\)", re.A)
_OPTIONS = re.compile(r"\(\?[imsxJU]*(?:-[imsxJU]*)?[:)]")
_QUANTIFIER = re.compile(r"\{\d+(?:,\d*)?\}", re.A)
# Quantifiers in PCRE2, plain text in PCRE 8.
_NEWER_QUANTIFIER = re.compile(r"\{[ \t]*(?:\d+[ \t]*)?(?:,[ \t]*(?:\d+[ \t]*)?)?\}", re.A)
_KINDS = "CLMNPSZ"
_CATEGORY = re.compile(r"[CLMNPSZ][a-z&]?|Any|X(?:an|ps|sp|uc|wd)")
# Characters that the option x skips in PCRE2, but not in PCRE 8.
_NEWER_SPACE = frozenset("\x85\u200e\u200f\u2028\u2029")
# Properties that also match the other case under the option i in PCRE2, but not in PCRE 8.
_CASED = ("Lu", "Ll", "Lt")
# Letters whose other case is newer than Unicode 7, which MongoDB 6.0 uses.
_NEWER_CASE = re.compile(
    "[\u13f8-\u13fd\u1c80-\u1cbf\u2c2f\u2c5f\ua7ae\ua7b2-\ua7f6\uab53\uab70-\uabbf\U000104b0-\U000104fb"
    "\U00010570-\U000105bc\U00010c80-\U00010cf2\U00016e40-\U00016e7f\U0001e900-\U0001e943]"
)
_LEADING = ("(*UTF8)", "(*UTF)", "(*UCP)")
_LONGEST_VARYING = 255


def adapt(pattern: str, options: str) -> tuple[str, str]:
    """Return ``pattern`` for PCRE2, and a variant that compiles only if every look-behind has a fixed length.

    PCRE 8 refuses look-behinds of variable length, but PCRE2 accepts them up to 255 characters. The variant adds 255
    characters to each look-behind, so that PCRE2 also accepts only a fixed length. Without a look-behind, the variant
    is empty.

    Raises:
        AggregationError: With code 51111, for syntax that only PCRE2 accepts.
        NotOffline: For syntax that is not supported.
    """
    leading, rest = _leading(pattern)
    if "x" in options and not _NEWER_SPACE.isdisjoint(pattern):
        _not_here("a kind of white space under the option x")
    strict: list[str] = []
    plain: list[str] = []
    behind: list[bool] = []  # for each open group, whether the group is a look-behind
    at = 0
    while found := _PIECES.match(rest, at):
        kind, piece = found.lastgroup or "other", found[0]
        at = found.end()
        if kind == "class":
            piece, at = _character_class(rest, found)
        elif any(behind) and _REFERENCE.match(piece):
            _not_here("a reference in a look-behind")
        elif kind in _REWRITTEN:
            piece = _REWRITTEN[kind](rest, found)
        plain.append(piece)
        strict.append(piece)
        if kind in ("behind", "group"):
            behind.append(kind == "behind")
        elif kind == "end" and behind:
            behind.pop()
        if kind == "behind" or (kind == "branch" and behind and behind[-1]):
            strict.append(f"(?s:.){{{_LONGEST_VARYING}}}")
    probe = leading + "".join(strict) if len(strict) > len(plain) else ""
    return leading + "".join(plain), probe


def _leading(pattern: str) -> tuple[str, str]:
    """Split a pattern into a leading ``(*UCP)``, or "", and the pattern without leading verbs. UTF-8 is always on."""
    leading = ""
    while found := next((verb for verb in _LEADING if pattern.startswith(verb)), ""):
        pattern = pattern.removeprefix(found)
        if found == "(*UCP)":
            leading = found
    return leading, pattern


def _bad(what: str) -> NoReturn:
    """Raise AggregationError for a pattern that the server refuses."""
    raise AggregationError(f"the regular expression is not valid: {what}", code=51111)


def _not_here(what: str) -> NoReturn:
    raise NotOffline(f"{what} in a regular expression is not available offline")


def _code(_: str, found: re.Match[str]) -> str:
    r"""Return ``\xhh`` in octal, because the Python binding of PCRE2 reads ``\x`` as JavaScript does."""
    digits = found["plain"] if found["braced"] is None else found["braced"]
    if found["braced"] is not None and not (found["closed"] and re.fullmatch("[0-9A-Fa-f]+", digits)):
        _bad("non-hex character in \\x{} (closing brace missing?)")
    code = int(digits or "0", 16)
    if code > 0x10FFFF:
        _bad("character code point value in \\x{} is too large")
    return f"\\o{{{code:o}}}"


def _property(_: str, found: re.Match[str]) -> str:
    r"""Adapt ``\p{NAME}``. A script gets the prefix ``sc:``, so that PCRE2 excludes characters that several scripts
    share.
    """
    name = found["name"]
    if name in _CASED:
        return f"(?-i:{found[0]})"
    if _CATEGORY.fullmatch(name):
        return found[0]
    if not re.fullmatch("[A-Z][A-Za-z_]*", name):
        _bad(f"unknown property name '{name}'")
    return f"\\{found['sign']}{{{found['inverse']}sc:{name}}}"


def _escape(pattern: str, found: re.Match[str]) -> str:
    letter = found[0][1]
    if letter in "uU":
        return "\\l"  # PCRE2 refuses \l as PCRE 8 refuses \u, except in a comment
    if letter == "N" and pattern.startswith("{", found.end()) and not _QUANTIFIER.match(pattern, found.end()):
        return "\\l"
    if letter in "XC" or (letter in "89" and pattern.count("(") < int(letter)):
        _not_here(f"\\{letter}")
    if (
        letter in "pP"
        and not pattern.startswith("{", found.end())
        and pattern[found.end() :][:1] not in tuple(_KINDS)
    ):
        _bad("unknown property name after \\P or \\p")
    return found[0]


def _group(pattern: str, found: re.Match[str]) -> str:
    """Return the opening of a group. Raises an error unless PCRE2 and PCRE 8 read the group equally."""
    at = found.start()
    if pattern.startswith("(*", at):
        _not_here("a verb such as (*ACCEPT)")
    if not pattern.startswith("(?", at):
        return "("
    if (options := _OPTIONS.match(pattern, at)) and "xx" in options[0]:
        _not_here("the option xx")
    if options or _GROUP_NAME.match(pattern, at) or _CONDITION.match(pattern, at):
        return "("
    if pattern.startswith(("(?:", "(?=", "(?!", "(?>", "(?|", "(?P=", "(?(?=", "(?(?!", "(?(?<"), at):
        return "("
    if re.compile(r"\(\?(?:R|P>|&|[+-]?\d|C|[imsxJUX]*-?[imsxJU]*X)", re.A).match(pattern, at):
        _not_here(f"'{pattern[at : at + 3]}'")
    _bad(f"'{pattern[at : at + 3]}' opens no group")


def _brace(pattern: str, found: re.Match[str]) -> str:
    at = found.start()
    newer = _NEWER_QUANTIFIER.match(pattern, at) and not _QUANTIFIER.match(pattern, at)
    return "\\{" if newer else "{"


def _refuse(_: str, found: re.Match[str]) -> NoReturn:
    _not_here(f"'{found[0]}'")


_REWRITTEN = {
    "code": _code,
    "property": _property,
    "call": _refuse,
    "reference": _refuse,
    "escape": _escape,
    "group": _group,
    "brace": _brace,
}


def _character_class(pattern: str, opening: re.Match[str]) -> tuple[str, int]:
    """Return the adapted character class and the position after it. PCRE2 refuses a class without an end."""
    pieces, at = [opening[0]], opening.end()
    while at < len(pattern) and not pattern.startswith("]", at):
        escaped = _PIECES.match(pattern, at) if pattern[at] == "\\" else None
        if escaped and escaped.lastgroup == "property" and escaped["name"] in _CASED:
            _not_here(f"\\p{{{escaped['name']}}} in a class")
        if escaped and escaped.lastgroup in ("code", "property", "escape", "reference"):
            pieces.append(_REWRITTEN[escaped.lastgroup](pattern, escaped))
            at = escaped.end()
            continue
        found = _IN_CLASS.match(pattern, at)
        assert found is not None
        pieces.append(found[0])
        at = found.end()
    return "".join(pieces), at


# "u" means UTF-8, which is always on.
OPTIONS = frozenset("imsux")
_FLAGS = {
    "i": pcre2.IGNORECASE,
    "m": pcre2.MULTILINE,
    "s": pcre2.DOTALL,
    "u": pcre2.NOFLAG,
    "x": pcre2.VERBOSE,
}
# Error codes of PCRE2: a limit is reached; a pattern that PCRE 8 accepts; a look-behind of variable length.
_LIMITS = (-47, -53, -63)
_NOT_IN_PCRE2 = (103, 107, 150, 183, 199)
_VARYING = (125, 200)
# Steps per level of backtracking. MongoDB 6.0 allows 200,000 steps and 4,000 levels.
_STEPS_A_LEVEL = 50
_HEAP_KIB = 65_536
# Characters that an adapted pattern contains as octal codes.
_BY_CODE = re.compile(r"\\o\{([0-7]+)\}")
_CASELESS = re.compile(r"\(\?[a-zA-Z]*i")
# Units of work per search, so that the clock is checked often enough.
_WORK = 256


class Found(NamedTuple):
    """A match: its start and end in the text (code points), and the captured groups."""

    start: int
    end: int
    captures: tuple[str | None, ...]


class Pattern(NamedTuple):
    """A valid regular expression. ``caseless``: a part of it has the option i."""

    source: str
    options: str
    caseless: bool

    def matches(self, text: str) -> bool:
        """Return whether the expression matches anywhere in the text. Raises LimitReached."""
        return self._find(text, 0) is not None

    def search(self, text: str, start: int = 0) -> Found | None:
        """Return the first match at or after ``start``. Raises LimitReached."""
        match = self._find(text, start)
        if match is None:
            return None
        begin, end = match.span()
        return Found(begin, end, match.groups())

    def _find(self, text: str, start: int) -> pcre2.Match | None:
        spend(_WORK)
        if self.caseless:
            _check_case(text)
        steps = current().regex_steps
        compiled, _ = _compile_pcre(self.source, self.options, steps)
        try:
            return compiled.search(text, start)
        except pcre2.LibraryError as error:
            if error.code in _LIMITS:
                message = f"a regular expression took more than {steps:,} steps on one text"
                raise LimitReached(message, "regex_steps", None, 51156) from None
            raise NotOffline(f"the regular expression cannot be run offline: {error.msg}") from None
        except UnicodeEncodeError:
            raise NotOffline(
                "a regular expression that splits a character is not available offline"
            ) from None


def compile_pattern(pattern: str, options: str = "") -> Pattern:
    """Compile an expression with the option letters ``i``, ``m``, ``s``, ``u``, ``x``.

    Raises:
        AggregationError: If the server refuses the pattern or an option.
        NotOffline: If server versions disagree about the pattern.
    """
    _, caseless = _compile_pcre(pattern, options, current().regex_steps)
    return Pattern(pattern, options, caseless)


def _check_case(text: str) -> None:
    """Raise NotOffline for a letter whose other case only newer servers know."""
    if not text.isascii() and _NEWER_CASE.search(text):
        raise NotOffline(
            "the option 'i' is not available offline for letters whose other case is new in Unicode"
        )


@lru_cache(maxsize=512)
def _compile_pcre(pattern: str, options: str, steps: int) -> tuple[pcre2.Pattern, bool]:
    for letter in options:
        if letter not in OPTIONS:
            raise AggregationError(f"a regular expression has no option '{letter}'", code=51108)
    if "\0" in pattern:
        raise AggregationError("a regular expression must not contain a NUL character", code=51109)
    adapted, probe = adapt(pattern, options)
    depth = steps // _STEPS_A_LEVEL + 1
    limits = f"(*LIMIT_MATCH={steps})(*LIMIT_DEPTH={depth})(*LIMIT_HEAP={_HEAP_KIB})"
    compiled = _compile(limits + adapted, options)
    if probe:
        _compile(probe, options)
    caseless = "i" in options or _CASELESS.search(pattern) is not None
    if caseless:
        coded = (chr(int(code, 8)) for code in _BY_CODE.findall(adapted))
        _check_case(pattern + "".join(coded))
    return compiled, caseless


def _compile(pattern: str, options: str) -> pcre2.Pattern:
    """Compile the pattern without JIT, which counts steps differently on each kind of processor."""
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
        raise NotOffline("a lone surrogate in a regular expression is not available offline") from None
