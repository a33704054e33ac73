"""The JSON parser: text → value, with the position of every value and key, and every fault in plain words.

Neither ``json`` nor ``jsonschema`` keeps positions. ``json``'s C scanner parses valid text: the 723 comments of our own
site in 11 ms, while the parser in Python takes 94 ms. The Python parser provides positions and faults on demand. It
records a fault and continues where that is safe, so that one run reports all faults of a text; it stops where the rest
would be a guess.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, NamedTuple, NoReturn

from mongo_tables.findings.finding import Complaint
from mongo_tables.jsontext.extended import of_regular_expression, of_shell_call

Path = tuple[str | int, ...]
"""The keys and list indexes that lead from the root, ``()``, to a value."""

MAX_DEPTH: Final = 100
"""MongoDB takes "no more than 100 levels of nesting for BSON documents".

https://www.mongodb.com/docs/manual/reference/limits/#mongodb-limit-Nested-Depth-for-BSON-Documents
"""

_SYNTAX: Final = "MT120"
_DUPLICATE: Final = "MT121"
_REPEATED: Final = "MT122"


class Parsed:
    """The result of ``parse``.

    ``value`` holds dicts, lists, strings, bools, None, ints of any size and finite floats; it is None if ``readable``
    is false. ``problems`` are in text order, each at its offset in characters. Only rule MT122, a duplicate key with
    the same value, is harmless: every parser reads such a text alike.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: tuple[Complaint[int], ...] = ()
        self.readable = True
        self._guesses: set[Path] = set()
        try:
            self.value = _read_sound(text)
        except (NotPlain, ValueError, RecursionError):
            reading = self._reading
            self.value, self.readable = reading.value, reading.readable
            self.problems, self._guesses = tuple(reading.problems), reading.guesses

    @cached_property
    def _reading(self) -> _Reader:
        return _Reader(self.text).read()

    @property
    def positions(self) -> dict[Path, int]:
        """The offset at which each value begins, in characters, by path. The root is ``()``."""
        return self._reading.positions

    @property
    def key_positions(self) -> dict[Path, int]:
        """The offset of each key's first character (its quote), by the path of the value under it."""
        return self._reading.key_positions

    def is_guess(self, path: Path) -> bool:
        """Return whether the value at ``path``, or one above it, replaces unreadable text."""
        return bool(self._guesses) and any(path[:depth] in self._guesses for depth in range(len(path) + 1))


def parse(text: str) -> Parsed:
    """Read one JSON text (RFC 8259). Never raises: faults are in ``problems``.

    Example:
        >>> parse('{"a": [1, 2,]}').problems[0].message
        'there is a comma before `]`'
    """
    return Parsed(text)


# -- a sound text --


class NotPlain(Exception):
    """The text contains something that only the Python parser handles."""


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object for ``json``. Raises ``NotPlain`` for a duplicate key."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotPlain
    return found


def constant(token: str) -> NoReturn:
    """Raise ``NotPlain`` for ``NaN`` and infinities, which are not JSON; a hook for ``json``."""
    raise NotPlain(token)


def _finite(token: str) -> float:
    value = float(token)
    if math.isinf(value):
        raise NotPlain
    return value


def _whole(token: str) -> int:
    # An integer of 309 digits can exceed the range of a double, which would have to hold it.
    if len(token) > 308:
        raise NotPlain
    return int(token)


_DECODER = json.JSONDecoder(
    object_pairs_hook=members, parse_float=_finite, parse_int=_whole, parse_constant=constant
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _read_sound(text: str) -> Any:
    """Parse a valid text. Raises ``NotPlain`` or ``ValueError`` for text that the Python parser must handle."""
    if _SURROGATE.search(text):
        raise NotPlain
    value = _DECODER.decode(text)
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [item for item in level if isinstance(item, (dict, list))]
        if not level:
            return value
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]
    raise NotPlain


# -- positions and faults --


class _Stop(Exception):
    """The rest of the text could only be guessed."""


class _Gap(NamedTuple):
    """The likely end of an unclosed object: its brace, and the next key, which hardly belongs to it."""

    end: int
    opener: int
    key: str


_BLANK = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?(?![0-9A-Za-z_.+-])")
_NUMBER_LIKE = re.compile(r"[+-]?(?:\.?[0-9]|Infinity\b|inf\b)[0-9A-Za-z_.+-]*", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d][\w$.]*|\$[\w$.]*")
_CALL = re.compile(r"(?P<name>(?:new[ \t]+)?[^\W\d][\w$.]*)[ \t]*\(")
_QUOTED = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`""")
_EXPRESSION = re.compile(
    r"/(?P<pattern>(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/(?P<flags>[a-z]*)"
)
_KEY_WORD = re.compile(r"[\w$][\w$.-]*")
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"')
_ODD_IN_STRING = re.compile(
    r'\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]'
    r"|\\.|[\x00-\x1f\ud800-\udfff]"
)
_CONSTANTS = {"true": True, "false": False, "null": None}
_OTHER_LANGUAGES = {"none": "null", "nil": "null", "undefined": "null", "yes": "true", "no": "false"}
_KEYS_OF_ALL = {"MinKey": "$minKey", "MaxKey": "$maxKey"}
_CLOSING_QUOTES = {"“": "”“", "”": "”", "„": "“”", "‘": "’‘", "’": "’", "'": "'", "`": "`"}
_OUTER_KEYS = frozenset({"collection", "pipeline", "columns", "headers"})  # in a comment
_CLOSERS = {"[": "]", "{": "}"}
_JAVASCRIPT_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_JAVASCRIPT_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def end_of_odd_token(text: str, at: int) -> int | None:
    """Return the end of a non-JSON key or value at ``at``: a word, a call, a string in other quotes.

    Return None if it is none of these, or if it does not end.
    """
    reader = _Reader(text, at)
    if match := _CALL.match(text, at):
        return reader.end_of_call(match.end())
    if text[at : at + 1] in tuple(_CLOSING_QUOTES):
        try:
            reader.odd_string(text[at])
        except _Stop:
            return None
        return reader.at
    found = _EXPRESSION.match(text, at) or _NUMBER_LIKE.match(text, at) or _KEY_WORD.match(text, at)
    return found.end() if found else None


class _Reader:
    """One pass over a text: its position and its results.

    ``guesses`` are the paths of values that replace unreadable text (a ``NaN``, a missing value); do not draw
    conclusions from them. ``readable`` is false if parsing stopped before the end.
    """

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at
        self.value: Any = None
        self.positions: dict[Path, int] = {}
        self.key_positions: dict[Path, int] = {}
        self.problems: list[Complaint[int]] = []
        self.guesses: set[Path] = set()
        self.readable = True
        self.gap: _Gap | None = None

    def read(self) -> _Reader:
        try:
            if not self.peek():
                raise self.stop(self.at, "there is no JSON here", 'write an object: { "key": value, … }')
            self.value = self.read_value((), "")
            if (char := self.peek()) and char in "]}":
                message, hint = (
                    f"this `{char}` has no opening bracket",
                    "remove it, or add what it should close",
                )
                raise self.stop(self.at, message, hint)
            if char:
                message = "there is text after the end of the JSON value"
                hint = "remove it, or move the closing bracket behind it"
                raise self.stop(self.at, message, hint)
        except _Stop:
            self.readable, self.value = False, None
        self.problems.sort(key=lambda one: (one.at, one.message))
        return self

    def problem(self, offset: int, message: str, hint: str, rule: str = _SYNTAX) -> None:
        self.problems.append(Complaint(message, hint, offset, rule))

    def stop(self, offset: int, message: str, hint: str) -> _Stop:
        self.problem(offset, message, hint)
        return _Stop()

    def peek(self) -> str:
        """Return the next non-blank character ("" at the end). Report comments and invalid blanks as problems."""
        while True:
            match = _BLANK.match(self.text, self.at)
            self.at = start = match.end() if match else self.at
            opener = self.text[start : start + 2]
            char = opener[:1]
            if opener in ("//", "/*"):
                hint = f"remove the text that begins with `{opener}`"
                self.problem(start, "JSON has no comments", hint)
                end = self.text.find("\n" if opener == "//" else "*/", start + 2)
                self.at = len(self.text) if end < 0 else end + (0 if opener == "//" else 2)
                continue
            while char and (char.isspace() or char in "\ufeff\u200b\u2060"):
                self.at += 1
                char = self.text[self.at : self.at + 1]
            if self.at == start:
                return char
            code = f"U+{ord(self.text[start]):04X}"
            self.problem(
                start, f"there is an invisible character ({code}) here", "replace it by a plain blank"
            )

    # -- values --

    def read_value(self, path: Path, closer: str) -> Any:
        """Parse the value at ``path``. ``closer`` is the bracket that ends the container around it."""
        char = self.peek()
        start = self.positions[path] = self.at
        if char == '"':
            return self.string(path)
        if char in ("{", "["):
            if len(path) >= MAX_DEPTH:
                limit = f"MongoDB allows at most {MAX_DEPTH} levels"
                raise self.stop(start, "the nesting is too deep", limit)
            return self.object(path) if char == "{" else self.array(path)
        if match := _NUMBER.match(self.text, start):
            return self.number(match, path)
        if char and char in ",]}" and path:
            self.problem(start, f"a value is missing before `{char}`", "write the value, for example null")
            self.guesses.add(path)
            return None
        if char in _CLOSING_QUOTES:
            return self.odd_string(char)
        for pattern, read in _ODD_VALUES:
            if match := pattern.match(self.text, start):
                self.at = match.end()
                return read(self, match, path)
        if not char:
            hint = f"write the value and `{closer}`"
            raise self.stop(start, "the text ends before the value", hint)
        raise self.stop(
            start, f"a JSON value cannot begin with `{char}`", 'write strings in double quotes: "…"'
        )

    def number(self, match: re.Match[str], path: Path) -> int | float | None:
        start, token = self.at, match[0]
        self.at = match.end()
        value = float(token)
        if math.isinf(value):
            shown = token if len(token) < 24 else token[:20] + "…"
            self.problem(start, f"the number `{shown}` is too big", "a double ends at about 1.8e308")
            self.guesses.add(path)
            return None
        return value if match[1] or match[2] else int(token)

    def odd_number(self, match: re.Match[str], path: Path) -> None:
        token = match[0]
        hint = _number_hint(token)
        if "inf" in token.lower():
            name = "-Infinity" if token.startswith("-") else "Infinity"
            hint = f'write null, or {{"$numberDouble": "{name}"}}'
        self.problem(match.start(), f"`{token}` is not a JSON number", hint)
        self.guesses.add(path)

    def word(self, match: re.Match[str], path: Path) -> Any:
        word, start = match[0], match.start()
        if word in _CONSTANTS:
            return _CONSTANTS[word]
        if key := _KEYS_OF_ALL.get(word):
            self.problem(start, f"`{word}` is how a shell writes a value", f'write {{"{key}": 1}}')
            return {key: 1}
        meant = _OTHER_LANGUAGES.get(word.lower(), word.lower())
        if meant == "nan":
            self.problem(start, f"`{word}` is not JSON", 'write null, or {"$numberDouble": "NaN"}')
        elif meant in _CONSTANTS:
            self.problem(start, f"`{word}` is not JSON", f"write `{meant}`")
        else:
            self.problem(start, f"the string `{word}` has no quotes", f'write "{word}", in double quotes')
        self.guesses.add(path)
        return None

    def call(self, match: re.Match[str], path: Path) -> Any:
        """Parse ``ISODate("…")`` and similar calls, with a problem whose hint has the value in Extended JSON."""
        start, name = match.start(), " ".join(match["name"].split())
        end = self.end_of_call(match.end())
        if end is None:
            raise self.stop(start, f"the `(` after `{name}` is never closed", "add the missing `)`")
        self.at = end
        value = of_shell_call(name, self.text[match.end() : end - 1])
        written = 'the value in Extended JSON, for example {"$date": "2026-01-31T00:00:00Z"}'
        if value is None:
            self.guesses.add(path)
        else:
            written = json.dumps(value, ensure_ascii=False)
        message = f"`{name}(…)` is how a shell writes a value: JSON has no calls"
        self.problem(start, message, f"write {written}")
        return value

    def end_of_call(self, at: int) -> int | None:
        """Return the offset after the bracket that closes the call whose arguments begin at ``at``."""
        depth = 1
        while depth:
            if at >= len(self.text):
                return None
            quoted = _QUOTED.match(self.text, at)
            depth += (self.text[at] == "(") - (self.text[at] == ")")
            at = quoted.end() if quoted else at + 1
        return at

    def expression(self, match: re.Match[str], path: Path) -> Any:
        value = of_regular_expression(match["pattern"], match["flags"])
        hint = f"write {json.dumps(value, ensure_ascii=False)}"
        self.problem(match.start(), "a regular expression between slashes is not JSON", hint)
        return value

    # -- strings --

    def string(self, path: Path | None) -> str:
        """Parse a string that begins at the double quote at ``at``. ``path`` is None for a key."""
        start = self.at
        match = _STRING.match(self.text, start)
        if match is None:
            hint = 'close it with `"` on the same line; a line break inside a string is written \\n'
            raise self.stop(start, "the string that begins here is not closed", hint)
        self.at = match.end()
        count = len(self.problems)
        sound = _ODD_IN_STRING.sub(lambda part: self.mend_part(part, start), match[0])
        if path is not None and len(self.problems) > count:
            self.guesses.add(path)
        found: str = json.loads(sound)
        return found

    def mend_part(self, match: re.Match[str], start: int) -> str:
        """Return an escape or a character of the string at ``start`` as valid JSON. Report invalid ones as problems."""
        part, offset = match[0], start + match.start()
        if part[0] != "\\":
            short = json.dumps(part)[1:-1]
            name = {"\t": "a tab", "\x00": "a null character"}.get(part, f"the character \\u{ord(part):04x}")
            self.problem(offset, f"{name} must be escaped in a string", f"write {short}")
            return short if part < " " else "\ufffd"
        if len(part) == 6 and part[2] in "dD" and part[3] in "89abcdefABCDEF":
            message = f"`{part}` is half of a character (a lone surrogate)"
            self.problem(offset, message, "write the character itself, or both halves")
            return "\ufffd"
        if len(part) > 2 or part[1] in '"\\/bfnrt':
            return part
        if part == "\\u":
            self.problem(offset, "`\\u` needs four hexadecimal digits", "write for example \\u00e9")
        else:
            self.problem(offset, f"`{part}` is not an escape of JSON", "a backslash itself is written \\\\")
        return json.dumps(part[1])[1:-1]

    def odd_string(self, quote: str) -> str:
        """Parse a string in single or typographic quotes, with a problem."""
        start = self.at
        marks = {"'": "single quotes", "`": "backquotes"}.get(quote, "typographic quotes")
        of_a_shell = quote in "'`"
        end = start + 1
        while end < len(self.text) and self.text[end] not in _CLOSING_QUOTES[quote] + "\n":
            end += 2 if self.text[end] == "\\" and of_a_shell else 1
        message = f"a string needs double quotes, not {marks}"
        if self.text[end : end + 1] in ("", "\n"):
            raise self.stop(start, message, 'write "…"')
        shown = self.text[start + 1 : end]
        if of_a_shell:
            shown = _JAVASCRIPT_ESCAPE.sub(_unescape, shown)
        self.problem(start, message, f"write {json.dumps(shown, ensure_ascii=False)}")
        self.at = end + 1
        return shown

    # -- containers --

    def array(self, path: Path) -> list[Any]:
        start = self.at
        items: list[Any] = []
        self.at += 1
        while self.has_more(start, first=not items):
            items.append(self.read_value((*path, len(items)), "]"))
        return items

    def object(self, path: Path) -> dict[str, Any]:
        start = last_key = end = self.at
        found: dict[str, Any] = {}
        self.at += 1
        while self.has_more(start, first=end == start):
            key_at = self.at
            if self.text[key_at] == "{" and end != start:
                message = "a `}` is missing here, before the next `{`"
                raise self.missing_brace() or self.stop(end, message, "add the missing `}`")
            key = self.key()
            here = (*path, key)
            if path and self.gap is None and self.is_of_outer(here, start, last_key, key_at):
                self.gap = _Gap(end, start, key)
            last_key = self.key_positions[here] = key_at
            self.colon(key)
            again, old = key in found, found.get(key)
            found[key] = self.read_value(here, "}")
            end = self.at
            if again and same(old, found[key]):
                message = f"the key `{key}` is given twice, with the same value"
                self.problem(key_at, message, "remove one of the two", _REPEATED)
            elif again:
                message = f"the key `{key}` is given twice, with different values: only the last would count"
                self.problem(key_at, message, "remove one of the two, or rename it", _DUPLICATE)
        if self.gap and self.gap.opener == start:
            under = self.line(start) < self.line(self.at) and self.indent(start) == self.indent(self.at - 1)
            # Its brace is indented like its line: unusual, but consistent.
            self.gap = None if under else self.gap
        return found

    def is_of_outer(self, path: Path, opener: int, last_key: int, key_at: int) -> bool:
        """Return whether a key looks like one of an outer object: by its line's indentation, else by its name."""
        if self.text[self.line(key_at) : key_at].strip() or last_key == opener:
            return path[-1] in _OUTER_KEYS and not str(path[-2]).startswith("$")
        outdented = self.indent(key_at) <= self.indent(opener) and self.line(opener) < self.line(key_at)
        beside = self.line(last_key) == self.line(opener)
        return outdented and (beside or self.indent(last_key) > self.indent(key_at))

    def missing_brace(self) -> _Stop | None:
        """Return a stop at the likely end of an unclosed object, or None if nothing looks like one."""
        if self.gap is None:
            return None
        message = f"a `}}` is missing here: `{self.gap.key}` is a key of an object further out"
        return self.stop(self.gap.end, message, "add the missing `}`")

    def line(self, offset: int) -> int:
        """Return the offset at which the line of ``offset`` begins."""
        return self.text.rfind("\n", 0, offset) + 1

    def indent(self, offset: int) -> int:
        """Return the number of blanks at the beginning of the line of ``offset``."""
        start = self.line(offset)
        end = self.text.find("\n", start)
        line = self.text[start : end if end >= 0 else None]
        return len(line) - len(line.lstrip(" \t"))

    def has_more(self, start: int, *, first: bool) -> bool:
        """Move to the next element of the container opened at ``start``. At its end, move past it and return False."""
        opener = self.text[start]
        closer = _CLOSERS[opener]
        end_of_last = self.at
        comma = None
        while (char := self.peek()) == ",":
            if first or comma is not None:
                self.problem(self.at, "there is no element before this comma", "remove the comma")
            comma = comma if comma is not None else self.at
            self.at += 1
        if char == closer:
            if comma is not None and not first:
                self.problem(comma, f"there is a comma before `{closer}`", "remove the comma")
            self.at += 1
            return False
        if not char:
            message = f"this `{opener}` is never closed"
            raise self.missing_brace() or self.stop(start, message, f"add the missing `{closer}`")
        if char in "]}":
            message = f"expected `{closer}` for the `{opener}` before it, not `{char}`"
            hint = f"add `{closer}` before it, or remove a bracket too many"
            raise (self.missing_brace() if char == "]" else None) or self.stop(self.at, message, hint)
        if comma is None and not first:
            self.missing_comma(end_of_last, char, closer)
        return True

    def missing_comma(self, offset: int, char: str, closer: str) -> None:
        """Continue if an element clearly begins here. Otherwise stop: a stray quote may have ended a string."""
        plain = char == '"' or (char in "{[" and closer == "]") or "\n" in self.text[offset : self.at]
        stray = self.text[offset - 1 : offset + 1] == '""'
        if stray or not plain or char in ":=;":
            message = f"expected `,` or `{closer}`, not `{char}`"
            hint = 'separate elements by a comma; a quote inside a string is written \\"'
            raise self.stop(self.at, message, hint)
        self.problem(offset, "a comma is missing here", "write a comma")

    def key(self) -> str:
        start, char = self.at, self.text[self.at]
        if char == '"':
            return self.string(None)
        if char in _CLOSING_QUOTES:
            return self.odd_string(char)
        match = _KEY_WORD.match(self.text, start)
        if not match:
            raise self.stop(start, f"expected a key, not `{char}`", 'write "key": value')
        self.at = match.end()
        self.problem(start, f"the key `{match[0]}` has no quotes", f'write "{match[0]}"')
        return match[0]

    def colon(self, key: str) -> None:
        after_key = self.at
        char = self.peek()
        if char == ":":
            self.at += 1
        elif char == "=":
            self.problem(self.at, "expected a colon, not `=`", "write a colon")
            self.at += 2 if self.text.startswith("=>", self.at) else 1
        elif char and char not in ",}":
            message = f"a colon is missing after the key `{key}`"
            raise self.stop(after_key, message, f'write "{key}": and the value')


_ODD_VALUES: Final[tuple[tuple[re.Pattern[str], Callable[[_Reader, re.Match[str], Path], Any]], ...]] = (
    (_NUMBER_LIKE, _Reader.odd_number),
    (_CALL, _Reader.call),
    (_EXPRESSION, _Reader.expression),
    (_WORD, _Reader.word),
)


def same(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal, including type and key order (1, 1.0 and true all differ)."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _unescape(match: re.Match[str]) -> str:
    """Return the character of an escape in a JavaScript string."""
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _JAVASCRIPT_ESCAPES.get(code, code)


def _number_hint(token: str) -> str:
    """Return the number that was most likely meant."""
    try:
        value = int(token, 0) if token.lower().lstrip("+-").startswith("0x") else float(token)
    except ValueError:
        return f'write strings in double quotes: "{token}"'
    if math.isinf(value) or len(token) > 20:
        return "write it as for example 12, -0.5 or 1e6"
    return f"write {int(value) if value == int(value) and 'e' not in token.lower() else value}"
