"""JSON text → value, with the place of every value and key, and complaints in plain words.

Neither ``json`` nor ``jsonschema`` keeps positions. A text without any fault is read by ``json``'s C
scanner, and its places are worked out when one is asked for (``mongo_tables.jsontext.reader``); only where something
must be explained does the careful reader (``mongo_tables.jsontext.reader``) run, over the same text. Both readers give
the same value and the same places for every text that has no problem.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, Literal, NamedTuple, NoReturn

from mongo_tables.jsontext.extended import read_pasted_value
from mongo_tables.jsontext.shellvalues import NOW, of_expression, unquote

Path = tuple[str | int, ...]
"""The keys and list indexes that lead from the root, ``()``, to a value."""


#: MongoDB takes "no more than 100 levels of nesting for BSON documents".
#: https://www.mongodb.com/docs/manual/reference/limits/#mongodb-limit-Nested-Depth-for-BSON-Documents
MAX_DEPTH = 100


Kind = Literal["syntax", "duplicate", "repeated"]


class Problem(NamedTuple):
    """One fault of a text: ``offset`` in characters from 0, a message, a hint with the fix, and its kind.

    ``duplicate`` is a key given twice with different values, ``repeated`` one given twice with the same
    value (the only problem that is harmless: every parser reads such a text alike); all else is ``syntax``.
    """

    offset: int
    message: str
    hint: str
    kind: Kind = "syntax"


class Reading:
    """What the careful reader found.

    ``guesses`` are the paths of values that stand for something unreadable (a ``NaN``, a missing value):
    nothing may be concluded from them. ``readable`` is false when reading stopped before the end.
    """

    def __init__(self) -> None:
        self.value: Any = None
        self.positions: dict[Path, int] = {}
        self.key_positions: dict[Path, int] = {}
        self.problems: list[Problem] = []
        self.guesses: set[Path] = set()
        self.readable = True


class Parsed:
    """What ``parse`` gives.

    ``value`` holds dicts, lists, strings, bools, None, ints of any size and finite floats; it is None when
    ``readable`` is false. ``problems`` are in the order of the text. Positions are offsets in characters,
    worked out on first use.
    """

    __slots__ = ("_places", "_reading", "problems", "readable", "text", "value")

    def __init__(self, text: str, value: Any, reading: Reading | None) -> None:
        self.text = text
        self.value = value
        self.problems: tuple[Problem, ...] = tuple(reading.problems) if reading else ()
        self.readable = reading.readable if reading else True
        self._reading = reading
        self._places: Places | None = None

    def _places_of_text(self) -> Reading | Places:
        if self._reading is not None:
            return self._reading
        if self._places is None:
            self._places = places(self.text)
        return self._places

    @property
    def positions(self) -> dict[Path, int]:
        """Give the offset at which each value begins, by path; the root is ``()``."""
        return self._places_of_text().positions

    @property
    def key_positions(self) -> dict[Path, int]:
        """Give the offset of each key's first character (its quote), by the path of the value under it."""
        return self._places_of_text().key_positions

    def is_guess(self, path: Path) -> bool:
        """Tell whether the value at ``path``, or one above it, stands for something unreadable."""
        guesses = self._reading.guesses if self._reading else ()
        return any(path[:depth] in guesses for depth in range(len(path) + 1)) if guesses else False


def parse(text: str) -> Parsed:
    """Read one JSON text (RFC 8259); never raises: faults are in ``problems``."""
    try:
        return Parsed(text, _quick(text), None)
    except (NotPlain, ValueError, RecursionError):
        reading = _careful(text)
        return Parsed(text, reading.value, reading)


def _careful(text: str) -> Reading:

    return read(text)


class NotPlain(Exception):
    """The text has something that the careful reader must look at."""


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _quick(text: str) -> Any:
    """Read a faultless text; whatever looks odd raises, and is then left to the careful reader."""
    if _SURROGATE.search(text):
        raise NotPlain
    value = _DECODER.decode(text)
    if _deeper_than(value, MAX_DEPTH):
        raise NotPlain
    return value


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For ``json``: an object; raises ``NotPlain`` for a key that is given twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotPlain
    return found


def finite(token: str) -> float:
    """For ``json``: a double; raises ``NotPlain`` for a number beyond it."""
    value = float(token)
    if math.isinf(value):
        raise NotPlain
    return value


def _whole(token: str) -> int:
    # 309 digits can exceed the range of a double, in which such an integer would have to live.
    if len(token) > 308:
        raise NotPlain
    return int(token)


def constant(token: str) -> NoReturn:
    """For ``json``: raises ``NotPlain`` for ``NaN`` and infinities, which are no JSON."""
    raise NotPlain(token)


_DECODER = json.JSONDecoder(
    object_pairs_hook=members, parse_float=finite, parse_int=_whole, parse_constant=constant
)


def _deeper_than(value: Any, limit: int) -> bool:
    """Tell whether containers are nested more than ``limit`` deep, level by level, without recursion."""
    level = [value]
    for _ in range(limit + 1):
        level = [item for item in level if isinstance(item, (dict, list))]
        if not level:
            return False
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]
    return True


class Places(NamedTuple):
    """Offsets in characters: of each value, and of each key by the path of the value under it."""

    positions: dict[Path, int]
    key_positions: dict[Path, int]


# Blanks and colons lie between the matches.
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]|[^\s{}\[\],:"]+')
_OBJECT: Final = -1


def places(text: str) -> Places:
    """The places in ``text``, which must be valid JSON in which no object has a key twice."""
    values: dict[Path, int] = {}
    keys: dict[Path, int] = {}
    above: list[tuple[Path, int]] = []
    container: Path = ()
    path: Path = ()
    index = 0
    wants_key = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if wants_key and token != "}":
            path = (*container, json.loads(token) if "\\" in token else token[1:-1])
            keys[path] = match.start()
            wants_key = False
        elif token in ("{", "["):
            values[path] = match.start()
            above.append((container, index))
            container = path
            wants_key = token == "{"
            index = _OBJECT if wants_key else 0
            path = (*container, 0)
        elif token in ("}", "]"):
            container, index = above.pop()
            wants_key = False
        elif token == ",":
            wants_key = index == _OBJECT
            if not wants_key:
                index += 1
                path = (*container, index)
        else:
            values[path] = match.start()
    return Places(values, keys)


def read(text: str) -> Reading:
    """Read one JSON text; never raises. Paths are tuples of keys and list indexes from the root ``()``."""
    reader = _Reader(text)
    try:
        reader.document()
    except _Stop:
        reader.out.readable = False
        reader.out.value = None
    reader.out.problems.sort()
    return reader.out


def end_of_odd_token(text: str, at: int) -> int | None:
    """Where a key or a value ends that begins at ``at`` and is no JSON: a word, a call, a string in other quotes.

    None where it is none of them, or nothing ends it.
    """
    reader = _Reader(text, at)
    if match := _CALL.match(text, at):
        return reader.end_pasted_value(match.end())
    if (quote := text[at : at + 1]) in _CURLY_QUOTES:
        try:
            reader.odd_string(quote)
        except _Stop:
            return None
        return reader.at
    found = _EXPRESSION.match(text, at) or _NUMBER_LIKE.match(text, at) or _KEY_WORD.match(text, at)
    return found.end() if found else None


class _Gap(NamedTuple):
    """Where an object was most likely meant to end, its brace, and the key behind that is hardly its own."""

    end: int
    opener: int
    key: str


class _Stop(Exception):
    """The rest of the text could only be guessed at."""


_BLANKS = re.compile(r"[ \t]*")
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
_PLAIN = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*')
_HEX = re.compile(r"[0-9A-Fa-f]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONSTANTS = {"true": True, "false": False, "null": None}
_OTHER_LANGUAGES = {"none": "null", "nil": "null", "undefined": "null", "yes": "true", "no": "false"}
_KEYS_OF_ALL = {"MinKey": "$minKey", "MaxKey": "$maxKey"}
_CURLY_QUOTES = {"“": "”“", "”": "”", "„": "“”", "‘": "’‘", "’": "’", "'": "'", "`": "`"}
_OUTER_KEYS = frozenset({"collection", "pipeline", "columns", "headers"})  # of a comment
_QUERIES = frozenset({"$match", "where", "expect", "restrictSearchWithMatch", "$expr"})
_CLOSERS = {"[": "]", "{": "}"}


class _Reader:
    """The state of one reading: the text, how far we are, and what was found."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at
        self.out = Reading()
        self.gap: _Gap | None = None

    # -- help --

    def problem(self, offset: int, message: str, hint: str, kind: Kind = "syntax") -> None:
        self.out.problems.append(Problem(offset, message, hint, kind))

    def stop(self, offset: int, message: str, hint: str) -> _Stop:
        self.problem(offset, message, hint)
        return _Stop()

    def peek(self) -> str:
        """Give the next character that is not blank ("" at the end); comments are problems."""
        while True:
            match = _BLANK.match(self.text, self.at)
            self.at = match.end() if match else self.at
            char = self.text[self.at : self.at + 1]
            if not ((char == "/" and self.skip_comment()) or (char and self.skip_odd_blank(char))):
                return char

    def skip_comment(self) -> bool:
        """Skip `//` to the end of the line or `/*` to `*/`, with a problem."""
        opener = self.text[self.at : self.at + 2]
        if opener not in ("//", "/*"):
            return False
        self.problem(self.at, "JSON has no comments", f"remove the text that begins with `{opener}`")
        end = self.text.find("\n" if opener == "//" else "*/", self.at + 2)
        self.at = len(self.text) if end < 0 else end + (0 if opener == "//" else 2)
        return True

    def skip_odd_blank(self, char: str) -> bool:
        """Skip blanks that JSON does not know (no-break space …), with a problem for each run."""
        start = self.at
        while char and (char.isspace() or char in "\ufeff\u200b\u2060"):
            self.at += 1
            char = self.text[self.at : self.at + 1]
        if self.at > start:
            code = f"U+{ord(self.text[start]):04X}"
            self.problem(start, f"an invisible character ({code}) stands here", "replace it by a plain blank")
        return self.at > start

    def guess(self, path: Path, value: Any = None) -> Any:
        self.out.guesses.add(path)
        return value

    # -- document, value --

    def document(self) -> None:
        if not self.peek():
            raise self.stop(self.at, "there is no JSON here", 'write an object: { "key": value, … }')
        self.out.value = self.value((), "")
        if char := self.peek():
            if char in "]}":
                raise self.stop(
                    self.at, f"this `{char}` closes nothing", "remove it, or add what it should close"
                )
            raise self.stop(
                self.at,
                "there is more text after the end of the JSON value",
                "remove it, or move the closing bracket behind it: a comment holds one JSON object",
            )

    def value(self, path: Path, closer: str) -> Any:
        """Read the value at ``path``; ``closer`` is the bracket that ends the container around it."""
        char = self.peek()
        start = self.out.positions[path] = self.at
        if char == '"':
            return self.string(path)
        if char == "{" or char == "[":
            if len(path) >= MAX_DEPTH:
                limit = f"MongoDB takes at most {MAX_DEPTH} levels"
                raise self.stop(start, "the nesting is too deep", limit)
            return self.object(path) if char == "{" else self.array(path)
        if char and char in ",]}" and path:
            self.problem(start, f"a value is missing before `{char}`", "write the value, for example null")
            return self.guess(path)
        if char in _CURLY_QUOTES:
            return self.odd_string(char)
        if match := _NUMBER.match(self.text, start):
            return self.number(match, path)
        if match := _NUMBER_LIKE.match(self.text, start):
            return self.odd_number(match, path)
        if match := _CALL.match(self.text, start):
            return self.call(match, path)
        if match := _EXPRESSION.match(self.text, start):
            return self.expression(match)
        if match := _WORD.match(self.text, start):
            return self.word(match, path)
        if not char:
            raise self.stop(
                start, "the text ends where a value should stand", f"write the value and `{closer}`"
            )
        raise self.stop(start, f"`{char}` begins no JSON value", 'a string stands in double quotes: "…"')

    def word(self, match: re.Match[str], path: Path) -> Any:
        word, start = match.group(), self.at
        self.at = match.end()
        if word in _CONSTANTS:
            return _CONSTANTS[word]
        if word in _KEYS_OF_ALL:
            self.problem(
                start, f"`{word}` is how a shell writes a value", f'write {{"{_KEYS_OF_ALL[word]}": 1}}'
            )
            return {_KEYS_OF_ALL[word]: 1}
        meant = _OTHER_LANGUAGES.get(word.lower(), word.lower())
        if word.lower() == "nan":
            self.problem(start, f"`{word}` is not JSON", 'write null, or {"$numberDouble": "NaN"}')
        elif meant in _CONSTANTS:
            self.problem(start, f"`{word}` is not JSON", f"write `{meant}`")
        else:
            self.problem(start, f"the text `{word}` has no quotes", f'write "{word}", in double quotes')
        return self.guess(path)

    # -- what mongosh writes --

    def call(self, match: re.Match[str], path: Path) -> Any:
        """Read ``ISODate("…")`` and its like, with a problem whose hint is the same value in Extended JSON."""
        start, name = self.at, " ".join(match["name"].split())
        end = self.end_pasted_value(match.end())
        if end is None:
            raise self.stop(start, f"nothing closes the `(` behind `{name}`", "add the missing `)`")
        self.at = end
        value = read_pasted_value(name, self.text[match.end() : end - 1])
        message = f"`{name}(…)` is how a shell writes a value: JSON has no calls"
        if value is None:
            known = 'write the value in Extended JSON, for example {"$date": "2026-01-31T00:00:00Z"}'
            self.problem(start, message, known)
            return self.guess(path)
        if value.json == NOW and _is_in_query(path):
            told = f"the time at which the pipeline runs is `{NOW}`, which a query reads within `$expr` alone"
            self.problem(start, message, told)
            return self.guess(path)
        self.problem(start, message, "; ".join(filter(None, (f"write {value.text}", value.remark))))
        return value.json

    def end_pasted_value(self, at: int) -> int | None:
        """Give the offset behind the bracket that closes the call whose arguments begin at ``at``."""
        depth = 1
        while depth:
            if at >= len(self.text):
                return None
            quoted = _QUOTED.match(self.text, at)
            char = self.text[at]
            depth += (char == "(") - (char == ")")
            at = quoted.end() if quoted else at + 1
        return at

    def expression(self, match: re.Match[str]) -> Any:
        """Read a regular expression between slashes, with a problem."""
        value = of_expression(match["pattern"], match["flags"])
        message = "a regular expression between slashes is no JSON"
        self.problem(self.at, message, f"write {value.text}")
        self.at = match.end()
        return value.json

    # -- numbers --

    def number(self, match: re.Match[str], path: Path) -> int | float | None:
        start, token = self.at, match.group()
        self.at = match.end()
        value = float(token)
        if math.isinf(value):
            shown = token if len(token) < 24 else token[:20] + "…"
            self.problem(start, f"the number `{shown}` is too big", "a double ends at about 1.8e308")
            self.guess(path)
            return None
        return value if match.group(1) or match.group(2) else int(token)

    def odd_number(self, match: re.Match[str], path: Path) -> None:
        start, token = self.at, match.group()
        self.at = match.end()
        if "inf" in token.lower():
            name = "-Infinity" if token.startswith("-") else "Infinity"
            hint = f'write null, or {{"$numberDouble": "{name}"}}'
        else:
            hint = _number_hint(token)
        self.problem(start, f"`{token}` is not a JSON number", hint)
        self.guess(path)

    # -- strings --

    def string(self, path: Path | None) -> str:
        """Read a string that begins at the double quote under ``at``; ``path`` is None for a key."""
        start, parts = self.at, []
        self.at += 1
        while True:
            match = _PLAIN.match(self.text, self.at)
            if match:
                parts.append(match.group())
                self.at = match.end()
            char = self.text[self.at : self.at + 1]
            if char == '"':
                self.at += 1
                return "".join(parts)
            if char in ("", "\n", "\r"):
                hint = 'close it with `"` on the same line; a line break inside a string is written \\n'
                raise self.stop(start, "the string that begins here is not closed", hint)
            parts.append(self.escape(path) if char == "\\" else self.raw(char, path))

    def raw(self, char: str, path: Path | None) -> str:
        """Take a character that may not stand in a string as it is."""
        code = f"\\u{ord(char):04x}"
        name = {"\t": "a tab", "\x00": "a null character"}.get(char, f"the character {code}")
        self.problem(self.at, f"{name} may not stand in a string as it is", f"write {_short_escape(char)}")
        self.at += 1
        if path is not None:
            self.guess(path)
        return char if char < " " else "\ufffd"

    def escape(self, path: Path | None) -> str:
        start, char = self.at, self.text[self.at + 1 : self.at + 2]
        if char in _ESCAPES and char:
            self.at += 2
            return _ESCAPES[char]
        if char == "u" and (unit := self.unit(start)) is not None:
            return self.character(start, unit, path)
        if char == "u":
            self.problem(start, "`\\u` needs four hexadecimal digits", "write for example \\u00e9")
        elif char not in ("", "\n", "\r"):
            self.problem(start, f"`\\{char}` is no escape of JSON", "a backslash itself is written \\\\")
        self.at += 1 if char in ("", "\n", "\r", '"') else 2
        if path is not None:
            self.guess(path)
        return char

    def unit(self, start: int) -> int | None:
        """Give the UTF-16 code unit of the `\\uXXXX` at ``start``, or None."""
        match = _HEX.match(self.text, start + 2) if self.text.startswith("\\u", start) else None
        return int(match.group(), 16) if match else None

    def character(self, start: int, unit: int, path: Path | None) -> str:
        self.at = start + 6
        if not 0xD800 <= unit <= 0xDFFF:
            return chr(unit)
        low = self.unit(self.at) if unit < 0xDC00 else None
        if low is not None and 0xDC00 <= low <= 0xDFFF:
            self.at += 6
            return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
        message = f"`{self.text[start : start + 6]}` is half of a character (a lone surrogate)"
        self.problem(start, message, "write the character itself, or both halves")
        if path is not None:
            self.guess(path)
        return "\ufffd"

    def odd_string(self, quote: str) -> str:
        """Read a string in single or typographic quotes, with a problem."""
        start = self.at
        name = "single" if quote == "'" else "typographic" if quote != "`" else "backquote"
        end = start + 1
        while end < len(self.text) and self.text[end] not in _CURLY_QUOTES[quote] + "\n":
            end += 2 if self.text[end] == "\\" and name != "typographic" else 1
        closed = self.text[end : end + 1] not in ("", "\n")
        shown = self.text[start + 1 : end]
        if closed and name != "typographic":
            shown = unquote(self.text[start : end + 1])
        hint = f"write {json.dumps(shown, ensure_ascii=False)}" if closed else 'write "…"'
        marks = "backquotes" if name == "backquote" else f"{name} quotes"
        message = f"a string stands in double quotes, not in {marks}"
        if not closed:
            raise self.stop(start, message, hint)
        self.problem(start, message, hint)
        self.at = end + 1
        return shown

    # -- containers --

    def array(self, path: Path) -> list[Any]:
        start = self.at
        items: list[Any] = []
        self.at += 1
        while self.more(start, first=not items):
            items.append(self.value((*path, len(items)), "]"))
        return items

    def object(self, path: Path) -> dict[str, Any]:
        start = self.at
        members: dict[str, Any] = {}
        first, last_key, end = True, start, start
        self.at += 1
        while self.more(start, first=first):
            key_at = self.at
            if self.text[key_at] == "{" and not first:
                message = "a `}` is missing here, before the next `{`"
                raise self.missing_brace() or self.stop(end, message, "add the missing `}`")
            first = False
            key = self.key()
            if path and self.gap is None and self.is_of_outer((*path, key), start, last_key, key_at):
                self.gap = _Gap(end, start, key)
            last_key = key_at
            here = (*path, key)
            again = key in members
            if not again:
                self.out.key_positions[here] = key_at
            self.colon(key)
            old = members.get(key)
            members[key] = self.value(here, "}")
            end = self.at
            if again:
                self.twice(key, key_at, old, members[key])
                self.out.key_positions[here] = key_at
        under = self.line(start) < self.line(self.at) and self.blanks(start) == self.blanks(self.at - 1)
        if self.gap and self.gap.opener == start and under:
            self.gap = None  # Its brace stands under its line: odd lines, but all its own.
        return members

    def is_of_outer(self, path: Path, opener: int, last_key: int, key_at: int) -> bool:
        """Tell whether a key looks like one of an object further out: by how its line is indented, else by its name."""
        if self.text[self.line(key_at) : key_at].strip() or last_key == opener:
            return path[-1] in _OUTER_KEYS and not str(path[-2]).startswith("$")
        outdented = self.blanks(key_at) <= self.blanks(opener) and self.line(opener) < self.line(key_at)
        beside = self.line(last_key) == self.line(opener)
        return outdented and (beside or self.blanks(last_key) > self.blanks(key_at))

    def missing_brace(self) -> _Stop | None:
        """Give what stops at the likely end of an object that is not closed; None where nothing looks like one."""
        if self.gap is None:
            return None
        message = f"a `}}` is missing here: `{self.gap.key}` is a key of an object further out"
        return self.stop(self.gap.end, message, "add the missing `}`")

    def line(self, offset: int) -> int:
        """Give the offset at which the line of ``offset`` begins."""
        return self.text.rfind("\n", 0, offset) + 1

    def blanks(self, offset: int) -> int:
        """Give how many blanks begin the line of ``offset``."""
        match = _BLANKS.match(self.text, self.line(offset))
        return len(match[0]) if match else 0

    def more(self, start: int, *, first: bool) -> bool:
        """Go to the next element of the container opened at ``start``; False, and past it, at its end."""
        opener = self.text[start]
        closer = _CLOSERS[opener]
        end_of_last = self.at
        comma = None
        while (char := self.peek()) == ",":
            if first or comma is not None:
                self.problem(self.at, "nothing stands before this comma", "remove the comma")
            comma = comma if comma is not None else self.at
            self.at += 1
        if char == closer:
            if comma is not None and not first:
                self.problem(comma, f"a comma stands before `{closer}`", "remove the comma")
            self.at += 1
            return False
        if not char:
            message = f"nothing closes this `{opener}`"
            raise self.missing_brace() or self.stop(start, message, f"add the missing `{closer}`")
        if char in "]}":
            message = f"`{char}` stands where `{closer}` should close the `{opener}` before it"
            hint = f"add `{closer}` before it, or remove a bracket too many"
            raise (self.missing_brace() if char == "]" else None) or self.stop(self.at, message, hint)
        if comma is None and not first:
            self.missing_comma(end_of_last, char, closer)
        return True

    def missing_comma(self, offset: int, char: str, closer: str) -> None:
        """Go on when an element plainly begins here; else stop, as a stray quote may have ended a string."""
        plain = char == '"' or (char in "{[" and closer == "]") or "\n" in self.text[offset : self.at]
        stray = self.text[offset - 1 : offset + 1] == '""'
        if stray or not plain or char in ":=;":
            message = f"`{char}` stands where `,` or `{closer}` should"
            hint = 'separate elements by a comma; a quote inside a string is written \\"'
            raise self.stop(self.at, message, hint)
        self.problem(offset, "a comma is missing here", "write a comma")

    def key(self) -> str:
        start, char = self.at, self.text[self.at]
        if char == '"':
            return self.string(None)
        if char in _CURLY_QUOTES:
            return self.odd_string(char)
        match = _KEY_WORD.match(self.text, start)
        if not match:
            raise self.stop(start, f"`{char}` stands where a key should", 'write "key": value')
        self.at = match.end()
        self.problem(start, f"the key `{match.group()}` has no quotes", f'write "{match.group()}"')
        return match.group()

    def colon(self, key: str) -> None:
        after_key = self.at
        char = self.peek()
        if char == ":":
            self.at += 1
        elif char == "=":
            self.problem(self.at, "`=` stands where a colon should", "write a colon")
            self.at += 2 if self.text.startswith("=>", self.at) else 1
        elif char and char not in ",}":
            message = f"a colon is missing after the key `{key}`"
            raise self.stop(after_key, message, f'write "{key}": and the value')

    def twice(self, key: str, offset: int, old: Any, new: Any) -> None:
        if same(old, new):
            message = f"the key `{key}` is given twice, with the same value"
            self.problem(offset, message, "remove one of the two", "repeated")
        else:
            message = f"the key `{key}` is given twice, with different values: only the last would count"
            self.problem(offset, message, "remove one of the two, or rename it", "duplicate")


def same(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are the same, type and key order included (1, 1.0 and true are three)."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _is_in_query(path: Path) -> bool:
    """Whether a place is in a query: of a ``$match``, of a comment, or of a condition; not in an expression there."""
    keys = [key for key in path if key in _QUERIES]
    return bool(keys) and keys[-1] != "$expr"


def _short_escape(char: str) -> str:
    short = {value: f"\\{key}" for key, value in _ESCAPES.items()}
    return short.get(char, f"\\u{ord(char):04x}")


def _number_hint(token: str) -> str:
    """Give the number that was most likely meant."""
    try:
        value = int(token, 0) if token.lower().lstrip("+-").startswith("0x") else float(token)
    except ValueError:
        return f'a text stands in double quotes: "{token}"'
    if math.isinf(value) or len(token) > 20:
        return "write it as for example 12, -0.5 or 1e6"
    return f"write {int(value) if value == int(value) and 'e' not in token.lower() else value}"
