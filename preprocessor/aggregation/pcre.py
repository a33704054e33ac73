"""PCRE, the language of the server's regular expressions, put into Python's ``re``.

``translate`` writes a pattern anew, piece by piece: what both languages have in another spelling or with
another meaning is spelt out, what Python lacks raises NotOffline, what PCRE refuses raises AggregationError.
Source: https://www.pcre.org/original/doc/html/pcrepattern.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NoReturn

from preprocessor.aggregation import pcreclass
from preprocessor.aggregation.errors import AggregationError, NotOffline
from preprocessor.aggregation.pcreclass import literal

_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})([+?]?)")
_NAME = r"([A-Za-z_][A-Za-z0-9_]{0,31})"
_NAMED_GROUP = re.compile(rf"\?(?:P?<{_NAME}>|'{_NAME}')")
_NAMED_REFERENCE = re.compile(rf"\\k(?:<{_NAME}>|'{_NAME}'|{{{_NAME}}})|\\g{{{_NAME}}}|\(\?P={_NAME}\)")
_NUMBERED_REFERENCE = re.compile(r"\\g(?:(-?\d+)|\{(-?\d+)\})")
_OPTIONS = re.compile(r"\?([imsx]*)(?:-([imsx]*))?([:)])")
_CONDITION = re.compile(rf"\?\((?:(\d+)|<{_NAME}>|'{_NAME}'|{_NAME})\)")
_POSIX = re.compile(r"\[:(\^?)([a-z]*):\]")
_SIMPLE = {"a": "\a", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORD = pcreclass.kind("w")
_BOUNDARY = f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
_NO_BOUNDARY = f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))"
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Translation:
    """A pattern for Python; ``groups``: the numbers of the groups that are captures, ``keep``: that of ``\\K``."""

    pattern: str
    groups: tuple[int, ...]
    keep: int | None


@dataclass(slots=True)
class _State:
    text: str
    names: dict[str, int]
    total: int
    at: int = 0
    numbers: list[int] = field(default_factory=list)  # Python's number of each PCRE group opened so far
    closed: set[int] = field(default_factory=set)
    python: int = 0
    keep: int | None = None
    depth: int = 0


def _bad(what: str) -> NoReturn:
    raise AggregationError(f"the regular expression is not valid: {what}", code=51111)


def _not_here(what: str) -> NoReturn:
    raise NotOffline(f"{what} in a regular expression is not available offline")


def translate(pattern: str, options: str) -> Translation:
    """``pattern`` with the option letters (``i``, ``m``, ``s``, ``x``) for Python's ``re``, without any flags.

    Raises AggregationError (51111) for what is no valid pattern, NotOffline for what Python cannot do.
    """
    for verb in ("(*UTF8)", "(*UTF)"):
        pattern = pattern.removeprefix(verb)
    names, total = _count_groups(pattern)
    state = _State(pattern, names, total)
    branches = _alternatives(state, frozenset(options))
    if state.at < len(pattern):
        _bad("there is a ')' too many")
    return Translation("|".join(branches), tuple(state.numbers), state.keep)


def _count_groups(pattern: str) -> tuple[dict[str, int], int]:
    """Numbers of the named groups, and how many groups there are; escapes, classes, comments are passed over."""
    names: dict[str, int] = {}
    total = 0
    for found in re.finditer(
        r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\[:\^?[a-z]*:\]|\\.|[^\]])*\]|\(\?#[^)]*\)|\(\?\(\w+\)|\(",
        pattern,
        re.S,
    ):
        if found[0] != "(":
            continue
        named = _NAMED_GROUP.match(pattern, found.end())
        if named or pattern[found.end() : found.end() + 1] not in ("?", "*"):
            total += 1
        if named:
            name = named[1] or named[2]
            if name in names:
                _bad(f"two groups are named '{name}'")
            names[name] = total
    return names, total


def _alternatives(state: _State, options: frozenset[str]) -> list[str]:
    """The branches up to the end of the group; options that are set on the way hold in the branches after."""
    state.depth += 1
    if state.depth > _DEEPEST:
        _not_here(f"nesting deeper than {_DEEPEST}")
    branches: list[str] = []
    pieces: list[str] = []
    while state.at < len(state.text) and state.text[state.at] != ")":
        letter = state.text[state.at]
        if letter == "|":
            state.at += 1
            branches.append("".join(pieces))
            pieces = []
            continue
        if "x" in options and _skip_space(state):
            continue
        changed = _OPTIONS.match(state.text, state.at + 1) if letter == "(" else None
        if changed and changed[3] == ")":
            state.at = changed.end()
            options = (options | set(changed[1])) - set(changed[2] or "")
            continue
        atom, repeatable = _atom(state, options)
        pieces.append(_quantified(state, options, atom, repeatable))
    branches.append("".join(pieces))
    state.depth -= 1
    return branches


def _skip_space(state: _State) -> bool:
    letter = state.text[state.at]
    if letter == "#":
        end = state.text.find("\n", state.at)
        state.at = len(state.text) if end < 0 else end + 1
        return True
    if letter in " \t\n\x0b\f\r":
        state.at += 1
        return True
    return False


def _quantified(state: _State, options: frozenset[str], atom: str, repeatable: bool) -> str:
    start = state.at
    while "x" in options and state.at < len(state.text) and _skip_space(state):
        pass
    found = _QUANTIFIER.match(state.text, state.at)
    if not found:
        return atom
    if state.at != start:
        _not_here("space before a quantifier")
    if not repeatable:
        _bad("there is nothing to repeat")
    if not atom:
        _not_here("a repeated comment")
    least, most = found[1], found[3] if found[2] else found[1]
    if any(bound and int(bound) > 65535 for bound in (least, most)):
        _bad("a number of repetitions is too large")
    if most and int(most) < int(least):
        _bad("the numbers of repetitions are out of order")
    state.at = found.end()
    if _QUANTIFIER.match(state.text, state.at):
        _bad("there is nothing to repeat")
    return f"(?:{atom}){found[0]}" if len(atom) > 1 else atom + found[0]


def _atom(state: _State, options: frozenset[str]) -> tuple[str, bool]:
    """The next piece in Python's spelling, and whether a quantifier may follow it."""
    letter = state.text[state.at]
    if letter == "(":
        return _group(state, options)
    if letter == "[":
        return _character_class(state, options), True
    if letter == "\\":
        return _escape(state, options)
    if _QUANTIFIER.match(state.text, state.at):
        _bad("there is nothing to repeat")
    state.at += 1
    if letter == ".":
        return ("(?s:.)" if "s" in options else "[^\\n]"), True
    if letter == "^":
        return ("(?:\\A|(?<=\\n)(?!\\Z))" if "m" in options else "\\A"), False
    if letter == "$":
        return ("(?m:$)" if "m" in options else "(?=\\n?\\Z)"), False
    return _character(letter, options), True


def _character(letter: str, options: frozenset[str]) -> str:
    return f"(?i:{literal(letter)})" if "i" in options and not letter.isdigit() else literal(letter)


def _group(state: _State, options: frozenset[str]) -> tuple[str, bool]:
    text, start = state.text, state.at + 1
    rest = text[start : start + 3]
    if rest.startswith("?#"):
        end = text.find(")", start)
        if end < 0:
            _bad("a comment does not end")
        state.at = end + 1
        return "", True
    if rest.startswith("*"):
        _not_here("a verb such as (*ACCEPT)")
    if named := _NAMED_GROUP.match(text, start):
        return _capture(state, options, named.end()), True
    if not rest.startswith("?"):
        return _capture(state, options, start), True
    for opening in ("?<=", "?<!", "?=", "?!", "?>"):
        if rest.startswith(opening):
            return _assertion(state, options, opening), opening != "?<=" and opening != "?<!"
    if changed := _OPTIONS.match(text, start):
        state.at = changed.end()
        return _closed(state, (options | set(changed[1])) - set(changed[2] or ""), "(?:"), True
    if condition := _CONDITION.match(text, start):
        return _conditional(state, options, condition), True
    if found := _NAMED_REFERENCE.match(text, state.at):
        return _named_reference(state, options, found), True
    if re.match(r"\?(?:R|P?>|P>|&|[+-]?\d|\||\(|C|J|U|X)", text[start:]):
        _not_here(f"'({rest}'")
    _bad(f"'({rest}' opens no group")


def _closed(state: _State, options: frozenset[str], opening: str) -> str:
    branches = _alternatives(state, options)
    _close(state)
    return opening + "|".join(branches) + ")"


def _close(state: _State) -> None:
    if state.at >= len(state.text):
        _bad("a ')' is missing")
    state.at += 1


def _capture(state: _State, options: frozenset[str], start: int) -> str:
    state.at = start
    state.python += 1
    state.numbers.append(state.python)
    number = len(state.numbers)
    found = _closed(state, options, "(")
    state.closed.add(number)
    return found


def _assertion(state: _State, options: frozenset[str], opening: str) -> str:
    state.at += 1 + len(opening)
    if not opening.startswith("?<"):
        return _closed(state, options, "(" + opening)
    branches = _alternatives(state, options)
    _close(state)
    if len(branches) > 1 and any("(" in branch.replace("(?", "") for branch in branches):
        _not_here("a group in a branch of a look-behind")
    # Python wants one length for all branches, PCRE one for each.
    each = [f"({opening}{branch})" for branch in branches]
    return "".join(each) if opening == "?<!" else f"(?:{'|'.join(each)})"


def _conditional(state: _State, options: frozenset[str], condition: re.Match[str]) -> str:
    name = condition[2] or condition[3] or condition[4]
    if name in ("R", "DEFINE") or (name and name not in state.names and re.fullmatch(r"R\d*", name)):
        _not_here(f"the condition ({name})")
    number = state.names.get(name) if name else int(condition[1])
    if not number or number > state.total:
        _bad("a condition names a group that does not exist")
    if number not in state.closed:
        _not_here("a condition on a group that is not closed yet")
    state.at = condition.end()
    branches = _alternatives(state, options)
    _close(state)
    if len(branches) > 2:
        _bad("a condition has more than two branches")
    return f"(?({state.numbers[number - 1]})" + "|".join(branches) + ")"


def _named_reference(state: _State, options: frozenset[str], found: re.Match[str]) -> str:
    name = next(group for group in found.groups() if group)
    if name not in state.names:
        _bad(f"there is no group '{name}'")
    state.at = found.end()
    return _reference(state, options, state.names[name])


def _reference(state: _State, options: frozenset[str], number: int) -> str:
    if not 0 < number <= state.total:
        _bad("a reference is to a group that does not exist")
    if number not in state.closed:
        _not_here("a reference to a group that is not closed yet")
    reference = f"(?:\\{state.numbers[number - 1]})"
    return f"(?i:{reference})" if "i" in options else reference


def _escape(state: _State, options: frozenset[str]) -> tuple[str, bool]:
    text, start = state.text, state.at
    letter = text[start + 1 : start + 2]
    if not letter:
        _bad("it ends in a backslash")
    if found := _NAMED_REFERENCE.match(text, start):
        return _named_reference(state, options, found), True
    if found := _NUMBERED_REFERENCE.match(text, start):
        state.at = found.end()
        number = int(found[1] or found[2])
        return _reference(state, options, number if number > 0 else len(state.numbers) + 1 + number), True
    if letter in "123456789":
        return _digits(state, options), True
    if letter.lower() in pcreclass.KINDS:
        state.at += 2
        return pcreclass.kind(letter), True
    if letter in _ANCHORS:
        state.at += 2
        return _ANCHORS[letter], False
    if letter == "Q":
        return _quoted(state, options), True
    if letter in "ENRK":
        return _special(state, letter)
    return _character(_escaped_character(state), options), True


_ANCHORS = {"A": "\\A", "z": "\\Z", "Z": "(?=\\n?\\Z)", "b": _BOUNDARY, "B": _NO_BOUNDARY}


def _special(state: _State, letter: str) -> tuple[str, bool]:
    state.at += 2
    if letter == "E":
        return "", True
    if letter == "N":
        if state.text[state.at : state.at + 1] == "{":
            _bad("\\N{…} is not supported")
        return "[^\\n]", True
    if letter == "R":
        return "(?>\\r\\n|[\\n\\x0b\\f\\r\\x85\\u2028\\u2029])", True
    if state.keep is not None or state.depth > 1:
        _not_here("\\K in a group or more than once")
    state.python += 1
    state.keep = state.python
    return "()", False


def _digits(state: _State, options: frozenset[str]) -> str:
    """``\\1``: a reference when there are so many groups or it has one digit, else an octal code."""
    found = re.compile(r"\d+").match(state.text, state.at + 1)
    assert found is not None
    number = int(found[0])
    if number < 8 or number <= state.total:
        state.at = found.end()
        return _reference(state, options, number)
    octal = re.compile(r"[0-7]{1,3}").match(state.text, state.at + 1)
    if not octal:
        state.at += 2
        return literal(state.text[state.at - 1])
    state.at = octal.end()
    return _character(chr(int(octal[0], 8)), options)


def _quoted(state: _State, options: frozenset[str]) -> str:
    end = state.text.find("\\E", state.at)
    quoted = state.text[state.at + 2 : len(state.text) if end < 0 else end]
    state.at = len(state.text) if end < 0 else end + 2
    if quoted and _QUANTIFIER.match(state.text, state.at):
        _not_here("a quantifier after \\Q…\\E")
    return "".join(_character(letter, options) for letter in quoted)


def _escaped_character(state: _State) -> str:
    """The character that an escape stands for, inside a class and outside."""
    text, letter = state.text, state.text[state.at + 1]
    state.at += 2
    if letter in _SIMPLE:
        return _SIMPLE[letter]
    if letter == "x":
        found = re.compile(r"\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{0,2})").match(text, state.at)
        assert found is not None
        state.at = found.end()
        return _from_code(int(found[1] or found[2] or "0", 16))
    if letter in "01234567" or text.startswith("o{", state.at - 1):
        found = re.compile(r"o\{([0-7]+)\}|([0-7]{1,3})").match(text, state.at - 1)
        if not found:
            _bad("\\o needs octal digits")
        state.at = found.end()
        return _from_code(int(found[1] or found[2], 8))
    if letter == "c":
        following = text[state.at : state.at + 1]
        if not following or ord(following) > 127:
            _bad("\\c needs an ASCII character")
        state.at += 1
        return chr(ord(following.upper()) ^ 64)
    if letter in "LlNUu":
        _bad(f"\\{letter} is not supported")
    if letter.isascii() and letter.isalnum():
        _not_here(f"\\{letter}")
    return letter


def _from_code(code: int) -> str:
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        _bad("a character code is out of range")
    return chr(code)


def _character_class(state: _State, options: frozenset[str]) -> str:
    text = state.text
    if re.compile(r"\[([:.=])[^\]\\]*\1\]").match(text, state.at):
        _bad("a POSIX class stands in a class only: [[:alpha:]]")
    members = pcreclass.Members()
    state.at += 1
    if text.startswith("^", state.at):
        members.negated = True
        state.at += 1
    first = True
    while first or not text.startswith("]", state.at):
        if state.at >= len(text):
            _bad("a ']' is missing")
        _member(state, members, options)
        first = False
    state.at += 1
    found = members.python()
    return f"(?i:{found})" if "i" in options else found


def _member(state: _State, members: pcreclass.Members, options: frozenset[str]) -> None:
    if found := _POSIX.match(state.text, state.at):
        state.at = found.end()
        if found[2] not in pcreclass.POSIX:
            _bad(f"there is no POSIX class '{found[2]}'")
        members.add_posix(found[2], bool(found[1]), "i" in options)
        _no_range_after(state)
        return
    if re.compile(r"\[([.=]).*?\1\]", re.S).match(state.text, state.at):
        _bad("POSIX collating elements are not supported")
    low = _member_character(state)
    if low is None:
        members.add_kind(state.text[state.at - 1])
        _no_range_after(state)
        return
    if not state.text.startswith("-", state.at) or state.text[state.at + 1 : state.at + 2] in ("]", ""):
        members.add_range(low, low)
        return
    state.at += 1
    if _POSIX.match(state.text, state.at):
        _not_here("a range up to a POSIX class")
    high = _member_character(state)
    if high is None:
        _bad("a range ends in a kind of character")
    if high < low:
        _bad("a range is out of order")
    members.add_range(low, high)


def _no_range_after(state: _State) -> None:
    if state.text.startswith("-", state.at) and state.text[state.at + 1 : state.at + 2] not in ("]", ""):
        _not_here("a '-' after a kind of character in a class")


def _member_character(state: _State) -> str | None:
    """One character of a class, or None for ``\\d`` and its like."""
    letter = state.text[state.at]
    if letter != "\\":
        state.at += 1
        return letter
    following = state.text[state.at + 1 : state.at + 2]
    if not following:
        _bad("a ']' is missing")
    if following.lower() in pcreclass.KINDS:
        state.at += 2
        return None
    if following == "b":
        state.at += 2
        return "\b"
    if following in "QERNBX":
        _not_here(f"\\{following} in a class")
    return _escaped_character(state)
